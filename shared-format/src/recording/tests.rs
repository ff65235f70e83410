use std::fs;

use proptest::prelude::*;

use super::*;
use crate::addresses::Frame;
use crate::fixture;
use crate::layout::FORMAT_MAJOR;
use crate::snapshot::{CaptureKind, Module};

/// Returns the snapshot for moment `at`, with `sites` additional sites.
pub(super) fn snapshot(at: u64, sites: usize) -> Snapshot {
    let mut snapshot = fixture::two_threads();
    snapshot.capture.seq = at + 1;
    snapshot.capture.tick += at;
    snapshot.capture.unix_ns += at;
    snapshot.capture.reset_epoch = at / 3;
    snapshot.capture.withdraws = (at % 5 == 4).then_some(at / 4);
    snapshot.nodes.calls[0] += at;
    for _ in 0..sites {
        let site = snapshot.sites[0].clone();
        snapshot.sites.push(site);
    }
    snapshot
}

/// Returns the addresses in the record for moment `at`. Only every third record has any.
pub(super) fn named_by(at: u64) -> Addresses {
    let mut addresses = Addresses::default();
    if at.is_multiple_of(3) {
        let frame = Frame {
            function: format!("function {at}"),
            ..Frame::default()
        };
        addresses.insert(&Module::default(), at, vec![frame]);
    }
    addresses
}

fn append(writer: &mut Writer, snapshot: &Snapshot) -> Result<(), FormatError> {
    writer.name(named_by(snapshot.capture.seq));
    writer.append(Stamp::from(&snapshot.capture), &fixture::payload(snapshot))
}

fn written(path: &Path, snapshots: &[Snapshot]) -> Vec<u64> {
    let mut writer = Writer::create(path, false).unwrap();
    let ends = snapshots.iter().map(|snapshot| {
        append(&mut writer, snapshot).unwrap();
        writer.bytes()
    });
    let ends = ends.collect();
    writer.finish().unwrap();
    ends
}

#[test]
fn records_come_back_in_any_order_with_their_facts() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.tks");
    let snapshots: Vec<Snapshot> = (0..7).map(|at| snapshot(at, at as usize / 3)).collect();
    let ends = written(&path, &snapshots);
    assert_eq!(ends.last(), Some(&fs::metadata(&path).unwrap().len()));
    let recording = Recording::open(&path).unwrap();
    assert_eq!((recording.moments().len(), recording.torn_bytes()), (7, 0));
    for at in [6, 0, 3, 2, 5, 1, 4] {
        let (moment, expected) = (&recording.moments()[at], &snapshots[at]);
        assert_eq!(&recording.snapshot(moment).unwrap(), expected);
        let facts = &expected.capture;
        let got = (moment.seq, moment.reset_epoch, moment.withdraws);
        assert_eq!(got, (facts.seq, facts.reset_epoch, facts.withdraws));
        let got = (moment.stamp.tick, moment.stamp.unix_ns);
        assert_eq!(got, (facts.tick, facts.unix_ns));
        assert_eq!(moment.stamp.kind, CaptureKind::Periodic);
    }
    assert_eq!(crate::snapshot_file::read(&path).unwrap(), snapshots[6]);
    let mut named = named_by(3);
    named.extend(named_by(6));
    assert_eq!(recording.addresses(), named);
}

#[test]
fn a_kept_snapshot_is_a_series_of_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.tks");
    crate::snapshot_file::write(&path, &snapshot(4, 0)).unwrap();
    let recording = Recording::open(&path).unwrap();
    let [only] = recording.moments() else {
        panic!("one")
    };
    assert_eq!((only.seq, only.reset_epoch, only.withdraws), (5, 1, Some(1)));
    assert_eq!(recording.snapshot(only).unwrap(), snapshot(4, 0));
}

#[test]
fn sites_are_written_again_only_where_they_changed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.tks");
    let many = |at| {
        let mut snapshot = snapshot(at, 0);
        let first_site = snapshot.sites[0].clone();
        for n in 0..1000u32 {
            snapshot.sites.push(crate::snapshot::Site {
                name: format!("f{}", n.wrapping_mul(2_654_435_761)),
                ..first_site.clone()
            });
        }
        snapshot
    };
    let ends = written(&path, &[many(0), many(1), snapshot(2, 0), many(3)]);
    let sizes: Vec<u64> = ends.windows(2).map(|ends| ends[1] - ends[0]).collect();
    assert!(sizes[0] < 1000 && sizes[1] < 1000 && sizes[2] > 3000, "{sizes:?}");
}

#[test]
fn no_file_is_written_over_but_by_force_and_with_a_record() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.tks");
    let entries = || fs::read_dir(dir.path()).unwrap().count();
    fs::write(&path, "mine").unwrap();
    let error = Writer::create(&path, false).unwrap_err().to_string();
    assert!(
        error.ends_with("run.tks: exists already, wanted a new file"),
        "{error}"
    );
    let writer = Writer::create(&path, true).unwrap();
    writer.finish().unwrap();
    assert_eq!((fs::read(&path).unwrap(), entries()), (b"mine".to_vec(), 1));
    let mut writer = Writer::create(&path, true).unwrap();
    append(&mut writer, &snapshot(0, 0)).unwrap();
    assert_eq!(entries(), 1, "nothing but the file, also while it grows");
    append(&mut writer, &snapshot(1, 0)).unwrap();
    assert_eq!(Recording::open(&path).unwrap().moments().len(), 2);
    drop(writer);
    let link = dir.path().join("link.tks");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    assert!(Writer::create(&link, true).is_err());
    let empty = dir.path().join("empty.tks");
    Writer::create(&empty, false).unwrap().finish().unwrap();
    assert!(!empty.exists(), "a file without a record does not stay");
}

#[test]
fn a_damaged_record_is_said_and_those_before_it_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.tks");
    let ends = written(&path, &[snapshot(0, 0), snapshot(1, 0), snapshot(2, 0)]);
    let whole = fs::read(&path).unwrap();
    let mut flipped = whole.clone();
    flipped[ends[1] as usize + 200] ^= 1;
    fs::write(&path, &flipped).unwrap();
    let recording = Recording::open(&path).unwrap();
    let read = recording.snapshot(&recording.moments()[2]);
    let error = read.unwrap_err().to_string();
    assert!(error.contains("checksum"), "{error}");
    assert_eq!(recording.newest().unwrap().1, snapshot(1, 0));
    // All records share the sites of the first record.
    let mut flipped = whole.clone();
    flipped[ends[0] as usize - 20] ^= 1;
    fs::write(&path, &flipped).unwrap();
    let recording = Recording::open(&path).unwrap();
    for moment in recording.moments() {
        let error = recording.snapshot(moment).unwrap_err().to_string();
        assert!(error.contains("damaged"), "{error}");
    }
    assert!(matches!(recording.newest(), Err(FormatError::NoRecord)));
    for (length, torn) in [(0, 0), (1, 1), (100, 100)] {
        let mut bytes = whole.clone();
        bytes.extend(vec![0xff; length]);
        fs::write(&path, &bytes).unwrap();
        let recording = Recording::open(&path).unwrap();
        assert_eq!((recording.moments().len(), recording.torn_bytes()), (3, torn));
    }
}

#[test]
fn a_length_that_is_not_there_is_not_made_room_for() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.tks");
    let ends = written(&path, &[snapshot(0, 0), snapshot(1, 0)]);
    let whole = fs::read(&path).unwrap();
    for claimed in [u64::MAX, u64::MAX - 7, 1 << 62, 1 << 31, 1 << 20] {
        let mut bytes = whole.clone();
        let at = ends[0] as usize + record::BYTES * WORD;
        bytes[at..at + 8].copy_from_slice(&claimed.to_le_bytes());
        fs::write(&path, &bytes).unwrap();
        // Extends the file by a hole, which takes up no space, so that some of the claimed lengths lie within the file.
        let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(8 << 30).unwrap();
        let recording = Recording::open(&path).unwrap();
        assert_eq!(recording.newest().unwrap().1, snapshot(0, 0), "{claimed}");
    }
}

#[test]
fn foreign_files_say_what_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.tks");
    written(&path, &[snapshot(0, 0)]);
    let whole = fs::read(&path).unwrap();
    let mut newer = whole.clone();
    newer[16] = 3;
    for (bytes, says) in [
        (&b""[..], "begins with \"\" (0 bytes)"),
        (b"GIF89a, and so on", "begins with \"GIF89a, \""),
        (&whole[..30], "truncated: 30 bytes"),
        (&newer, "features 0x2"),
    ] {
        fs::write(&path, bytes).unwrap();
        let error = Recording::open(&path).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
    fs::write(&path, &whole[..64]).unwrap();
    let recording = Recording::open(&path).unwrap();
    assert!(matches!(recording.newest(), Err(FormatError::NoRecord)));
}

/// Writes a file with one record that contains these bytes and has a valid checksum.
fn crafted(path: &Path, stored: &[u8]) {
    let page = [
        SNAPSHOT_FILE_MAGIC,
        u64::from(FORMAT_MAJOR) << 32,
        PACKED,
        0,
        0,
        0,
        0,
        0,
    ];
    let head = ring::record_head(fixture::stamp(1), 1, 0, u64::MAX, stored);
    let words = page.into_iter().chain(head).chain(ring::payload_words(stored));
    fs::write(path, words::to_bytes(words)).unwrap();
}

#[test]
fn a_record_that_points_to_nothing_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.tks");
    let section = |id: u64, body: &[u8]| {
        let head = [id, body.len() as u64];
        [&words::to_bytes(head)[..], body].concat()
    };
    let info = |sites: u64| section(64, &words::to_bytes([1, 0, u64::MAX, sites]));
    // An empty deflate stream.
    let empty = [3, 0];
    for (stored, says) in [
        (info(0), "no section 65"),
        ([info(0), section(65, &empty)].concat(), "no section 66"),
        ([info(7), section(65, &empty)].concat(), "the sites at word 7"),
        ([info(0), section(65, b"\xff\xff")].concat(), "packed record"),
        ([info(0), 65u64.to_le_bytes().to_vec()].concat(), "truncated"),
        ([info(0), words::to_bytes([65, u64::MAX])].concat(), "truncated"),
    ] {
        crafted(&path, &stored);
        let recording = Recording::open(&path).unwrap();
        let read = recording.payload(&recording.moments()[0]);
        let error = read.unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_beginning_gives_all_its_whole_records(cut in any::<prop::sample::Index>(), sites in prop::collection::vec(0usize..2, 1..6)) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.tks");
        let snapshots: Vec<Snapshot> = (0..).zip(&sites).map(|(at, &sites)| snapshot(at, sites)).collect();
        let ends = written(&path, &snapshots);
        let whole = fs::read(&path).unwrap();
        let cut = 64 + cut.index(whole.len() - 63);
        fs::write(&path, &whole[..cut]).unwrap();
        let recording = Recording::open(&path).unwrap();
        let expected = ends.iter().filter(|&&end| end <= cut as u64).count();
        prop_assert_eq!(recording.moments().len(), expected);
        let last = expected.checked_sub(1).map_or(64, |last| ends[last]);
        prop_assert_eq!(recording.torn_bytes(), cut as u64 - last);
        for (moment, snapshot) in recording.moments().iter().zip(&snapshots) {
            prop_assert_eq!(&recording.snapshot(moment).unwrap(), snapshot);
        }
    }

    #[test]
    fn a_changed_byte_never_panics_nor_is_believed(at in any::<prop::sample::Index>(), to in any::<u8>()) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.tks");
        let snapshots = [snapshot(0, 0), snapshot(1, 0), snapshot(2, 1)];
        written(&path, &snapshots);
        let mut bytes = fs::read(&path).unwrap();
        let at = at.index(bytes.len());
        bytes[at] = to;
        fs::write(&path, &bytes).unwrap();
        if let Ok(recording) = Recording::open(&path) {
            for (moment, snapshot) in recording.moments().iter().zip(&snapshots) {
                if let Ok(read) = recording.snapshot(moment) {
                    prop_assert_eq!(&read, snapshot);
                }
            }
        }
    }
}
