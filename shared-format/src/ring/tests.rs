use std::cell::Cell;

use super::*;
use crate::fixture::stamp;
use crate::words::recorder::Recorder;

const REGION: Region = Region {
    first: 4,
    words: 64,
    intent: 0,
    latest: 1,
};

/// Words that are supplied by a function.
struct Given<F>(F);

impl<F: Fn(usize, &mut [u64]) -> Result<(), FormatError>> ReadWords for Given<F> {
    fn read(&self, first: usize, out: &mut [u64]) -> Result<(), FormatError> {
        (self.0)(first, out)
    }

    fn fence_acquire(&self) {}
}

fn given<F: Fn(usize, &mut [u64]) -> Result<(), FormatError>>(read: F) -> Given<F> {
    Given(read)
}

/// Supplies the head of a record that claims to have this many bytes of payload, in a ring of the maximum size.
fn claim(bytes: u64, first: usize, out: &mut [u64]) -> Result<(), FormatError> {
    let words = out.len();
    assert!(
        words <= record::WORDS,
        "a reader must not copy {words} words for it"
    );
    out.fill(0);
    if first == LARGEST.first {
        out[record::BYTES] = bytes;
    }
    Ok(())
}

const LARGEST: Region = Region {
    words: *crate::layout::RING_WORDS_RANGE.end(),
    ..REGION
};

#[test]
fn no_payload_is_longer_than_readers_take_memory_for() {
    assert_eq!(Writer::new(LARGEST).longest_payload(), record::BYTES_MAX);
    // The payload is one word longer than a record's payload may be.
    let claims = given(|first, out| claim(record::BYTES_MAX + 8, first, out));
    assert!(matches!(
        read_newest(&claims, &LARGEST),
        Err(FormatError::NoRecord)
    ));
}

#[test]
fn the_newest_record_is_read_and_its_forerunner_found() {
    let words = Recorder::new(68);
    let mut writer = Writer::new(REGION);
    assert_eq!(writer.publish(&words, stamp(1), b"one").unwrap(), 1);
    assert_eq!(writer.publish(&words, stamp(2), b"two, longer").unwrap(), 2);
    let two = read_newest(&words, &REGION).unwrap();
    let got = (two.payload.as_slice(), two.sequence);
    assert_eq!(got, (b"two, longer".as_slice(), 2));
    let one = read_before(&words, &REGION, two.position, two.previous.unwrap())
        .unwrap()
        .unwrap();
    assert_eq!((one.payload.as_slice(), one.previous), (b"one".as_slice(), None));
}

#[test]
fn a_reader_that_is_lapped_each_time_gives_up() {
    // The writer advances by ten laps before each read.
    let lap = Cell::new(0);
    let racing = given(|_, out| {
        lap.set(lap.get() + 10 * REGION.words);
        out.fill(lap.get());
        Ok(())
    });
    let said = read_newest(&racing, &REGION).unwrap_err().to_string();
    assert!(
        said.starts_with("the program writes faster than this can be read ("),
        "{said}"
    );
}

#[test]
fn a_writer_of_huge_records_delays_no_reader_for_long() {
    for (bytes, tries_most) in [(record::BYTES_MAX, 2), (256 << 20, 4), (64 << 20, 12)] {
        // The writer begins to overwrite the newest record while the reader copies that record's payload.
        let (inside, copied) = (Cell::new(false), Cell::new(0));
        let words = given(|first, out| {
            if out.len() > record::WORDS {
                copied.set(copied.get() + out.len() as u64);
                inside.set(true);
                return Ok(());
            }
            claim(bytes, first, out)?;
            if first == LARGEST.first {
                inside.set(false);
            } else if first == LARGEST.intent && inside.get() {
                out[0] = u64::MAX;
            }
            Ok(())
        });
        let mut lapped = 0;
        let result = read_newest_counting(&words, &LARGEST, &mut lapped);
        assert!(
            matches!(result, Err(FormatError::Lapped { tries }) if tries == tries_most),
            "{result:?}"
        );
        let got = (lapped, copied.get());
        assert_eq!(got, (tries_most.into(), u64::from(tries_most) * bytes / 8));
    }
}

#[test]
fn records_that_overlap_are_no_way_back() {
    let words = Recorder::new(68);
    // The records are written from the last to the first, so that the payload of each can contain the records
    // after it.
    for position in (0..3u64).rev() {
        let at = position * record::WORDS as u64;
        let inside: Vec<u64> = (at + record::WORDS as u64..32)
            .map(|behind| read_one(&words, REGION.at(behind)).unwrap())
            .collect();
        let payload = words::to_bytes(inside);
        let previous = at.checked_sub(record::WORDS as u64).unwrap_or(NONE);
        let head = record_head(stamp(position), position + 1, at, previous, &payload);
        (at..)
            .zip(head)
            .for_each(|(at, word)| words.store(REGION.at(at), word));
    }
    words.store(REGION.intent, 32);
    words.store(REGION.latest, 2 * record::WORDS as u64);
    let newest = read_newest(&words, &REGION).unwrap();
    let before = read_before(&words, &REGION, newest.position, newest.previous.unwrap());
    assert_eq!((newest.sequence, before.unwrap()), (3, None));
}

#[test]
fn a_record_longer_than_half_the_ring_is_refused_and_changes_nothing() {
    let words = Recorder::new(68);
    let mut writer = Writer::new(REGION);
    writer.publish(&words, stamp(1), b"one").unwrap();
    let longest = writer.longest_payload() as usize;
    let refused = writer.publish(&words, stamp(2), &vec![7; longest + 1]);
    let said = refused.unwrap_err().to_string();
    assert!(said.starts_with("the snapshot needs "), "{said}");
    assert!(said.ends_with("; give a larger ring"), "{said}");
    assert_eq!(read_newest(&words, &REGION).unwrap().sequence, 1);
    writer.publish(&words, stamp(2), &vec![7; longest]).unwrap();
    assert_eq!(read_newest(&words, &REGION).unwrap().payload.len(), longest);
}

#[test]
fn a_record_that_calls_itself_or_a_later_one_its_forerunner_has_none() {
    for previous in [0, 1, 40, NONE - 1, NONE] {
        let words = Recorder::new(68);
        let head = record_head(stamp(1), 1, 0, previous, b"one");
        publish_words(
            &words,
            &REGION,
            0,
            head.into_iter().chain(payload_words(b"one")),
            9,
        );
        assert_eq!(read_newest(&words, &REGION).unwrap().previous, None, "{previous}");
    }
}

#[test]
fn a_length_that_the_file_does_not_have_is_not_made_room_for() {
    let most = 1 << 29;
    let claimed = Region {
        words: most,
        ..REGION
    };
    let words = Recorder::new(68);
    let mut head = record_head(stamp(1), 1, 0, NONE, b"");
    head[record::BYTES] = record::BYTES_MAX;
    words.store(REGION.intent, 8);
    (0..)
        .zip(head)
        .for_each(|(offset, word)| words.store(claimed.at(offset), word));
    let at_once = Cell::new(0);
    let measured = given(|first, out| {
        at_once.set(at_once.get().max(out.len()));
        words.read(first, out)
    });
    let read = read_newest(&measured, &claimed);
    assert!(matches!(read, Err(FormatError::Truncated { .. })));
    assert!(at_once.get() <= record::WORDS, "{} words at once", at_once.get());
}

#[test]
fn an_overwritten_record_is_none() {
    let words = Recorder::new(68);
    let mut writer = Writer::new(REGION);
    for tick in 0..8 {
        writer.publish(&words, stamp(tick), &[9; 100]).unwrap();
    }
    assert_eq!(read_before(&words, &REGION, 21, 0).unwrap(), None);
}

#[test]
fn a_flipped_bit_is_no_record() {
    for bit in 0..64 * 4 {
        let words = Recorder::new(68);
        let mut writer = Writer::new(REGION);
        writer.publish(&words, stamp(1), &[0x5a; 16]).unwrap();
        let index = REGION.first + bit / 64;
        let word = read_one(&words, index).unwrap();
        words.store(index, word ^ 1 << (bit % 64));
        assert!(
            matches!(read_newest(&words, &REGION), Err(FormatError::NoRecord)),
            "bit {bit}"
        );
    }
}

pub(crate) mod model {
    //! Tests under loom: every interleaving and every allowed reordering of one writer and one reader.

    use std::panic::Location;
    use std::sync::Arc;

    use loom::sync::atomic::{AtomicU64, Ordering, fence};

    use super::*;
    use tickscope_testkit::model::{check, mutation};

    #[derive(Clone)]
    pub(crate) struct LoomWords(Arc<Vec<AtomicU64>>);

    impl LoomWords {
        pub(crate) fn new(length: usize) -> Self {
            Self(Arc::new((0..length).map(|_| AtomicU64::new(0)).collect()))
        }

        #[track_caller]
        fn store_as(&self, index: usize, value: u64, ordering: Ordering) {
            let words = self.clone();
            mutation::act(Location::caller(), move |weak| {
                words.0[index].store(value, if weak { Ordering::Relaxed } else { ordering });
            });
        }
    }

    impl ReadWords for LoomWords {
        #[track_caller]
        fn read(&self, first: usize, out: &mut [u64]) -> Result<(), FormatError> {
            let at = Location::caller();
            for (offset, word) in out.iter_mut().enumerate() {
                let load = |index: usize, _| self.0[index].load(Ordering::Relaxed);
                *word = mutation::load(at, first + offset, load);
            }
            Ok(())
        }

        #[track_caller]
        fn fence_acquire(&self) {
            mutation::act(Location::caller(), |weak| {
                if !weak {
                    fence(Ordering::Acquire);
                }
            });
        }
    }

    impl Words for LoomWords {
        #[track_caller]
        fn store(&self, index: usize, value: u64) {
            self.store_as(index, value, Ordering::Relaxed);
        }

        #[track_caller]
        fn store_release(&self, index: usize, value: u64) {
            self.store_as(index, value, Ordering::Release);
        }

        #[track_caller]
        fn fence_release(&self) {
            mutation::act(Location::caller(), |weak| {
                if !weak {
                    fence(Ordering::Release);
                }
            });
        }
    }

    /// Runs the protocol without checksums, which would hide a wrong order. Records have two words and the ring has
    /// four, so the third record overwrites the first.
    #[test]
    fn a_copy_that_passes_the_lap_check_is_never_mixed() {
        const SMALL: Region = Region {
            first: 2,
            words: 4,
            intent: 0,
            latest: 1,
        };
        check(None, || {
            let words = LoomWords::new(6);
            // The first record exists before the reader starts.
            publish_words(&words, &SMALL, 0, [10, 10].into_iter(), 2);
            let writer = words.clone();
            let thread = loom::thread::spawn(move || {
                publish_words(&writer, &SMALL, 2, [12, 12].into_iter(), 2);
                publish_words(&writer, &SMALL, 4, [14, 14].into_iter(), 2);
            });
            let latest = read_latest(&words, &SMALL).unwrap();
            let mut copy = [0; 2];
            if copy_words(&words, &SMALL, latest, 0, &mut copy).unwrap() {
                assert_eq!(copy, [latest + 10; 2]);
            }
            thread.join().unwrap();
        });
    }
}
