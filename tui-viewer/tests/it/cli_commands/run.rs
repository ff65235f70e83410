//! `tickscope run` and the demo, without a terminal.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::support::{Done, Place, finish, finish_with, line_with};

/// Runs `tickscope run ARGS -- PROGRAM`, where PROGRAM is this test binary, playing a role.
fn run(place: &Place, args: &[&str], role: &str, argument: &str, input: &[u8]) -> Done {
    let args = [&["run"], args, &["--"]].concat();
    finish_with(&mut place.around(&args, &place.role(role, argument)), input)
}

fn one_attribute_and_one_command_give_a_tree() {
    let place = Place::new();
    for args in [&[][..], &["--report"]] {
        let done = run(&place, args, "attribute", "0", b"").ok();
        done.prints(&["the program's output\n"]);
        // The report must not be mixed into the program's standard output.
        assert!(!done.out.contains("tickscope report"), "{}", done.out);
        let done = done.says(&["the program's complaint", "tickscope report: "]);
        let done = done.says(&["exited", "roles::marked"]);
        let row = line_with(&done.err, "roles::marked");
        assert!(row.split_whitespace().any(|word| word == "1"), "one call: {row}");
    }
}

fn the_program_ends_and_so_does_the_command() {
    let place = Place::new();
    let done = run(&place, &["--report"], "attribute", "255", b"").with_code(255);
    done.says(&["marked"]);
    // If a signal ends the program, the exit code is the same as in a shell: 128 plus the number of the signal. The
    // report is still printed.
    let done = run(&place, &[], "killed", "", b"").with_code(128 + 15);
    done.says(&["tickscope report: ", "crashed"]);
    for (script, code) in [
        ("exit 3", 3),
        ("kill -KILL $$", 137),
        ("kill -SEGV $$", 139),
        ("kill -ABRT $$", 134),
    ] {
        place.typed(&format!("run -- sh -c '{script}'")).with_code(code);
    }
}

fn what_cannot_be_started_is_126_or_127() {
    let place = Place::new();
    let done = place.typed("run -- no-such-program-anywhere");
    done.failed(127, &["cannot start no-such-program-anywhere: No such file"]);
    place.refuses("127 run ./nowhere/app => cannot start ./nowhere/app");
    let script = place.work().join("script");
    fs::write(&script, "#!/bin/sh\nexit 0\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o644)).unwrap();
    place.refuses("126 run -- ./script => cannot start ./script");
    place.refuses("126 run -- / => cannot start /");
}

fn a_program_without_scopes_gets_a_hint() {
    let place = Place::new();
    let done = run(&place, &["--report"], "scopeless", "", b"").ok().says(&[
        "no report: ",
        " opened no scope, or was killed at once\n  does it depend on tickscope with the feature `enable`, and does it \
         mark a function with #[tickscope::profile]?",
    ]);
    let said = done.err.lines().filter(|line| !line.contains("test")).count();
    assert!(said <= 4, "{}", done.err);
    // Another running program must not be reported instead.
    let other = place.start("stuck");
    let done = place.typed("run -- true").ok().says(&["true opened no scope"]);
    assert!(!done.err.contains(&other.name), "{}", done.err);
    place.answers("1 run -- false => false opened no scope");
}

fn arguments_and_input_reach_the_program() {
    let place = Place::new();
    let done = run(&place, &["--report"], "echo", "", b"what is typed")
        .ok()
        .says(&["echo"]);
    done.prints(&["heard what is typed"]);
    let done = place.typed("run -- printf %s, --report -p 'a b' -- ''").ok();
    assert_eq!(done.out, "--report,-p,a b,--,,");
    let done = place.typed("run printf %s, --json").ok();
    assert_eq!(done.out, "--json,");
}

fn behind_a_wrapper_it_is_the_descendant_that_is_shown() {
    let place = Place::new();
    let role = place.role("attribute", "5");
    let exe = role.get_program().to_str().unwrap();
    let program = format!("'{exe}'");
    // Another program with this name runs, and a third one has ended. This command started neither of them.
    let (_other, mut ended) = (place.start("busy"), place.start("stuck"));
    ended.end();
    for script in [
        format!("{program}; exit 9"),
        format!("({program} &  wait $!); sh -c 'exit 9'"),
        format!("cd /; env -- {program}; exit 9"),
    ] {
        let done = finish(&mut place.script(&["run"], &role, &script)).with_code(9);
        let done = done.says(&["tickscope report: ", "marked", "exited"]);
        assert!(!done.err.contains("stuck_in_here"), "{}", done.err);
        assert!(!done.err.contains("outer"), "{}", done.err);
        assert!(done.out.contains("the program's output"));
    }
}

fn run_into_a_directory_of_its_own() {
    let (here, there) = (Place::new(), Place::new());
    let dir = there.rings();
    let done = run(&here, &["--dir", dir.to_str().unwrap()], "attribute", "0", b"").ok();
    done.says(&["marked"]);
    assert!(here.ring_files().is_empty(), "nothing in the other place");
    assert_eq!(fs::read_dir(dir).unwrap().count(), 1);
}

fn the_demo_without_a_terminal_prints_a_report_of_one_frame() {
    let place = Place::new();
    let done = place.tickscope(&["demo"]).ok().quiet();
    done.begins("tickscope report: demo, pid ");
    let first = done.out.lines().next().unwrap();
    assert!(first.contains("exited"), "it has ended: {first}");
    let row = line_with(&done.out, "demo::frame");
    assert!(row.split_whitespace().any(|word| word == "1"), "one frame: {row}");
    for name in ["scene::nearest", "shop::serve", "requests::order"] {
        assert!(done.out.contains(name), "no {name}: {}", done.out);
    }
    // `Pool::take` and some other functions have a share below 0.5%.
    done.prints(&["rows below 0.5% are not shown (--all-rows shows them)"]);
}

tickscope_testkit::tests![
    one_attribute_and_one_command_give_a_tree,
    the_program_ends_and_so_does_the_command,
    what_cannot_be_started_is_126_or_127,
    a_program_without_scopes_gets_a_hint,
    arguments_and_input_reach_the_program,
    behind_a_wrapper_it_is_the_descendant_that_is_shown,
    run_into_a_directory_of_its_own,
    the_demo_without_a_terminal_prints_a_report_of_one_frame,
];
