//! Commands for scripts and agents: `tickscope top`, `tickscope wait-until`, `tickscope agents`.

use tickscope_testkit::fixture;

use crate::support::{Place, VIEWER, ended, finish, piped, until, until_true};

fn top_shows_as_many_functions_as_are_asked_for() {
    let (place, program) = Place::with("busy");
    let pid = program.pid().to_string();
    let args = ["top", "1000", &program.name, "--json", "--by", "calls"];
    let all = until("functions have been called", || {
        let all = place.document(&args);
        (all["total"].as_u64()? > 2).then_some(all)
    });
    assert_eq!(all["shown"], all["total"]);
    let rows = all["functions"].as_array().unwrap().iter();
    let own: u64 = rows.map(|row| row["self"].as_u64().unwrap()).sum();
    assert_eq!(own, all["whole"].as_u64().unwrap(), "self adds up to whole");
    let text = place.told(&["top", "2", "-p", &pid]);
    assert!(text.contains("Top functions by self working (2 of "), "{text}");
    let one = place.tickscope(&["top", "one", &program.name]);
    one.failed(2, &["one: wanted a number of functions, 1 to 10000"]);
    let app = place.tickscope(&["top", "app", "-p", &pid]);
    app.failed(2, &["app and -p: one program is shown at a time"]);
}

fn the_commands_to_go_on_with_go_on() {
    let place = Place::new();
    for file in ["run 1.tks", "after.tks"] {
        place.keep(file, &fixture::two_threads());
    }
    place.refuses("2 top './run 1.tks' --by bytes => --by bytes: no allocations are counted");
    let document = place.document(&["top", "1", "./run 1.tks", "--json"]);
    let next = document["next"].as_array().unwrap();
    // For a kept snapshot, a comparison and a longer list of functions are suggested.
    assert_eq!(next.len(), 2, "{next:?}");
    for line in next {
        let mut shell = place.command("sh");
        let words = line.as_str().unwrap().strip_prefix("tickscope").unwrap();
        let done = finish(shell.arg("-c").arg(format!("\"$0\"{words}")).arg(VIEWER));
        done.ok().quiet();
    }
}

fn waiting_ends_when_the_condition_is_true_the_time_is_over_or_the_program_ends() {
    let (place, mut program) = Place::with("busy");
    let name = program.name.clone();
    let pid = program.pid().to_string();
    let text = place.told(&["wait-until", "calls(leaf) > 1000", &name]);
    assert!(text.starts_with("calls(leaf) > 1000 is true: calls("), "{text}");
    // With `--over`, the condition is evaluated as in `tickscope trigger`.
    place.told(&["wait-until", "calls(leaf) > 10", &name, "--over", "1s"]);

    let never = "calls(leaf) < 1";
    let late = place.tickscope(&["wait-until", never, &name, "--timeout", "50ms"]);
    late.failed(3, &["calls(leaf) < 1 did not become true within 0.1 s: calls("]);
    let nowhere = format!("wait-until 'p99(nowhere) > 1s' {name} --timeout 50ms --json");
    let late = place.typed(&nowhere).with_code(3).quiet();
    assert_eq!(late.json()["outcome"], "timeout");

    let mut waiting = place.command(VIEWER);
    waiting.args(["wait-until", never, &name]);
    let waiting = piped(&mut waiting);
    // Once the command is watching the program, it counts as a second viewer.
    until_true("it watches", || place.json(&name)["viewers"].as_u64() > Some(1));
    program.end();
    let done = ended(waiting).with_code(4);
    done.says(&["has ended, and calls(leaf) < 1 did not become true: calls("]);

    // After the program has ended, the condition is still checked if the target, such as a process id, can only mean
    // this run.
    place.told(&["wait-until", "calls(leaf) > 1000", "-p", &pid]);
    place.keep("run.tks", &fixture::two_threads());
    let table = "
        4 wait-until 'calls(leaf) < 1' -p PID => has ended, and
        2 wait-until 'calls(leaf) < 1' NAME => no running program called … give --ended
        4 wait-until 'calls(leaf) < 1' --ended NAME => has ended, and
        2 wait-until 'calls(insert) > 1' ./run.tks => run.tks is a file; wait-until watches a program that runs
    ";
    place.refuses(&table.replace("NAME", &name).replace("PID", &pid));
}

tickscope_testkit::tests![
    top_shows_as_many_functions_as_are_asked_for,
    the_commands_to_go_on_with_go_on,
    waiting_ends_when_the_condition_is_true_the_time_is_over_or_the_program_ends,
];
