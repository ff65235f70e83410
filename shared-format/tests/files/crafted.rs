//! Ring files that no program wrote: whatever is in them, reading returns.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use proptest::prelude::*;
use tickscope_format::FormatError;
use tickscope_format::file::create::OwnRing;
use tickscope_format::file::header::Header;
use tickscope_format::file::open::RingFile;
use tickscope_format::layout::{RING_FIRST, header as at, state};
use tickscope_format::ring::{Record, Stamp};
use tickscope_format::snapshot::CaptureKind;

const RING_WORDS: u64 = (64 << 10) / 8;

fn header() -> Header {
    Header {
        pid: std::process::id(),
        ring_words: RING_WORDS,
        coarse_words: 4 * RING_WORDS,
        ..crate::support::header("app")
    }
}

/// A record says its number in every byte that it has.
fn publish(ring: &mut OwnRing, number: u64, bytes: usize, coarse: bool) {
    let payload = number.to_le_bytes().repeat(bytes.div_ceil(8));
    let stamp = Stamp {
        kind: CaptureKind::Periodic,
        tick: number,
        unix_ns: number,
    };
    if coarse {
        ring.coarse_space(payload.len() as u64).unwrap();
        ring.publish_coarse(stamp, &payload).unwrap();
    } else {
        ring.publish(stamp, &payload).unwrap();
    }
}

fn made(dir: &Path) -> OwnRing {
    let mut ring = OwnRing::create(dir, header()).unwrap();
    for number in 1..40 {
        publish(&mut ring, number, 3_000, false);
        publish(&mut ring, number, 5_000, true);
    }
    ring.link().unwrap();
    ring
}

/// The checksum of the format.
fn checksum(words: &[u64], bytes: &[u8]) -> u64 {
    let mut crc = crc32fast::Hasher::new();
    for word in words {
        crc.update(&word.to_le_bytes());
    }
    crc.update(bytes);
    u64::from(crc.finalize())
}

fn word(file: &File, index: u64) -> u64 {
    let mut bytes = [0; 8];
    file.read_exact_at(&mut bytes, index * 8)
        .map_or(0, |()| u64::from_le_bytes(bytes))
}

fn put(file: &File, index: u64, value: u64) {
    file.write_all_at(&value.to_le_bytes(), index * 8).unwrap();
}

/// Makes the header one that the program wrote.
fn sign(file: &File) {
    let page: Vec<u64> = (0..at::CRC as u64).map(|index| word(file, index)).collect();
    put(file, at::CRC as u64, checksum(&page, &[]));
}

/// Makes the record at a place one that the program wrote.
fn sign_record(file: &File, first: u64) {
    let head: Vec<u64> = (0..7).map(|offset| word(file, first + offset)).collect();
    let mut payload = vec![0; head[1].min(10_000) as usize];
    if file.read_exact_at(&mut payload, (first + 8) * 8).is_ok() {
        put(file, first + 7, checksum(&head, &payload));
    }
}

/// Where the newest record lies, and its position.
fn newest(file: &File, coarse: bool) -> (u64, u64) {
    let (first, size, latest) = if coarse {
        let size = word(file, state::COARSE_WORDS as u64).clamp(1, 4 * RING_WORDS);
        (RING_FIRST as u64 + RING_WORDS, size, state::COARSE_LATEST)
    } else {
        (RING_FIRST as u64, RING_WORDS, state::LATEST)
    };
    let position = word(file, latest as u64);
    (first + position % size, position)
}

/// Records behind one another; more than fit into a ring are a circle.
fn walk(newest: Option<Record>, before: impl Fn(&Record) -> Option<Record>) {
    let records = std::iter::successors(newest, |record| before(record));
    let count = records.take(4 * RING_WORDS as usize).count();
    assert!(count <= 4 * RING_WORDS as usize / 8, "{count} records");
}

fn read(path: &Path) {
    let Ok(ring) = RingFile::open(path) else { return };
    let _ = (ring.latest(), ring.liveness(), ring.newest_snapshot().is_ok());
    walk(ring.newest().ok(), |record| ring.before(record).ok().flatten());
    walk(ring.coarse_newest().ok().flatten(), |record| {
        ring.coarse_before(record).ok().flatten()
    });
}

#[derive(Clone, Debug)]
enum Craft {
    /// A word of the header, signed.
    Header(u64, u64),
    /// A word of the state.
    State(u64, u64),
    /// A word of either ring's records.
    Word(u64, u64),
    /// A word of the newest record's head, signed; of the coarse ring or the other.
    Head(bool, u64, u64),
    /// The newest record is behind itself.
    Circle(bool),
    /// So much of the file.
    Cut(u64),
    Longer(u64),
}

fn value() -> impl Strategy<Value = u64> {
    prop_oneof![
        any::<u64>(),
        (0u32..64, -2i64..3).prop_map(|(shift, by)| (1u64 << shift).wrapping_add_signed(by)),
        0u64..100_000,
        Just(u64::MAX),
    ]
}

fn craft() -> impl Strategy<Value = Craft> {
    prop_oneof![
        (0..at::CRC as u64, value()).prop_map(|(index, value)| Craft::Header(index, value)),
        (21u64..26, value()).prop_map(|(index, value)| Craft::Header(index, value)),
        (0..state::WORDS as u64, value()).prop_map(|(index, value)| Craft::State(index, value)),
        (0..5 * RING_WORDS, value()).prop_map(|(index, value)| Craft::Word(index, value)),
        (any::<bool>(), 0u64..8, value())
            .prop_map(|(coarse, index, value)| Craft::Head(coarse, index, value)),
        any::<bool>().prop_map(Craft::Circle),
        (0u64..500_000).prop_map(Craft::Cut),
        (0u64..40).prop_map(Craft::Longer),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    fn crafted_files_are_read_to_an_end(crafts in proptest::collection::vec(craft(), 1..6)) {
        let dir = tempfile::tempdir().unwrap();
        let own = made(dir.path());
        let path = own.path().to_path_buf();
        drop(own);
        let file = OpenOptions::new().read(true).write(true).open(&path).unwrap();
        for craft in crafts {
            match craft {
                Craft::Header(index, value) => {
                    put(&file, index, value);
                    sign(&file);
                }
                Craft::State(index, value) => put(&file, state::INTENT as u64 + index, value),
                Craft::Word(index, value) => put(&file, RING_FIRST as u64 + index, value),
                Craft::Head(coarse, index, value) => {
                    let (place, _) = newest(&file, coarse);
                    put(&file, place + index, value);
                    sign_record(&file, place);
                }
                Craft::Circle(coarse) => {
                    let (place, position) = newest(&file, coarse);
                    put(&file, place + 3, position);
                    sign_record(&file, place);
                }
                Craft::Cut(bytes) => {
                    let length = file.metadata().unwrap().len();
                    file.set_len(length.min(bytes)).unwrap();
                }
                Craft::Longer(shift) => {
                    let length = file.metadata().unwrap().len();
                    file.set_len(length + (1 << shift.min(31))).unwrap();
                }
            }
            read(&path);
        }
    }
}

fn a_reader_gets_complete_records_while_the_program_writes_without_pause() {
    let dir = tempfile::tempdir().unwrap();
    let mut own = made(dir.path());
    let path = own.path().to_path_buf();
    let ended = AtomicBool::new(false);
    let whole = |record: &Record| {
        let number = record.stamp.tick.to_le_bytes();
        assert!(record.payload.chunks(8).all(|chunk| chunk == number));
    };
    let reader = || {
        let ring = RingFile::open(&path).unwrap();
        let mut last = [0, 0];
        let mut read = 0;
        while !ended.load(Ordering::Relaxed) || read == 0 {
            for coarse in [false, true] {
                let newest = if coarse {
                    ring.coarse_newest()
                } else {
                    ring.newest().map(Some)
                };
                let record = match newest {
                    Ok(record) => record.unwrap(),
                    Err(FormatError::Lapped { .. }) => continue,
                    Err(error) => panic!("{error}"),
                };
                whole(&record);
                let last = &mut last[usize::from(coarse)];
                assert!(record.sequence >= *last, "{} behind {last}", record.sequence);
                *last = record.sequence;
                read += 1;
                let before = if coarse {
                    ring.coarse_before(&record)
                } else {
                    ring.before(&record)
                };
                if let Some(before) = before.unwrap() {
                    whole(&before);
                    assert_eq!(before.sequence + 1, record.sequence);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        let readers = [scope.spawn(reader), scope.spawn(reader)];
        for number in 40..8_000u64 {
            publish(&mut own, number, (number * 37 % 9_000) as usize, false);
            publish(&mut own, number, (number * 91 % 30_000) as usize, true);
        }
        ended.store(true, Ordering::Relaxed);
        for reader in readers {
            reader.join().unwrap();
        }
    });
}

tickscope_testkit::tests![
    crafted_files_are_read_to_an_end,
    a_reader_gets_complete_records_while_the_program_writes_without_pause,
];
