//! The layout of a ring file, in words of 8 little-endian bytes.

/// Bytes in a word.
pub const WORD: usize = 8;

/// Words in a page. Header, state and slots take one page each.
pub const PAGE_WORDS: usize = 4096 / WORD;

/// First word of a ring file: "TICKRING".
pub const RING_MAGIC: u64 = u64::from_le_bytes(*b"TICKRING");

/// First word of a recording or snapshot file (`.tks`): "TICKKEPT".
pub const SNAPSHOT_FILE_MAGIC: u64 = u64::from_le_bytes(*b"TICKKEPT");

/// Major version of the format. Readers and writers with different major versions are incompatible.
pub const FORMAT_MAJOR: u32 = 1;

/// Minor version, which increases when something is added that older readers may ignore. The coarse ring was added in
/// minor version 1.
pub const FORMAT_MINOR: u32 = 6;

/// Bit mask of the required features that this build knows.
pub const KNOWN_FEATURES: u64 = 0;

/// Indices of the words in the header page.
pub mod header {
    /// Contains [`RING_MAGIC`](super::RING_MAGIC).
    pub const MAGIC: usize = 0;
    /// Version of the format: major in the upper half, minor in the lower half.
    pub const VERSION: usize = 1;
    /// Length of the whole file in bytes.
    pub const FILE_BYTES: usize = 2;
    /// Bit mask of the features that a reader must know.
    pub const FEATURES: usize = 3;
    /// Process id, in the program's PID namespace.
    pub const PID: usize = 4;
    /// Start time of the process, in the kernel's clock ticks since boot.
    pub const START_TIME: usize = 5;
    /// Boot id of the machine, in two words.
    pub const BOOT_ID: usize = 6;
    /// User id of the program.
    pub const UID: usize = 8;
    /// Random number, which is also in the file's name.
    pub const NONCE: usize = 9;
    /// Token that `tickscope run` passed in the environment; 0 if there was none.
    pub const RUN_TOKEN: usize = 10;
    /// Time when the collector started, in nanoseconds since the Unix epoch.
    pub const STARTED_UNIX_NS: usize = 11;
    /// First word of the ring.
    pub const RING_FIRST: usize = 12;
    /// Size of the ring in words, a power of two.
    pub const RING_WORDS: usize = 13;
    /// Nonzero if the program does not accept requests.
    pub const NO_CONTROL: usize = 14;
    /// The program's name, in 8 words.
    pub const NAME_BYTES: usize = 15;
    /// The program's name, 8 words.
    pub const NAME: usize = 16;
    /// Number of words for the program's name.
    pub const NAME_WORDS: usize = 8;
    /// First word of the coarse ring, which lies after the ring; 0 if the file has no coarse ring.
    pub const COARSE_FIRST: usize = 24;
    /// Maximum size of the coarse ring in words, a power of two.
    pub const COARSE_WORDS: usize = 25;
    /// Length of the library's path in bytes.
    pub const LIBRARY_BYTES: usize = 26;
    /// Path of the library that contains the collector, in 32 words; empty if the executable itself contains it.
    pub const LIBRARY: usize = 27;
    /// Number of words for the library's path.
    pub const LIBRARY_WORDS: usize = 32;
    /// CRC-32 of all words of the page before this one.
    pub const CRC: usize = 511;
}

/// Indices of the words in the state page, counted from the beginning of the file. Only the program writes these words.
///
/// Positions in a ring count words from the beginning of the first record that was ever written, and never decrease.
pub mod state {
    use super::PAGE_WORDS;

    /// Position at which the record that is being written ends, or the last one if none is being written.
    pub const INTENT: usize = PAGE_WORDS;
    /// Position at which the newest complete record begins.
    pub const LATEST: usize = PAGE_WORDS + 1;
    /// Time of the publisher's last heartbeat, in nanoseconds of the machine's monotonic clock.
    pub const HEARTBEAT: usize = PAGE_WORDS + 2;
    /// Current interval between records, in nanoseconds.
    pub const INTERVAL: usize = PAGE_WORDS + 3;
    /// Time when the program wrote its last record and exited, in nanoseconds since the Unix epoch; 0 until then.
    pub const EXIT_UNIX_NS: usize = PAGE_WORDS + 4;
    /// Number of records that could not be published.
    pub const FAULTS: usize = PAGE_WORDS + 5;
    /// Current size of the coarse ring in words, a power of two; 0 before its first record.
    pub const COARSE_WORDS: usize = PAGE_WORDS + 6;
    /// Like [`INTENT`], but for the coarse ring.
    pub const COARSE_INTENT: usize = PAGE_WORDS + 7;
    /// Like [`LATEST`], but for the coarse ring.
    pub const COARSE_LATEST: usize = PAGE_WORDS + 8;
    /// Number of words in use in this page.
    pub const WORDS: usize = 9;
}

/// Layout of the slots page, in words.
pub mod slot {
    use super::PAGE_WORDS;

    /// First word of the first slot.
    pub const FIRST: usize = 2 * PAGE_WORDS;
    /// Number of slots.
    pub const COUNT: usize = 16;
    /// Number of words in a slot.
    pub const WORDS: usize = 32;
    /// Number of words in a request, which is the first half of a slot. The viewer writes these words.
    pub const REQUEST_WORDS: usize = 16;
    /// Number of words in a reply, which is the second half of a slot. The program writes these words.
    pub const REPLY_WORDS: usize = 16;
}

/// First word of the ring.
pub const RING_FIRST: usize = 3 * PAGE_WORDS;

/// Allowed sizes of a ring or a coarse ring, in words: 64 KiB to 4 GiB.
pub const RING_WORDS_RANGE: std::ops::RangeInclusive<u64> = (64 << 10) / 8..=(4 << 30) / 8;

/// Indices of the words in a record's head, which precedes the payload.
pub mod record {
    /// [`MAGIC_VALUE`] in the lower half, and the kind of capture in the upper half.
    pub const MAGIC: usize = 0;
    /// Length of the payload in bytes.
    pub const BYTES: usize = 1;
    /// Position of this record, in words from the beginning of the first record.
    pub const POSITION: usize = 2;
    /// Position of the previous record; `u64::MAX` for the first record.
    pub const PREVIOUS: usize = 3;
    /// Sequence number of the record in its file, starting at 1.
    pub const SEQUENCE: usize = 4;
    /// Time of the capture on the program's clock, in ticks.
    pub const TICK: usize = 5;
    /// Wall-clock time of the capture, in nanoseconds since the Unix epoch.
    pub const UNIX_NS: usize = 6;
    /// CRC-32 of the words before this one and of the payload.
    pub const CRC: usize = 7;
    /// Number of words in front of the payload.
    pub const WORDS: usize = 8;
    /// Maximum size of a payload in bytes, in rings of every size. There is a limit because a reader has to allocate
    /// memory for the payload before it can check the record.
    pub const BYTES_MAX: u64 = 512 << 20;
    /// The lower half of a record's first word: "TREC".
    pub const MAGIC_VALUE: u32 = u32::from_le_bytes(*b"TREC");
}

const _: () = {
    assert!(header::NAME + header::NAME_WORDS <= header::COARSE_FIRST);
    assert!(header::COARSE_WORDS < header::LIBRARY_BYTES);
    assert!(header::LIBRARY + header::LIBRARY_WORDS <= header::CRC);
    assert!(header::CRC == PAGE_WORDS - 1);
    assert!(slot::COUNT * slot::WORDS <= PAGE_WORDS);
    assert!(slot::REQUEST_WORDS + slot::REPLY_WORDS == slot::WORDS);
    assert!(state::INTENT + state::WORDS <= slot::FIRST);
    assert!(slot::FIRST + PAGE_WORDS == RING_FIRST);
};
