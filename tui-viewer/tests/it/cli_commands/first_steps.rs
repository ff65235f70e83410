//! What may go wrong when a user runs the commands for the first time.

use std::fs;

use tickscope_testkit::command::install;

use crate::support::{Place, Program, in_role, until};

/// `report -o now.svg` must not write a text report to a file of that name.
fn an_ending_that_says_no_form_is_refused() {
    let (place, program) = Place::with("stuck");
    let table = "
        2 report -o now.svg NAME => now.svg… .html… .pb.gz… -f
        2 snapshot -o now.txt NAME => now.txt: a snapshot or recording needs the ending .tks, by which it is opened \
            again; wanted now.tks… tickscope report
        2 record -d 100ms -o now.txt NAME => now.txt… now.tks
        2 diff -o d.svg NAME NAME => d.svg… .txt .json .md .html… -f
    ";
    place.refuses(&table.replace("NAME", &program.name));
    assert_eq!(place.files(), 0);
    for args in [&["-o", "now"][..], &["-o", "now.svg", "-f", "folded"]] {
        place.told(&[&["report", &program.name], args].concat());
    }
}

/// If a file has that name, the message "no program called words.txt" alone would be misleading.
fn a_name_that_is_also_a_file_is_said_to_be_one() {
    let place = Place::new();
    for file in ["words.txt", "now.folded"] {
        fs::write(place.work().join(file), "a,b\n").unwrap();
        let says = format!("(there is a file of that name: ./… {file}");
        place.answers(&format!("2 report {file} => {says}"));
    }
    place.refuses("1 report ./now.folded => reports as .folded cannot be opened again… .html and .tks can");
}

/// A running program can be found by the path of its executable.
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
    let [first, second] = [&first, &second].map(|program| format!("tickscope {}", program.pid()));
    place.answers(&format!("2 report ./wordmill => {first}… {second}"));
}

/// `tickscope reprot` must not simply wait for a program called `reprot`.
fn a_word_close_to_a_command_or_a_program_is_said_to_be_meant() {
    let (place, program) = Place::with("stuck");
    let table = "
        2 reprot => no program called \"reprot\"; did you mean tickscope report?
        2 reprot => to wait for a program of that name: tickscope attach reprot
        2 reprot NAME => there is no such command; did you mean tickscope report?
        2 report TYPO => (did you mean … NAME
        2 reset TYPO => (did you mean … NAME
        2 stacks TYPO => (did you mean … NAME
    ";
    let typo = program.name.replacen("stuck", "stcuk", 1);
    place.answers(&table.replace("NAME", &program.name).replace("TYPO", &typo));
    // If a program has this name, it is found.
    let report = place.start_named("stuck", "reprot");
    let pid = place.json("reprot")["process"]["pid"].clone();
    assert_eq!(pid, report.pid());
    place
        .tickscope(&["reprot"])
        .ok()
        .begins("tickscope report: reprot");
}

/// If no scope of a group has been entered yet, `log` must say so instead of silently printing nothing. `report --per`
/// must recognize a group as a group, instead of reporting that no such function exists.
fn groups_are_named_where_they_are_not_met_or_do_not_work() {
    let (place, program) = Place::with("grouped");
    until("the groups are there", || {
        let document = place.json(&program.name);
        (document["groups"].as_array()?.len() == 2).then_some(())
    });
    let says = "no scope of the group ppie was met yet (there are … pipe";
    let log = format!("0 log {} --group pipe --group ppie", program.name);
    place.answers(&format!("{log} --every 50ms -d 100ms => {says}"));
    let says = "per call of one function or scope; its members are … work is a group";
    place.refuses(&format!("2 report {} --per work => {says}", program.name));
}

/// Messages say which values are valid, not "invalid digit found in string" or "entity not found".
fn what_is_wanted_is_said() {
    let (place, program) = Place::with("stuck");
    let table = "
        1 report -o none/x.html NAME => cannot create none/x.html: there is no directory none; make the directory first
        1 snapshot -o none/x.tks NAME => cannot create none/x.tks: there is no directory none; make the directory first
        1 record -d 100ms -o none/x.tks NAME => cannot create none/x.tks: there is no directory none; make the directory first
    ";
    place.refuses(&table.replace("NAME", &program.name));
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
