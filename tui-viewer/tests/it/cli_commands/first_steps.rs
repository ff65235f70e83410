//! Obstacles for a user who runs the commands for the first time.

use std::fs;

use tickscope_testkit::command::install;

use crate::support::{Place, Program, in_role, until};

/// `report -o now.svg` must not write a text report into a file of that name.
fn an_ending_that_says_no_form_is_refused() {
    let (place, program) = Place::with("stuck");
    for (args, says) in [
        (
            &["report", "-o", "now.svg"][..],
            &["now.svg", ".html", ".pb.gz", "-f"][..],
        ),
        (
            &["snapshot", "-o", "now.txt"],
            &[
                "now.txt: a snapshot or recording needs the ending .tks, by which it is opened again; wanted now.tks",
                "tickscope report",
            ],
        ),
        (
            &["record", "-d", "100ms", "-o", "now.txt"],
            &["now.txt", "now.tks"],
        ),
    ] {
        let args = [args, &[&program.name]].concat();
        place.tickscope(&args).failed(2, says);
    }
    place
        .tickscope(&["diff", "-o", "d.svg", &program.name, &program.name])
        .failed(2, &["d.svg", ".txt .json .md .html", "-f"]);
    assert_eq!(fs::read_dir(place.work()).unwrap().count(), 0);
    for args in [&["-o", "now"][..], &["-o", "now.svg", "-f", "folded"]] {
        place.told(&[&["report", &program.name], args].concat());
    }
}

/// The message "no program called words.txt" alone would mislead, because there is a file of that name.
fn a_name_that_is_also_a_file_is_said_to_be_one() {
    let place = Place::new();
    for file in ["words.txt", "now.folded"] {
        fs::write(place.work().join(file), "a,b\n").unwrap();
        place
            .tickscope(&["report", file])
            .with_code(2)
            .says(&["(there is a file of that name: ./", file]);
    }
    place.tickscope(&["report", "./now.folded"]).failed(
        1,
        &["reports as .folded cannot be opened again", ".html and .tks can"],
    );
}

/// A running program must not be reported as not running when its file is named.
fn a_program_is_found_by_its_file() {
    let place = Place::new();
    let role = place.role("stuck", "by-file");
    let app = place.work().join("wordmill");
    install(role.get_program().as_ref(), &app);
    let start = || {
        let mut command = place.command(&app);
        in_role(&mut command, &role);
        let program = Program::spawn(&mut command);
        until("the ring is there", || place.ring_of(program.pid()));
        program
    };
    let first = start();
    for target in ["./wordmill", "wordmill"] {
        assert_eq!(place.json(target)["process"]["pid"], first.pid());
    }
    let second = start();
    let pids = [&first, &second].map(|program| format!("tickscope {}", program.pid()));
    place
        .tickscope(&["report", "./wordmill"])
        .with_code(2)
        .says(&[&pids[0], &pids[1]]);
}

/// `tickscope reprot` must not only wait for a program of that name.
fn a_word_close_to_a_command_or_a_program_is_said_to_be_meant() {
    let (place, program) = Place::with("stuck");
    place.tickscope(&["reprot"]).with_code(2).says(&[
        "no program called \"reprot\"; did you mean tickscope report?",
        "to wait for a program of that name: tickscope attach reprot",
    ]);
    place
        .tickscope(&["reprot", &program.name])
        .with_code(2)
        .says(&["there is no such command; did you mean tickscope report?"]);
    let typo = program.name.replacen("stuck", "stcuk", 1);
    for command in ["report", "reset", "stacks"] {
        place
            .tickscope(&[command, &typo])
            .with_code(2)
            .says(&["(did you mean ", &program.name]);
    }
    // A program with this name is found.
    let report = place.start_named("stuck", "reprot");
    let pid = place.json("reprot")["process"]["pid"].clone();
    assert_eq!(pid, report.pid());
    assert!(
        place
            .tickscope(&["reprot"])
            .ok()
            .out
            .starts_with("tickscope report: reprot")
    );
}

/// `log` must not follow a missing group without a message; `report --per` must not report that an existing group is no
/// function.
fn groups_are_named_where_they_are_not_met_or_do_not_work() {
    let (place, program) = Place::with("grouped");
    until("the groups are there", || {
        let document = place.json(&program.name);
        (document["groups"].as_array()?.len() == 2).then_some(())
    });
    let once = ["--every", "50ms", "-d", "100ms"];
    let args = [
        &["log", &program.name, "--group", "pipe", "--group", "ppie"][..],
        &once,
    ]
    .concat();
    place
        .tickscope(&args)
        .ok()
        .says(&["no scope of the group ppie was met yet (there are ", "pipe"]);
    place
        .tickscope(&["report", &program.name, "--per", "work"])
        .failed(
            2,
            &[
                "work is a group",
                "per call of one function or scope; its members are ",
            ],
        );
}

/// Messages must not be "invalid digit found in string", "entity not found", and the like.
fn what_is_wanted_is_said() {
    let (place, program) = Place::with("stuck");
    for args in [
        &["report", "-o", "none/x.html"][..],
        &["snapshot", "-o", "none/x.tks"],
        &["record", "-d", "100ms", "-o", "none/x.tks"],
    ] {
        place.tickscope(&[args, &[&program.name]].concat()).failed(
            1,
            &[
                "cannot create none/x.",
                ": there is no directory none; make the directory first",
            ],
        );
    }
    let help = place.tickscope(&["diff", "--help"]).ok().out;
    assert!(help.contains("(.tks, .html, a ring)"), "{help}");
}

tickscope_testkit::tests![
    an_ending_that_says_no_form_is_refused,
    a_name_that_is_also_a_file_is_said_to_be_one,
    a_program_is_found_by_its_file,
    a_word_close_to_a_command_or_a_program_is_said_to_be_meant,
    groups_are_named_where_they_are_not_met_or_do_not_work,
    what_is_wanted_is_said,
];
