//! Records that a ring contained when it was opened. They are read backwards, slice by slice, and thinned out until they fit.

use std::time::{Duration, Instant};

use tickscope_format::file::open::RingFile;
use tickscope_format::ring::Record;
use tickscope_format::snapshot::CaptureKind;

use crate::events::Past;

/// All records that are at most this much older than the newest one are taken.
const FULL_NS: u64 = 30_000_000_000;

/// Minimum time between taken records that are older than `FULL_NS`: about a second.
const SECOND_NS: u64 = 950_000_000;

/// Shortest time between two records in the fine ring, and in the coarse ring.
const SHORTEST_NS: [u64; 2] = [10_000_000, 10_000_000_000];

/// Maximum number of bytes that are taken from both rings together, and from the fine ring alone.
const BYTES_MOST: usize = 48 << 20;
const FINE_BYTES_MOST: usize = 24 << 20;

/// Reads a ring backwards, starting from the record that was the newest when the ring was opened. The fine ring is read
/// first, then the coarse ring.
#[derive(Debug)]
pub(super) struct Earlier {
    /// The last record that was read, without its payload; `None` before the first record of the coarse ring.
    last: Option<Record>,
    stage: Stage,
    /// Capture time of the record from which reading started.
    from_ns: u64,
    /// Capture time of the oldest record that was taken from the fine ring.
    oldest_ns: u64,
    thinner: Thinner,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Fine,
    Coarse,
    Done,
}

/// Takes fewer records as space runs out: whenever half of the remaining bytes have been used up, the minimum time
/// between two taken records doubles. This way, the records reach further back, and none has to be dropped after it was
/// taken.
#[derive(Debug)]
struct Thinner {
    room: usize,
    left: usize,
    shortest_ns: u64,
    /// Capture time of the record that was taken last.
    taken_ns: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Taken,
    Left,
    /// The record needs more bytes than are left, so reading ends here.
    Full,
}

/// Turns a record into an entry for the history. Moves the payload out of the record.
pub(super) fn past_of(record: &mut Record) -> Past {
    Past::of(record.stamp, std::mem::take(&mut record.payload))
}

impl Thinner {
    fn new(room: usize, shortest_ns: u64) -> Self {
        Self {
            room,
            left: room,
            shortest_ns,
            taken_ns: None,
        }
    }

    /// Decides whether to take a record, where taken records should be at least `gap_ns` apart. A record that closes an
    /// epoch or ends the program is taken regardless of the gap, as long as it fits.
    fn judge(&mut self, unix_ns: u64, kind: CaptureKind, bytes: usize, gap_ns: u64) -> Fate {
        if bytes > self.left {
            return Fate::Full;
        }
        let doublings = (self.room / self.left.max(1)).max(1).ilog2();
        let gap_ns = match doublings {
            0 => gap_ns,
            _ => gap_ns.max(self.shortest_ns) << doublings,
        };
        let far = self
            .taken_ns
            .is_none_or(|taken| taken.abs_diff(unix_ns) >= gap_ns);
        if !far && kind == CaptureKind::Periodic {
            return Fate::Left;
        }
        self.left -= bytes;
        self.taken_ns = Some(unix_ns);
        Fate::Taken
    }
}

impl Earlier {
    /// Returns a reader for all records older than `record`. The payload of `record` may be empty.
    pub(super) fn than(record: Record) -> Self {
        let unix_ns = record.stamp.unix_ns;
        let mut thinner = Thinner::new(FINE_BYTES_MOST, SHORTEST_NS[0]);
        thinner.taken_ns = Some(unix_ns);
        Self {
            last: Some(record),
            stage: Stage::Fine,
            from_ns: unix_ns,
            oldest_ns: unix_ns,
            thinner,
        }
    }

    /// Whether nothing is left to read.
    pub(super) fn is_done(&self) -> bool {
        self.stage == Stage::Done
    }

    /// Reads at least one record, and more until `time` has passed. Returns the records taken, oldest first. If the
    /// program overwrites a record before it is read, this record and all older ones in the same ring are lost.
    pub(super) fn slice(&mut self, ring: &RingFile, time: Duration) -> Vec<Past> {
        let begin = Instant::now();
        let mut taken = Vec::new();
        while !self.is_done() {
            if let Some(past) = self.step(ring) {
                taken.push(past);
            }
            if begin.elapsed() >= time {
                break;
            }
        }
        taken.reverse();
        taken
    }

    /// Reads one record. After the last record of a stage, begins the next stage.
    fn step(&mut self, ring: &RingFile) -> Option<Past> {
        let read = match (self.stage, &self.last) {
            (Stage::Done, _) => return None,
            (Stage::Fine, Some(last)) => ring.before(last),
            (Stage::Fine, None) => Ok(None),
            (Stage::Coarse, Some(last)) => ring.coarse_before(last),
            (Stage::Coarse, None) => ring.coarse_newest(),
        };
        // An unreadable record ends only this stage, because the record on the screen does not depend on it.
        let Some(mut record) = read.ok().flatten() else {
            self.next_stage();
            return None;
        };
        let past = past_of(&mut record);
        self.last = Some(record);
        let fine = self.stage == Stage::Fine;
        if !fine && past.unix_ns >= self.oldest_ns {
            return None;
        }
        let gap_ns = match fine && past.unix_ns.saturating_add(FULL_NS) < self.from_ns {
            true => SECOND_NS,
            false => 0,
        };
        match self
            .thinner
            .judge(past.unix_ns, past.kind, past.payload.len(), gap_ns)
        {
            Fate::Taken => {
                if fine {
                    self.oldest_ns = self.oldest_ns.min(past.unix_ns);
                }
                Some(past)
            }
            Fate::Left => None,
            Fate::Full => {
                self.next_stage();
                None
            }
        }
    }

    fn next_stage(&mut self) {
        self.last = None;
        self.stage = match self.stage {
            Stage::Fine => {
                let used = self.thinner.room - self.thinner.left;
                self.thinner = Thinner::new(BYTES_MOST - used, SHORTEST_NS[1]);
                Stage::Coarse
            }
            Stage::Coarse | Stage::Done => Stage::Done,
        };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tickscope_format::file::create::OwnRing;
    use tickscope_format::file::header::Header;
    use tickscope_format::ring::Stamp;
    use tickscope_format::{Snapshot, codec, os};
    use tickscope_testkit::test_program;

    use super::*;
    use crate::events::Feed;
    use crate::feed::attached::MISSED_MOST;
    use crate::feed::{Open, PAST_REST, RingFeed};
    use crate::target::wanted::Wanted;

    const SECOND: u64 = 1_000_000_000;

    fn made(dir: &std::path::Path, ring_bytes: u64) -> OwnRing {
        let header = Header {
            ring_words: ring_bytes / 8,
            coarse_words: (4 << 20) / 8,
            ..tickscope_testkit::ring::header("app")
        };
        OwnRing::create(dir, header).unwrap()
    }

    fn stamp(unix_ns: u64) -> Stamp {
        Stamp {
            kind: CaptureKind::Periodic,
            tick: unix_ns,
            unix_ns,
        }
    }

    fn publish(ring: &mut OwnRing, unix_ns: u64, payload: &[u8]) {
        ring.publish(stamp(unix_ns), payload).unwrap();
    }

    fn publish_coarse(ring: &mut OwnRing, unix_ns: u64, payload: &[u8]) {
        ring.coarse_space(payload.len() as u64).unwrap();
        ring.publish_coarse(stamp(unix_ns), payload).unwrap();
    }

    /// Publishes ten records of `bytes` bytes per second for two hours, and a coarse record every ten seconds.
    fn two_hours(ring: &mut OwnRing, bytes: usize) {
        for tenth in 0..2 * 36_000 {
            let unix_ns = SECOND + tenth * SECOND / 10;
            if unix_ns.is_multiple_of(10 * SECOND) {
                publish_coarse(ring, unix_ns, &vec![2; 1000]);
            }
            publish(ring, unix_ns, &vec![1; bytes]);
        }
        ring.link().unwrap();
    }

    fn all(earlier: &mut Earlier, ring: &RingFile) -> Vec<Past> {
        let mut all: Vec<Past> = Vec::new();
        while !earlier.is_done() {
            let slice = earlier.slice(ring, Duration::ZERO);
            all.splice(0..0, slice);
        }
        all
    }

    #[test]
    fn half_a_minute_is_whole_then_comes_one_a_second_then_the_coarse_ring() {
        let dir = tempfile::tempdir().unwrap();
        let mut own = made(dir.path(), 1 << 20);
        two_hours(&mut own, 400);
        let ring = RingFile::open(own.path()).unwrap();
        let newest = ring.newest().unwrap();
        let past = all(&mut Earlier::than(newest.clone()), &ring);
        let ages: Vec<u64> = past
            .iter()
            .map(|past| newest.stamp.unix_ns - past.unix_ns)
            .collect();
        assert!(ages.is_sorted_by(|a, b| a > b), "oldest first, none twice");
        let full = ages.iter().filter(|&&age| age <= 30 * SECOND);
        assert_eq!(full.count(), 300);
        let fine = past.iter().filter(|past| past.payload[0] == 1).count();
        let seconds = &ages[ages.len() - fine..ages.len() - 300];
        // 1 MiB holds 2259 records of 464 bytes. The newest 300 are all taken, and one in ten of the others.
        assert!((180..200).contains(&seconds.len()), "{}", seconds.len());
        assert!(seconds.windows(2).all(|pair| pair[0] - pair[1] == SECOND));
        let coarse = &ages[..ages.len() - fine];
        assert!(coarse.windows(2).all(|pair| pair[0] - pair[1] == 10 * SECOND));
        assert!(coarse.len() > 690, "{}", coarse.len());
        assert!(coarse[coarse.len() - 1] - seconds[0] <= 10 * SECOND);
    }

    #[test]
    fn a_program_that_overtakes_the_reader_ends_the_ring_and_not_the_history() {
        let dir = tempfile::tempdir().unwrap();
        let mut own = made(dir.path(), 64 << 10);
        two_hours(&mut own, 400);
        let ring = RingFile::open(own.path()).unwrap();
        let newest = ring.newest().unwrap();
        let mut earlier = Earlier::than(newest.clone());
        let mut past = earlier.slice(&ring, Duration::ZERO);
        assert_eq!(past.len(), 1);
        for tenth in 1..1000 {
            publish(&mut own, newest.stamp.unix_ns + tenth, &[1; 400]);
        }
        past.splice(0..0, all(&mut earlier, &ring));
        let fine = past.iter().filter(|past| past.payload[0] == 1).count();
        assert_eq!(fine, 1);
        assert!(past.len() > 690);
    }

    #[test]
    fn a_ring_without_history_has_none() {
        let dir = tempfile::tempdir().unwrap();
        let mut own = made(dir.path(), 64 << 10);
        publish(&mut own, 5, b"one");
        own.link().unwrap();
        let ring = RingFile::open(own.path()).unwrap();
        let mut earlier = Earlier::than(ring.newest().unwrap());
        assert_eq!(all(&mut earlier, &ring), []);
    }

    fn payload(number: u64) -> Vec<u8> {
        let mut snapshot = Snapshot::default();
        snapshot.capture.seq = number;
        test_program::payload(&snapshot)
    }

    /// Polls until all earlier records have been returned. Returns their capture times in seconds, in ascending order.
    fn numbers(feed: &mut RingFeed) -> Vec<u64> {
        let mut numbers = Vec::new();
        while matches!(&feed.open, Open::Ring(attached) if attached.has_past()) {
            let past = feed.poll().past;
            numbers.extend(past.iter().map(|past| past.unix_ns / SECOND));
            for past in past {
                assert_eq!(
                    codec::decode(&past.payload).unwrap().capture.seq,
                    past.unix_ns / SECOND
                );
            }
        }
        numbers.sort_unstable();
        numbers
    }

    #[test]
    fn the_first_look_shows_the_newest_and_later_ones_hand_over_all_others_once() {
        let dir = tempfile::tempdir().unwrap();
        let mut own = made(dir.path(), 1 << 20);
        for number in 1..=200 {
            publish_coarse(&mut own, number * SECOND, &payload(number));
        }
        for number in 150..=300 {
            publish(&mut own, number * SECOND, &payload(number));
        }
        own.beat(os::monotonic_ns(), 1);
        own.link().unwrap();
        let wanted = Wanted::File(own.path().to_path_buf());
        let mut feed = RingFeed::new(wanted, None, None);
        let first = feed.poll();
        assert_eq!(first.snapshot.unwrap().capture.seq, 300);
        let times = |past: &[Past]| Vec::from_iter(past.iter().map(|past| past.unix_ns / SECOND));
        assert_eq!(times(&first.past), [300]);
        assert!(feed.next_look() <= PAST_REST);
        assert_eq!(numbers(&mut feed), Vec::from_iter(1..300));
        // Records that arrive between two polls are not lost.
        for number in 301..=303 {
            publish(&mut own, number * SECOND, &payload(number));
        }
        let events = feed.poll();
        assert_eq!(events.snapshot.unwrap().capture.seq, 303);
        assert_eq!(times(&events.past), [301, 302, 303]);
        for number in 304..=400 {
            publish(&mut own, number * SECOND, &payload(number));
        }
        let most = (400 - MISSED_MOST as u64)..=400;
        assert_eq!(times(&feed.poll().past), Vec::from_iter(most));
    }

    #[test]
    fn a_program_that_is_there_again_hands_over_its_own_past() {
        let dir = tempfile::tempdir().unwrap();
        let run = |numbers: std::ops::Range<u64>| {
            let mut own = made(dir.path(), 1 << 20);
            for number in numbers {
                publish(&mut own, number * SECOND, &payload(number));
            }
            own.beat(os::monotonic_ns(), 1_000_000_000);
            own.link().unwrap();
            own
        };
        let own = run(1..10);
        let path = own.path().to_path_buf();
        let mut feed = RingFeed::new(Wanted::Name("app".into()), Some(dir.path().into()), None);
        assert_eq!(feed.poll().past.len(), 1);
        assert_eq!(numbers(&mut feed), Vec::from_iter(1..9));
        drop(own);
        std::fs::rename(&path, dir.path().join("app.before.ring")).unwrap();
        let _own = run(20..30);
        let deadline = Instant::now() + Duration::from_secs(30);
        let mut events = feed.poll();
        while events.new_run.is_none() {
            assert!(Instant::now() < deadline, "{:?}", events.status);
            events = feed.poll();
        }
        assert_eq!(events.past.len(), 1);
        assert_eq!(numbers(&mut feed), Vec::from_iter(20..29));
    }

    #[test]
    fn what_closes_an_epoch_is_never_thinned_away() {
        let mut thinner = Thinner::new(1 << 20, SECOND);
        assert_eq!(
            thinner.judge(100, CaptureKind::Periodic, 600 << 10, 0),
            Fate::Taken
        );
        assert_eq!(thinner.judge(99, CaptureKind::Periodic, 1, 0), Fate::Left);
        assert_eq!(thinner.judge(98, CaptureKind::Closing, 1, 0), Fate::Taken);
        assert_eq!(thinner.judge(97, CaptureKind::Closing, 600 << 10, 0), Fate::Full);
    }

    proptest! {
        /// Checks that the records taken never exceed the byte limit, and that they reach further back than they would
        /// without thinning.
        #[test]
        fn less_room_thins_and_reaches_back(bytes in 1usize..4000) {
            let room = 64 << 10;
            let mut thinner = Thinner::new(room, SECOND);
            let (mut used, mut reached) = (0, 0);
            for age in 0..1_000_000 {
                match thinner.judge((1_000_000 - age) * SECOND, CaptureKind::Periodic, bytes, 0) {
                    Fate::Taken => (used, reached) = (used + bytes, age),
                    Fate::Left => {}
                    Fate::Full => break,
                }
            }
            prop_assert!(used <= room && used + bytes > room);
            let unthinned = (room / bytes) as u64;
            prop_assert!(reached >= unthinned * 3 / 2 && reached > 16, "{} of {}", reached, unthinned);
        }
    }
}
