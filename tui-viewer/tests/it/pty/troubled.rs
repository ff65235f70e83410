//! Messages on the screen while its program is stopped or has lost its ring file.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::Signal;

use crate::pty::session::Session;
use crate::support::{self, Place, Program, VIEWER, ended, rings_in, send, until_true};

/// Returns the only ring in a directory.
fn ring_in(rings: &Path) -> PathBuf {
    rings_in(rings).pop().unwrap()
}

fn cut(rings: &Path) {
    support::cut(&ring_in(rings), 5_000);
}

/// Ways to lose a ring, each with the kind of target that the viewer is given. The collector's own tests check that the
/// collector replaces each of these rings.
type Harm = (&'static str, fn(&Path), &'static str);
const HARMS: [Harm; 3] = [
    ("cut", cut, "path"),
    ("removed", |rings| fs::remove_file(ring_in(rings)).unwrap(), "pid"),
    (
        "moved with its directory",
        |rings| fs::rename(rings, rings.with_extension("moved")).unwrap(),
        "name",
    ),
];

/// Returns the line on the screen that shows the calls of `counted`.
fn row(contents: &str) -> Option<String> {
    let mut lines = contents.lines();
    let line = lines.find(|line| line.contains("counted") && line.contains('%'));
    line.map(ToString::to_string)
}

/// Starts a program, and a viewer that shows it. Also returns the place.
fn watched() -> (Place, Program, Session) {
    let place = Place::new();
    let program = place.start_named("telling", "counted");
    let viewer = Session::beside(&place, &["counted"]);
    viewer.wait_for_text("● LIVE");
    viewer.wait_for_text("roles::counted");
    (place, program, viewer)
}

/// Quits the viewer and ends the program, which must be unharmed.
fn quit(viewer: Session, mut program: Program) {
    viewer.quit();
    assert!(program.end().success());
}

fn a_program_that_is_stopped_is_said_to_be_and_goes_on_by_itself() {
    let (_place, program, viewer) = watched();
    program.stop();
    viewer.wait_for_text("STALE since ");
    viewer.wait_for_text("No new snapshot: stopped");
    let stood = row(&viewer.contents());
    program.go_on();
    viewer.wait_for_text("● LIVE");
    viewer.wait_for("new numbers", |screen| row(&screen.contents()) != stood);
    quit(viewer, program);
}

fn a_viewer_goes_on_with_the_next_ring_however_the_first_was_lost() {
    for (what, harm, way) in HARMS {
        let place = Place::new();
        let program = place.start_named("telling", "counted");
        let target = match way {
            "path" => ring_in(&place.rings()).display().to_string(),
            "pid" => program.pid().to_string(),
            _ => program.name.clone(),
        };
        let mut viewer = Session::beside(&place, &[&target]);
        viewer.wait_for_text("roles::counted");
        // Mark the data before the loss, to compare it with the data after the loss.
        viewer.send_for("m", "is marked");
        harm(&place.rings());
        // The message stays on the screen for some seconds, long enough for the test to see it.
        let pid = program.pid();
        let lost = format!("the ring file of pid {pid} was lost; its next ring is followed");
        viewer.wait_for_text(&lost);
        viewer.wait_for_text("● LIVE");
        let before = row(&viewer.contents());
        viewer.wait_for(&format!("new numbers, {what}, by {way}"), |screen| {
            let now = row(&screen.contents());
            now.is_some() && now != before
        });
        viewer.send_for("'", "vs ");
        // The request is sent through the new ring.
        viewer.send_for("'r", "counting from zero");
        quit(viewer, program);
    }
}

fn commands_go_on_with_the_next_ring_as_well() {
    let place = Place::new();
    let mut program = place.start_named("telling", "counted");
    let (kept, said) = (place.work().join("run.tks"), place.work().join("said"));
    let mut command = place.command(VIEWER);
    command
        .args(["record", "--rate", "100", "-o", "run.tks"])
        .arg(ring_in(&place.rings()));
    let mut recording = command.stderr(fs::File::create(&said).unwrap()).spawn().unwrap();
    let size = || fs::metadata(&kept).map_or(0, |file| file.len());
    until_true("it records", || size() > 5_000);
    cut(&place.rings());
    let heard = || fs::read_to_string(&said).unwrap();
    until_true("it goes on", || {
        assert!(recording.try_wait().unwrap().is_none(), "{}", heard());
        heard().contains("was lost; its next ring is recorded")
    });
    let before = size();
    until_true("it records on", || size() > before + 5_000);
    send(&recording, Signal::INT);
    ended(recording).ok();
    assert!(!heard().contains("crashed"), "{}", heard());
    let report = place.tickscope(&["report", "run.tks"]).ok().out;
    assert!(report.contains("counted"), "{report}");

    let list = place.tickscope(&["list"]).ok().out;
    let pid = program.pid().to_string();
    let runs = |line: &&str| line.contains(&pid) && line.contains("running");
    assert_eq!(list.lines().filter(runs).count(), 1, "{list}");
    let report = place.tickscope(&["report", &pid]).ok().out;
    assert!(report.lines().next().unwrap().contains("running"), "{report}");
    assert!(program.end().success());
}

fn a_second_ring_that_is_cut_leaves_the_last_data_and_the_reason() {
    let (place, program, viewer) = watched();
    // The program immediately replaces the first ring that it loses, and later ones within a minute.
    let first = ring_in(&place.rings());
    cut(&place.rings());
    fs::remove_file(first).unwrap();
    viewer.wait_for_text("its next ring is followed");
    viewer.wait_for_text("● LIVE");
    cut(&place.rings());
    viewer.wait_for_text("BROKEN");
    viewer.wait_for_text("truncated: 5000 bytes");
    let pid = program.pid();
    let next = format!("Ring lost, process {pid} runs on: new ring within a minute.");
    viewer.wait_for_text(&next);
    assert!(row(&viewer.contents()).is_some(), "{}", viewer.contents());
    quit(viewer, program);
}

tickscope_testkit::tests![
    a_program_that_is_stopped_is_said_to_be_and_goes_on_by_itself,
    a_viewer_goes_on_with_the_next_ring_however_the_first_was_lost,
    commands_go_on_with_the_next_ring_as_well,
    a_second_ring_that_is_cut_leaves_the_last_data_and_the_reason,
];
