//! Reports on a running program under load: their numbers add up, they are up to date, and they change over time.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::Value;
use tickscope_format::layout::state;

use crate::processes::roles::unix_ns;
use crate::support::{Place, line_with, until_true, word};

pub(crate) fn number(value: &Value) -> u64 {
    value
        .as_u64()
        .unwrap_or_else(|| panic!("a whole number: {value}"))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("a list: {value}"))
}

/// Asserts the invariants of every JSON report.
pub(crate) fn check(document: &Value) {
    assert_eq!(document["tickscope"], 1);
    let nodes = list(&document["nodes"]);
    let threads = list(&document["threads"]);
    let mut seen: BTreeMap<u64, &Value> = BTreeMap::new();
    let mut sums: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for node in nodes {
        let id = number(&node["id"]);
        let own = (number(&node["self_ns"]), number(&node["self_ticks"]));
        assert!(number(&node["thread"]) < threads.len() as u64);
        if !node["parent"].is_null() {
            let parent = number(&node["parent"]);
            let before = seen.get(&parent).expect("parents before children");
            assert_eq!(before["thread"], node["thread"], "a tree is of one thread");
            let sum = sums.get_mut(&parent).unwrap();
            sum.0 += number(&node["total_ns"]);
            sum.1 += number(&node["total_ticks"]);
        }
        assert!(seen.insert(id, node).is_none(), "ids are unique");
        sums.insert(id, own);
        assert!(node["open"].is_boolean() && node["name"] != "" && node["file"] != "");
        assert!(number(&node["line"]) > 0);
    }
    for node in nodes {
        let total = (number(&node["total_ns"]), number(&node["total_ticks"]));
        let sum = sums[&number(&node["id"])];
        assert_eq!(sum, total, "self and children are the total: {node}");
    }
    for (index, thread) in threads.iter().enumerate() {
        assert_eq!(number(&thread["id"]), index as u64);
        let mut above = Value::Null;
        for open in list(&thread["open"]) {
            let node = seen[&number(open)];
            assert_eq!(node["open"], true);
            assert_eq!(number(&node["thread"]), index as u64);
            assert_eq!(node["parent"], above, "an open path goes from parent to child");
            above = open.clone();
        }
    }
}

/// Returns the total number of calls in a report.
pub(crate) fn shown_calls(document: &Value) -> u64 {
    let nodes = list(&document["nodes"]).iter();
    nodes.map(|node| number(&node["calls"])).sum()
}

fn under_load_every_report_adds_up_and_nothing_runs_backwards() {
    let (place, program) = Place::with("busy");
    let (mut calls, mut ticks, mut seq) = (0, 0, 0);
    for _ in 0..4 {
        let document = place.json(&program.name);
        check(&document);
        let lifetime = &document["lifetime"];
        assert!(number(&lifetime["calls"]) > calls, "it goes on");
        assert!(number(&lifetime["ticks"]) > ticks);
        assert!(number(&document["seq"]) > seq, "each command gets a new record");
        calls = number(&lifetime["calls"]);
        ticks = number(&lifetime["ticks"]);
        seq = number(&document["seq"]);
        // Without a reset, the report has all counts since the program's start.
        assert_eq!(shown_calls(&document), calls);
    }
}

fn what_is_shown_was_captured_after_the_command_began() {
    let (place, program) = Place::with("busy");
    // The program publishes at 1 Hz, so without a request some of these reports would show an older record.
    for _ in 0..3 {
        let before = unix_ns();
        let document = place.json(&program.name);
        let captured = number(&document["unix_ns"]);
        assert!(captured >= before, "a record from before the command");
        let before = unix_ns();
        let kept = place.told(&["snapshot", &program.name]);
        let kept = place.json(kept.trim());
        assert!(number(&kept["unix_ns"]) >= before);
    }
}

fn a_program_stuck_in_one_call_shows_its_growing_time() {
    let (place, program) = Place::with("stuck");
    let time = || {
        let document = place.json(&program.name);
        check(&document);
        let nodes = list(&document["nodes"]).to_vec();
        let node = nodes.iter().find(|node| node["name"] == "stuck_in_here").unwrap();
        assert_eq!(number(&node["calls"]), 1);
        assert_eq!(node["open"], true);
        number(&node["self_ns"])
    };
    let first = time();
    let second = time();
    assert!(second > first, "{first} {second}");

    let stacks = place.told(&["stacks", &program.name]);
    let line = line_with(&stacks, "stuck_in_here");
    let age = line.split_whitespace().next().unwrap();
    assert!(age.ends_with('s'), "{line}");
    assert!(age.starts_with(|c: char| c.is_ascii_digit()), "{line}");
    assert!(line.contains("roles.rs:"), "{line}");
}

fn reset_returns_once_it_is_done_and_loses_nothing() {
    let (place, program) = Place::with("busy");
    for (epoch, after) in [(1, &[][..]), (2, &["--after", "300ms"])] {
        let begin = Instant::now();
        let reset = [&["reset", &program.name], after].concat();
        let done = place.tickscope(&reset).ok().quiet();
        assert!(after.is_empty() || begin.elapsed() >= Duration::from_millis(300));
        done.begins(&format!(
            "{}: counters at zero from now on; epoch {epoch}",
            program.who()
        ));
        let document = place.json(&program.name);
        check(&document);
        assert_eq!(number(&document["reset_epoch"]), epoch);
        assert!(
            number(&document["since_reset_ns"]) < number(&document["process"]["uptime_ns"]),
            "younger than the program"
        );
        let lifetime = number(&document["lifetime"]["calls"]);
        assert!(shown_calls(&document) < lifetime, "the lifetime is not reset");
    }
}

/// Commands report that a program is stopped by SIGSTOP. They do not hang, and leave no request behind.
fn a_stopped_program_shows_its_newest_record_and_refuses_to_reset() {
    let (place, program) = Place::with("busy");
    let before = place.json(&program.name);
    program.stop();

    let report = ["report", "-f", "json", &program.name];
    let seen = place.tickscope(&report).ok().says(&[
        "the program does not answer (is it stopped?); showing the newest record, ",
        " s old",
    ]);
    let seen = seen.json();
    assert!(seen["seq"].as_u64() >= before["seq"].as_u64());
    let stacks = place.tickscope(&["stacks", &program.name]).ok().says(&["s old"]);
    assert!(stacks.out.contains(&program.name));

    let begin = Instant::now();
    let given_up = " did not answer within 2 s (is it stopped?); the request is withdrawn";
    let reset = ["reset", &program.name];
    place.tickscope(&reset).failed(1, &[&program.name, given_up]);
    assert!(begin.elapsed() >= Duration::from_secs(2), "it is given its time");
    // By this time the program's heartbeat is old.
    let stale = place.tickscope(&report).ok().json();
    assert_eq!(stale["process"]["state"], "stale");
    assert_eq!(stale["reset_epoch"], 0);

    let ring = place.ring_of(program.pid()).unwrap();
    let latest = word(&ring, state::LATEST);
    program.go_on();
    // The test does not request a record here, because the request would overwrite the withdrawn one in the slot. It
    // waits for the next periodic record instead.
    until_true("it publishes again", || word(&ring, state::LATEST) != latest);
    let after = place.document(&report);
    // A program carries out any request that it finds in its slots when it continues, so the withdrawn request must be
    // gone.
    assert_eq!(after["reset_epoch"], 0);
    assert_eq!(after["process"]["state"], "running");
    assert!(after["seq"].as_u64() > stale["seq"].as_u64());
    place.told(&reset);
    assert_eq!(place.json(&program.name)["reset_epoch"], 1);
}

/// After a crash or an exit, the ring still contains the newest record. It must not be older than any record that was
/// reported before.
fn a_program_that_has_ended_leaves_its_newest_record() {
    let place = Place::new();
    for state in ["crashed", "exited"] {
        let mut program = place.start("busy");
        let before = place.json(&program.name);
        match state {
            "crashed" => program.kill(),
            _ => assert!(program.end().success()),
        }
        let pid = program.pid().to_string();
        let done = place.tickscope(&["report", "-f", "json", &pid]).ok().quiet();
        let after = done.json();
        check(&after);
        assert_eq!(after["process"]["state"], state);
        assert_eq!(after["kind"] == "final", state == "exited");
        assert!(number(&after["seq"]) >= number(&before["seq"]));
        assert!(number(&after["lifetime"]["calls"]) >= number(&before["lifetime"]["calls"]));
        let reset = place.tickscope(&["reset", &pid]);
        reset.failed(1, &[state, "nothing to reset"]);
    }
}

tickscope_testkit::tests![
    under_load_every_report_adds_up_and_nothing_runs_backwards,
    what_is_shown_was_captured_after_the_command_began,
    a_program_stuck_in_one_call_shows_its_growing_time,
    reset_returns_once_it_is_done_and_loses_nothing,
    a_stopped_program_shows_its_newest_record_and_refuses_to_reset,
    a_program_that_has_ended_leaves_its_newest_record,
];
