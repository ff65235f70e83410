//! Tests the ways in which a program can store to its ring file. All of them must produce the same file, and those that
//! go through the kernel must report stores that failed.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use tickscope_format::FormatError;
use tickscope_format::file::create::{OwnRing, Way};
use tickscope_format::file::open::RingFile;
use tickscope_format::ring::Stamp;
use tickscope_format::slots::{Op, Outcome};
use tickscope_format::snapshot::CaptureKind;
use tickscope_testkit::ring::wants_kernel_copies;

const STAMP: Stamp = Stamp {
    kind: CaptureKind::Periodic,
    tick: 1,
    unix_ns: 2,
};

fn made(dir: &Path, way: Way) -> OwnRing {
    wants_kernel_copies();
    let mut ring = OwnRing::create_by(dir, crate::support::header("ways"), way).unwrap();
    assert_eq!(ring.way(), way);
    ring.link().unwrap();
    ring
}

/// Makes every kind of store that a program makes, with enough records for the rings to wrap around. Returns the
/// contents of the file.
fn written(way: Way) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let mut ring = made(dir.path(), way);
    let seen = RingFile::open(ring.path()).unwrap();
    for number in 0..40u8 {
        let payload = vec![number; 3_000 * usize::from(number) + 5];
        ring.publish(STAMP, &payload).unwrap();
        assert_eq!(seen.newest().unwrap().payload, payload);
        assert!(ring.coarse_space(payload.len() as u64).unwrap() > 0);
        ring.publish_coarse(STAMP, &payload).unwrap();
        assert_eq!(seen.coarse_newest().unwrap().unwrap().payload, payload);
    }
    let mut slot = seen.take_slot().unwrap().unwrap();
    let sent = slot.send(Op::Reset).unwrap();
    let requests = ring.requests();
    assert_eq!((requests.len(), requests[0].op), (1, Some(Op::Reset)));
    ring.answer(&requests[0], Outcome::Done, 40, 1);
    assert_eq!(slot.reply(&sent).unwrap().unwrap().record, 40);
    ring.beat(7, 8);
    ring.fault(9);
    ring.exit(10);
    fs::read(ring.path()).unwrap()
}

fn all_ways_leave_the_same_file() {
    let copied = written(Way::Copied);
    assert_eq!(copied.len(), 3 * 4096 + (1 << 20) + (4 << 20));
    assert!(copied == written(Way::Mapped));
}

/// The length is checked before the stores, but here the file is truncated after that check.
fn a_cut_between_the_look_and_the_stores_is_an_error_and_no_signal() {
    let dir = tempfile::tempdir().unwrap();
    let mut ring = made(dir.path(), Way::Copied);
    let file = OpenOptions::new().write(true).open(ring.path()).unwrap();
    let length = file.metadata().unwrap().len();
    let seen = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Between two truncations the file has its full length again, but its blocks are gone.
        scope.spawn(|| {
            while !seen.load(Ordering::Relaxed) {
                file.set_len(0).unwrap();
                file.set_len(length).unwrap();
            }
        });
        let payload = vec![1; 400 << 10];
        let lost = (0..100_000).find_map(|_| ring.publish(STAMP, &payload).err());
        seen.store(true, Ordering::Relaxed);
        let lost = lost.unwrap();
        assert!(
            matches!(lost, FormatError::Io { .. } | FormatError::Unsuitable { .. }),
            "{lost}"
        );
        assert!(lost.to_string().contains(ring.path().to_str().unwrap()), "{lost}");
        ring.beat(1, 1);
        assert!(ring.requests().is_empty() && ring.publish(STAMP, &[1]).is_err());
    });
}

/// Closes this process's descriptor for a file. Some programs do this by closing all descriptors that they did not open
/// themselves.
fn close(path: &Path) {
    let facts = |path: &Path| fs::metadata(path).ok().map(|facts| (facts.dev(), facts.ino()));
    let wanted = facts(path).unwrap();
    let open = fs::read_dir("/proc/self/fd")
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let own = open.filter(|open| facts(open) == Some(wanted)).last().unwrap();
    let number = own.file_name().unwrap().to_str().unwrap().parse().unwrap();
    // SAFETY: before each use of the descriptor, its owner checks which file it refers to.
    assert_eq!(unsafe { libc::close(number) }, 0);
}

/// When the file can no longer be found, nothing shows in advance whether a store through the mapping would raise a
/// signal. So no more stores are made.
fn a_mapped_file_that_is_out_of_sight_is_stored_to_no_more() {
    let dir = tempfile::tempdir().unwrap();
    let mut ring = made(dir.path(), Way::Mapped);
    close(ring.path());
    ring.publish(STAMP, b"found again by its name").unwrap();
    close(ring.path());
    let away = dir.path().join("away");
    fs::rename(ring.path(), &away).unwrap();
    let before = fs::read(&away).unwrap();
    let lost = ring.publish(STAMP, b"out of sight").unwrap_err().to_string();
    let told =
        ": was moved away, and the program has closed its descriptor, wanted the ring that this program made";
    assert!(lost.ends_with(told), "{lost}");
    ring.beat(7, 8);
    assert!(fs::read(&away).unwrap() == before);
}

tickscope_testkit::tests![
    all_ways_leave_the_same_file,
    a_cut_between_the_look_and_the_stores_is_an_error_and_no_signal,
    a_mapped_file_that_is_out_of_sight_is_stored_to_no_more,
];
