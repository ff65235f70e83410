//! Tests with readers that never pause while another process laps them. The writer is faster than the readers. In one
//! run it writes to the ring as a real program does, and in the other run directly into a mapping. A reader must never
//! get a mix of two records, with or without the checksum.
//!
//! `READS=100000000 cargo test --release -p tickscope-format --lib lapped` reads many more records.

use std::cell::Cell;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::*;
use crate::file::create::OwnRing;
use crate::file::header::tests::example;
use crate::file::open::RingFile;
use crate::fixture::stamp;
use crate::layout::RING_WORDS_RANGE;
use crate::mapping::{MapWords, Way};

/// Environment variable that holds the writer's directory. Without it, the test `writer` does nothing.
const ROLE: &str = "LAPPING_WRITER";

/// How long a reader waits for the next record before it yields the core.
const SPIN: Duration = Duration::from_micros(100);

/// Environment variable that says how the writer's stores reach the file: one of [`WAYS`].
const WAY: &str = "LAPPING_WAY";
const WAYS: [&str; 2] = ["copied", "mapped"];

/// Returns the word at an index of a record's payload. Its value identifies both the record and the index.
fn word(sequence: u64, index: u64) -> u64 {
    (sequence << 16 | index).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Returns a payload length of 1 to 300 words, so that records begin and wrap anywhere. Every eighth record is far
/// longer, up to nearly half the ring, so that the writer laps a reader even if both get the same share of CPU time.
fn payload_length(sequence: u64) -> u64 {
    let random = sequence.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    let long = match sequence.is_multiple_of(8) {
        true => random % 3_700,
        false => 0,
    };
    1 + long + random % 300
}

/// Publishes without pause until its standard input is closed.
#[test]
fn writer() {
    let Some(dir) = std::env::var_os(ROLE) else { return };
    std::thread::spawn(|| {
        // Standard input is also closed if the parent process dies.
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        std::process::exit(0);
    });
    let header = crate::file::header::Header {
        ring_words: *RING_WORDS_RANGE.start(),
        coarse_words: 0,
        ..example()
    };
    let way = match std::env::var(WAY).unwrap() == WAYS[0] {
        true => Way::Copied,
        false => Way::Mapped,
    };
    let mut ring = OwnRing::create_by(dir.as_ref(), header, way).unwrap();
    let mut payload = Vec::new();
    for sequence in 1.. {
        payload.clear();
        for index in 0..payload_length(sequence) {
            payload.extend_from_slice(&word(sequence, index).to_le_bytes());
        }
        assert_eq!(ring.publish(stamp(sequence), &payload).unwrap(), sequence);
        if sequence == 1 {
            ring.link().unwrap();
        }
    }
}

/// Returns whether each word of a payload belongs to the record with this sequence number.
fn is_whole(sequence: u64, payload: &[u64]) -> bool {
    let mut indexed = (0..).zip(payload);
    payload.len() as u64 == payload_length(sequence)
        && indexed.all(|(index, &found)| found == word(sequence, index))
}

fn payload_words_of(record: &Record) -> Vec<u64> {
    words::from_bytes(&record.payload).collect()
}

/// Tries once to copy the newest record, without verifying its checksum, so that only the writer's state words tell
/// whether the copy is whole. Returns `None` if the writer lapped the reader.
fn copy_unchecked(
    words: &impl ReadWords,
    region: &Region,
    body: &mut Vec<u64>,
) -> Option<[u64; record::WORDS]> {
    let latest = read_latest(words, region).unwrap();
    let mut head = [0; record::WORDS];
    if !copy_words(words, region, latest, 0, &mut head).unwrap() {
        return None;
    }
    let length = head[record::BYTES].div_ceil(WORD as u64);
    assert!(
        length <= 4_000 && head[record::POSITION] == latest,
        "a mixed head: {head:?}"
    );
    body.resize(length as usize, 0);
    copy_words(words, region, latest, record::WORDS as u64, body)
        .unwrap()
        .then_some(head)
}

/// Words of a ring whose writer overtakes the reader once: before the reader's first copy from the ring, or before a
/// later one.
struct Overtaken<'a, W> {
    words: &'a W,
    region: &'a Region,
    copies_before: Cell<Option<usize>>,
}

impl<W: ReadWords> ReadWords for Overtaken<'_, W> {
    fn read(&self, first: usize, out: &mut [u64]) -> Result<(), FormatError> {
        if first >= self.region.first
            && let Some(left) = self.copies_before.get()
        {
            self.copies_before.set(left.checked_sub(1));
            let intent = || read_one(self.words, self.region.intent);
            let begin = intent()?;
            while left == 0 && intent()? - begin <= self.region.words {
                std::thread::yield_now();
            }
        }
        self.words.read(first, out)
    }

    fn fence_acquire(&self) {
        self.words.fence_acquire();
    }
}

/// Counts of a reader.
#[derive(Debug, Default)]
struct Met {
    lapped: u64,
    /// Number of reads that failed on every try.
    given_up: u64,
    mixed: u64,
    backward: u64,
    /// Sequence number of the last record.
    last: u64,
}

/// Reads until `reads` new records have been read. Reading the same record again proves nothing and does not count.
/// `read` returns the sequence number of the newest record and stores its payload in the vector.
fn read_on(met: &mut Met, reads: u64, mut read: impl FnMut(&mut u64, &mut Vec<u64>) -> Option<u64>) {
    let (mut body, mut left, mut since) = (Vec::new(), reads, Instant::now());
    while left > 0 {
        let Some(sequence) = read(&mut met.lapped, &mut body) else {
            met.given_up += 1;
            continue;
        };
        met.backward += u64::from(sequence < met.last);
        if sequence == met.last {
            // A writer on another core needs far less time for its next record. If it takes longer, the writer may be
            // waiting for this core.
            if since.elapsed() > SPIN {
                std::thread::yield_now();
            }
            continue;
        }
        (met.last, since) = (sequence, Instant::now());
        met.mixed += u64::from(!is_whole(sequence, &body));
        left -= 1;
    }
}

/// Reads the newest record with all its checks.
fn read_checked(
    words: &impl ReadWords,
    region: &Region,
    lapped: &mut u64,
    body: &mut Vec<u64>,
) -> Option<u64> {
    match read_newest_counting(words, region, lapped) {
        Ok(record) => {
            *body = payload_words_of(&record);
            Some(record.sequence)
        }
        Err(FormatError::Lapped { .. }) => None,
        Err(error) => panic!("{error}"),
    }
}

fn read_unchecked(
    words: &impl ReadWords,
    region: &Region,
    lapped: &mut u64,
    body: &mut Vec<u64>,
) -> Option<u64> {
    for _ in 0..TRIES {
        if let Some(head) = copy_unchecked(words, region, body) {
            return Some(head[record::SEQUENCE]);
        }
        *lapped += 1;
    }
    None
}

/// Reads records while another process writes them. `way` says how its stores reach the file. Only one reader runs at a
/// time, so that the writer always has a core.
fn read_beside_a_writer(way: &str, reads: u64) -> Met {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "ring::lapped::writer", "--quiet"])
        .env(ROLE, dir.path())
        .env(WAY, way)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let path = loop {
        let mut files = std::fs::read_dir(dir.path()).unwrap();
        if let Some(file) = files.next() {
            break file.unwrap().path();
        }
        assert!(writer.try_wait().unwrap().is_none(), "the writer runs");
    };
    let ring = RingFile::open(&path).unwrap();
    let region = ring.header().region();
    let file = std::fs::File::options()
        .read(true)
        .write(true)
        .open(&path)
        .unwrap();
    let words = MapWords::new(&file, file.metadata().unwrap().len(), 0, Way::Mapped).unwrap();
    let (met, each) = (&mut Met::default(), reads.div_ceil(4));
    // Reads as a viewer does, first with the checksum and then without it.
    read_on(met, each, |_, body| match ring.newest() {
        Ok(record) => {
            *body = payload_words_of(&record);
            Some(record.sequence)
        }
        Err(FormatError::Lapped { .. }) => None,
        Err(error) => panic!("{error}"),
    });
    met.lapped = ring.lapped();
    read_on(met, each, |lapped, body| {
        read_unchecked(&ring.words(), &region, lapped, body)
    });
    // Reads through a mapping, where each store becomes visible on its own.
    read_on(met, each, |lapped, body| {
        read_checked(&words, &region, lapped, body)
    });
    read_on(met, each, |lapped, body| {
        read_unchecked(&words, &region, lapped, body)
    });
    // On a busy machine, writer and reader may share a CPU and take turns, so none of the reads above may have been
    // overtaken. These are, before the head of the record is copied or before the payload is.
    for copies in [0, 1] {
        let overtaken = || Overtaken {
            words: &words,
            region: &region,
            copies_before: Cell::new(Some(copies)),
        };
        let before = met.lapped;
        read_on(met, 16, |lapped, body| {
            read_checked(&overtaken(), &region, lapped, body)
        });
        read_on(met, 16, |lapped, body| {
            read_unchecked(&overtaken(), &region, lapped, body)
        });
        assert!(met.lapped >= before + 32, "{met:?}");
    }
    // The writer ran during all of the reads.
    assert!(writer.try_wait().unwrap().is_none());
    drop(writer.stdin.take());
    writer.wait().unwrap();
    std::mem::take(met)
}

#[test]
fn a_lapped_reader_reads_again_and_never_gets_a_mixed_record() {
    let reads: u64 = std::env::var("READS").map_or(4_000, |reads| reads.parse().unwrap());
    let begin = Instant::now();
    let met = WAYS.map(|way| read_beside_a_writer(way, reads.div_ceil(2)));
    let seconds = begin.elapsed().as_secs_f64();
    let sum = |of: fn(&Met) -> u64| met.iter().map(of).sum::<u64>();
    println!(
        "G7: {reads} reads of a record not read before, each while others were written ({} in all), in {seconds:.1} s \
         ({:.0} a second); {} read again after being lapped, {} given up after {TRIES} tries, {} mixed, {} backward",
        sum(|met| met.last),
        reads as f64 / seconds,
        sum(|met| met.lapped),
        sum(|met| met.given_up),
        sum(|met| met.mixed),
        sum(|met| met.backward),
    );
    assert_eq!((sum(|met| met.mixed), sum(|met| met.backward)), (0, 0), "{met:?}");
}
