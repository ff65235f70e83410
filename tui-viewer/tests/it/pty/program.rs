//! The viewer and a running program: nothing that happens to the viewer disturbs the program.

use std::fs;
use std::time::Duration;

use tickscope_testkit::{orderbook, ring};

use crate::pty::session::Session;
use crate::support::{Chance, Place, number, until_true};

/// Kills the viewer 12 times, or as often as the environment variable `KILLS` says.
fn killing_the_viewer_at_any_moment_changes_nothing_in_the_program() {
    let place = Place::new();
    let (mut program, ring) = place.run("telling");
    let target = ring.path().to_str().unwrap();
    let mut chance = Chance(11);
    for kill in 0..number("KILLS", 12) {
        let mut viewer = Session::viewer(&[target], (80, 24));
        // These keys change the view or the publishing rate, but not the counts of the program.
        let keys = ["", "2jj", "]", "[", "?", "/cou", "M", "T"][chance.below(8) as usize];
        std::thread::sleep(Duration::from_micros(chance.below(60_000)));
        viewer.send(keys);
        std::thread::sleep(Duration::from_micros(chance.below(40_000)));
        viewer.signal("-KILL");
        viewer.end();

        let (_, last) = ring.newest_snapshot().unwrap();
        until_true("it publishes", || {
            let (_, next) = ring.newest_snapshot().unwrap();
            next.capture.seq > last.capture.seq && next.calls() > last.calls()
        });
        // The ring has sixteen slots. If each kill leaked one, there would soon be none left.
        let is_free = ring.take_slot().unwrap().is_some();
        assert!(is_free, "no slot is free after kill {kill}");
        assert!(program.runs());
    }
    assert!(program.end().success());
    let said = fs::read_to_string(place.work().join("calls")).unwrap();
    let (_, end) = ring.newest_snapshot().unwrap();
    assert_eq!(end.calls().to_string(), said, "every call is counted once");
    let losses = end.capture.losses;
    assert_eq!((losses.dropped, losses.unbalanced), (0, 0));
}

/// The program has two thousand nodes, or as many as the environment variable `NODES` says.
fn a_large_program_with_a_thousand_threads_is_shown_a_hundred_times_a_second() {
    let nodes = number("NODES", 2_000) as u32;
    let dir = tempfile::tempdir().unwrap();
    let snapshots = [1_340, 1_341].map(|tenths| ring::snapshot(nodes, 1_000, 997, tenths));
    let program = ring::Program::start(dir.path(), &snapshots, Duration::from_millis(10)).unwrap();
    let mut viewer = Session::viewer(&[program.path().to_str().unwrap()], (120, 30));
    viewer.wait_for_text("100 Hz");
    viewer.wait_for_text("1.00k threads");
    viewer.send_for("E", "generated::");
    viewer.send_for("2", "[2 Hot]");
    viewer.send_for("/work_99", "/work_99");
    viewer.send("\x1b");
    viewer.send_for("G1", "[1 Tree]");
    viewer.quit();
    assert!(program.times().len() > 1, "it published meanwhile");
}

fn a_program_that_starts_again_is_followed() {
    let place = Place::new();
    let mut program = place.start_named("telling", "counted");
    let viewer = Session::beside(&place, &["counted"]);
    viewer.wait_for_text(&format!("pid {}   ● LIVE", program.pid()));
    assert!(program.end().success());
    viewer.wait_for_text("■ EXITED");
    // Its last data stays.
    assert!(viewer.contents().contains("roles::counted"));
    let program = place.start_named("telling", "counted");
    viewer.wait_for_text(&format!("pid {}   ● LIVE", program.pid()));
    viewer.quit();
}

fn processes_of_one_name_are_shown_and_asked_together() {
    let place = Place::new();
    let [mut first, mut second] = [(); 2].map(|()| place.start_named("telling", "counted"));
    let mut viewer = Session::beside(&place, &["counted", "--all"]);
    viewer.wait_for_text("2 processes");
    viewer.send_for("r", "sent to 2 programs");
    viewer.send("4");
    // The process id follows the name of each process.
    for program in [&first, &second] {
        viewer.wait_for_text(&format!("({})", program.pid()));
    }
    first.kill();
    viewer.wait_for_text("1 ended");
    assert!(second.end().success());
    viewer.wait_for_text("EXITED");
    viewer.quit();
}

fn a_kept_snapshot_is_compared_with_from_the_first_frame_on() {
    let place = Place::new();
    place.keep("now.tks", &orderbook::snapshot(1_340));
    place.keep("before.tks", &orderbook::snapshot(670));
    let viewer = Session::beside(&place, &["now.tks", "--compare", "before.tks"]);
    viewer.wait_for_text("vs before.tks");
    // The second snapshot has twice the time and twice the calls, so no call became slower, but all totals doubled.
    viewer.wait_for_text("AVG change");
    viewer.wait_for_text("+23.0s");
    viewer.quit();
}

tickscope_testkit::tests![
    killing_the_viewer_at_any_moment_changes_nothing_in_the_program,
    a_large_program_with_a_thousand_threads_is_shown_a_hundred_times_a_second,
    a_program_that_starts_again_is_followed,
    processes_of_one_name_are_shown_and_asked_together,
    a_kept_snapshot_is_compared_with_from_the_first_frame_on,
];
