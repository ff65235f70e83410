//! The viewer beside a program that runs: whatever is done to it, the program does not notice.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use portable_pty::CommandBuilder;
use tickscope_format::file::open::RingFile;
use tickscope_testkit::{orderbook, ring};

use crate::pty::session::Session;
pub(crate) use tickscope_testkit::until::until;

/// Names the directory of the rings of the program below.
const ROLE: &str = "PTY_TEST_RINGS";

/// Is a program that counts what it measures, until its standard input is closed; then it says how often. Returns if the
/// environment names no rings.
pub(crate) fn play() {
    let Some(rings) = std::env::var_os(ROLE) else {
        return;
    };
    let end = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&end);
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        told.store(true, Ordering::Relaxed);
    });
    let session = tickscope::Builder::new("counted")
        .dir(PathBuf::from(rings))
        .interval(Duration::from_millis(5))
        .start();
    let mut calls = 0u64;
    while !end.load(Ordering::Relaxed) {
        for _ in 0..100 {
            tickscope::scope!("counted");
            calls += 1;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    drop(session);
    println!("calls {calls}");
    std::process::exit(0);
}

pub(crate) fn start(rings: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .env(ROLE, rings)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

pub(crate) fn ring_in(dir: &Path) -> Option<PathBuf> {
    let mut files = std::fs::read_dir(dir).ok()?.filter_map(Result::ok);
    let path = files.find(|file| file.path().extension().is_some_and(|e| e == "ring"))?;
    Some(path.path())
}

/// 25 times, or as often as the variable KILLS says.
fn killing_the_viewer_at_any_moment_changes_nothing_in_the_program() {
    let kills: u32 = std::env::var("KILLS").map_or(25, |kills| kills.parse().unwrap());
    let dir = tempfile::tempdir().unwrap();
    let mut program = start(dir.path());
    let path = until("there is a ring", || ring_in(dir.path()));
    let ring = RingFile::open(&path).unwrap();
    let target = path.to_str().unwrap();
    let mut random = 11u64;
    for kill in 0..kills {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let mut viewer = Session::viewer(&[target], (80, 24));
        // Looking at it and asking for other rates: nothing that is to change what it counts.
        let keys = ["", "2jj", "]", "[", "?", "/cou", "M", "T"][(random >> 40) as usize % 8];
        let before = Duration::from_micros((random >> 20) % 60_000);
        std::thread::sleep(before);
        viewer.send(keys);
        std::thread::sleep(Duration::from_micros((random >> 30) % 40_000));
        viewer.signal("-KILL");
        viewer.end();

        let (_, last) = ring.newest_snapshot().unwrap();
        until("it publishes", || {
            let (_, next) = ring.newest_snapshot().unwrap();
            (next.capture.seq > last.capture.seq && next.calls() > last.calls()).then_some(())
        });
        // Sixteen slots: were one lost each time, there would soon be none.
        assert!(
            ring.take_slot().unwrap().is_some(),
            "a free slot after kill {kill}"
        );
        assert!(program.try_wait().unwrap().is_none(), "the program runs");
    }
    drop(program.stdin.take());
    let out = BufReader::new(program.stdout.take().unwrap());
    let said = out.lines().map_while(Result::ok).find_map(|line| {
        let (_, calls) = line.split_once("calls ")?;
        calls.parse::<u64>().ok()
    });
    assert!(program.wait().unwrap().success());
    let (_, end) = ring.newest_snapshot().unwrap();
    assert_eq!(Some(end.calls()), said, "every call is counted, and none twice");
    assert_eq!(
        (end.capture.losses.dropped, end.capture.losses.unbalanced),
        (0, 0)
    );
}

fn a_hundred_thousand_nodes_and_a_thousand_threads_a_hundred_times_a_second() {
    let dir = tempfile::tempdir().unwrap();
    let snapshots = [1_340, 1_341].map(|tenths| ring::snapshot(100_000, 1_000, 997, tenths));
    let program = ring::Program::start(dir.path(), &snapshots, Duration::from_millis(10)).unwrap();
    let mut viewer = Session::viewer(&[program.path().to_str().unwrap()], (120, 30));
    viewer.wait_for_text("100 Hz");
    viewer.wait_for_text("1.00k threads");
    viewer.send("E");
    viewer.wait_for_text("generated::");
    viewer.send("2");
    viewer.wait_for_text("[2 Hot]");
    viewer.send("/work_99");
    viewer.wait_for_text("/work_99");
    viewer.send("\x1b");
    viewer.send("G1");
    viewer.wait_for_text("[1 Tree]");
    viewer.send("?");
    viewer.wait_for_text("Keys");
    viewer.send("qq");
    assert_eq!(viewer.end().exit_code(), 0);
    viewer.assert_as_before();
    assert!(program.times().len() > 1, "it published meanwhile");
}

fn a_program_that_starts_again_is_followed() {
    let dir = tempfile::tempdir().unwrap();
    let mut program = start(dir.path());
    until("there is a ring", || ring_in(dir.path()));
    let first = program.id().to_string();
    let mut viewer = Session::viewer(&["counted", "--dir", dir.path().to_str().unwrap()], (120, 30));
    viewer.wait_for_text(&format!("pid {first}   ● LIVE"));
    drop(program.stdin.take());
    assert!(program.wait().unwrap().success());
    viewer.wait_for_text("■ EXITED");
    assert!(
        viewer.contents().contains("program::counted"),
        "its last data stays"
    );
    let mut program = start(dir.path());
    viewer.wait_for_text(&format!("pid {}   ● LIVE", program.id()));
    drop(program.stdin.take());
    assert!(program.wait().unwrap().success());
    viewer.send("q");
    assert_eq!(viewer.end().exit_code(), 0);
}

fn processes_of_one_name_are_shown_and_asked_together() {
    let dir = tempfile::tempdir().unwrap();
    let mut programs = [(); 2].map(|()| start(dir.path()));
    let arguments = ["counted", "--all", "--dir", dir.path().to_str().unwrap()];
    let mut viewer = Session::viewer(&arguments, (120, 30));
    viewer.wait_for_text("2 processes");
    viewer.send("r");
    viewer.wait_for_text("sent to 2 programs");
    viewer.send("4");
    // The end of a name says which process it is.
    for program in &programs {
        viewer.wait_for_text(&format!("({})", program.id()));
    }
    let [first, second] = &mut programs;
    first.kill().unwrap();
    first.wait().unwrap();
    viewer.wait_for_text("1 ended");
    drop(second.stdin.take());
    assert!(second.wait().unwrap().success());
    viewer.wait_for_text("EXITED");
    viewer.send("q");
    assert_eq!(viewer.end().exit_code(), 0);
    viewer.assert_as_before();
}

fn a_kept_snapshot_is_compared_with_from_the_first_frame_on() {
    let dir = std::env::temp_dir().join(format!("tickscope-compare-{}", std::process::id()));
    std::fs::create_dir(&dir).unwrap();
    let keep = |name: &str, tenths: u64| {
        let path = dir.join(name);
        tickscope_format::snapshot_file::write(&path, &orderbook::snapshot(tenths)).unwrap();
        path
    };
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_tickscope"));
    command.arg(keep("now.tks", 1_340));
    command.arg("--compare");
    command.arg(keep("before.tks", 670));
    let mut session = Session::spawn(command, (120, 30));
    session.wait_for_text("vs before.tks");
    // Twice the time with twice the work: no call became slower, all totals doubled.
    session.wait_for_text("AVG change");
    session.wait_for_text("+23.0s");
    session.send("'");
    session.wait_for_text("mark before.tks");
    session.wait_for("plain numbers", |screen| !screen.contents().contains("+23.0s"));
    session.send("q");
    assert_eq!(session.end().exit_code(), 0);
    std::fs::remove_dir_all(&dir).unwrap();
}

tickscope_testkit::tests![
    killing_the_viewer_at_any_moment_changes_nothing_in_the_program,
    a_hundred_thousand_nodes_and_a_thousand_threads_a_hundred_times_a_second,
    a_program_that_starts_again_is_followed,
    processes_of_one_name_are_shown_and_asked_together,
    a_kept_snapshot_is_compared_with_from_the_first_frame_on,
];
