//! Async functions that the source does not mark: their calls are those of the program's own account, and those that it shows
//! with its functions marked.

use std::collections::BTreeMap;
use std::path::Path;

use crate::own_collector::depending_on_tickscope;
use crate::support::{Project, TARGET, finish};

/// What is told of the calls of a function: begun, ready, dropped before.
type Calls = BTreeMap<String, [i64; 3]>;

/// What a report says of an async function, over all rows.
#[derive(Debug, Default)]
struct Row {
    calls: [i64; 3],
    in_flight: i64,
    polls: i64,
    /// Wall times of the row with most calls.
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
    /// Runs a program, and returns its account and what its report says.
    fn of(project: &Project, program: &Path, name: &str) -> (Calls, Self) {
        let report = project.dir().join(format!("{name}.txt"));
        let mut command = project.command(program.to_str().unwrap());
        command
            .env("TICKSCOPE_REPORT", &report)
            .env("TICKSCOPE_BUDGET", "off")
            .env("TICKSCOPE_FUNCTIONS", "every");
        let out = finish(&mut command).with_code(0).out;
        let mut command = project.command(env!("CARGO_BIN_EXE_tickscope"));
        command
            .args(["report", "-f", "json"])
            .arg(report.with_extension("txt.tks"));
        let json: serde_json::Value = serde_json::from_str(&finish(&mut command).with_code(0).out).unwrap();
        (account(&out), Self::read(json))
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
            assert_eq!(started, ended + cancelled + row.in_flight, "{name}: {row:?}");
        }
        assert_eq!(self.json["dropped"], 0);
        assert_eq!(self.json["unbalanced"], 0);
    }
}

fn tasks() -> Project {
    Project::copy_of("tasks")
}

/// The same program with its functions marked, built by cargo alone.
fn marked(source: &Path) -> Report {
    let text = |name: &str| std::fs::read_to_string(source.join(name)).unwrap();
    let project = depending_on_tickscope("\"enable\"", &text("src/main.rs"));
    project.write("src/executor.rs", &text("src/executor.rs"));
    let mut command = project.command("cargo");
    finish(command.arg("build").env("RUSTFLAGS", "--cfg marked")).with_code(0);
    let (account, report) = Report::of(&project, &project.dir().join("target/debug/small"), "marked");
    report.assert_sums_hold();
    assert_eq!(calls(&report, &account), account);
    report
}

/// What a report says of the functions of an account.
fn calls(report: &Report, account: &Calls) -> Calls {
    let of = |name: &String| Some((name.clone(), report.rows.get(name)?.calls));
    account.keys().filter_map(of).collect()
}

#[test]
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
        assert_eq!(
            (row.calls, row.in_flight),
            (by_hand.calls, by_hand.in_flight),
            "{name}"
        );
        // How often a task is woken depends on threads.
        let polls = row.polls.abs_diff(by_hand.polls);
        assert!(
            polls * 10 <= by_hand.polls.unsigned_abs(),
            "{name}: {row:?} {by_hand:?}"
        );
        // Functions that await it are above it, also those between that are marked by nothing.
        let is_below =
            |other: &String| row.below.contains(other) || row.below.iter().any(|b| b.starts_with("first"));
        assert!(by_hand.below.iter().all(is_below), "{name}: {row:?} {by_hand:?}");
    }
    // A leaf sleeps three milliseconds or more in each fifth call, also on a busy machine.
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

/// In a release build some polls are parts of other functions. What is shown of the others is exact.
#[test]
fn what_a_release_build_shows_of_async_functions_is_right() {
    for profile in [
        "",
        "[profile.release]\nlto = true\n",
        "[profile.release]\nopt-level = \"s\"\n",
    ] {
        let project = tasks();
        let manifest = std::fs::read_to_string(project.dir().join("Cargo.toml")).unwrap();
        project.write("Cargo.toml", &format!("{manifest}\n{profile}"));
        project.run("build --release").with_code(0);
        let (account, report) = Report::of(&project, &project.built("release/tasks"), "unmarked");
        report.assert_sums_hold();
        let shown = calls(&report, &account);
        for (name, [began, ended, cancelled]) in &shown {
            let [all, all_ended, all_cancelled] = account[name];
            let vanished = report.json["functions"]["vanished"].as_i64().unwrap();
            assert!(
                *began <= all && *ended <= all_ended && *cancelled <= all_cancelled + vanished,
                "{name}: {shown:?} of {account:?}, {profile}"
            );
        }
        assert!(!shown.is_empty(), "no async function is left, {profile}");
        println!("{profile:?}: {shown:?} of {account:?}");
        assert!(project.dir().join("target/tickscope").join(TARGET).exists());
    }
}

/// A row says so if its calls are polls.
#[test]
fn other_polls_are_called_polls() {
    let project = tasks();
    // Without the library's panic a body cannot be told from another function: it never returns.
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
    // The last one is dropped with the program's future.
    assert_eq!(report.rows["tick"].calls, [10, 9, 1]);
}
