//! What commands show of a program that runs, under load: it adds up, it is fresh, it moves.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::cli_commands::support::{Place, until};

fn number(value: &Value) -> u64 {
    value
        .as_u64()
        .unwrap_or_else(|| panic!("a whole number: {value}"))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("a list: {value}"))
}

/// Names of the members, in their order.
fn members(text: &str) -> Vec<String> {
    // The parser sorts members; their order is promised, so it is read off the text.
    let mut names = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("\": ") {
        let begin = rest[..at].rfind('"').unwrap() + 1;
        names.push(rest[begin..at].to_string());
        rest = &rest[at + 3..];
    }
    names
}

/// What is promised of every report as JSON.
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
        assert_eq!(
            sums[&number(&node["id"])],
            total,
            "self and children are the total: {node}"
        );
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

fn the_json_has_exactly_the_members_promised() {
    let place = Place::new();
    let program = place.start("busy");
    let text = place
        .tickscope(&["report", "--format", "json", "-p", &program.pid().to_string()])
        .ok()
        .quiet()
        .out;
    let document: Value = serde_json::from_str(&text).unwrap();
    let names = members(&text);
    let wanted: Vec<&str> = "tickscope process name pid state started_unix_ns uptime_ns clock source \
        ticks_per_second reason errors epoch drains_ns mode cost lower_ns upper_ns share_lower share_upper \
        publisher_share publisher_cpu_ns own_low_ns own_high_ns drains_ns reset_epoch since_reset_ns seq interval_ns dropped unbalanced lifetime calls ticks \
        threads id name tid state count cpu_ns outside_ns open \
        outside_ticks began_ticks"
        .split_whitespace()
        .collect();
    assert_eq!(names[..wanted.len()], wanted);
    let node: Vec<&str> = "id parent thread name module file line calls total_ns self_ns total_ticks \
        self_ticks open errors p50_ns p90_ns p99_ns p999_ns max_ns max_exact estimated self_error_ns \
        total_error_ns timed_calls site"
        .split_whitespace()
        .collect();
    let at = names.iter().position(|name| name == "nodes").unwrap() + 1;
    assert_eq!(names[at..at + node.len()], node);

    let last: Vec<&str> = "kind unix_ns withdraws viewers pruned warnings histograms sampling_hz samples \
        sites name module file line group off calls id"
        .split_whitespace()
        .collect();
    let at = names.iter().position(|name| name == "kind").unwrap();
    assert_eq!(names[at..at + last.len()], last);
    let at = names.iter().position(|name| name == "rules").unwrap();
    let next = ["rules", "groups", "window", "focus", "tick", "per", "other_sites"];
    assert_eq!(names[at..at + next.len()], next);
    // Those of estimates are there where times are estimates.
    let at = names.iter().position(|name| name == "estimates").unwrap();
    let estimate = ["node", "timed", "self_error_ticks", "total_error_ticks"];
    let behind = names[at + 1..]
        .iter()
        .filter(|name| !estimate.contains(&&***name));
    assert_eq!(behind.collect::<Vec<_>>(), ["mute", "policy", "offered", "muted"]);

    let process = &document["process"];
    assert_eq!(process["name"], program.name);
    assert_eq!(process["pid"], program.pid());
    assert_eq!(process["state"], "running");
    assert_eq!(document["mode"], "adaptive");
    assert_eq!(document["dropped"], 0);
    assert_eq!(document["unbalanced"], 0);
    assert!(number(&process["started_unix_ns"]) > 1_600_000_000_000_000_000);
    assert!(document["clock"]["ticks_per_second"].as_f64().unwrap() > 1e6);
}

fn under_load_every_report_adds_up_and_nothing_runs_backwards() {
    let place = Place::new();
    let program = place.start("busy");
    let (mut calls, mut ticks, mut seq) = (0, 0, 0);
    let mut names = BTreeSet::new();
    for _ in 0..15 {
        let document = place.json(&program.name);
        check(&document);
        let lifetime = &document["lifetime"];
        assert!(number(&lifetime["calls"]) > calls, "it goes on");
        assert!(number(&lifetime["ticks"]) > ticks);
        assert!(
            number(&document["seq"]) > seq,
            "each command gets a record of its own"
        );
        calls = number(&lifetime["calls"]);
        ticks = number(&lifetime["ticks"]);
        seq = number(&document["seq"]);
        // Without a reset, all that was ever counted is shown.
        let shown: u64 = list(&document["nodes"])
            .iter()
            .map(|node| number(&node["calls"]))
            .sum();
        assert_eq!(shown, calls);
        names.extend(
            list(&document["threads"])
                .iter()
                .map(|thread| thread["name"].to_string()),
        );
    }
    for thread in ["\"busy-0\"", "\"busy-1\"", "\"brief\""] {
        assert!(names.contains(thread), "{names:?}");
    }
}

fn what_is_shown_was_captured_after_the_command_began() {
    let place = Place::new();
    let program = place.start("busy");
    // Without a request, at 1 Hz, most of these would see an older record.
    for _ in 0..5 {
        let before = unix_ns();
        let document = place.json(&program.name);
        assert!(
            number(&document["unix_ns"]) >= before,
            "a record from before the command"
        );
        let before = unix_ns();
        let kept = place.tickscope(&["snapshot", &program.name]).ok().quiet().out;
        let kept = place.json(kept.trim());
        assert!(number(&kept["unix_ns"]) >= before);
    }
}

fn unix_ns() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.unwrap().as_nanos() as u64
}

fn a_program_stuck_in_one_call_shows_its_growing_time() {
    let place = Place::new();
    let program = place.start("stuck");
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

    let stacks = place.tickscope(&["stacks", &program.name]).ok().quiet().out;
    let line = stacks
        .lines()
        .find(|line| line.contains("stuck_in_here"))
        .unwrap();
    let age = line.split_whitespace().next().unwrap();
    assert!(
        age.ends_with('s') && age.starts_with(|c: char| c.is_ascii_digit()),
        "{line}"
    );
    assert!(line.contains("roles.rs:"), "{line}");
}

fn stacks_show_every_thread_that_lives() {
    let place = Place::new();
    let program = place.start("busy");
    let stacks = until("both threads have begun", || {
        let text = place.tickscope(&["stacks", &program.name]).ok().quiet().out;
        text.contains("busy-1, tid").then_some(text)
    });
    assert!(stacks.starts_with(&format!(
        "tickscope stacks: {}, pid {}",
        program.name,
        program.pid()
    )));
    assert!(stacks.contains("busy-0, tid "), "{stacks}");
}

fn reset_returns_once_it_is_done_and_loses_nothing() {
    let place = Place::new();
    let program = place.start("busy");
    for epoch in 1..=3 {
        let done = place.tickscope(&["reset", &program.name]).ok().quiet();
        assert!(done.out.contains(&format!("epoch {epoch}")), "{}", done.out);
        let document = place.json(&program.name);
        check(&document);
        assert_eq!(number(&document["reset_epoch"]), epoch);
        assert!(
            number(&document["since_reset_ns"]) < number(&document["process"]["uptime_ns"]),
            "younger than the program"
        );
        let shown: u64 = list(&document["nodes"])
            .iter()
            .map(|node| number(&node["calls"]))
            .sum();
        assert!(
            shown < number(&document["lifetime"]["calls"]),
            "the lifetime is not reset"
        );
    }
}

fn reset_after_a_while_waits_first() {
    let place = Place::new();
    let program = place.start("stuck");
    let begin = std::time::Instant::now();
    place
        .tickscope(&["reset", &program.name, "--after", "300ms"])
        .ok()
        .quiet();
    assert!(begin.elapsed() >= std::time::Duration::from_millis(300));
    let document = place.json(&program.name);
    assert_eq!(number(&document["reset_epoch"]), 1);
}

fn after_sigkill_the_newest_record_opens_and_it_is_called_crashed() {
    let place = Place::new();
    let mut program = place.start("busy");
    let before = place.json(&program.name);
    program.kill();
    let done = place
        .tickscope(&["report", "-f", "json", "--ended", &program.name])
        .ok()
        .says(&["newest that has ended", &program.name, "crashed"]);
    let after = done.json();
    check(&after);
    assert_eq!(after["process"]["state"], "crashed");
    assert!(
        number(&after["seq"]) >= number(&before["seq"]),
        "nothing older than was seen"
    );
    assert!(number(&after["lifetime"]["calls"]) >= number(&before["lifetime"]["calls"]));

    let pid = program.pid().to_string();
    let text = place.tickscope(&["report", &pid]).ok().quiet().out;
    assert!(text.lines().next().unwrap().contains("crashed"), "{text}");
    let reset = place.tickscope(&["reset", &pid]);
    reset.failed(1, &["crashed", "nothing to reset"]);
}

fn a_program_that_ended_leaves_its_last_record() {
    let place = Place::new();
    let mut program = place.start("busy");
    let before = place.json(&program.name);
    assert!(program.end().success());
    let after = place
        .tickscope(&["report", "-f", "json", "--ended", &program.name])
        .ok()
        .json();
    check(&after);
    assert_eq!(after["process"]["state"], "exited");
    assert_eq!(after["kind"], "final");
    assert!(number(&after["lifetime"]["calls"]) > number(&before["lifetime"]["calls"]));
}

tickscope_testkit::tests![
    the_json_has_exactly_the_members_promised,
    under_load_every_report_adds_up_and_nothing_runs_backwards,
    what_is_shown_was_captured_after_the_command_began,
    a_program_stuck_in_one_call_shows_its_growing_time,
    stacks_show_every_thread_that_lives,
    reset_returns_once_it_is_done_and_loses_nothing,
    reset_after_a_while_waits_first,
    after_sigkill_the_newest_record_opens_and_it_is_called_crashed,
    a_program_that_ended_leaves_its_last_record,
];
