//! Exact texts of messages that no other test checks.

use std::fs;

use tickscope_testkit::command::install;
use tickscope_testkit::suite::skip;

use crate::support::{Place, Program, VIEWER, finish, refusals, sealed_tickscope, until, until_true};

fn values_that_are_none_are_told_with_those_that_are() {
    let place = Place::new();
    let table = "
        2 off '' => found nothing
        2 off '\u{1}' => found control characters
        2 record -d 1e30s => out of range; wanted a duration like 10, 10s, 500ms, 2m
        2 report --wait soon => wanted a duration like 10, 10s, 500ms, 2m
        2 report -p abc => wanted a process id, a number like 4711
        2 report --at noon => wanted a time like 12s, 1.5s, 2m, -5s before the end, or 14:02:11
        2 report --format xml => possible values
        2 report -p 1 name => cannot be used with
        2 mode fast => [possible values: exact, adaptive, sampled, off]
        2 log --every 1ms => wanted 10ms to 1h
        2 lines on --rate 0 => 0 is not in 1..=10000
        2 trigger 'p99(handle) > 50' => column 17: found the end, wanted a unit of p99: ns, us, ms or s
        2 trigger 'max(f) > 1s' --at-most 2/m => 1/s, 2/min, 6/h, 10/d
        2 trigger 'max(f) > 1s' --over 1h => wanted 200ms to 10m
        2 trigger 'max(f) > 1s' --keep 0 => wanted 1s to 1h
        2 diff a b --fail-if 'calls > 2ms' => the limit of calls is a percentage or a number: calls > 1%, calls > 0
        2 diff a b --fail-if 'calls >= 0' => >= 0 would fail where nothing has changed; wanted > 0
        2 run => required
    ";
    for (done, code, says) in refusals(table, |words| place.tickscope(words)) {
        let done = done.with_code(code).says(&says);
        assert!(done.err.starts_with("error: ") && done.out.is_empty(), "{says:?}");
    }
    let done = place.tickscope(&["man", "woman"]);
    done.failed(1, &["there is no command woman; manual pages are of attach, "]);
}

fn of_others_the_first_two_are_named() {
    let place = Place::new();
    let programs: Vec<Program> = (0..3).map(|_| place.start("stuck")).collect();
    sealed_tickscope(&place, &["report", "nobody-called-so"])
        .with_code(2)
        .says(&["no program called \"nobody-called-so\"; there are 3 (tickscope list), the first two:"]);
    drop(programs);
}

fn a_log_tells_of_silence_and_of_the_end() {
    let (place, mut program) = Place::with("grouped");
    let mut command = place.command(VIEWER);
    command.args(["log", &program.name, "--every", "50ms"]);
    command.stderr(fs::File::create(place.work().join("err")).unwrap());
    command.stdout(fs::File::create(place.work().join("out")).unwrap());
    let mut child = command.spawn().unwrap();
    until_true("there are lines", || {
        let out = fs::read_to_string(place.work().join("out")).unwrap();
        out.lines().count() > 3
    });
    program.stop();
    let said = || fs::read_to_string(place.work().join("err")).unwrap();
    let silence = " s: it may be stopped, or too busy to publish";
    until_true("silence is told", || said().contains(silence));
    assert!(said().contains("no record has come from "), "{}", said());
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
    let mut command = place.script(&["record", "-d", "1s", "-o", "run.tks"], &role, &script);
    let said = place.work().join("said");
    let mut child = command.stderr(fs::File::create(&said).unwrap()).spawn().unwrap();
    let says = |words: &str| fs::read_to_string(&said).unwrap().contains(words);
    until_true("it is waited for", || says("sh runs on; waiting for its end"));
    fs::write(place.work().join("over"), "").unwrap();
    until("it has ended", || child.try_wait().unwrap());
    assert!(says("of 2 programs that ran, only ") && says(" is recorded; the others: "));
}

fn a_demo_whose_program_has_gone_says_so() {
    let place = Place::new();
    install(VIEWER.as_ref(), &place.work().join("gone"));
    // The program is started through a file descriptor, after its file was deleted.
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
    a_log_tells_of_silence_and_of_the_end,
    a_recording_tells_of_other_programs_and_of_one_that_runs_on,
    a_demo_whose_program_has_gone_says_so,
];
