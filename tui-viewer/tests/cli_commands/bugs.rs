//! One test for each bug that was found, named after it.

use std::fs;

use tickscope_format::layout::state;

use crate::support::{Place, VIEWER, finish, name, sealed_tickscope, until, word};

/// A request stayed in its slot when the command gave up; the program did it as soon as it went on.
#[test]
fn a_reset_given_up_is_not_done_later() {
    let place = Place::new();
    let program = place.start("stuck");
    program.stop();
    place
        .tickscope(&["reset", &program.name])
        .failed(1, &["withdrawn"]);
    let ring = place.ring_of(program.pid()).unwrap();
    let before = word(&ring, state::LATEST);
    program.go_on();
    // Wait for a record without asking for one, which would take the request's place.
    until("it publishes again", || {
        (word(&ring, state::LATEST) != before).then_some(())
    });
    assert_eq!(place.json(&program.name)["reset_epoch"], 0);
}

/// `TICKSCOPE_DIR=rings` in a program is `rings` in *its* directory.
#[test]
fn a_relative_directory_of_a_process_is_relative_to_it() {
    let place = Place::new();
    let program = name("relative");
    let mut role = place.role("stuck", &program);
    role.env("TICKSCOPE_DIR", "rings-here");
    let other = Place::new();
    let program = crate::support::Program::spawn(&mut role, &program);
    let pid = program.pid().to_string();
    let document = until("it is found", || {
        let done = other.tickscope(&["report", "-f", "json", &pid]);
        (done.code == Some(0)).then(|| done.json())
    });
    assert_eq!(document["process"]["name"], program.name);
}
