//! Ring files are truncated, deleted, or have holes punched into them, while programs write them and viewers read them.
//! No process may die.
//!
//! With `TRUNCATIONS=1000` in the environment, 1000 files are damaged instead of 10.

use std::fs::{self, OpenOptions};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use crate::support::{self, Isolated, rings_in, shared_place, tell, test_name, wait_until};
use tickscope::{Builder, Status};
use tickscope_format::file::create::{OwnRing, Way};
use tickscope_format::file::header::Header;
use tickscope_format::file::list::list;
use tickscope_format::file::open::Liveness;
use tickscope_format::ring::Stamp;
use tickscope_format::snapshot::CaptureKind;
use tickscope_format::{FormatError, os};

/// Time between damaging one file and the next.
const BETWEEN: Duration = Duration::from_millis(100);

fn truncations() -> u32 {
    let asked = std::env::var("TRUNCATIONS").ok();
    asked.map_or(10, |number| number.parse().unwrap())
}

/// Returns whether the processes of the test should end.
fn is_over() -> bool {
    let place = shared_place();
    // If the test has failed, its directory is already gone.
    place.join("over").exists() || !place.exists()
}

/// Runs a program that works and publishes. When it can no longer publish, it starts a new session, as the collector's
/// warning advises.
fn program() {
    support::call_many_paths();
    // This call stays in flight, so that every record has a call in flight.
    let mut call = std::pin::pin!(tickscope::future!("call", std::future::pending::<()>()));
    let polled = call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(polled.is_pending());
    while !is_over() {
        // `start` is used instead of `try_start`, because the ring may be cut during the start.
        let session = Builder::new("storm").interval(Duration::from_millis(10)).start();
        // A session replaces its first lost ring at once, but later ones only after a minute. A new session creates a
        // ring at once.
        let has_name = || session.path().is_some_and(|path| path.exists());
        while !is_over() && session.status() == Status::Publishing && has_name() {
            tickscope::scope!("work");
            let bytes = std::hint::black_box(vec![0u8; 100]);
            tickscope::value!("bytes", bytes.len());
            tickscope::gauge!("level", bytes.len());
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Runs a viewer: finds a ring, reads it with the same code as all viewers, and looks for another ring once this one is
/// gone.
fn viewer(number: &str) {
    let (mut whole, mut broken, mut bytes) = (0u64, 0u64, 0);
    while !is_over() {
        for listed in list(&[shared_place().join("rings")]) {
            let Ok((ring, Liveness::Running | Liveness::Stale { .. })) = listed.ring else {
                continue;
            };
            while !is_over() && matches!(ring.liveness(), Ok(Liveness::Running | Liveness::Stale { .. })) {
                match ring.newest_snapshot() {
                    Ok((record, snapshot)) => {
                        support::check(&snapshot);
                        assert_eq!(snapshot.tasks.roots_in_flight(), 1);
                        bytes = bytes.max(record.payload.len());
                        if whole == 0 {
                            tell(&format!("reads-{number}"), "");
                        }
                        whole += 1;
                    }
                    Err(error) => {
                        // If a hole covers the ring's write position, the writer seems to be far ahead until it writes
                        // the next record.
                        assert!(
                            matches!(
                                error,
                                FormatError::Truncated { .. }
                                    | FormatError::NoRecord
                                    | FormatError::Lapped { .. }
                            ),
                            "{error}"
                        );
                        broken += 1;
                        break;
                    }
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
    tell(&format!("seen-{number}"), format!("{whole} {broken} {bytes}"));
}

/// Damages a ring file: removes it, punches a hole into it, or truncates it.
fn harm(path: &Path, number: u32) {
    let length = fs::metadata(path).map_or(0, |facts| facts.len());
    let place = os::random() % length.max(1);
    let open = || OpenOptions::new().write(true).open(path);
    // The file may be gone already.
    let _ = match number % 4 {
        0 => fs::remove_file(path),
        1 => open().and_then(|file| os::punch_hole(&file, 0, place.max(4096))),
        _ => open().and_then(|file| file.set_len(place)),
    };
}

fn truncations_and_unlinks_end_no_program_and_no_viewer() {
    let mut program = Isolated::as_usual(test_name!()).start(|| match std::env::var("PART").as_deref() {
        Ok(number @ ("1" | "2")) => viewer(number),
        _ => program(),
    });
    // Ten files are damaged per second, and a program takes some time to create a new ring. So two programs run.
    let mut other = program.beside("program");
    let rings = program.place().join("rings");
    let mut viewers = ["1", "2"].map(|part| program.beside(part));
    let mut harmed: Vec<PathBuf> = Vec::new();
    let begin = Instant::now();
    while (harmed.len() as u32) < truncations()
        && program.ended().is_none()
        && other.try_wait().unwrap().is_none()
    {
        let due = BETWEEN * (harmed.len() as u32 + 1);
        std::thread::sleep(due.saturating_sub(begin.elapsed()).max(Duration::from_millis(1)));
        let fresh = rings_in(&rings).into_iter().find(|path| !harmed.contains(path));
        if let Some(path) = fresh {
            harm(&path, harmed.len() as u32);
            harmed.push(path);
        }
    }
    let rate = harmed.len() as f64 / begin.elapsed().as_secs_f64();
    for (viewer, part) in viewers.iter_mut().zip(["1", "2"]) {
        let reads = program.place().join(format!("reads-{part}"));
        wait_until("a record that the viewer reads", || {
            reads.exists() || viewer.try_wait().unwrap().is_some()
        });
    }
    fs::write(program.place().join("over"), "").unwrap();
    let viewers = viewers.each_mut().map(|viewer| viewer.wait().unwrap());
    let dead_viewers = viewers.iter().filter(|status| !status.success()).count();
    let seen = program.told("seen-1");
    let done = program.wait();
    let other = other.wait().unwrap();
    let dead_programs = [done.status, other]
        .iter()
        .filter(|status| !status.success())
        .count();
    println!(
        "G5: {} truncations, holes and unlinks at {rate:.1} Hz: {dead_viewers} dead viewers, {dead_programs} dead \
         programs (a viewer's whole and broken reads, bytes of a record: {seen})",
        harmed.len(),
    );
    assert_eq!(dead_viewers, 0, "{viewers:?} {other} {done:?}");
    assert_eq!(dead_programs, 0, "{viewers:?} {other} {done:?}");
}

/// Writes records as fast as possible, and creates a new ring whenever the current ring has been truncated. If `way` is
/// `None`, the ring is created in the default way.
fn writer(way: Option<Way>) {
    let payload = vec![7; 4 << 20];
    let stamp = Stamp {
        kind: CaptureKind::Periodic,
        tick: 0,
        unix_ns: 0,
    };
    while !is_over() {
        let header = Header {
            nonce: os::random(),
            ring_words: (16 << 20) / 8,
            ..tickscope_testkit::ring::header("writer")
        };
        let dir = shared_place().join("rings");
        let made = match way {
            Some(way) => OwnRing::create_by(&dir, header, way),
            None => OwnRing::create(&dir, header),
        };
        let mut ring = made.unwrap();
        ring.link().unwrap();
        while !is_over() && ring.publish(stamp, &payload).is_ok() {}
        let _ = fs::remove_file(ring.path());
    }
}

/// Truncates `cuts` rings of a writer. Returns how often this killed the writer.
fn cut_all(name: &'static str, way: Option<Way>, cuts: u32) -> u32 {
    let start = || {
        Isolated::as_usual(name)
            .env("WAY", format!("{way:?}"))
            .start(|| ())
    };
    let mut writer = start();
    let mut dead = 0;
    for _ in 0..cuts {
        let path = support::wait_for("a ring", || rings_in(&writer.place().join("rings")).pop());
        std::thread::sleep(Duration::from_micros(os::random() % 20_000));
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        let length = file.metadata().unwrap().len();
        file.set_len(os::random() % length).unwrap();
        let mut ended = None;
        support::wait_until(&format!("its writer sees it: {way:?}"), || {
            ended = writer.ended();
            ended.is_some() || !path.exists()
        });
        if let Some(status) = ended {
            assert_eq!(status.signal(), Some(libc::SIGBUS), "{status}");
            dead += 1;
            writer = start();
        }
    }
    fs::write(writer.place().join("over"), "").unwrap();
    writer.wait().succeeded();
    dead
}

fn flat_out_no_cut_ends_a_program() {
    const WAYS: [Option<Way>; 2] = [None, Some(Way::Mapped)];
    if support::is_child() {
        let asked = std::env::var("WAY").unwrap();
        let way = WAYS.into_iter().find(|way| format!("{way:?}") == asked).unwrap();
        Isolated::as_usual(test_name!()).run(|| writer(way));
    }
    tickscope_testkit::ring::wants_kernel_copies();
    let cuts = truncations();
    let dead = WAYS.map(|way| cut_all(test_name!(), way, cuts));
    println!(
        "G5: {cuts} truncations flat out with 4 MiB records (debug build: {}): by default {} dead, mapped {} dead",
        cfg!(debug_assertions),
        dead[0],
        dead[1]
    );
    assert_eq!(dead[0], 0);
}

tickscope_testkit::tests![
    truncations_and_unlinks_end_no_program_and_no_viewer,
    flat_out_no_cut_ends_a_program
];
