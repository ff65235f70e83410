//! What scripts and agents use: `tickscope top`, `tickscope wait-until`, `tickscope agents`.

use std::fs;

use serde_json::Value;
use tickscope_format::snapshot_file;
use tickscope_testkit::fixture;

use crate::cli_commands::support::{Place, until};

fn members(document: &Value) -> Vec<&str> {
    document.as_object().unwrap().keys().map(String::as_str).collect()
}

fn top_is_short_and_its_json_has_the_members_promised() {
    let place = Place::new();
    let program = place.start("busy");
    let done = until("functions have been called", || {
        let done = place.tickscope(&["top", &program.name, "--json"]).ok().quiet();
        (done.json()["total"].as_u64()? > 2).then_some(done)
    });
    assert!(done.out.len() <= 2_000, "{}", done.out);
    let document = done.json();
    let mut wanted: Vec<&str> =
        "tickscope program mode by unit estimated over_ns when whole shown total functions notes next"
            .split(' ')
            .collect();
    wanted.sort_unstable();
    assert_eq!(members(&document), wanted);
    assert_eq!(document["unit"], "ns");
    assert_eq!(document["estimated"], true, "the mode is adaptive");
    assert_eq!(document["program"]["pid"], program.pid());
    let row = document["functions"][0].as_object().unwrap();
    for member in ["function", "at", "self", "share", "total", "calls"] {
        assert!(row.contains_key(member), "{member} in {row:?}");
    }
    let next = document["next"][0].as_str().unwrap();
    assert!(
        next.starts_with("tickscope why ") && next.contains(&program.name),
        "{next}"
    );

    let all = place
        .tickscope(&["top", "1000", &program.name, "--json", "--by", "calls"])
        .ok()
        .quiet()
        .json();
    assert_eq!(all["shown"], all["total"]);
    assert_eq!(
        (&all["unit"], &all["estimated"]),
        (&"calls".into(), &false.into())
    );
    let own: u64 = all["functions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["self"].as_u64().unwrap())
        .sum();
    assert_eq!(own, all["whole"].as_u64().unwrap(), "self adds up to whole");

    let pid = program.pid().to_string();
    let text = place.tickscope(&["top", "2", "-p", &pid]).ok().quiet().out;
    assert!(text.contains("Top functions by self working (2 of "), "{text}");
    place
        .tickscope(&["top", "one", &program.name])
        .failed(2, &["one: wanted a number of functions, 1 to 10000"]);
    place
        .tickscope(&["top", "app", "-p", &pid])
        .failed(2, &["app and -p: one program is shown at a time"]);
}

fn the_commands_to_go_on_with_go_on() {
    let place = Place::new();
    snapshot_file::write(&place.work().join("run 1.tks"), &fixture::two_threads()).unwrap();
    snapshot_file::write(&place.work().join("after.tks"), &fixture::two_threads()).unwrap();
    place
        .tickscope(&["top", "./run 1.tks", "--by", "bytes"])
        .failed(2, &["--by bytes: no allocations are counted"]);
    let document = place
        .tickscope(&["top", "1", "./run 1.tks", "--json"])
        .ok()
        .quiet()
        .json();
    let next: Vec<&str> = document["next"]
        .as_array()
        .unwrap()
        .iter()
        .map(|next| next.as_str().unwrap())
        .collect();
    assert_eq!(
        next.len(),
        2,
        "what is kept can be compared, and shown in full: {next:?}"
    );
    for line in next {
        let mut shell = place.command("sh");
        let words = line.strip_prefix("tickscope").unwrap();
        shell
            .arg("-c")
            .arg(format!("\"$0\"{words}"))
            .arg(crate::cli_commands::support::VIEWER);
        crate::cli_commands::support::finish(&mut shell).ok().quiet();
    }
}

fn waiting_ends_when_the_condition_is_true_the_time_is_over_or_the_program_ends() {
    let place = Place::new();
    let mut program = place.start("busy");
    let name = program.name.clone();
    let pid = program.pid().to_string();
    let done = place
        .tickscope(&["wait-until", "calls(leaf) > 1000", &name])
        .ok()
        .quiet();
    assert!(
        done.out.starts_with("calls(leaf) > 1000 is true: calls("),
        "{}",
        done.out
    );
    // As trigger measures it.
    place
        .tickscope(&["wait-until", "calls(leaf) > 10", &name, "--over", "1s"])
        .ok()
        .quiet();

    let never = "calls(leaf) < 1";
    let late = place.tickscope(&["wait-until", never, &name, "--timeout", "50ms"]);
    late.failed(3, &["calls(leaf) < 1 did not become true within 0.1 s: calls("]);
    let late = place.tickscope(&[
        "wait-until",
        "p99(nowhere) > 1s",
        &name,
        "--timeout",
        "50ms",
        "--json",
    ]);
    let found = late.with_code(3).quiet();
    assert!(found.out.len() <= 2_000);
    let found = found.json();
    let mut wanted: Vec<&str> =
        "tickscope program condition outcome waited_ns over_ns estimated shown total findings notes next"
            .split(' ')
            .collect();
    wanted.sort_unstable();
    assert_eq!(members(&found), wanted);
    assert_eq!(found["outcome"], "timeout");
    let finding = &found["findings"][0];
    assert_eq!(
        (&finding["value"], &finding["unit"]),
        (&Value::Null, &"ns".into())
    );
    assert_eq!(finding["why"], "no function of this name was met yet");
    assert!(
        found["notes"][0]
            .as_str()
            .unwrap()
            .contains("no function that matches nowhere was met yet")
    );

    let mut waiting = place.command(crate::cli_commands::support::VIEWER);
    waiting.args(["wait-until", never, &name]);
    let waiting = waiting
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // A viewer that follows the program is seen by it.
    until("it watches", || {
        (place.json(&name)["viewers"].as_u64()? > 1).then_some(())
    });
    program.end();
    let output = waiting.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(4), "{err}");
    assert!(
        err.contains("has ended, and calls(leaf) < 1 did not become true: calls("),
        "{err}"
    );

    // What an ended program left is judged where no other run can be meant.
    place
        .tickscope(&["wait-until", "calls(leaf) > 1000", "-p", &pid])
        .ok()
        .quiet();
    place
        .tickscope(&["wait-until", never, "-p", &pid])
        .failed(4, &["has ended, and"]);
    place
        .tickscope(&["wait-until", never, &name])
        .failed(2, &["no live program called ", "give --ended"]);
    place
        .tickscope(&["wait-until", never, "--ended", &name])
        .failed(4, &["has ended, and"]);
    fs::write(place.work().join("x.tks"), "").unwrap();
    place
        .tickscope(&["wait-until", "p99(leaf) > 5", &name])
        .with_code(2);
}

fn a_file_is_not_waited_for() {
    let place = Place::new();
    snapshot_file::write(&place.work().join("run.tks"), &fixture::two_threads()).unwrap();
    place
        .tickscope(&["wait-until", "calls(insert) > 1", "./run.tks"])
        .failed(2, &["run.tks is a file; wait-until watches a program that runs"]);
}

fn agents_are_told_how_to_go_about_it() {
    let place = Place::new();
    let guide = place.tickscope(&["agents"]).ok().quiet().out;
    assert!(
        guide.starts_with("tickscope: a guide for agents and scripts\n"),
        "{guide}"
    );
    assert!(guide.lines().count() <= 60);
}

tickscope_testkit::tests![
    top_is_short_and_its_json_has_the_members_promised,
    the_commands_to_go_on_with_go_on,
    waiting_ends_when_the_condition_is_true_the_time_is_over_or_the_program_ends,
    a_file_is_not_waited_for,
    agents_are_told_how_to_go_about_it,
];
