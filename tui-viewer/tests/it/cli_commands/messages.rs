//! Messages that no other test here sees, word for word.

use std::fs;
use std::os::unix::fs::symlink;

use tickscope_format::Snapshot;
use tickscope_testkit::command::install;
use tickscope_testkit::suite::skip;

use crate::cli_commands::support::{Place, Program, VIEWER, finish, sealed_tickscope, until};

/// A command of a test.
fn says(place: &Place, args: &[&str], code: i32, says: &[&str]) {
    place.tickscope(args).with_code(code).says(says);
}

fn values_that_are_none_are_told_with_those_that_are() {
    let place = Place::new();
    for (args, wanted) in [
        (
            &["off", ""][..],
            "wanted a name or a pattern like parse, book::insert or alloc::*; found nothing",
        ),
        (&["on", "a\nb"], "found control characters"),
        (
            &["record", "-d", "soon"],
            "wanted a duration like 10, 10s, 500ms, 2m",
        ),
        (
            &["record", "-d", "1e30s"],
            "wanted a duration of this world, like 10, 10s, 500ms, 2m",
        ),
        (
            &["report", "--at", "noon"],
            "wanted a time like 12s, 1.5s, 2m, -5s before the end, or 14:02:11",
        ),
        (
            &["diff", "a", "b", "--fail-if", "calls > 2ms"],
            "calls grow by a percentage or a number: calls > 1%, calls > 0",
        ),
        (
            &["diff", "a", "b", "--fail-if", "time > 3"],
            "times grow by a percentage or a duration: time > 10%, time > 2ms",
        ),
        (
            &["diff", "a", "b", "--fail-if", "calls >= 0"],
            ">= 0 would fail where nothing has changed; wanted > 0",
        ),
    ] {
        says(&place, args, 2, &[wanted]);
    }
    says(
        &place,
        &["man", "woman"],
        1,
        &["no command woman, so no page for it; there are attach, "],
    );
}

fn of_others_the_first_two_are_named() {
    let place = Place::new();
    let programs: Vec<Program> = (0..3).map(|_| place.start("stuck")).collect();
    sealed_tickscope(&place, &["report", "nobody-called-so"])
        .with_code(2)
        .says(&["no program called \"nobody-called-so\"; there are 3 (tickscope list), the first two:"]);
    drop(programs);
}

fn what_is_no_plain_file_is_not_written_over() {
    let place = Place::new();
    let program = place.start("stuck");
    symlink("elsewhere", place.work().join("link.txt")).unwrap();
    let args = ["report", &program.name, "-o", "link.txt", "--force"];
    says(
        &place,
        &args,
        1,
        &["link.txt exists and is no plain file: not written over"],
    );
    symlink("elsewhere", place.work().join("link.tks")).unwrap();
    let args = [
        "record",
        &program.name,
        "-d",
        "100ms",
        "-o",
        "link.tks",
        "--force",
    ];
    says(
        &place,
        &args,
        1,
        &["link.tks: exists and is no plain file, wanted a new file"],
    );
    assert!(!place.work().join("elsewhere").exists());
}

fn a_log_waits_for_a_function_that_was_not_met() {
    let place = Place::new();
    let program = place.start("busy");
    until("there are functions", || {
        let text = place.tickscope(&["report", &program.name]).ok().out;
        text.contains("leaf").then_some(())
    });
    let args = [
        "log",
        &program.name,
        "--function",
        "nobody",
        "--every",
        "50ms",
        "-d",
        "100ms",
    ];
    says(
        &place,
        &args,
        0,
        &["no function that matches nobody was met yet; lines come once one is"],
    );
}

fn a_log_tells_of_silence_and_of_the_end() {
    let place = Place::new();
    let mut program = place.start("grouped");
    let mut command = place.command(VIEWER);
    command.args(["log", &program.name, "--every", "50ms"]);
    command.stderr(fs::File::create(place.work().join("err")).unwrap());
    command.stdout(fs::File::create(place.work().join("out")).unwrap());
    let mut child = command.spawn().unwrap();
    until("there are lines", || {
        let out = fs::read_to_string(place.work().join("out")).unwrap();
        (out.lines().count() > 3).then_some(())
    });
    program.stop();
    let said = || fs::read_to_string(place.work().join("err")).unwrap();
    until("silence is told", || {
        said()
            .contains(" s: it may be stopped, or too busy to publish")
            .then_some(())
    });
    assert!(said().contains("nothing has come from "), "{}", said());
    program.kill();
    let status = until("it has ended", || child.try_wait().unwrap());
    assert!(status.success());
    assert!(said().contains(" has ended without a last record"), "{}", said());
}

fn a_recording_tells_of_other_programs_and_of_one_that_runs_on() {
    let place = Place::new();
    let role = place.role("stuck", "twin");
    let exe = role.get_program().to_str().unwrap();
    let program = format!("(until [ -e over ]; do sleep 0.1; done | '{exe}')");
    let script = format!("{program} & {program} & wait");
    let mut command = place.command(VIEWER);
    command.args(["record", "-d", "1s", "-o", "run.tks", "--", "sh", "-c", &script]);
    for (key, value) in role.get_envs().filter_map(|(key, value)| Some((key, value?))) {
        command.env(key, value);
    }
    let said = place.work().join("said");
    let mut child = command.stderr(fs::File::create(&said).unwrap()).spawn().unwrap();
    let says = |words: &str| fs::read_to_string(&said).unwrap().contains(words);
    until("its end is waited for", || {
        says("sh runs on; its end is waited for").then_some(())
    });
    fs::write(place.work().join("over"), "").unwrap();
    until("it has ended", || child.try_wait().unwrap());
    assert!(says("of 2 programs that ran, ") && says(" is recorded; the others: "));
}

fn a_thread_of_a_program_without_threads() {
    let place = Place::new();
    tickscope_format::snapshot_file::write(&place.work().join("bare.tks"), &Snapshot::default()).unwrap();
    let args = ["report", "bare.tks", "--thread", "nobody"];
    says(
        &place,
        &args,
        2,
        &["no thread nobody among its threads: none has entered a scope"],
    );
}

fn a_demo_whose_program_has_gone_says_so() {
    let place = Place::new();
    install(VIEWER.as_ref(), &place.work().join("gone"));
    // Started by its descriptor, it has no file any more.
    let mut command = place.command("sh");
    command.args(["-c", "exec 3<gone; rm gone; exec /proc/self/fd/3 demo"]);
    let done = finish(&mut command);
    if done.err.contains("/proc/self/fd/3") {
        skip("nothing is started from a descriptor here");
    }
    done.failed(1, &["the demo's program: No such file"]);
}

tickscope_testkit::tests![
    values_that_are_none_are_told_with_those_that_are,
    of_others_the_first_two_are_named,
    what_is_no_plain_file_is_not_written_over,
    a_log_waits_for_a_function_that_was_not_met,
    a_log_tells_of_silence_and_of_the_end,
    a_recording_tells_of_other_programs_and_of_one_that_runs_on,
    a_thread_of_a_program_without_threads,
    a_demo_whose_program_has_gone_says_so,
];
