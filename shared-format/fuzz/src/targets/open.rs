//! A complete ring file: header, state page, both rings, and the link from each record to the one before it. The input changes a
//! valid file. It can also update the checksums, so that they match the changes. The target `open` reads the file from memory,
//! and gets most of the fuzzing time. The target `file` reads a real file on disk with the same code as a viewer, and also
//! determines the state of its program.

use std::cell::RefCell;
use std::fs;

use tickscope_format::FormatError;
use tickscope_format::codec;
use tickscope_format::file::create::OwnRing;
use tickscope_format::file::header::Header;
use tickscope_format::file::open::RingFile;
use tickscope_format::layout::{PAGE_WORDS, RING_FIRST, WORD, header as at, record, slot, state};
use tickscope_format::os;
use tickscope_format::ring::{self, Record, Stamp};
use tickscope_format::slots::{self, Op};
use tickscope_format::snapshot::CaptureKind;
use tickscope_format::words::ReadWords;

use super::derive::snapshot;
use super::input::Input;
use super::scratch::{self, Scratch};

const RING_WORDS: usize = (64 << 10) / WORD;

/// Length of a long record in words. Two such records nearly fill a ring.
const LONG: usize = RING_WORDS / 2 - 30;

/// The two rings together cannot hold more records than this, so a reader that finds more is going in circles.
const RECORDS_MOST: usize = 5 * RING_WORDS / record::WORDS;

/// A ring file in memory: as the program wrote it (`honest`), and as the input has changed it (`words`).
struct Image {
    honest: Vec<u64>,
    words: Vec<u64>,
    /// Indices of words that may differ from `honest`.
    changed: Vec<usize>,
    /// Length of the file in bytes. Beyond `words`, the file consists of zeros.
    bytes: usize,
    /// Range of words in which this thread's file on disk may differ from `honest`. It is `None` before the first write, when all
    /// words may differ.
    in_file: Option<(usize, usize)>,
}

/// Restores the image of this thread to the valid file, and calls `work` with it.
fn with_image<T>(work: impl FnOnce(&mut Image) -> T) -> T {
    thread_local!(static IMAGE: RefCell<Option<Image>> = const { RefCell::new(None) });
    IMAGE.with_borrow_mut(|image| {
        let image = image.get_or_insert_with(Image::new);
        image.restore();
        work(image)
    })
}

/// Returns a valid file. Each ring has a few records, one of which wraps around the end of the ring. Older records cannot be
/// read.
fn honest() -> Vec<u64> {
    let dir = scratch::with(|scratch| scratch.dir().join("honest"));
    fs::create_dir_all(&dir).unwrap();
    let header = Header {
        name: "app".into(),
        pid: 7,
        start_time: 1,
        boot_id: [1, 2],
        uid: os::user_id(),
        nonce: 7,
        run_token: 0,
        started_unix_ns: 1,
        ring_words: RING_WORDS as u64,
        coarse_words: RING_WORDS as u64,
        control: true,
        library: String::new(),
        version: (1, 1),
    };
    let mut ring = OwnRing::create(&dir, header).unwrap();
    for number in 1..7u64 {
        let mut payload = Vec::new();
        codec::encode(&snapshot(&mut Input(&[number as u8; 300])), &mut payload).unwrap();
        let kind = match number == 4 {
            true => CaptureKind::Closing,
            false => CaptureKind::Periodic,
        };
        let stamp = Stamp {
            kind,
            tick: number,
            unix_ns: number,
        };
        // The first two records nearly fill the ring. Reading them would take a long time, so their heads are later overwritten
        // or erased.
        if number < 3 {
            payload.resize((LONG - record::WORDS) * WORD, 0);
        }
        ring.publish(stamp, &payload).unwrap();
        ring.coarse_space(payload.len() as u64).unwrap();
        ring.publish_coarse(stamp, &payload).unwrap();
    }
    ring.beat(os::monotonic_ns(), 100_000_000);
    ring.link().unwrap();
    let bytes = fs::read(ring.path()).unwrap();
    drop(ring);
    fs::remove_dir_all(&dir).unwrap();
    let mut words: Vec<u64> = bytes.chunks(WORD).map(|chunk| Input(chunk).word()).collect();
    for first in [RING_FIRST, RING_FIRST + RING_WORDS] {
        words[first + LONG..][..record::WORDS].fill(0);
    }
    words
}

/// Computes the checksum that the format defines, over `words` followed by `bytes`.
pub(crate) fn checksum(words: &[u64], bytes: &[u8]) -> u64 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(&bytes_of(words));
    crc.update(bytes);
    u64::from(crc.finalize())
}

fn bytes_of(words: &[u64]) -> Vec<u8> {
    let mut bytes = vec![0; words.len() * WORD];
    for (place, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
        *place = word.to_le_bytes();
    }
    bytes
}

/// Changes a valid file as the input directs, and reads all of it from memory.
pub(crate) fn run(input: &[u8]) {
    with_image(|image| {
        image.craft(&mut Input(input));
        read(image);
    });
}

/// Changes a valid file like [`run`], but reads it from disk, as viewers do.
pub(crate) fn run_file(input: &[u8]) {
    with_image(|image| {
        image.craft(&mut Input(input));
        scratch::with(|scratch| {
            image.write(scratch);
            read_file(scratch);
        });
    });
}

fn read(image: &Image) {
    let mut page = [0; PAGE_WORDS];
    if image.read(0, &mut page).is_err() {
        return;
    }
    let Ok(header) = Header::decode(&page, image.bytes as u64) else {
        return;
    };
    for index in [0, slot::COUNT - 1] {
        if let Ok(sequence) = slots::next_sequence(image, index) {
            let _ = slots::reply_to(image, index, &slots::request_words(sequence, Op::Reset));
        }
    }
    let region = header.region();
    let newest = ring::read_newest(image, &region).ok();
    if let Some(newest) = &newest {
        let _ = codec::decode(&newest.payload);
    }
    walk(newest, |record| {
        ring::read_before(image, &region, record.position, record.previous?).ok()?
    });
    if let Some(coarse) = header.coarse() {
        walk(coarse.read_newest(image).ok().flatten(), |record| {
            coarse.read_before(image, record).ok().flatten()
        });
    }
}

impl Image {
    fn new() -> Self {
        let honest = honest();
        Self {
            words: honest.clone(),
            changed: Vec::new(),
            bytes: honest.len() * WORD,
            in_file: None,
            honest,
        }
    }

    fn restore(&mut self) {
        for at in self.changed.drain(..) {
            self.words[at] = self.honest[at];
        }
        self.bytes = self.words.len() * WORD;
    }

    fn put(&mut self, at: usize, value: u64) {
        self.changed.push(at);
        self.words[at] = value;
    }

    /// Writes the image to this thread's file on disk. Only the range of words that this input or the previous one has changed is
    /// written.
    fn write(&mut self, scratch: &Scratch) {
        let all = (0, self.words.len());
        let (mut from, mut to) = self.in_file.unwrap_or(all);
        let changed = self.changed.iter().min().zip(self.changed.iter().max());
        let changed = changed.map_or((0, 0), |(&first, &last)| (first, last + 1));
        if changed.0 < changed.1 {
            (from, to) = (from.min(changed.0), to.max(changed.1));
        }
        scratch.set_len((self.words.len() * WORD) as u64);
        scratch.put(&bytes_of(&self.words[from..to]), (from * WORD) as u64);
        scratch.set_len(self.bytes as u64);
        // Truncating the file has lost words, so the next write has to be complete.
        let is_cut = self.bytes < self.words.len() * WORD;
        self.in_file = Some(if is_cut { all } else { changed });
    }

    /// Changes words, and the length of the file.
    fn craft(&mut self, input: &mut Input) {
        for _ in 0..32 {
            if input.is_empty() {
                break;
            }
            match input.byte() % 9 {
                0 => self.put(input.below(at::CRC + 1), input.number()),
                1 => {
                    self.put(input.below(at::COARSE_WORDS + 1), input.number());
                    self.sign_header();
                }
                2 => self.put(state::INTENT + input.below(state::WORDS), input.number()),
                3 => self.put(slot::FIRST + input.below(PAGE_WORDS), input.number()),
                4 => {
                    let first = RING_FIRST + input.below(2 * RING_WORDS - 64);
                    for (offset, chunk) in input.piece().chunks(WORD).take(64).enumerate() {
                        self.put(first + offset, Input(chunk).word());
                    }
                }
                // Changes a word in the head of the newest record, and updates the checksum of the record.
                5 => {
                    let place = self.newest(input.byte() & 1 != 0);
                    self.put(place + input.below(record::WORDS), input.number());
                    self.sign_record(place);
                }
                // Gives the newest record another payload.
                6 => {
                    let place = self.newest(input.byte() & 1 != 0);
                    let payload = input.piece();
                    self.put(place + record::BYTES, payload.len() as u64);
                    for (offset, chunk) in payload.chunks(WORD).enumerate() {
                        let at = place + record::WORDS + offset;
                        if at < self.words.len() {
                            self.put(at, Input(chunk).word());
                        }
                    }
                    self.sign_record(place);
                }
                // Makes the newest record name itself or another position as its predecessor.
                7 => {
                    let place = self.newest(input.byte() & 1 != 0);
                    let previous = self.words[place + record::POSITION].wrapping_sub(input.number());
                    self.put(place + record::PREVIOUS, previous);
                    self.sign_record(place);
                }
                _ => self.bytes = (input.number() % (1 << 20)) as usize,
            }
        }
    }

    fn sign_header(&mut self) {
        self.put(at::CRC, checksum(&self.words[..at::CRC], &[]));
    }

    /// Returns the index of the first word of the newest record. The state page contains this index, and may have been changed,
    /// so the index is clamped to the file.
    fn newest(&self, coarse: bool) -> usize {
        let (first, latest) = match coarse {
            true => (RING_FIRST + RING_WORDS, state::COARSE_LATEST),
            false => (RING_FIRST, state::LATEST),
        };
        (first + self.words[latest] as usize % RING_WORDS).min(self.words.len() - record::WORDS)
    }

    /// Gives the record at word `place` a valid checksum. This does not work for a record that wraps around the end of its ring.
    fn sign_record(&mut self, place: usize) {
        let bytes = self.words[place + record::BYTES] as usize;
        let begin = place + record::WORDS;
        let Some(body) = bytes
            .checked_add(begin * WORD)
            .and_then(|end| self.words.get(begin..end.div_ceil(WORD)))
        else {
            return;
        };
        let mut payload = bytes_of(body);
        payload.truncate(bytes);
        let crc = checksum(&self.words[place..place + record::CRC], &payload);
        self.put(place + record::CRC, crc);
    }
}

impl ReadWords for Image {
    fn read(&self, first: usize, out: &mut [u64]) -> Result<(), FormatError> {
        let (found, wanted) = (self.bytes as u64, ((first + out.len()) * WORD) as u64);
        if found < wanted {
            return Err(FormatError::Truncated { found, wanted });
        }
        let there = self.words.get(first..).unwrap_or_default();
        let there = &there[..there.len().min(out.len())];
        let (copied, behind) = out.split_at_mut(there.len());
        copied.copy_from_slice(there);
        behind.fill(0);
        Ok(())
    }

    fn fence_acquire(&self) {}
}

/// Opens the file, reads all of it, and determines the state of its program.
fn read_file(scratch: &Scratch) {
    let Ok(ring) = RingFile::open(scratch.path()) else {
        return;
    };
    let _ = (ring.latest(), ring.liveness());
    if let Ok(Some(mut slot)) = ring.take_slot()
        && let Ok(sent) = slot.send(Op::Reset)
    {
        let _ = slot.reply(&sent);
    }
    let newest = ring.newest().ok();
    if let Some(newest) = &newest {
        let _ = codec::decode(&newest.payload);
        assert!(ring.between(0, newest).count() <= RECORDS_MOST);
    }
    walk(newest, |record| ring.before(record).ok().flatten());
    walk(ring.coarse_newest().ok().flatten(), |record| {
        ring.coarse_before(record).ok().flatten()
    });
}

fn walk(newest: Option<Record>, before: impl Fn(&Record) -> Option<Record>) {
    let records = std::iter::successors(newest, |record| before(record));
    let count = records.take(RECORDS_MOST + 1).count();
    assert!(count <= RECORDS_MOST, "a circle of records");
}
