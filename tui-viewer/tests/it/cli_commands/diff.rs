//! `tickscope diff`: real programs compared, gates that let pass or not, and what is not to be compared.

use std::fs;
use std::path::Path;

use tickscope_format::snapshot_file;

use crate::cli_commands::support::{Place, Program, VIEWER, finish, until};

/// Keeps the last snapshot of a program that makes so many calls, `FRAMES CALLS`, and ends.
fn keep(place: &Place, file: &str, numbers: &str) {
    let mut program = Program::spawn(&mut place.role("counted", numbers), "counted");
    let pid = program.pid().to_string();
    until("it is there", || place.ring_of(program.pid()));
    assert!(program.end().success());
    place.tickscope(&["snapshot", &pid, "-o", file]).ok();
}

fn keep_all(place: &Place, side: &str, runs: usize, numbers: &str) {
    for run in 1..=runs {
        keep(place, &format!("{side}{run}.tks"), numbers);
    }
}

fn counts_are_a_gate_without_noise() {
    let place = Place::new();
    keep(&place, "a.tks", "20 3");
    keep(&place, "same.tks", "20 3");
    keep(&place, "longer.tks", "50 3");
    keep(&place, "more.tks", "50 4");

    for after in ["a.tks", "same.tks"] {
        let done = place
            .tickscope(&["diff", "a.tks", after, "--fail-if", "calls > 0"])
            .ok()
            .quiet();
        assert!(done.out.contains("\npassed  calls > 0: "), "{}", done.out);
    }
    let gate = ["--per", "frame", "--fail-if", "calls > 1%"];
    place
        .tickscope(&[&["diff", "a.tks", "longer.tks"], &gate[..]].concat())
        .ok()
        .quiet();
    let done = place
        .tickscope(&[&["diff", "a.tks", "more.tks"], &gate[..]].concat())
        .with_code(3)
        .quiet();
    assert!(done.out.contains("leaf 3 → 4 calls (+33.3%)"), "{}", done.out);
    // Without it the run is longer, and that is more calls.
    let longer = place
        .tickscope(&["diff", "a.tks", "longer.tks", "--fail-if", "calls > 1%"])
        .with_code(3);
    let hint = longer
        .out
        .lines()
        .find(|line| line.starts_with("hint    "))
        .unwrap();
    assert!(
        hint.contains("20 calls of frame in ")
            && hint.contains(" after); --per FUNCTION compares numbers per call, for example "),
        "{hint}"
    );
    let other = ["diff", "a.tks", "more.tks", "--fail-if", "calls(whole) > 0"];
    place.tickscope(&other).ok();
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
        assert!(
            done.out.contains(needle) && done.out.contains("leaf"),
            "{form}: {}",
            done.out
        );
        if form != "text" {
            let done = done.says(&["calls > 1% failed: ", "leaf 60 → 600 calls"]);
            assert_eq!(done.err.lines().count(), 1, "{}", done.err);
        }
    }
    let table = ["diff", "a.tks", "b.tks", "--view", "functions"];
    assert!(!place.tickscope(&table).ok().out.contains("Paths"));

    // The ending of a file says the form; it is there whole, and never over another.
    let args = ["diff", "a.tks", "b.tks", "-o", "c.md"];
    assert_eq!(place.tickscope(&args).ok().quiet().out, "");
    let text = fs::read_to_string(place.work().join("c.md")).unwrap();
    assert!(text.starts_with("**tickscope diff: compared**"), "{text}");
    place
        .tickscope(&args)
        .failed(1, &["c.md exists already; --force writes over it"]);
    place.tickscope(&[&args[..], &["--force"]].concat()).ok();
}

fn times_are_judged_over_five_runs_a_side() {
    let place = Place::new();
    // On a busy machine one run takes several times as long as another: these differ as if they had been alone.
    keep(&place, "one.tks", "40 60");
    let one = snapshot_file::read(&place.work().join("one.tks")).unwrap();
    for (side, times) in [("a", 1.0), ("b", 3.0)] {
        for run in 1..=5 {
            let mut run_of_side = one.clone();
            for ticks in &mut run_of_side.nodes.self_ticks {
                *ticks = (*ticks as f64 * times * (1.0 + f64::from(run) / 100.0)) as u64;
            }
            let file = place.work().join(format!("{side}{run}.tks"));
            snapshot_file::write(&file, &run_of_side).unwrap();
        }
    }
    let mut args: Vec<String> = vec!["diff".into()];
    let side = |side: &str, runs: usize| {
        (1..=runs)
            .map(move |run| format!("{side}{run}.tks"))
            .collect::<Vec<_>>()
    };
    args.extend(side("a", 5));
    args.push("--".into());
    let few = [
        &args[..],
        &side("b", 4),
        &["--fail-if".into(), "time > 10%".into()],
    ]
    .concat();
    place
        .tickscope(&few)
        .failed(2, &["at least 5 runs a side; found 5 before and 4 after"]);
    // Three times as long.
    let slower = [
        &args[..],
        &side("b", 5),
        &["--fail-if".into(), "time > 10%".into()],
    ]
    .concat();
    let done = place.tickscope(&slower).with_code(3);
    assert!(done.out.contains("FAILED  time > 10%: "), "{}", done.out);
    assert!(done.out.contains("p = 0.004"), "{}", done.out);
    // A run is no slower than itself.
    let same = [
        &args[..],
        &side("a", 5),
        &["--fail-if".into(), "time > 10%".into()],
    ]
    .concat();
    place.tickscope(&same).ok().quiet();
}

fn what_runs_is_compared_as_it_is_now() {
    let place = Place::new();
    let program = place.start("busy");
    until("all is entered", || {
        let text = place.tickscope(&["report", &program.name]).ok().out;
        text.contains("leaf").then_some(())
    });
    place
        .tickscope(&["snapshot", &program.name, "-o", "then.tks"])
        .ok();
    let pid = program.pid().to_string();
    let grown = ["diff", "then.tks", &pid, "--fail-if", "calls(leaf) > 0"];
    until("it has gone on", || {
        (place.tickscope(&grown).code == Some(3)).then_some(())
    });
    place
        .tickscope(&["diff", "then.tks", &program.name, "--per", "leaf"])
        .ok();
}

fn what_cannot_be_compared_is_said_in_one_line() {
    let place = Place::new();
    keep(&place, "a.tks", "20 3");
    fs::write(place.work().join("b.tks"), "nothing").unwrap();
    for (args, code, says) in [
        (
            &["a.tks"][..],
            2,
            &["one run alone has nothing to compare with; wanted tickscope diff BEFORE AFTER"][..],
        ),
        (
            &["a.tks", "a.tks", "a.tks"],
            2,
            &["which of the 3 are before? -- stands between them: tickscope diff"],
        ),
        (&["a.tks", "b.tks"], 1, &["b.tks"]),
        (&["a.tks", "c.tks"], 2, &["no file c.tks"]),
        (
            &["a.tks", "a.tks", "--per", "frme"],
            2,
            &["a.tks: no function or scope is called frme", "frame"],
        ),
        (
            &["a.tks", "a.tks", "--fail-if", "calls(lef) > 0"],
            2,
            &["calls(lef) > 0: no function or scope is called lef"],
        ),
    ] {
        place.tickscope(&[&["diff"], args].concat()).failed(code, says);
    }
    let wrong = place.tickscope(&["diff", "a.tks", "a.tks", "--fail-if", "calls < 1%"]);
    wrong.with_code(2).says(&["calls < 1%", "wanted calls > 1%"]);
}

fn parts_of_a_recording_are_compared() {
    let place = Place::new();
    let program = place.start("busy");
    place
        .tickscope(&["record", &program.name, "-d", "600ms", "-o", "run.tks"])
        .ok();
    place
        .tickscope(&["snapshot", &program.name, "-o", "one.tks"])
        .ok();
    let calls = |args: &[&str]| {
        let args = [&["report", "run.tks", "-f", "json"], args].concat();
        let json = place.tickscope(&args).ok().quiet().json();
        let nodes = json["nodes"].as_array().unwrap();
        nodes
            .iter()
            .map(|node| node["calls"].as_u64().unwrap())
            .sum::<u64>() as f64
    };
    let diff = |args: &[&str]| place.tickscope(&[&["diff"], args].concat());
    let sides = |args: &[&str]| {
        let json = diff(&[args, &["-f", "json"]].concat()).ok().quiet().json();
        let calls = &json["whole"]["calls"];
        let sides = ["before", "after"].map(|side| {
            let part = json[side][0]["part"].as_str().unwrap_or_default();
            (
                calls[side].as_f64().unwrap(),
                part.contains(" after the beginning, "),
            )
        });
        assert!(json["before"][0]["length_ns"].as_u64().unwrap() > 0);
        sides
    };
    let (early, late) = (calls(&["--to", "200ms"]), calls(&["--from", "-200ms"]));
    assert!(early > 0.0 && late > 0.0);
    let each = ["run.tks", "--to", "200ms", "--", "run.tks", "--from", "-200ms"];
    assert_eq!(sides(&each), [(early, true), (late, true)]);
    for both in [
        &["run.tks", "run.tks", "--to", "200ms"][..],
        &["run.tks", "--to", "200ms", "--", "run.tks"],
        &["run.tks", "--", "run.tks", "--to=200ms"],
    ] {
        assert_eq!(sides(both), [(early, true), (early, true)], "{both:?}");
    }
    let whole = sides(&["run.tks", "run.tks"]);
    assert!(!whole[0].1 && whole[0].0 >= early + late);
    let text = diff(&each).ok().out;
    let heading: Vec<&str> = text.lines().take(3).collect();
    assert!(
        heading[1].starts_with("before  run.tks (") && heading[1].contains("), 0."),
        "{text}"
    );
    assert!(heading[2].contains(" after the beginning, "), "{text}");
    let live = diff(&[
        &program.name,
        "--to",
        "-0s",
        "--",
        &program.name,
        "--from",
        "-200ms",
    ]);
    assert!(
        live.ok().out.lines().nth(2).unwrap().contains("from "),
        "of a ring"
    );

    diff(&["one.tks", "run.tks", "--from", "100ms"]).failed(
        1,
        &[
            "one.tks holds one moment and nothing from before it",
            "`tickscope record` keeps a series",
        ],
    );
    diff(&["run.tks", "run.tks", "--from", "1h"])
        .failed(2, &["--from 3600s: no moment of then; run.tks holds 0."]);
    diff(&["run.tks", "--to", "100ms", "--", "run.tks", "--to", "-1h"])
        .failed(2, &["--to -3600s: no moment of then; run.tks holds 0."]);
    diff(&["run.tks", "run.tks", "--from", "-0s", "--to", "0s"])
        .failed(2, &["no time lies between these two moments; run.tks holds 0."]);
    diff(&["run.tks", "run.tks", "--from", "soon"])
        .with_code(2)
        .says(&["wanted a time like 12s"]);
}

fn latencies_have_columns_and_gates_where_programs_keep_them() {
    let place = Place::new();
    keep_all(&place, "a", 5, "40 60");
    let five = ["a1.tks", "a2.tks", "a3.tks", "a4.tks", "a5.tks"];
    let against_itself = |more: &[&str]| {
        let args = [&["diff"], &five[..], &["--"], &five[..], more].concat();
        place.tickscope(&args)
    };
    let done = against_itself(&["--fail-if", "p99 > 10%", "--fail-if", "max(leaf) > 0"])
        .ok()
        .quiet();
    assert!(done.out.contains("\npassed  p99 > 10%: "), "{}", done.out);
    let json = against_itself(&["-f", "json"]).ok().quiet().json();
    let functions = json["functions"].as_array().unwrap();
    let leaf = functions
        .iter()
        .find(|function| function["name"] == "leaf")
        .unwrap();
    for member in ["p99_ns", "max_ns"] {
        assert!(leaf[member]["before"].as_f64().unwrap() > 0.0, "{leaf}");
        assert_eq!(leaf[member]["change"], 0.0);
    }
    place
        .tickscope(&["diff", "a1.tks", "a2.tks", "--fail-if", "p99 > 10%"])
        .failed(
            2,
            &["p99 > 10% is judged over at least 5 runs a side; found 1 before and 1 after"],
        );
    let mut without: Vec<String> = Vec::new();
    for run in 1..=5 {
        let mut command = place.role("counted", "40 60");
        let mut program = Program::spawn(command.env("TICKSCOPE_HISTOGRAM", "off"), "counted");
        let pid = program.pid().to_string();
        until("it is there", || place.ring_of(program.pid()));
        assert!(program.end().success());
        let file = format!("b{run}.tks");
        place.tickscope(&["snapshot", &pid, "-o", &file]).ok();
        without.push(file);
    }
    let without: Vec<&str> = without.iter().map(String::as_str).collect();
    let done = place.tickscope(
        &[
            &["diff"],
            &five[..],
            &["--"],
            &without,
            &["--fail-if", "p99 > 10%"],
        ]
        .concat(),
    );
    done.failed(
        2,
        &[
            "p99 > 10%: found latencies of single calls in 5 runs before and 0 after, wanted 5 a side",
            "TICKSCOPE_HISTOGRAM=off",
        ],
    );
    let done = place.tickscope(&["diff", "a1.tks", "b1.tks"]).ok();
    assert!(!done.out.contains("P99"), "{}", done.out);
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
    assert!(
        done.out
            .starts_with("tickscope diff: 5 runs before, 5 runs after"),
        "{}",
        done.out
    );
    assert_eq!(
        compare("false", "calls > 1%").code,
        Some(1),
        "a run that fails is no run"
    );
}

/// Writes the commands `before` and `after`, which calls a function a third more often.
fn write_commands(place: &Place) {
    for (side, numbers) in [("before", "20 3"), ("after", "20 4")] {
        let role = place.role("counted", numbers);
        let mut script = String::from("#!/bin/sh\nexec env");
        for (name, value) in role.get_envs().filter_map(|(name, value)| Some((name, value?))) {
            script += &format!(" {}='{}'", name.display(), value.display());
        }
        script += &format!(" '{}'", role.get_program().display());
        for argument in role.get_args() {
            script += &format!(" '{}'", argument.display());
        }
        let path = place.work().join(side);
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
}

/// What the action for pull requests does, in a job whose files are here.
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
    assert!(done.out.contains("**tickscope diff: FAILED**"), "{}", done.out);
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
    times_are_judged_over_five_runs_a_side,
    what_runs_is_compared_as_it_is_now,
    what_cannot_be_compared_is_said_in_one_line,
    parts_of_a_recording_are_compared,
    latencies_have_columns_and_gates_where_programs_keep_them,
    the_script_runs_two_commands_in_turns_and_compares_them,
    the_action_for_pull_requests_compares_two_commands,
    the_action_gives_its_script_all_that_it_is_given,
];
