//! Async functions that are not marked in the source. The counts of their calls must match the program's own counts,
//! and the counts of the same program with marked functions.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use tickscope_format::snapshot::{CauseKind, PathSums, WatchedPath};

use crate::own_collector::depending_on_tickscope;
use crate::support::{Project, TARGET, finish};

/// Number of calls of each function: begun, completed, and dropped before completion.
type Calls = BTreeMap<String, [i64; 3]>;

/// Sums over all rows of an async function in a report.
#[derive(Debug, Default)]
struct Row {
    calls: [i64; 3],
    vanished: i64,
    in_flight: i64,
    polls: i64,
    /// Number of ended calls and their median wall time in ns, taken from the row with the most ended calls.
    median_ns: (i64, f64),
    below: Vec<String>,
}

struct Report {
    rows: BTreeMap<String, Row>,
    json: serde_json::Value,
}

fn account(out: &str) -> Calls {
    let lines = out.lines().skip(1);
    let line = |line: &str| {
        let mut words = line.split(' ');
        let name = words.next()?.to_string();
        let mut number = || words.next()?.parse().ok();
        Some((name, [number()?, number()?, number()?]))
    };
    lines.map(|text| line(text).unwrap()).collect()
}

impl Report {
    /// Runs a program. Returns the counts that it keeps itself, which it prints, and its report.
    fn of(project: &Project, program: &Path, name: &str) -> (Calls, Self) {
        let (mut command, kept) = project.measured(program, name);
        let out = finish(&mut command).with_code(0).out;
        (account(&out), Self::read(project.report(kept)))
    }

    fn read(json: serde_json::Value) -> Self {
        let nodes = json["nodes"].as_array().unwrap();
        let mut rows: BTreeMap<String, Row> = BTreeMap::new();
        for node in nodes.iter().filter(|node| node["futures"].is_object()) {
            let futures = &node["futures"];
            let of = |what: &str| futures[what].as_i64().unwrap();
            let row = rows.entry(node["name"].as_str().unwrap().into()).or_default();
            for (sum, what) in row.calls.iter_mut().zip(["started", "ended", "cancelled"]) {
                *sum += of(what);
            }
            row.vanished += of("vanished");
            row.in_flight += of("in_flight");
            row.polls += of("polls");
            let over = of("ended") + of("cancelled");
            if over > row.median_ns.0 {
                row.median_ns = (over, futures["wall_p50_ns"].as_f64().unwrap());
            }
            let mut above = node["parent"].as_u64();
            while let Some(parent) = above.map(|parent| &nodes[parent as usize]) {
                if parent["futures"].is_object() {
                    row.below.push(parent["name"].as_str().unwrap().into());
                    break;
                }
                above = parent["parent"].as_u64();
            }
        }
        Self { rows, json }
    }

    #[track_caller]
    fn assert_sums_hold(&self) {
        for (name, row) in &self.rows {
            let [started, ended, cancelled] = row.calls;
            let over = ended + cancelled + row.vanished;
            assert_eq!(started, over + row.in_flight, "{name}: {row:?}");
        }
        assert_eq!(self.json["dropped"], 0);
        assert_eq!(self.json["unbalanced"], 0);
    }
}

fn tasks() -> Project {
    Project::copy_of("tasks")
}

/// Builds the program with marked functions, using plain cargo, and runs it. Returns its report.
fn marked(source: &Path) -> Report {
    let text = |name: &str| std::fs::read_to_string(source.join(name)).unwrap();
    let project = depending_on_tickscope("\"enable\"", &text("src/main.rs"));
    project.write("src/executor.rs", &text("src/executor.rs"));
    let mut command = project.command("cargo");
    // Marked functions need no debug information.
    let flags = [("RUSTFLAGS", "--cfg marked"), ("CARGO_PROFILE_DEV_DEBUG", "0")];
    finish(command.arg("build").envs(flags)).with_code(0);
    let (account, report) = Report::of(&project, &project.dir().join("target/debug/small"), "marked");
    report.assert_sums_hold();
    assert_eq!(calls(&report, &account), account);
    report
}

/// Returns the calls in a report, for the functions that the program counts itself.
fn calls(report: &Report, account: &Calls) -> Calls {
    let of = |name: &String| Some((name.clone(), report.rows.get(name)?.calls));
    account.keys().filter_map(of).collect()
}

fn unmarked_async_functions_show_what_marked_ones_show() {
    let project = tasks();
    project.run("build").with_code(0);
    let (account, report) = Report::of(&project, &project.built("debug/tasks"), "unmarked");
    report.assert_sums_hold();
    assert_eq!(calls(&report, &account), account);
    assert_eq!(report.json["functions"]["vanished"], 0);
    let marked = marked(&project.dir());
    for (name, by_hand) in &marked.rows {
        let row = &report.rows[name];
        // The calls are not compared, because the two programs may drop different numbers of tasks before the first
        // poll.
        assert_eq!(row.in_flight, by_hand.in_flight, "{name}");
        // How often a task is woken depends on when threads run.
        let polls = row.polls.abs_diff(by_hand.polls);
        assert!(
            polls * 10 <= by_hand.polls.unsigned_abs(),
            "{name}: {row:?} {by_hand:?}"
        );
        // The nearest counted caller must be the same, or `first`, which is not marked in the marked program.
        let is_below =
            |other: &String| row.below.contains(other) || row.below.iter().any(|b| b.starts_with("first"));
        assert!(by_hand.below.iter().all(is_below), "{name}: {row:?} {by_hand:?}");
    }
    // Every fifth call of `leaf` sleeps for at least 3 ms.
    let sleepers = |report: &Report| report.rows["leaf"].median_ns.1;
    println!(
        "medians: {} unmarked, {} marked",
        sleepers(&report),
        sleepers(&marked)
    );
    let tasks = report.json["tasks"].as_array().unwrap();
    let waits: u64 = tasks
        .iter()
        .filter(|task| task["name"] == "waits" && task["kind"] == "future")
        .map(|task| task["in_flight"].as_u64().unwrap())
        .sum();
    assert_eq!(waits, 3);
}

/// In a release build, some polls are inlined into other functions, so fewer calls may be counted than happened, but
/// never more.
fn check_release_build(profile: &str) {
    let project = tasks();
    let manifest = std::fs::read_to_string(project.dir().join("Cargo.toml")).unwrap();
    project.write(
        "Cargo.toml",
        &format!("{manifest}\n[profile.release]\n{profile}\n"),
    );
    project.run("build --release").with_code(0);
    let (account, report) = Report::of(&project, &project.built("release/tasks"), "unmarked");
    report.assert_sums_hold();
    let shown = calls(&report, &account);
    for (name, [began, ended, cancelled]) in &shown {
        let [all, all_ended, all_cancelled] = account[name];
        assert!(
            *began <= all && *ended <= all_ended && *cancelled <= all_cancelled,
            "{name}: {shown:?} of {account:?}, {profile}"
        );
    }
    assert!(!shown.is_empty(), "no async function is left, {profile}");
    assert!(project.dir().join("target/tickscope").join(TARGET).exists());
}

fn what_a_release_build_shows_of_async_functions_is_right() {
    check_release_build("");
}

fn what_a_release_build_with_fat_lto_shows_of_async_functions_is_right() {
    check_release_build("lto = true");
}

fn what_a_small_release_build_shows_of_async_functions_is_right() {
    check_release_build("opt-level = \"s\"");
}

/// A row that counts polls instead of calls has `{poll}` in its name.
fn other_polls_are_called_polls() {
    let project = tasks();
    // This function never returns, so it lacks the panic by which bodies of async functions are recognized.
    project.write(
        "src/main.rs",
        "use std::future::Future; use std::pin::pin; use std::task::{Context, Waker};
         async fn forever(n: u64) -> ! { loop { std::hint::black_box(n); tick().await } }
         async fn tick() { Once(false).await }
         struct Once(bool);
         impl Future for Once { type Output = ();
             fn poll(mut self: std::pin::Pin<&mut Self>, _: &mut Context<'_>) -> std::task::Poll<()> {
                 if std::mem::replace(&mut self.0, true) { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
             } }
         fn main() {
             let mut future = pin!(forever(1));
             for _ in 0..10 { let _ = future.as_mut().poll(&mut Context::from_waker(Waker::noop())); }
             println!(\"x\");
         }",
    );
    project.run("build").with_code(0);
    let (_, report) = Report::of(&project, &project.built("debug/tasks"), "polls");
    let calls = |name: &str| {
        let nodes = report.json["nodes"].as_array().unwrap().iter();
        let of_name = nodes.filter(|node| node["name"] == name);
        of_name.map(|node| node["calls"].as_u64().unwrap()).sum::<u64>()
    };
    assert_eq!(calls("forever::{poll}"), 10, "{}", report.json["nodes"]);
    // The last call is dropped with the program's future.
    assert_eq!(report.rows["tick"].calls, [10, 9, 1]);
}

const ASKED: &str = r#"
use std::future::Future;
use std::io::BufRead;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

struct Pause(bool);

impl Future for Pause {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) { Poll::Ready(()) } else { Poll::Pending }
    }
}

async fn call() { for _ in 0..3 { Pause(false).await } }

async fn other() { Pause(false).await }

/// Begins a call, and ends before it.
async fn borrow<F: Future>(place: &mut Place<F>, begin: fn() -> F) {
    place.0.set(Some(begin()));
    place.poll()
}

async fn exits(now: bool) {
    if now { std::process::exit(0) }
    Pause(false).await
}

async fn breaks(now: bool) {
    if now { panic!("on purpose") }
    Pause(false).await
}

/// Its first poll goes on until another line comes.
async fn inside() {
    done();
    line();
    Pause(false).await
}

#[inline(never)]
fn done() { println!("done"); }

fn line() -> String {
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).unwrap();
    line.trim().to_string()
}

fn now<F: Future>(future: F) -> Poll<F::Output> {
    std::pin::pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// Slot for a pinned future; empty if there is no future.
struct Place<F>(Pin<Box<Option<F>>>);

impl<F: Future> Place<F> {
    fn poll(&mut self) {
        let future = self.0.as_mut().as_pin_mut().unwrap();
        if future.poll(&mut Context::from_waker(Waker::noop())).is_ready() { self.0.set(None) }
    }

    fn act(&mut self, act: &str, begin: fn() -> F) {
        match act {
            "begin" => { self.0.set(Some(begin())); self.poll() }
            "borrow" => assert!(now(borrow(self, begin)).is_ready()),
            "poll" => self.poll(),
            "end" => while self.0.is_some() { self.poll() },
            _ => self.0.set(None),
        }
    }
}

fn places<F>(_: fn() -> F) -> [Place<F>; 6] { std::array::from_fn(|_| Place(Box::pin(None))) }

fn main() {
    let (mut calls, mut others, mut insides) = (places(call), places(other), places(inside));
    loop {
        let line = line();
        let [act, what, place] = *line.split(' ').collect::<Vec<_>>() else { return };
        let place: usize = place.parse().unwrap();
        match what {
            "call" => calls[place].act(act, call),
            "other" => others[place].act(act, other),
            "exits" => drop(now(exits(true))),
            "breaks" => drop(std::thread::spawn(|| now(breaks(true))).join().unwrap_err()),
            _ => insides[place].act(act, inside),
        }
        done();
    }
}
"#;

/// A running program that reads commands from its standard input, one per line, and is examined with `tickscope`.
struct Asked<'a> {
    project: &'a Project,
    program: Child,
    lines: ChildStdin,
    said: BufReader<ChildStdout>,
    done: u64,
}

impl Asked<'_> {
    fn does(&mut self, lines: &[&str]) {
        for line in lines {
            writeln!(self.lines, "{line}").unwrap();
            let mut said = String::new();
            self.said.read_line(&mut said).unwrap();
            assert_eq!(said, "done\n");
            self.done += 1;
        }
    }

    /// Switches a function of the program on or off.
    fn switch(&self, on: &str, function: &str) {
        let pattern = format!("small::{function}");
        self.project.viewer(&[on, &pattern, "small"]).with_code(0);
    }

    /// Returns a report that was made after the program had executed all the lines it was sent.
    fn report(&self) -> Report {
        loop {
            let done = self.project.viewer(&["report", "-f", "json", "small"]);
            if done.code != Some(0) {
                continue;
            }
            let report = Report::read(serde_json::from_str(&done.out).unwrap());
            let nodes = report.json["nodes"].as_array().unwrap().iter();
            let of_done = nodes.filter(|node| node["name"] == "done");
            if of_done.map(|node| node["calls"].as_u64().unwrap()).sum::<u64>() == self.done {
                report.assert_sums_hold();
                return report;
            }
        }
    }

    /// Returns how many calls of a function have begun, completed and been cancelled, how many are in flight, and how
    /// many ended unseen.
    fn counted(&self, function: &str) -> ([i64; 3], i64, i64) {
        let report = self.report();
        let row = &report.rows[function];
        (row.calls, row.in_flight, row.vanished)
    }
}

/// Calls in flight stay counted when their function is switched off and on again. A call that ends while the function
/// is off counts as ended unseen. A call that begins while the function is off is not counted.
fn calls_in_flight_stay_right_when_their_function_is_switched() {
    let project = Project::package("", "src/main.rs", ASKED);
    project.run("build").with_code(0);
    let mut program = project
        .command(project.built("debug/small"))
        .envs([
            ("TICKSCOPE", "live"),
            ("TICKSCOPE_FUNCTIONS", "every"),
            ("TICKSCOPE_BUDGET", "off"),
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = program.stdin.take().unwrap();
    let said = BufReader::new(program.stdout.take().unwrap());
    let mut asked = Asked {
        project: &project,
        program,
        lines,
        said,
        done: 0,
    };
    let begin = [
        "begin call 0",
        "begin call 1",
        "begin call 2",
        "begin call 3",
        "begin call 4",
    ];
    asked.does(&begin);
    assert_eq!(asked.counted("call"), ([5, 0, 0], 5, 0));
    asked.switch("off", "call");
    asked.does(&[
        "poll call 0",
        "poll call 1",
        "end call 2",
        "drop call 3",
        "begin call 5",
    ]);
    asked.switch("on", "call");
    asked.does(&[
        "poll call 0",
        "end call 0",
        "poll call 4",
        "drop call 4",
        "end call 5",
    ]);
    // The collector learns that calls 2 and 3 are over when new calls reuse their addresses, if not before.
    asked.does(&["begin call 2", "begin call 3"]);
    let ([began, ended, cancelled], in_flight, vanished) = asked.counted("call");
    assert_eq!((began, ended + cancelled + vanished, in_flight), (7, 4, 3));
    assert!(
        [(2, 0), (2, 1), (1, 2)].contains(&(ended, vanished)),
        "{ended} {vanished}"
    );
    asked.does(&["end call 1", "end call 2", "drop call 3"]);
    let then = ([7, ended + 2, cancelled + 1], 0, vanished);
    assert_eq!(asked.counted("call"), then);

    // If a function stays off for longer than a second, its calls in flight are counted as ended unseen.
    asked.does(&["begin call 0", "begin call 1"]);
    asked.switch("off", "call");
    while asked.counted("call").1 > 0 {}
    asked.switch("on", "call");
    asked.does(&["poll call 0", "end call 0", "poll call 1", "drop call 1"]);
    let then = ([9, ended + 2, cancelled + 1], 0, vanished + 2);
    assert_eq!(asked.counted("call"), then);
    asked.does(&["begin other 0", "end other 0"]);
    let (calls, in_flight, _) = asked.counted("other");
    assert_eq!((calls[0], calls[2], in_flight), (calls[1], 0, 0));

    // This call was begun by a call that has ended, but it is still polled, so it is not over. The call of `other` has seemed to
    // be over for less time than this one.
    asked.does(&["borrow call 0", "poll call 0", "begin other 0"]);
    asked.switch("off", "other");
    while asked.counted("other").1 > 0 {}
    asked.does(&["end call 0"]);
    let then = ([10, ended + 3, cancelled + 1], 0, vanished + 2);
    assert_eq!(asked.counted("call"), then);

    // A panic in a poll ends the thread.
    asked.does(&["now breaks 0"]);
    while asked.counted("breaks").1 > 0 {}
    let ([began, ended, cancelled], _, vanished) = asked.counted("breaks");
    assert_eq!((began, ended, cancelled + vanished), (1, 0, 1));

    // The function is switched off and on while the call is being polled.
    asked.does(&["begin inside 0"]);
    assert_eq!(asked.counted("inside"), ([1, 0, 0], 1, 0));
    asked.switch("off", "inside");
    asked.switch("on", "inside");
    asked.does(&["", "end inside 0"]);
    assert_eq!(asked.counted("inside"), ([1, 1, 0], 0, 0));
    asked.does(&["begin inside 1"]);
    asked.switch("off", "inside");
    asked.does(&[""]);
    asked.switch("on", "inside");
    asked.does(&["end inside 1"]);
    // If the end of the poll was not seen, the collector does not know whether the call was over.
    let (calls, in_flight, unseen) = asked.counted("inside");
    assert_eq!((calls, in_flight), ([2, 2 - unseen, 0], 0));
    // The end of the program ends no call.
    let Asked {
        mut program,
        mut lines,
        ..
    } = asked;
    writeln!(lines, "now exits 0").unwrap();
    assert!(program.wait().unwrap().success());
    let done = project
        .viewer(&["report", "-f", "json", "--ended", "small"])
        .with_code(0);
    let row = &Report::read(serde_json::from_str(&done.out).unwrap()).rows["exits"];
    assert_eq!((row.calls, row.in_flight, row.vanished), ([1, 0, 0], 1, 0));
}

/// Functions are switched on and off from outside while threads poll them. The sums must still add up, and no call may
/// be counted that did not happen. Set `STORM_SECONDS` to make the test longer.
fn async_calls_stay_right_while_their_functions_are_switched() {
    let project = tasks();
    project.run("build").with_code(0);
    let (mut command, kept) = project.measured(project.built("debug/tasks"), "storm");
    command
        .env("TICKSCOPE", "live")
        .arg("until-input-ends")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut program = command.spawn().unwrap();
    let tickscope = |words: &[&str]| project.viewer(words).code == Some(0);
    while !tickscope(&["report", "tasks"]) {
        assert!(program.try_wait().unwrap().is_none(), "the program has ended");
    }
    let seconds = std::env::var("STORM_SECONDS").map_or(2.0, |seconds| seconds.parse().unwrap());
    let (began, mut switches) = (Instant::now(), 0);
    let functions = [
        "leaf", "request", "text", "*", "middle", "waits", "falls", "boxed",
    ];
    while began.elapsed() < Duration::from_secs_f64(seconds) {
        let pattern = format!("tasks::{}", functions[switches / 2 % functions.len()]);
        assert!(tickscope(&[["off", "on"][switches % 2], &pattern, "tasks"]));
        switches += 1;
    }
    drop(program.stdin.take());
    let mut out = String::new();
    program.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert!(program.wait().unwrap().success());
    let (account, report) = (account(&out), Report::read(project.report(kept)));
    report.assert_sums_hold();
    let vanished = report.json["functions"]["vanished"].as_i64().unwrap();
    for (name, [began, ended, cancelled]) in calls(&report, &account) {
        let [all, all_ended, all_cancelled] = account[&name];
        assert!(
            began <= all && ended <= all_ended && cancelled <= all_cancelled,
            "{name}: {began} {ended} {cancelled} of {:?}, {vanished} vanished",
            account[&name]
        );
    }
    println!("G12: {switches} switches of async functions, {vanished} ends were not seen");
}

const SLOW_NOW_AND_THEN: &str = r#"
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

struct Pause(bool);

impl Future for Pause {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) { Poll::Ready(()) } else { Poll::Pending }
    }
}

async fn query() { Pause(false).await }

async fn handle() { for _ in 0..3 { query().await } }

fn main() {
    for number in 0..2_000 {
        let mut call = pin!(handle());
        while call.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {
            if number % 100 == 99 { std::thread::sleep(Duration::from_millis(2)) }
        }
    }
}
"#;

/// An async function of an unedited program can be watched. The time between two polls counts as waiting, and is
/// charged to the future that is being awaited.
fn slow_calls_of_an_async_function_are_told_by_what_they_await() {
    let project = Project::package("", "src/main.rs", SLOW_NOW_AND_THEN);
    project.run("build").with_code(0);
    let (mut program, kept) = project.measured(project.built("debug/small"), "awaits");
    finish(program.env("TICKSCOPE_WATCH", "handle:1ms")).with_code(0);
    let snapshot = tickscope_format::snapshot_file::read(&kept).unwrap();
    let watch = &snapshot.watches[0];
    let (typical, slow) = watch.calls();
    // Watches are set up on the publisher's thread, so the first calls may be over before the watch begins.
    assert!(typical + slow <= 2_000, "{typical} {slow} {:?}", watch.lost);
    assert!(slow >= 8, "{typical} {slow} {:?}", watch.lost);
    assert_eq!((watch.lost.discarded, watch.lost.missed), (0, 0));
    let name = |path: u32| {
        let site = watch.paths[path as usize].site;
        snapshot.sites[site.index()].name.clone()
    };
    // Each call awaits three queries. A later poll of a query counts as no call.
    let queries = |sums: fn(&WatchedPath) -> PathSums| -> u64 {
        let paths = (0..).zip(&watch.paths);
        let queries = paths.filter(|(path, _)| name(*path) == "query");
        queries.map(|(_, path)| sums(path).calls).sum()
    };
    let counted = (queries(|path| path.typical), queries(|path| path.slow));
    assert_eq!(counted, (3 * typical, 3 * slow));
    let awaited: u64 = watch
        .causes
        .iter()
        .filter(|cause| cause.kind == CauseKind::Waiting && name(cause.path) == "query")
        .map(|cause| cause.calls)
        .sum();
    assert!(awaited >= 8, "{:?}", watch.causes);
    for exemplar in &watch.exemplars {
        let ticks: u64 = exemplar.trace.iter().flat_map(|trace| &trace.ticks).sum();
        assert_eq!(ticks, exemplar.ticks);
    }
}

tickscope_testkit::tests![
    unmarked_async_functions_show_what_marked_ones_show,
    what_a_release_build_shows_of_async_functions_is_right,
    what_a_release_build_with_fat_lto_shows_of_async_functions_is_right,
    other_polls_are_called_polls,
    calls_in_flight_stay_right_when_their_function_is_switched,
    async_calls_stay_right_while_their_functions_are_switched,
    slow_calls_of_an_async_function_are_told_by_what_they_await;
    ignored:
    // This test is slow, and two tests above check other release builds.
    what_a_small_release_build_shows_of_async_functions_is_right,
];
