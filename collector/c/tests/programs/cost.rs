//! Compares the costs of a scope in C and of a scope in Rust, in instructions and in time. The programs run
//! alternately.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use crate::support::{self, Language, compile, done, source};

/// Environment variable that makes this test program measure scopes in Rust. Its value is the number of scopes to open.
const TIMES: &str = "SCOPES_IN_RUST";

/// Number of runs of each program.
const ROUNDS: usize = 15;

/// If [`TIMES`] is set, runs the loop of `loop.c` in Rust, prints the time per scope, and exits the process.
pub(crate) fn measure_rust() {
    let Ok(times) = std::env::var(TIMES) else { return };
    let times: u32 = times.parse().unwrap();
    tickscope::scope!("main");
    let mut began = Instant::now();
    for all in [1000, times] {
        began = Instant::now();
        (0..all).for_each(|_| called());
    }
    eprintln!("ns {:.3}", began.elapsed().as_nanos() as f64 / f64::from(times));
    std::process::exit(0);
}

#[inline(never)]
fn called() {
    tickscope::scope!("called");
    std::hint::black_box(());
}

struct Loop {
    name: &'static str,
    program: std::path::PathBuf,
    in_rust: bool,
}

impl Loop {
    fn command(&self, dir: &Path, times: u32, under: &[&str]) -> Command {
        let program = self.program.to_str().unwrap();
        let words = [under, &[program]].concat();
        let mut command = support::program(Path::new(words[0]), dir);
        command.args(&words[1..]).env("TICKSCOPE_MODE", "exact");
        command.env("LD_LIBRARY_PATH", support::libraries());
        if self.in_rust {
            command.env(TIMES, times.to_string());
        } else {
            command.arg(times.to_string());
        }
        command
    }

    /// Returns the time per call in ns.
    fn time(&self, dir: &Path) -> f64 {
        let output = done(&mut self.command(dir, 5_000_000, &[]));
        let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        let number = |line: &str| line.strip_prefix("ns ").unwrap_or(line).parse().ok();
        text.lines().find_map(number).unwrap()
    }

    /// Returns the number of instructions per call.
    fn instructions(&self, dir: &Path) -> f64 {
        let count = |times| {
            let under = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"];
            let output = done(&mut self.command(dir, times, &under));
            let said = String::from_utf8(output.stderr).unwrap();
            let count = said.lines().find_map(|line| line.split("Collected : ").nth(1));
            count.unwrap().trim().parse::<f64>().unwrap()
        };
        (count(110_000) - count(10_000)) / 100_000.0
    }
}

fn what_a_scope_costs() {
    let compiler = Language::C.compiler();
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let build = |name: &'static str, words: &[&str], is_shared: bool| {
        let program = dir.join(name);
        let mut command = compile(compiler, Language::C, &[&["-O2", "-std=c11"], words].concat());
        command
            .arg(source("loop.c"))
            .args(["-x", "none", "-o"])
            .arg(&program);
        if is_shared {
            command.arg("-L").arg(support::libraries()).arg("-ltickscope");
        } else {
            command.arg(support::libraries().join("libtickscope.a"));
        }
        done(command.args(support::SYSTEM));
        Loop {
            name,
            program,
            in_rust: false,
        }
    };
    let loops = [
        Loop {
            name: "scope in Rust",
            program: std::env::current_exe().unwrap(),
            in_rust: true,
        },
        build("scope in C", &[], false),
        build("scope in C, libtickscope.so", &[], true),
        build(
            "-finstrument-functions",
            &["-DBARE", "-finstrument-functions"],
            false,
        ),
    ];
    let mut ratios = vec![Vec::new(); loops.len()];
    let mut times = ratios.clone();
    for _ in 0..ROUNDS {
        let all = loops.each_ref().map(|one| one.time(dir));
        for (index, time) in all.into_iter().enumerate() {
            times[index].push(time);
            ratios[index].push(time / all[0]);
        }
    }
    let median = |values: &mut Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let has_callgrind = support::has("valgrind");
    let counted = loops.each_ref().map(|one| {
        if has_callgrind {
            one.instructions(dir)
        } else {
            f64::NAN
        }
    });
    let mut found = Vec::new();
    for (index, one) in loops.iter().enumerate() {
        let (ns, ratio) = (median(&mut times[index]), median(&mut ratios[index]));
        let (count, of_rust) = (counted[index], counted[index] / counted[0]);
        eprintln!(
            "{:28} {ns:6.1} ns, {ratio:.2} of Rust's; {count:6.1} instructions, {of_rust:.2}",
            one.name
        );
        found.push((ratio, of_rust));
    }
    assert!(
        found[1].0 < 1.1,
        "a scope in C takes {:.2} of the time of one in Rust",
        found[1].0
    );
    assert!(
        found[3].0 < 1.5,
        "a call of a function takes {:.2} of the time of a scope",
        found[3].0
    );
    if has_callgrind {
        assert!(
            found[1].1 < 1.15,
            "a scope in C has {:.2} of the instructions of one in Rust",
            found[1].1
        );
    }
}

tickscope_testkit::tests![
    ; ignored:
    // Needs a release build and an otherwise idle machine, so only .ci/nightly runs it.
    what_a_scope_costs,
];
