//! Programs whose functions are instrumented must still compute correct results, and the counts must be correct.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use serde_json::Value;
use tickscope_format::snapshot::CauseKind;

use crate::own_collector::shared_with_tickscope;
use crate::support::{Project, cache, finish};

/// Acts of `zoo` that terminate on their own, with their exit codes.
const ACTS: [(&[&str], i32); 4] = [
    (&[], 0),
    (&["child"], 0),
    (&["diverge"], 7),
    (&["work", "200"], 0),
];

/// Content of a kept report.
pub(crate) struct Counted {
    pub(crate) report: Value,
}

impl Counted {
    pub(crate) fn read(project: &Project, kept: &Path) -> Self {
        let report = project.report(kept);
        Self { report }
    }

    pub(crate) fn of_functions(&self, what: &str) -> u64 {
        self.report["functions"][what].as_u64().unwrap()
    }

    /// Returns the number of calls of the functions with this name, or of all functions.
    pub(crate) fn calls(&self, name: Option<&str>) -> u64 {
        let nodes = self.report["nodes"].as_array().unwrap().iter();
        let wanted = nodes.filter(|node| name.is_none_or(|name| node["name"] == name));
        wanted.map(|node| node["calls"].as_u64().unwrap()).sum()
    }

    fn open(&self) -> u64 {
        let threads = self.report["threads"].as_array().unwrap().iter();
        threads
            .map(|thread| thread["open"].as_array().unwrap().len() as u64)
            .sum()
    }

    /// Returns whether these functions call one another in this order.
    pub(crate) fn has_path(&self, names: &[&str]) -> bool {
        let nodes = self.report["nodes"].as_array().unwrap();
        let parent = |node: &Value| {
            let parent = node["parent"].as_u64();
            parent.and_then(|id| nodes.iter().find(|node| node["id"] == id))
        };
        nodes.iter().any(|node| {
            let mut at = Some(node);
            names.iter().rev().all(|name| {
                let is_it = at.is_some_and(|node| node["name"] == *name);
                at = at.and_then(parent);
                is_it
            })
        })
    }

    /// Returns how many calls of all functions have begun. For an async function, each poll counts.
    pub(crate) fn begun(&self) -> u64 {
        let nodes = self.report["nodes"].as_array().unwrap().iter();
        let begun = nodes.map(|node| match node["futures"]["polls"].as_u64() {
            Some(polls) => polls,
            None => node["calls"].as_u64().unwrap(),
        });
        begun.sum()
    }

    pub(crate) fn ended(&self) -> u64 {
        self.of_functions("returned") + self.of_functions("unwound")
    }

    /// Asserts that each call that began has returned, was unwound, or is still open.
    #[track_caller]
    pub(crate) fn assert_balanced(&self) {
        assert_eq!(
            self.begun(),
            self.ended() + self.open(),
            "{}",
            self.report["functions"]
        );
        assert_eq!(self.report["unbalanced"], 0);
    }
}

fn a_program_does_the_same_and_each_call_ends_once() {
    let project = Project::copy_of("zoo");
    project.run("build --release").with_code(0);
    let program = project.built("release/zoo");
    for (number, (act, code)) in ACTS.iter().enumerate() {
        let plain = finish(project.command(&program).args(*act)).with_code(*code);
        let (mut command, kept) = project.measured(&program, &format!("act{number}"));
        let done = finish(command.args(*act)).with_code(*code);
        assert_eq!(done.out, plain.out, "{act:?}");
        let counted = Counted::read(&project, &kept);
        counted.assert_balanced();
        assert!(counted.calls(None) > 0, "{act:?}");
    }
    let kept = project.dir().join("act0.txt.tks");
    let all = Counted::read(&project, &kept);
    // 15 panics end three calls each, 20 panics two each, and 10 panics four each.
    assert_eq!(all.calls(Some("falls")), 15 * 3 + 20 * 2 + 10 * 4);
    assert!(all.of_functions("unwound") >= all.calls(Some("falls")));
    assert_eq!(all.calls(Some("Dog::speak")) + all.calls(Some("Cat::speak")), 100);
    assert_eq!(all.calls(Some("Counts::drop")), 20);
    assert!(
        all.of_functions("elsewhere") > 0,
        "coroutines and handlers have stacks of their own"
    );
}

const TINY: &str = r#"
use std::hint::black_box;

#[inline(never)]
fn tiny(n: u64) -> u64 { black_box(n) + 1 }

#[inline(never)]
fn long() -> u64 { (0..5_000_000).map(tiny).sum() }

fn main() { for _ in 0..20 { black_box(long()); } }
"#;

/// A function that the budget has switched off by the end of a run starts the next run switched off and sampled, if the
/// build and the budget are the same.
fn a_run_begins_with_what_the_one_before_has_learned() {
    let project = Project::package("", "src/main.rs", TINY);
    project.run("build --release").with_code(0);
    let run_with = |budget: &str, relearn: &str| {
        let report = project.dir().join("report.txt");
        let kept = report.with_extension("txt.tks");
        let _ = fs::remove_file(&kept);
        let mut command = project.command(project.built("release/small"));
        finish(
            command
                .env("TICKSCOPE_REPORT", report)
                // Only exact mode has a budget.
                .env("TICKSCOPE_MODE", "exact")
                .envs([("TICKSCOPE_FUNCTIONS", "every"), ("TICKSCOPE_BUDGET", budget)])
                .env("TICKSCOPE_RELEARN", relearn),
        )
        .with_code(0);
        let counted = Counted::read(&project, &kept);
        let over = counted.report["functions"]["over_budget"].as_array().unwrap();
        let tiny = over.iter().find(|function| function["name"] == "tiny");
        let learned = tiny.expect("it costs too much")["learned"].as_bool().unwrap();
        let nodes = counted.report["nodes"].as_array().unwrap();
        let ns = |name: &str, sampled: bool| {
            let named = |node: &&Value| node["name"] == name && (node["sampled"] == true) == sampled;
            let node = nodes.iter().find(named);
            node.map(|node| node["total_ns"].as_u64().unwrap())
        };
        if learned {
            let (tiny, long) = (ns("tiny", true), ns("long", false).unwrap());
            assert!(
                tiny.is_some_and(|tiny| (long / 20..long).contains(&tiny)),
                "{tiny:?} of {long} ns"
            );
        }
        (learned, counted.calls(Some("tiny")), counted.calls(Some("long")))
    };
    let run = |budget: &str| run_with(budget, "off");
    let (learned, calls, _) = run("1%");
    assert!(!learned && calls > 0);
    assert_eq!(run("1%"), (true, 0, 20));
    assert!(!run("2%").0, "learned under another budget");
    assert_eq!(run("2%"), (true, 0, 20));
    assert!(!run_with("2%", "on").0, "--relearn");

    project.write(
        "src/main.rs",
        &TINY
            .replace(
                "fn main",
                "#[inline(never)] fn more() { black_box(()); }\nfn main",
            )
            .replace("main() {", "main() { more();"),
    );
    project.run("build --release").with_code(0);
    assert!(!run("2%").0, "learned by another build");
    let cleaned = project.viewer(&["list", "--clean"]).with_code(0);
    assert!(cleaned.err.contains("removed"), "{cleaned}");
    assert!(!run("2%").0, "nothing is left to learn from");
}

/// On a stack overflow, a program prints the standard library's message, just as it does without tickscope.
fn an_overflow_of_the_stack_ends_as_ever() {
    let project = Project::copy_of("zoo");
    project.run("build").with_code(0);
    let (mut command, _) = project.measured(project.built("debug/zoo"), "o");
    let done = finish(command.arg("overflow"));
    assert_eq!(done.code, None, "{done}");
    assert!(done.err.contains("has overflowed its stack"), "{done}");
}

/// C code that a build script compiles is not counted. It is sampled below the innermost Rust function. Rust code
/// called from C is counted, even if a panic passes through the C code.
fn c_of_a_build_script_is_sampled_below_its_caller() {
    let project = Project::copy_of("zoo_c");
    project.run("build --release").with_code(0);
    let (mut command, kept) = project.measured(project.built("release/zoo_c"), "c");
    let done = finish(&mut command).with_code(0);
    assert!(done.out.ends_with(" 5\n"));
    let counted = Counted::read(&project, &kept);
    counted.assert_balanced();
    // `back` is called a hundred times. In each of five rounds, a panic ends the third call of `falls`.
    assert_eq!(counted.calls(Some("back")), 100);
    assert_eq!(counted.calls(Some("falls")), 5 * 3);
    assert!(counted.has_path(&["rust_calls", "back"]));
    assert!(counted.has_path(&["rust_calls", "square"]));
    let nodes = counted.report["nodes"].as_array().unwrap();
    let sampled = nodes.iter().filter(|node| node["sampled"] == true);
    let longest = sampled.max_by_key(|node| node["total_ns"].as_u64());
    assert_eq!(longest.map(|node| &node["name"]), Some(&"square".into()));
}

/// Tools such as strip may remove the section with the function table after linking.
fn a_program_without_its_table_says_so() {
    let project = Project::package("", "src/main.rs", "fn main() { println!(\"done\") }");
    project.run("build").with_code(0);
    let program = project.built("debug/small");
    finish(
        project
            .command("objcopy")
            .arg("--remove-section=.tickscope.functions")
            .arg(&program),
    )
    .with_code(0);
    let (mut command, _) = project.measured(program, "none");
    let done = finish(&mut command).with_code(0).says(&[
        "functions are not counted",
        "has no section .tickscope.functions; build it with cargo tickscope",
    ]);
    assert_eq!(done.has_messages(1).out, "done\n");
}

pub(crate) const STORM: &str = r#"
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

#[path = "vectors.rs"]
mod vectors;

static ENDS: AtomicBool = AtomicBool::new(false);

#[inline(never)]
fn fib(n: u64) -> u64 {
    if n < 2 { black_box(n) } else { black_box(fib(n - 1)) + black_box(fib(n - 2)) }
}

#[inline(never)]
fn falls(depth: u32) -> u32 {
    if depth == 0 { panic!("on purpose") }
    black_box(falls as fn(u32) -> u32)(depth - 1) + 1
}

fn work() -> (u64, u64) {
    let (mut rounds, mut wrong) = (0, 0);
    while !ENDS.load(Ordering::Relaxed) {
        rounds += 1;
        wrong += u64::from(fib(12) != 144) + u64::from(vectors::act() != 660);
        wrong += u64::from(std::panic::catch_unwind(|| falls(2)).is_ok());
    }
    (rounds, wrong)
}

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let seconds: f64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(work)).collect();
    let (began, mut switched) = (Instant::now(), 0);
    while began.elapsed().as_secs_f64() < seconds {
        std::thread::sleep(Duration::from_micros(50));
        assert!(tickscope::__private::switch_all(switched % 2 == 1) > 20);
        switched += 1;
    }
    ENDS.store(true, Ordering::Relaxed);
    let all: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    let wrong: u64 = all.iter().map(|(_, wrong)| wrong).sum();
    println!("{wrong} wrong");
    eprintln!("G12: {switched} switches, {} rounds, {wrong} wrong", all.iter().map(|(rounds, _)| rounds).sum::<u64>());
}
"#;

/// All sleds are switched on or off every 50 us while four threads compute and check their results. Set `STORM_SECONDS`
/// to make the test longer, and `STORM_UNDER` to run it under another program, given with its options.
fn results_stay_right_while_all_sleds_are_switched() {
    let project = shared_with_tickscope();
    project.run("build --release --bin storm").with_code(0);
    let under = std::env::var("STORM_UNDER").unwrap_or_default();
    let program = project.built("release/storm");
    let mut words: Vec<&str> = under.split_whitespace().collect();
    words.push(program.to_str().unwrap());
    let seconds = std::env::var("STORM_SECONDS").unwrap_or_else(|_| "2".into());
    let (mut command, kept) = project.measured(words[0], "storm");
    let done = finish(command.args(&words[1..]).arg(seconds));
    println!(
        "{}",
        done.err
            .lines()
            .find(|line| line.starts_with("G12"))
            .unwrap_or("no figures")
    );
    let done = done.with_code(0);
    assert_eq!(done.out, "0 wrong\n");
    let counted = Counted::read(project, &kept);
    counted.assert_balanced();
    assert!(counted.calls(Some("fib")) > 10_000);
}

/// Registers hold a function's arguments at its start, and its result at its end. The code that runs at these points
/// must not use instructions that clear the upper halves of vector registers, nor call functions that might.
fn the_usual_event_calls_nothing_and_has_no_vector_instructions_of_avx() {
    let project = Project::fixture();
    project.run("build -p app").with_code(0);
    let folders = fs::read_dir(cache().join("tickscope")).unwrap();
    let files = folders.flat_map(|folder| fs::read_dir(folder.unwrap().path()).into_iter().flatten());
    let mut libraries: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    libraries.retain(|path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with("libtickscope-") && name.ends_with(".rlib")
    });
    // The cache may also contain libraries of earlier versions.
    libraries.sort_by_key(|path| fs::metadata(path).unwrap().modified().unwrap());
    let library = libraries.pop().unwrap();
    let listed = finish(
        project
            .command("objdump")
            .args(["-d", "--no-show-raw-insn", "-M", "intel"])
            .arg(&library),
    )
    .with_code(0);
    for hook in ["5hooks5enter>:", "5hooks4exit>:"] {
        let start = listed.out.find(hook).unwrap_or_else(|| panic!("no {hook}"));
        let body = listed.out[start..].split("\n\n").next().unwrap();
        let instructions = body.lines().skip(1).filter_map(|line| line.split('\t').nth(1));
        let mut count = 0;
        for instruction in instructions {
            let bad = ["call", "v", "syscall", "int"]
                .iter()
                .any(|start| instruction.starts_with(start));
            let jumps_away =
                instruction.starts_with("jmp") && !instruction.contains(hook.trim_end_matches(">:"));
            assert!(!bad && !jumps_away, "{instruction:?} in\n{body}");
            count += 1;
        }
        assert!(count > 50, "{body}");
    }
}

const MODULES: &str = r#"
use std::hint::black_box;

mod hot {
    /// Has more than 100 bytes of code, so it is measured by default.
    #[inline(never)]
    pub fn outer(n: u64) -> u64 {
        std::hint::black_box((n + 1, n * 2, n - 1, n / 3, n % 5, n * n, n + 7, n * 9));
        inner(n) + inner(n + 1)
    }
    #[inline(never)]
    pub fn inner(n: u64) -> u64 { n }
}

mod cold {
    #[inline(never)]
    pub fn other(n: u64) -> u64 {
        std::hint::black_box((n + 1, n * 2, n - 1, n / 3, n % 5, n * n, n + 7, n * 9)).0
    }
}

fn main() {
    // Until standard input is closed.
    std::thread::spawn(|| {
        let mut line = String::new();
        let _ = std::io::stdin().read_line(&mut line);
        std::process::exit(0);
    });
    loop {
        black_box(hot::outer(black_box(3)));
        black_box(cold::other(black_box(3)));
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}
"#;

/// A running program, which is examined with commands of `tickscope`.
struct Running<'a> {
    project: &'a Project,
    program: Child,
}

impl Running<'_> {
    fn ask(&self, words: &[&str]) -> String {
        self.project.viewer(words).with_code(0).out
    }

    /// Returns the number of calls so far of `hot::inner`, `hot::outer` and `cold::other`.
    fn calls(&self) -> [u64; 3] {
        let report = self.project.report("small");
        let counted = Counted { report };
        ["inner", "outer", "other"].map(|name| counted.calls(Some(name)))
    }

    /// Returns the numbers of calls now, and again after more than 100 further calls of `cold::other`.
    fn calls_meanwhile(&self) -> ([u64; 3], [u64; 3]) {
        let before = self.calls();
        loop {
            let now = self.calls();
            if now[2] > before[2] + 100 {
                return (before, now);
            }
        }
    }
}

/// A program in which every hundredth call of `handle` is slow: it looks up 40 000 keys instead of 40.
const SLOW_NOW_AND_THEN: &str = r#"
use std::hint::black_box;

#[inline(never)]
fn spin(rounds: u64) -> u64 { (0..rounds).fold(rounds, |sum, round| black_box(sum ^ round)) }

#[inline(never)]
fn look_up(key: u64) -> u64 { spin(20) + key }

#[inline(never)]
fn handle(number: u64) -> u64 {
    let keys = if number % 100 == 99 { 40_000 } else { 40 };
    (0..keys).map(look_up).fold(0, u64::wrapping_add)
}

fn main() {
    let threads = [0, 1].map(|_| std::thread::spawn(|| (0..2_000).map(handle).fold(0, u64::wrapping_add)));
    for thread in threads {
        black_box(thread.join().unwrap());
    }
}
"#;

/// A function of an unedited program can be watched. Each of its calls counts as typical or slow, and slow calls are
/// explained by the functions that they call.
fn slow_calls_of_a_function_are_told_by_what_they_call() {
    let project = Project::package("", "src/main.rs", SLOW_NOW_AND_THEN);
    // A slow call takes a thousand times as long as the others. Without optimization, all calls take longer.
    for (profile, folder, threshold) in [("", "debug", "5ms"), ("--release", "release", "100us")] {
        project.run(&format!("build {profile}")).with_code(0);
        let (mut program, kept) = project.measured(project.built(&format!("{folder}/small")), folder);
        finish(program.env("TICKSCOPE_WATCH", format!("handle:{threshold}"))).with_code(0);
        let snapshot = tickscope_format::snapshot_file::read(&kept).unwrap();
        let watch = &snapshot.watches[0];
        let (typical, slow) = watch.calls();
        // Watches are set up on the publisher's thread, so the first calls may be over before the watch begins.
        assert!((1_000..=4_000).contains(&(typical + slow)), "{typical} {slow}");
        assert!(slow >= 10, "{typical} {slow}");
        // Calls are counted even if they could not be kept in full.
        assert_eq!((watch.lost.discarded, watch.lost.missed), (0, 0));
        let name = |path: u32| {
            let site = watch.paths[path as usize].site;
            snapshot.sites[site.index()].name.clone()
        };
        let looked_up: u64 = (0..)
            .zip(&watch.paths)
            .filter(|(path, _)| name(*path) == "look_up")
            .map(|(_, path)| path.typical.calls + path.slow.calls)
            .sum();
        // One call in a hundred looks up 40 000 keys, and the others 40.
        let calls = typical + slow;
        let most = 40 * calls + 40 * (40_000 - 40);
        assert!(
            (40 * calls..=most).contains(&looked_up) && looked_up.is_multiple_of(40),
            "{looked_up} of {calls} calls"
        );
        let by_calls: u64 = watch
            .causes
            .iter()
            .filter(|cause| cause.kind == CauseKind::Calls && name(cause.path) != "handle")
            .map(|cause| cause.calls)
            .sum();
        assert!(by_calls >= 8, "{typical} {slow} {:?}", watch.causes);
    }
}

/// The counts of a module's functions stop when the module is switched off, and continue when it is switched on again.
/// A small function, which is off at the start, can be switched on by name. `on '*'` restores the initial state.
fn a_module_is_switched_while_the_program_runs() {
    let project = Project::package("", "src/main.rs", MODULES);
    // Builds are incremental by default, so this one is too.
    finish(project.tickscope("build").env_remove("CARGO_INCREMENTAL")).with_code(0);
    let program = project
        .command(project.built("debug/small"))
        .env("TICKSCOPE", "live")
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let running = Running {
        project: &project,
        program,
    };
    let pid = running.program.id().to_string();
    while project.viewer(&["report", "-p", &pid]).code != Some(0) {
        std::thread::yield_now();
    }
    let (before, then) = running.calls_meanwhile();
    assert!(then[0] == 0 && then[1] > before[1], "{before:?} {then:?}");
    let said = running.ask(&["off", "small::hot::*", "small"]);
    assert!(
        said.contains("functions switched off by small::hot::*; their time counts for callers"),
        "{said}"
    );
    let (before, then) = running.calls_meanwhile();
    assert_eq!(before[..2], then[..2], "they are off");
    running.ask(&["on", "small::hot::inner", "small"]);
    let (before, then) = running.calls_meanwhile();
    assert!(then[0] > before[0] && then[1] == before[1], "{before:?} {then:?}");
    let said = running.ask(&["on", "*", "small"]);
    assert!(
        said.contains("all functions are as at the program's start"),
        "{said}"
    );
    let (before, then) = running.calls_meanwhile();
    assert!(then[0] == before[0] && then[1] > before[1], "{before:?} {then:?}");
    running.ask(&["on", "hot::*", "small"]);
    let (before, then) = running.calls_meanwhile();
    assert!(then[0] > before[0] && then[1] > before[1], "{before:?} {then:?}");
    let Running { mut program, .. } = running;
    drop(program.stdin.take());
    assert!(program.wait().unwrap().success());
}

tickscope_testkit::tests![
    a_program_does_the_same_and_each_call_ends_once,
    a_run_begins_with_what_the_one_before_has_learned,
    an_overflow_of_the_stack_ends_as_ever,
    c_of_a_build_script_is_sampled_below_its_caller,
    a_program_without_its_table_says_so,
    results_stay_right_while_all_sleds_are_switched,
    the_usual_event_calls_nothing_and_has_no_vector_instructions_of_avx,
    slow_calls_of_a_function_are_told_by_what_they_call,
    a_module_is_switched_while_the_program_runs,
];
