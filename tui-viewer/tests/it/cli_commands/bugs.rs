//! Regression tests, each named after the bug that it guards against.

use std::fs;
use std::path::PathBuf;

use crate::support::{Place, Program, VIEWER, finish, line_with, name, sealed_tickscope, until, until_true};

/// The program chooses the name in its ring freely, so escape sequences in it must not be printed.
fn a_hostile_name_does_not_reach_the_terminal() {
    let place = Place::new();
    let hostile = format!("\u{1b}[2J\u{202e}{}", name("evil"));
    let program = place.start_named("two_rings", &hostile);
    let pid = program.pid().to_string();
    for args in [
        &["list"][..],
        &["list", "--json"],
        &["report", &pid],
        &["report", "nobody-called-so"],
        &["report", &hostile],
        &["report", "\u{1b}[2J"],
        &["report", "./\u{1b}[2J"],
    ] {
        // Error messages list only a few rings, so the rings of other users are hidden to leave room for this one.
        let done = sealed_tickscope(&place, args);
        let said = format!("{}\n{}", done.out, done.err);
        assert!(!said.contains(['\u{1b}', '\u{202e}']), "{args:?} {said:?}");
        assert!(said.contains("[2J"), "{args:?} {said:?}");
        if args.contains(&"--json") {
            let programs = done.json()["programs"].to_string();
            // In the JSON output, these characters are escaped. Parsing the output restores the original name.
            assert!(programs.contains("\u{202e}evil"), "{programs}");
        }
    }
}

/// A relative ring directory must be resolved before the program changes its working directory.
fn run_with_a_relative_directory_and_a_program_that_goes_elsewhere() {
    let place = Place::new();
    let role = place.role("attribute", "0");
    let exe = role.get_program().to_str().unwrap();
    let elsewhere = place.work().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let script = format!("cd elsewhere; '{exe}'");
    for (args, variable) in [
        (&["run", "--dir", "relative"][..], None),
        (&["run"], Some("relative")),
    ] {
        let mut command = place.script(args, &role, &script);
        command.envs(variable.map(|dir| ("TICKSCOPE_DIR", dir)));
        finish(&mut command).ok().says(&["tickscope report: ", "marked"]);
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
        fs::remove_dir_all(place.work().join("relative")).unwrap();
    }
}

/// If a program replies that it could not publish, its newest record is old and must not be shown without a message.
fn an_answer_without_a_record_is_no_answer() {
    let (place, program) = Place::with("cramped");
    let done = until("its snapshot is too large", || {
        let done = place.tickscope(&["report", "-f", "json", &program.name]).ok();
        (!done.err.is_empty()).then_some(done)
    });
    done.says(&[
        "the program could not publish (is its snapshot larger than half its ring?)",
        "; showing the newest record, ",
        " s old",
    ]);
}

/// A relative `TICKSCOPE_DIR` in a program's environment is relative to that program's working directory. The test
/// inspects the list of searched directories, because a report could succeed even without this entry: the directory of
/// a ring that was created as an unnamed file also appears in the program's memory mappings.
fn a_relative_directory_of_a_process_is_relative_to_it() {
    let place = Place::new();
    let mut command = place.command("sleep");
    let program = Program::spawn(command.arg("600").env("TICKSCOPE_DIR", "rings-here"));
    let wanted = PathBuf::from(format!("/proc/{}/cwd/rings-here", program.pid()));
    until_true("it is looked for there", || {
        let places = tickscope_programs::container::places_of(program.pid());
        places.contains(&wanted)
    });
}

/// If several programs ran, only one is reported, so the others must be mentioned.
fn several_programs_under_one_run_are_all_named() {
    let place = Place::new();
    let role = place.role("attribute", "0");
    let exe = role.get_program().to_str().unwrap();
    let program = format!("'{exe}'");
    let script = format!("{program}; {program} & echo second $!; wait");
    let done = finish(&mut place.script(&["run"], &role, &script)).ok().says(&[
        "tickscope report: ",
        "of 2 programs that ran, the report has only ",
    ]);
    let line = line_with(&done.out, "second ");
    let second = line.rsplit(' ').next().unwrap();
    let said = line_with(&done.err, "of 2 programs");
    let others = format!("the others: tickscope {second}");
    assert!(said.ends_with(&others), "{said}");
}

/// A SIGTERM that arrives immediately after the program's start must reach the program.
fn run_hears_a_termination_from_the_beginning() {
    let place = Place::new();
    for _ in 0..10 {
        let mut command = place.command(VIEWER);
        // The program immediately sends SIGTERM to `tickscope run`, which must pass it back to the program.
        let script = "trap 'exit 11' TERM; kill -TERM $PPID; while :; do sleep 0.01; done";
        finish(command.args(["run", "--", "sh", "-c", script])).with_code(11);
    }
}

tickscope_testkit::tests![
    a_hostile_name_does_not_reach_the_terminal,
    run_with_a_relative_directory_and_a_program_that_goes_elsewhere,
    an_answer_without_a_record_is_no_answer,
    a_relative_directory_of_a_process_is_relative_to_it,
    several_programs_under_one_run_are_all_named,
    run_hears_a_termination_from_the_beginning,
];
