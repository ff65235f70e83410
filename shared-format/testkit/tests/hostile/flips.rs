//! Tests with flipped bits, both in the file that a viewer opens and in the slots that the program reads.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use tickscope_format::file::create::OwnRing;
use tickscope_format::file::header::Header;
use tickscope_format::file::open::{Liveness, RingFile};
use tickscope_format::layout::{PAGE_WORDS, RING_FIRST, WORD, slot, state};
use tickscope_format::pattern::Pattern;
use tickscope_format::ring::{self, Record, Region};
use tickscope_format::slots::{self, Op, Outcome, Request, Server, first_word};
use tickscope_format::snapshot::Mode;
use tickscope_format::words::{ReadWords, Words};
use tickscope_format::{FormatError, os};
use tickscope_testkit::fixture::stamp_at;
use tickscope_testkit::ring::header;

use crate::targets::slots::Page;

const RING_WORDS: u64 = (64 << 10) / WORD as u64;

/// Number of random bit flips in the rings. The environment variable `FLIPS` overrides it.
const FLIPS: u64 = 2_000;

const HOUR_NS: u64 = 3_600_000_000_000;

/// The payloads that were written, by ring (`true` for the coarse ring) and sequence number.
type Written = HashMap<(bool, u64), Vec<u8>>;

/// Creates a ring file with records in both rings. Its program counts as running as long as the `OwnRing` exists.
fn made(dir: &Path, unix_ns: u64) -> (OwnRing, Written) {
    let header = Header {
        // The current boot's id, because heartbeats from other boots do not count.
        boot_id: os::boot_id(),
        ring_words: RING_WORDS,
        coarse_words: RING_WORDS,
        ..header("app")
    };
    let mut ring = OwnRing::create(dir, header).unwrap();
    let mut written = HashMap::new();
    for number in 1..60u64 {
        let payload: Vec<u8> = (0..300 + number * 7)
            .map(|at| (at * 31 + number * 7) as u8)
            .collect();
        let stamp = stamp_at(number, unix_ns);
        ring.publish(stamp, &payload).unwrap();
        ring.coarse_space(payload.len() as u64).unwrap();
        ring.publish_coarse(stamp, &payload).unwrap();
        written.insert((false, number), payload.clone());
        written.insert((true, number), payload);
    }
    ring.link().unwrap();
    (ring, written)
}

struct Flipper {
    file: File,
}

impl Flipper {
    fn new(path: &Path) -> Self {
        let file = OpenOptions::new().read(true).write(true).open(path).unwrap();
        Self { file }
    }

    fn flip(&self, bit: u64) {
        let mut byte = [0];
        self.file.read_exact_at(&mut byte, bit / 8).unwrap();
        byte[0] ^= 1 << (bit % 8);
        self.file.write_all_at(&byte, bit / 8).unwrap();
    }

    /// Runs `work` while a bit is flipped.
    fn with<T>(&self, bit: u64, work: impl FnOnce() -> T) -> T {
        self.flip(bit);
        let result = work();
        self.flip(bit);
        result
    }
}

/// Asserts that each record that can still be read contains exactly the payload that was written.
fn check(ring: &RingFile, written: &Written, back: usize) {
    let check = |coarse: bool, record: &Record| {
        let expected = written.get(&(coarse, record.sequence));
        assert_eq!(Some(&record.payload), expected, "an undetected change");
    };
    let fine = std::iter::successors(ring.newest().ok(), |record| ring.before(record).ok().flatten());
    fine.take(back).for_each(|record| check(false, &record));
    let newest = ring.coarse_newest().ok().flatten();
    let coarse = std::iter::successors(newest, |record| ring.coarse_before(record).ok().flatten());
    coarse.take(back).for_each(|record| check(true, &record));
}

fn bits(from: usize, to: usize) -> Range<u64> {
    (from * WORD * 8) as u64..(to * WORD * 8) as u64
}

/// Creates the ring of a program that has already ended.
fn ended(dir: &Path) -> (Flipper, PathBuf, Written) {
    let (own, written) = made(dir, 1);
    let path = own.path().to_path_buf();
    (Flipper::new(&path), path, written)
}

/// Flips every second bit of the header, state and slots pages, one at a time, and returns the number of flips. Starts
/// with bit `first` (0 or 1) of the header page, and again with bit `first` of the other two pages, which count as one
/// range.
fn every_second(first: u64) -> u64 {
    let dir = tempfile::tempdir().unwrap();
    let (flipper, path, written) = ended(dir.path());
    let mut flipped = 0;
    for bit in bits(0, PAGE_WORDS).skip(first as usize).step_by(2) {
        flipped += 1;
        let opened = flipper.with(bit, || RingFile::open(&path).is_ok());
        assert!(!opened, "bit {bit} of the header counts for nothing");
    }
    let ring = RingFile::open(&path).unwrap();
    for bit in bits(PAGE_WORDS, RING_FIRST).skip(first as usize).step_by(2) {
        flipped += 1;
        flipper.with(bit, || {
            check(&ring, &written, 2);
            let said = ring.liveness().unwrap();
            let dead = matches!(said, Liveness::Exited { .. } | Liveness::Crashed { .. });
            assert!(dead, "bit {bit} makes a dead program {said:?}");
        });
    }
    flipped
}

#[test]
fn no_flipped_bit_changes_a_payload_unseen() {
    let odd = std::thread::spawn(|| every_second(1));
    let singles = every_second(0) + odd.join().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let (flipper, path, written) = ended(dir.path());
    let ring = RingFile::open(&path).unwrap();
    let random = std::env::var("FLIPS").map_or(FLIPS, |text| text.parse().unwrap());
    let (all, mut state) = (bits(RING_FIRST, RING_FIRST + 2 * RING_WORDS as usize), 7u64);
    for _ in 0..random {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let bit = all.start + (state >> 20) % (all.end - all.start);
        flipper.with(bit, || check(&ring, &written, 3));
    }
    check(&ring, &written, 60);
    println!(
        "G4: {singles} single-bit flips of header and control pages, {random} random flips in the rings: 0 panics, 0 undetected changes of payload"
    );
}

#[test]
fn no_flipped_bit_makes_a_running_program_dead_or_a_hung_one_alive() {
    let dir = tempfile::tempdir().unwrap();
    // The records are four hours old, so only the heartbeat can show whether the program is alive.
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    let (mut own, _) = made(dir.path(), now.as_nanos() as u64 - HOUR_NS * 4);
    let path = own.path().to_path_buf();
    let flipper = Flipper::new(&path);
    let ring = RingFile::open(&path).unwrap();
    let state_bits = || (state::INTENT * WORD * 8) as u64..((state::INTENT + state::WORDS) * WORD * 8) as u64;
    own.beat(os::monotonic_ns(), 1_000_000_000);
    for bit in state_bits() {
        own.beat(os::monotonic_ns(), 1_000_000_000);
        let said = flipper.with(bit, || ring.liveness().unwrap());
        let alive = matches!(said, Liveness::Running | Liveness::Stale { .. });
        assert!(alive, "bit {bit} makes a running program {said:?}");
    }
    let beat = os::monotonic_ns().saturating_sub(HOUR_NS);
    own.beat(beat, 1_000_000_000);
    assert!(matches!(ring.liveness().unwrap(), Liveness::Stale { .. }));
    for bit in state_bits() {
        let said = flipper.with(bit, || ring.liveness().unwrap());
        let stale = matches!(said, Liveness::Stale { .. });
        assert!(stale, "bit {bit} makes a hung program {said:?}");
    }
}

#[test]
fn no_flipped_bit_in_a_slot_is_obeyed_or_heard() {
    let page = Page(RefCell::new(vec![0; RING_FIRST]));
    let pattern = Pattern::new("book::*").unwrap();
    let ops = [
        Op::Reset,
        Op::UndoReset,
        Op::PublishNow,
        Op::Interval(50_000_000),
        Op::Mode(Mode::Sampled),
        Op::SitesOff(pattern),
        Op::SitesOn(pattern),
    ];
    let mut honest = Vec::new();
    let mut server = Server::default();
    for index in 0..slot::COUNT {
        let request = slots::request_words(1, ops[index % ops.len()]);
        for (offset, &word) in request.iter().enumerate() {
            page.store(first_word(index) + offset, word);
        }
        honest.push(request);
    }
    let open: Vec<Request> = server.look(&page);
    assert_eq!(open.len(), slot::COUNT);
    for request in &open {
        server.answer(&page, request, Outcome::Done, 5, 6);
    }
    let replies: Vec<_> = (0..slot::COUNT)
        .map(|index| slots::reply_to(&page, index, &honest[index]).unwrap())
        .collect();
    assert!(replies.iter().all(Option::is_some));
    let mut flips = 0;
    for bit in 0..slot::COUNT * slot::WORDS * WORD * 8 {
        let (word, bit) = (slot::FIRST + bit / 64, bit % 64);
        page.0.borrow_mut()[word] ^= 1 << bit;
        for request in Server::default().look(&page) {
            assert_eq!(
                Some(&request),
                open.get(request.slot),
                "bit {bit} of word {word} is obeyed"
            );
        }
        for index in 0..slot::COUNT {
            let reply = slots::reply_to(&page, index, &honest[index]).unwrap();
            assert!(
                reply.is_none() || reply == replies[index],
                "bit {bit} of word {word} is heard"
            );
            // The next viewer to take the slot can still send a request.
            assert!(slots::next_sequence(&page, index).unwrap() <= 2);
        }
        page.0.borrow_mut()[word] ^= 1 << bit;
        flips += 1;
    }
    println!("G4: {flips} single-bit flips of requests and replies: 0 obeyed, 0 heard");
}

#[test]
fn a_slot_whose_numbers_are_used_up_can_still_be_written() {
    let dir = tempfile::tempdir().unwrap();
    let (own, _) = made(dir.path(), 1);
    let file = OpenOptions::new().write(true).open(own.path()).unwrap();
    let mut reply = vec![0u64; slot::REPLY_WORDS];
    (reply[0], reply[1]) = (u64::MAX - 1, 1);
    let bytes = |words: &[u64]| {
        words
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect::<Vec<u8>>()
    };
    reply[slot::REPLY_WORDS - 1] = u64::from(crc32fast::hash(&bytes(&reply[..slot::REPLY_WORDS - 1])));
    let at = (first_word(0) + slot::REQUEST_WORDS) * WORD;
    file.write_all_at(&bytes(&reply), at as u64).unwrap();
    let mut slot = RingFile::open(own.path()).unwrap().take_slot().unwrap().unwrap();
    for _ in 0..3 {
        let sent = slot.send(Op::Reset).unwrap();
        assert_eq!(slot.reply(&sent).unwrap(), None);
    }
}

/// Words whose values change with every read.
struct Restless(RefCell<u64>);

impl ReadWords for Restless {
    fn read(&self, _: usize, out: &mut [u64]) -> Result<(), FormatError> {
        let mut state = self.0.borrow_mut();
        for word in out {
            *state += 1;
            *word = *state;
        }
        Ok(())
    }

    fn fence_acquire(&self) {}
}

#[test]
fn a_writer_without_pause_keeps_no_reader() {
    let region = Region {
        first: RING_FIRST,
        words: RING_WORDS,
        intent: state::INTENT,
        latest: state::LATEST,
    };
    assert!(ring::read_newest(&Restless(RefCell::new(0)), &region).is_err());
}
