#![allow(clippy::unwrap_used, reason = "helpers of tests")]
//! Tests what happens when a program cleans up rings that somebody else has planted. The test has a process to itself,
//! because it measures the memory of the process.

#[path = "files/support.rs"]
mod support;

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use tickscope_format::file::clean::clean;
use tickscope_format::file::header::Header;
use tickscope_format::file::open::RingFile;
use tickscope_format::layout::{RING_FIRST, record, state};

/// Size in bytes of a record, including its head.
const HUGE: u64 = 64 << 20;

fn put(file: &File, first: u64, words: impl IntoIterator<Item = u64>) {
    for (index, word) in (first..).zip(words) {
        file.write_all_at(&word.to_le_bytes(), index * 8).unwrap();
    }
}

/// Plants the ring of a program that has ended. Its only record consists of zeros, which take no space on disk.
fn plant(path: &Path) -> File {
    let header = Header {
        ring_words: HUGE / 8 * 2,
        coarse_words: 0,
        ..support::header("app")
    };
    let file = File::options()
        .read(true)
        .write(true)
        .create_new(true)
        .open(path)
        .unwrap();
    file.set_len(header.file_bytes()).unwrap();
    put(&file, 0, header.encode());
    put(&file, state::INTENT as u64, [HUGE / 8]);
    let payload = HUGE - record::WORDS as u64 * 8;
    let head = [u64::from(record::MAGIC_VALUE), payload, 0, u64::MAX, 1, 1, 1];
    let mut crc = crc32fast::Hasher::new();
    head.iter().for_each(|word| crc.update(&word.to_le_bytes()));
    (0..payload / 64).for_each(|_| crc.update(&[0; 64]));
    put(&file, RING_FIRST as u64, head);
    put(
        &file,
        (RING_FIRST + record::CRC) as u64,
        [u64::from(crc.finalize())],
    );
    file
}

/// Returns the peak memory use of this process so far, in bytes.
fn most_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.unwrap().trim().trim_end_matches(" kB");
    kib.parse::<u64>().unwrap() << 10
}

/// The program that cleans up must not allocate as much memory as the record claims to need.
#[test]
fn a_dead_ring_that_claims_a_huge_record_takes_no_memory() {
    let dir = tempfile::tempdir().unwrap();
    let whole = dir.path().join("whole.ring");
    let damaged = dir.path().join("damaged.ring");
    plant(&whole);
    put(&plant(&damaged), HUGE / 8, [1]);
    let before = most_memory();
    assert_eq!(clean(dir.path(), 16, None), Vec::<PathBuf>::from([damaged]));
    let taken = most_memory() - before;
    assert!(taken < HUGE / 16, "{taken} bytes");
    let kept = RingFile::open(&whole).unwrap().newest().unwrap();
    assert_eq!(kept.payload.len() as u64, HUGE - 64);
}
