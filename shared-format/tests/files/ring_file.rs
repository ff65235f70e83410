//! Tests a ring file from its creation to its removal, and other files that are found in its place.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use tickscope_format::file::clean::clean;
use tickscope_format::file::create::OwnRing;
use tickscope_format::file::header::Header;
use tickscope_format::file::list::list;
use tickscope_format::file::open::{Liveness, RingFile, open_plain};
use tickscope_format::layout::slot;
use tickscope_format::ring::Stamp;
use tickscope_format::slots::{Op, Outcome};
use tickscope_format::snapshot::CaptureKind;
use tickscope_format::{Snapshot, os};
use tickscope_testkit::fixture::{payload, stamp_at};

fn header(name: &str, nonce: u64) -> Header {
    Header {
        pid: std::process::id(),
        boot_id: os::boot_id(),
        nonce,
        started_unix_ns: nonce,
        version: (1, 0),
        ..crate::support::header(name)
    }
}

fn fifo(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

/// Publishes a record with this wall-clock time and sequence number.
fn publish_at(ring: &mut OwnRing, unix_ns: u64, seq: u64) {
    let mut snapshot = Snapshot::default();
    snapshot.capture.seq = seq;
    ring.publish(stamp_at(seq, unix_ns), &payload(&snapshot)).unwrap();
    ring.beat(os::monotonic_ns(), 1_000_000_000);
}

fn publish(ring: &mut OwnRing, seq: u64) {
    publish_at(ring, seq, seq);
}

fn started(dir: &Path, name: &str, nonce: u64) -> OwnRing {
    let mut ring = OwnRing::create(dir, header(name, nonce)).unwrap();
    assert!(
        list(&[dir.to_path_buf()])
            .iter()
            .all(|listed| listed.path != ring.path()),
        "no name yet"
    );
    publish(&mut ring, 1);
    ring.link().unwrap();
    ring
}

/// The program finds out which slots are taken. They may be taken in any order, and a single lock may extend over
/// several slots.
fn held_slots_are_found_wherever_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let ring = started(dir.path(), "app", 7);
    let seen = RingFile::open(ring.path()).unwrap();
    let mut slots: Vec<_> = (0..slot::COUNT).map(|_| seen.take_slot().unwrap()).collect();
    assert!(slots.iter().all(Option::is_some));
    assert!(seen.take_slot().unwrap().is_none());
    assert_eq!(ring.watched_slots(), (0..slot::COUNT).collect::<Vec<_>>());
    for freed in [7, 0, 15, 8, 3, 4, 12, 1, 14, 6, 2] {
        slots[freed] = None;
        let held: Vec<_> = (0..slot::COUNT).filter(|&index| slots[index].is_some()).collect();
        assert_eq!(ring.watched_slots(), held);
    }
    slots.clear();
    // One lock reaches from the middle of the second slot into the fourth, and another one from the fifteenth slot to
    // the end of the file.
    let other = || {
        OpenOptions::new()
            .read(true)
            .write(true)
            .open(ring.path())
            .unwrap()
    };
    let (first, second) = (other(), other());
    let at = |slots: u64, more: u64| (slot::FIRST as u64 + slots * slot::WORDS as u64) * 8 + more;
    assert!(os::lock_range(&first, at(1, 100), at(3, 1) - at(1, 100)).unwrap());
    assert_eq!(ring.watched_slots(), [1, 2, 3]);
    assert!(os::lock_range(&second, at(14, 0), 0).unwrap());
    assert_eq!(ring.watched_slots(), [1, 2, 3, 14, 15]);
}

fn a_ring_is_seen_read_asked_and_outlives_its_program() {
    let dir = tempfile::tempdir().unwrap();
    let mut ring = started(dir.path(), "app", 7);
    let seen = RingFile::open(ring.path()).unwrap();
    assert_eq!((seen.header().name.as_str(), seen.header().nonce), ("app", 7));
    assert_eq!(seen.liveness().unwrap(), Liveness::Running);
    assert_eq!(seen.newest_snapshot().unwrap().1.capture.seq, 1);

    assert!(ring.watched_slots().is_empty());
    let mut slot = seen.take_slot().unwrap().unwrap();
    assert_eq!(ring.watched_slots(), [0]);
    let sent = slot.send(Op::Reset).unwrap();
    let request = ring.requests()[0];
    assert_eq!(request.op, Some(Op::Reset));
    publish(&mut ring, 2);
    ring.answer(&request, Outcome::Done, 2, 1);
    let reply = slot.reply(&sent).unwrap().unwrap();
    let got = (reply.outcome, reply.record, reply.reset_epoch);
    assert_eq!(got, (Outcome::Done, 2, 1));
    drop(slot);
    assert!(ring.watched_slots().is_empty());

    let (record, snapshot) = seen.newest_snapshot().unwrap();
    assert_eq!(snapshot.capture.seq, 2);
    assert_eq!(seen.before(&record).unwrap().unwrap().sequence, 1);
    let between = |after| -> Vec<u64> {
        let records = seen.between(after, &record);
        records.map(|record| record.sequence).collect()
    };
    assert_eq!([between(0), between(1), between(2)], [vec![1], vec![], vec![]]);

    ring.exit(99);
    // Whether the program is alive depends on the lock, and not on the recorded end time.
    assert_eq!(seen.liveness().unwrap(), Liveness::Running);
    drop(ring);
    assert_eq!(seen.liveness().unwrap(), Liveness::Exited { unix_ns: 99 });
    assert_eq!(seen.newest_snapshot().unwrap().1.capture.seq, 2);
}

fn cleaning_keeps_the_newest_dead_and_all_living_and_the_last_record_of_each() {
    let dir = tempfile::tempdir().unwrap();
    let alive = started(dir.path(), "alive", 100);
    for nonce in 0..5 {
        let mut ring = started(dir.path(), "dead", nonce);
        for seq in 2..400 {
            publish_at(&mut ring, nonce * 1000 + seq, seq);
        }
    }
    let removed = clean(dir.path(), 2, None);
    assert_eq!(removed.len(), 3, "{removed:?}");
    let left = list(&[dir.path().to_path_buf()]);
    assert_eq!(left.len(), 3);
    for listed in &left {
        let (ring, _) = listed.ring.as_ref().unwrap();
        let seq = ring.newest_snapshot().unwrap().1.capture.seq;
        assert_eq!(seq, if ring.header().name == "alive" { 1 } else { 399 });
    }
    // A file that merely has the extension of a ring is left alone.
    let wedding = dir.path().join("wedding.ring");
    fs::write(&wedding, "a list of guests").unwrap();
    assert_eq!(clean(dir.path(), 0, None).len(), 2);
    assert!(alive.path().exists() && wedding.exists());
}

fn a_ring_that_a_crash_left_with_two_names_is_cleaned_up() {
    let dir = tempfile::tempdir().unwrap();
    let path = started(dir.path(), "dead", 1).path().to_path_buf();
    let second = dir.path().join(".1.0000000000000001.making");
    fs::hard_link(&path, &second).unwrap();
    assert_eq!(clean(dir.path(), 0, None), Vec::<PathBuf>::new());
    let file = OpenOptions::new().write(true).open(&second).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(120))
        .unwrap();
    drop(file);
    assert_eq!(clean(dir.path(), 0, None), [path]);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

/// Publishes a record of this size in the coarse ring. Its payload repeats the lowest byte of its time, so that it can
/// be checked later. Returns false if the record does not fit.
fn publish_coarse(ring: &mut OwnRing, unix_ns: u64, bytes: usize) -> bool {
    let room = ring.coarse_space(bytes as u64).unwrap();
    let stamp = Stamp {
        kind: CaptureKind::Closing,
        tick: unix_ns,
        unix_ns,
    };
    let published = ring.publish_coarse(stamp, &vec![unix_ns as u8; bytes]);
    assert_eq!(published.is_ok(), bytes as u64 <= room);
    published.is_ok()
}

/// Returns the times of the records in the coarse ring, from newest to oldest.
fn coarse_times(ring: &RingFile) -> Vec<u64> {
    let newest = ring.coarse_newest().unwrap();
    std::iter::successors(newest, |record| ring.coarse_before(record).unwrap())
        .inspect(|record| {
            assert!(
                record
                    .payload
                    .iter()
                    .all(|&byte| byte == record.stamp.unix_ns as u8)
            );
        })
        .map(|record| record.stamp.unix_ns)
        .collect()
}

fn the_coarse_ring_grows_behind_the_other_and_keeps_what_fits() {
    let dir = tempfile::tempdir().unwrap();
    let mut ring = started(dir.path(), "app", 7);
    let seen = RingFile::open(ring.path()).unwrap();
    let length = || fs::metadata(seen.path()).unwrap().len();
    let got = (length(), seen.coarse_newest().unwrap());
    assert_eq!(got, ((1 << 20) + 3 * 4096, None));
    for time in 1..=100 {
        assert!(publish_coarse(&mut ring, time, 64 << 10));
        publish(&mut ring, time + 1);
        if time == 10 {
            assert_eq!(length(), (2 << 20) + 3 * 4096);
            assert_eq!(coarse_times(&seen), Vec::from_iter((1..=10).rev()));
        }
    }
    assert_eq!(length(), (5 << 20) + 3 * 4096);
    // 63 records, each a little larger than 64 KiB, fill 4 MiB.
    assert_eq!(coarse_times(&seen), Vec::from_iter((38..=100).rev()));
    assert_eq!(seen.newest_snapshot().unwrap().1.capture.seq, 101);
    assert!(!publish_coarse(&mut ring, 101, 3 << 20), "half of it is the most");
    // A reader that opens the ring after the program has ended finds the same records.
    drop(ring);
    assert_eq!(coarse_times(&RingFile::open(seen.path()).unwrap()).len(), 63);
    assert_eq!(seen.liveness().unwrap(), Liveness::Crashed { unix_ns: 101 });
}

fn a_file_without_a_coarse_ring_has_no_history() {
    let dir = tempfile::tempdir().unwrap();
    let mut plain = header("app", 7);
    plain.coarse_words = 0;
    let mut ring = OwnRing::create(dir.path(), plain).unwrap();
    publish(&mut ring, 1);
    assert_eq!(ring.coarse_space(100).unwrap(), 0);
    ring.link().unwrap();
    let seen = RingFile::open(ring.path()).unwrap();
    assert!(!publish_coarse(&mut ring, 1, 100));
    assert_eq!(seen.coarse_newest().unwrap(), None);
    assert_eq!(seen.newest_snapshot().unwrap().1.capture.seq, 1);
}

fn only_the_newest_dead_keep_their_history() {
    let dir = tempfile::tempdir().unwrap();
    for nonce in 1..=4 {
        let mut ring = started(dir.path(), "dead", nonce);
        publish_at(&mut ring, nonce * 1000, 2);
        for time in 1..=20 {
            assert!(publish_coarse(&mut ring, time, 64 << 10));
        }
    }
    for _ in 0..2 {
        assert!(clean(dir.path(), 16, None).is_empty());
        let mut left = list(&[dir.path().to_path_buf()]);
        left.sort_by_key(|listed| listed.ring.as_ref().unwrap().0.header().nonce);
        let histories = left.iter().map(|listed| {
            let (ring, _) = listed.ring.as_ref().unwrap();
            assert_eq!(ring.newest_snapshot().unwrap().1.capture.seq, 2);
            coarse_times(ring).len()
        });
        assert_eq!(Vec::from_iter(histories), [0, 0, 20, 20]);
    }
}

fn what_is_no_ring_says_what_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let ring = started(dir.path(), "app", 7);
    symlink(ring.path(), at("link.ring")).unwrap();
    fs::create_dir(at("dir.ring")).unwrap();
    fs::write(at("random.ring"), [0x5a; 9000]).unwrap();
    fs::write(at("empty.ring"), "").unwrap();
    let whole = fs::read(ring.path()).unwrap();
    fs::write(at("cut.ring"), &whole[..100_000]).unwrap();
    fs::write(at("short.ring"), &whole[..100]).unwrap();
    fifo(&at("fifo.ring"));
    for (name, says) in [
        ("missing.ring", "No such file"),
        (
            "link.ring",
            "is a symbolic link, wanted a plain file; name the file it points to",
        ),
        ("dir.ring", "is a directory, wanted a file"),
        ("random.ring", "begins with \"ZZZZZZZZ\""),
        ("empty.ring", "begins with \"\""),
        ("cut.ring", "truncated: 100000 bytes"),
        ("short.ring", "truncated: 100 bytes"),
    ] {
        let error = RingFile::open(&at(name)).unwrap_err().to_string();
        assert!(error.contains(says), "{name}: {error}");
    }
}

fn a_ring_cut_under_the_reader_is_an_error_and_no_signal() {
    let dir = tempfile::tempdir().unwrap();
    let mut ring = started(dir.path(), "app", 7);
    let seen = RingFile::open(ring.path()).unwrap();
    let mut slot = seen.take_slot().unwrap().unwrap();
    OpenOptions::new()
        .write(true)
        .open(ring.path())
        .unwrap()
        .set_len(5000)
        .unwrap();
    assert!(seen.newest().unwrap_err().to_string().contains("truncated"));
    assert!(
        slot.send(Op::Reset)
            .unwrap_err()
            .to_string()
            .contains("truncated")
    );
    // The request did not extend the truncated file again.
    assert_eq!(fs::metadata(ring.path()).unwrap().len(), 5000);
    // The writer does not store past the new end of the file either, because that would raise a signal and kill the
    // program.
    assert!(!ring.is_whole());
    assert!(ring.publish(stamp_at(9, 9), b"late").is_err());
    ring.beat(1, 1);
    ring.exit(1);
    assert!(ring.requests().is_empty());
}

/// In each case, the file still has a name somewhere, but a new viewer would not find the ring at its path.
fn a_ring_that_was_moved_or_whose_name_another_file_has_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    let changes: [fn(&Path); 4] = [
        |path| fs::rename(path, path.with_extension("moved")).unwrap(),
        |path| {
            fs::rename(
                path.parent().unwrap(),
                path.parent().unwrap().with_extension("moved"),
            )
            .unwrap()
        },
        |path| {
            fs::hard_link(path, path.with_extension("kept")).unwrap();
            fs::remove_file(path).unwrap();
        },
        |path| {
            fs::rename(path, path.with_extension("kept")).unwrap();
            fs::write(path, "something else").unwrap();
        },
    ];
    for (nonce, change) in changes.into_iter().enumerate() {
        let place = dir.path().join(format!("place-{nonce}"));
        let mut ring = started(&place, "app", nonce as u64);
        let path = ring.path().to_path_buf();
        fs::hard_link(&path, path.with_extension("second")).unwrap();
        assert!(!ring.is_removed(), "a second name takes nothing away");
        change(&path);
        assert!(ring.is_removed(), "change {nonce}");
    }
}

fn a_request_from_a_read_only_file_is_no_slot() {
    let dir = tempfile::tempdir().unwrap();
    let mut no_control = header("app", 1);
    no_control.control = false;
    let mut ring = OwnRing::create(dir.path(), no_control).unwrap();
    publish(&mut ring, 1);
    ring.link().unwrap();
    assert!(
        RingFile::open(ring.path())
            .unwrap()
            .take_slot()
            .unwrap()
            .is_none()
    );
}

fn a_fifo_put_there_between_look_and_opening_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    fifo(&path("fifo"));
    std::fs::write(path("file"), "").unwrap();
    std::fs::hard_link(path("file"), path("it")).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for turn in 0.. {
                // Each rename replaces the file `it` atomically.
                let from = if turn % 2 == 0 { "fifo" } else { "file" };
                std::fs::hard_link(path(from), path("next")).unwrap();
                std::fs::rename(path("next"), path("it")).unwrap();
                // If both names already link to the same file, the rename does nothing, and `next` remains.
                let _ = std::fs::remove_file(path("next"));
                if done.load(Ordering::Relaxed) {
                    return;
                }
            }
        });
        let mut exchanged = 0;
        let mut opened = 0;
        while exchanged < 20 || opened < 20 {
            match open_plain(&path("it"), true) {
                Ok(file) => {
                    assert!(file.metadata().unwrap().is_file());
                    opened += 1;
                }
                Err(error) => {
                    let told = "was replaced while it was opened, wanted a plain file";
                    exchanged += u32::from(error.to_string().contains(told));
                }
            }
        }
        done.store(true, Ordering::Relaxed);
    });
}

tickscope_testkit::tests![
    held_slots_are_found_wherever_they_are,
    a_ring_is_seen_read_asked_and_outlives_its_program,
    cleaning_keeps_the_newest_dead_and_all_living_and_the_last_record_of_each,
    a_ring_that_a_crash_left_with_two_names_is_cleaned_up,
    the_coarse_ring_grows_behind_the_other_and_keeps_what_fits,
    a_file_without_a_coarse_ring_has_no_history,
    only_the_newest_dead_keep_their_history,
    what_is_no_ring_says_what_it_is,
    a_ring_cut_under_the_reader_is_an_error_and_no_signal,
    a_ring_that_was_moved_or_whose_name_another_file_has_is_removed,
    a_request_from_a_read_only_file_is_no_slot,
    a_fifo_put_there_between_look_and_opening_is_refused,
];
