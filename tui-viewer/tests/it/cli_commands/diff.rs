//! `tickscope diff`: comparisons of real programs, gates that pass or fail, and runs that must not be compared.

use std::fs;
use std::path::Path;

use tickscope_testkit::orderbook;

use crate::support::{Place, Program, VIEWER, finish, until_true};

/// Runs a program to its end and keeps its last snapshot. `numbers` has the form `FRAMES CALLS`: the number of frames,
/// and the number of calls in each frame.
fn keep(place: &Place, file: &str, numbers: &str) {
    let mut program = Program::spawn(&mut place.role("counted", numbers));
    let pid = program.pid().to_string();
    assert!(program.end().success());
    place.tickscope(&["snapshot", &pid, "-o", file]).ok();
}

fn counts_are_a_gate_without_noise() {
    let place = Place::new();
    keep(&place, "a.tks", "20 3");
    keep(&place, "same.tks", "20 3");
    keep(&place, "longer.tks", "50 3");
    keep(&place, "more.tks", "50 4");

    let diff = |after: &str, gate: &[&str]| place.tickscope(&[&["diff", "a.tks", after], gate].concat());
    for after in ["a.tks", "same.tks"] {
        let done = diff(after, &["--fail-if", "calls > 0"]).ok().quiet();
        done.prints(&["\npassed  calls > 0: "]);
    }
    let gate = ["--per", "frame", "--fail-if", "calls > 1%"];
    diff("longer.tks", &gate).ok().quiet();
    // Without `--per`, total calls are compared, so the longer run fails the gate.
    diff("longer.tks", &gate[2..])
        .with_code(3)
        .prints(&["\nhint    "]);
    let done = diff("more.tks", &gate).with_code(3).quiet();
    done.prints(&["leaf 3 → 4 calls (+33.3%)"]);
}

fn every_form_says_why_it_failed() {
    let place = Place::new();
    keep(&place, "a.tks", "20 3");
    keep(&place, "b.tks", "20 30");
    for (form, needle) in [
        ("text", "FAILED  calls > 1%: "),
        ("json", "\"passed\": false"),
        ("markdown", "**tickscope diff: FAILED**"),
        ("html", "<b>FAILED</b>"),
    ] {
        let args = ["diff", "a.tks", "b.tks", "--fail-if", "calls > 1%", "-f", form];
        let done = place.tickscope(&args).with_code(3);
        done.prints(&[needle, "leaf"]);
        if form != "text" {
            let done = done.says(&["calls > 1% failed: ", "leaf 60 → 600 calls"]);
            assert_eq!(done.err.lines().count(), 1, "{}", done.err);
        }
    }
    let args = ["diff", "a.tks", "b.tks", "--view", "functions", "-o", "c.txt"];
    assert_eq!(place.told(&args), "");
    let text = fs::read_to_string(place.work().join("c.txt")).unwrap();
    assert!(text.contains("leaf") && !text.contains("Paths"), "{text}");
    let again = place.tickscope(&args);
    again.failed(1, &["c.txt exists already; --force overwrites it"]);
}

fn what_runs_is_compared_as_it_is_now() {
    let (place, program) = Place::with("busy");
    until_true("all is entered", || {
        let text = place.tickscope(&["report", &program.name]).ok().out;
        text.contains("leaf")
    });
    place.told(&["snapshot", &program.name, "-o", "then.tks"]);
    let pid = program.pid().to_string();
    let grown = ["diff", "then.tks", &pid, "--fail-if", "calls(leaf) > 0"];
    until_true("it has gone on", || place.tickscope(&grown).code == Some(3));
    let per = place.tickscope(&["diff", "then.tks", &program.name, "--per", "leaf"]);
    per.ok();
}

fn what_cannot_be_compared_is_said_in_one_line() {
    let place = Place::new();
    keep(&place, "a.tks", "20 3");
    fs::write(place.work().join("b.tks"), "nothing").unwrap();
    let table = "
        2 diff a.tks => one run cannot be compared; wanted tickscope diff BEFORE AFTER
        2 diff a.tks a.tks a.tks => which of the 3 are before? put -- between the sides: tickscope diff
        1 diff a.tks b.tks => b.tks
        2 diff a.tks c.tks => no file c.tks
        2 diff a.tks a.tks --fail-if 'calls(lef) > 0' => calls(lef) > 0: no function or scope is called lef
        2 diff a.tks a.tks --per frme => a.tks: no function or scope is called frme… frame
    ";
    place.refuses(table);
    place.answers("2 diff a.tks a.tks --fail-if 'calls < 1%' => calls < 1%… wanted calls > 1%");
}

fn parts_of_a_recording_are_compared() {
    let place = Place::new();
    let of = |second: u64| orderbook::snapshot(second * 10);
    place.record("run.tks", &[100, 101, 102, 110].map(of));
    place.keep("one.tks", &of(100));
    let diff = |args: &[&str]| place.tickscope(&[&["diff"], args].concat());
    let part = |from: u64, to: u64| (of(to).calls() - of(from).calls()) as f64;
    let (early, late) = (part(100, 102), part(102, 110));
    for (args, sides) in [
        (
            &["run.tks", "--to", "2s", "--", "run.tks", "--from", "-8s"][..],
            [early, late],
        ),
        (&["run.tks", "run.tks", "--to", "2s"], [early; 2]),
        (&["run.tks", "run.tks"], [of(110).calls() as f64; 2]),
    ] {
        let json = diff(&[args, &["-f", "json"]].concat()).ok().quiet().json();
        let calls = ["before", "after"].map(|side| json["whole"]["calls"][side].as_f64().unwrap());
        assert_eq!(calls, sides, "{args:?}");
        let part = json["before"][0]["part"].as_str().unwrap_or_default();
        assert_eq!(
            part.contains(" after the beginning, "),
            sides[0] == early,
            "{part}"
        );
    }
    let table = "
        1 diff one.tks run.tks --from 100ms => one.tks holds one moment, without a past; `tickscope record` keeps a series
        2 diff run.tks --to 1s -- run.tks --to -1h => --to -3600s: there is no record from then; run.tks holds 10.0 s
    ";
    place.refuses(table);
}

fn the_script_runs_two_commands_in_turns_and_compares_them() {
    let place = Place::new();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/compare.sh");
    let folder = Path::new(VIEWER).parent().unwrap().to_str().unwrap();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap_or_default());
    write_commands(&place);
    let compare = |after: &str, gate: &str| {
        let mut command = place.command("sh");
        command.arg(&script).env("PATH", &path);
        command.args(["./before", after, "--fail-if", gate]);
        finish(&mut command)
    };
    let done = compare("./after", "calls > 1%").with_code(3);
    done.begins("tickscope diff: 5 runs before, 5 runs after");
    assert_eq!(
        compare("false", "calls > 1%").code,
        Some(1),
        "a run that fails is no run"
    );
}

/// Writes the scripts `before` and `after`. `after` calls a function a third more often.
fn write_commands(place: &Place) {
    for (side, numbers) in [("before", "20 3"), ("after", "20 4")] {
        let role = place.role("counted", numbers);
        let mut script = String::from("#!/bin/sh\nexec env");
        for (name, value) in role.get_envs().filter_map(|(name, value)| Some((name, value?))) {
            script += &format!(" {}='{}'", name.display(), value.display());
        }
        script += &format!(" '{}'", role.get_program().display());
        let path = place.work().join(side);
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
}

/// Runs the script of the pull request action as a CI job would, with the job's files in the test's directory.
fn the_action_for_pull_requests_compares_two_commands() {
    let place = Place::new();
    std::os::unix::fs::symlink(VIEWER, place.work().join("tickscope")).unwrap();
    write_commands(&place);
    let action = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.github/actions/diff/diff.sh");
    let run = |variables: &[(&str, &str)]| {
        let mut command = place.command(&action);
        let path = std::env::var("PATH").unwrap();
        command
            .env("PATH", format!("{}:{path}", place.work().display()))
            .env("GITHUB_STEP_SUMMARY", place.work().join("summary"))
            .env("GITHUB_OUTPUT", place.work().join("output"));
        for (name, value) in [("RUNS", "1"), ("BEFORE", "./before x"), ("PER", "frame")] {
            command.env(name, value);
        }
        command.envs(variables.iter().copied());
        finish(&mut command)
    };
    let output = || fs::read_to_string(place.work().join("output")).unwrap();
    let done = run(&[
        ("AFTER", "./after"),
        ("FAIL_IF", "calls > 1%\n\ncalls(whole) > 0\n"),
    ])
    .with_code(3);
    done.prints(&["**tickscope diff: FAILED**"]);
    assert_eq!(
        fs::read_to_string(place.work().join("summary")).unwrap(),
        done.out
    );
    assert_eq!(output(), "result=failed\n");
    run(&[("AFTER", "./before"), ("FAIL_IF", "calls > 0")]).ok();
    assert!(output().ends_with("result=passed\n"));
    let done = run(&[("AFTER", "./no-such-program"), ("FAIL_IF", "")]);
    assert_ne!(done.code, Some(0));
    assert!(output().ends_with("result=error\n"), "{}", output());
    run(&[("AFTER", "./after"), ("RUNS", "many")])
        .with_code(2)
        .says(&["runs is 'many', wanted 1 to 99"]);
}

fn the_action_gives_its_script_all_that_it_is_given() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.github/actions/diff");
    let action = fs::read_to_string(folder.join("action.yml")).unwrap();
    let script = fs::read_to_string(folder.join("diff.sh")).unwrap();
    for (variable, input) in [
        ("BEFORE", "before"),
        ("AFTER", "after"),
        ("PER", "per"),
        ("FAIL_IF", "fail-if"),
        ("RUNS", "runs"),
    ] {
        assert!(action.contains(&format!("\n  {input}:\n")), "{input}");
        assert!(
            action.contains(&format!("{variable}: ${{{{ inputs.{input} }}}}")),
            "{variable}"
        );
        assert!(
            script.contains(&format!("${variable}")) || script.contains(&format!("${{{variable}")),
            "{variable}"
        );
    }
}

tickscope_testkit::tests![
    counts_are_a_gate_without_noise,
    every_form_says_why_it_failed,
    what_runs_is_compared_as_it_is_now,
    what_cannot_be_compared_is_said_in_one_line,
    parts_of_a_recording_are_compared,
    the_script_runs_two_commands_in_turns_and_compares_them,
    the_action_for_pull_requests_compares_two_commands,
    the_action_gives_its_script_all_that_it_is_given,
];
