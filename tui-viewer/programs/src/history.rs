//! The past of the program, as encoded snapshots. All of the last seconds' snapshots are kept, but only some of the
//! older ones, up to an hour back.

use std::cell::RefCell;
use std::rc::Rc;

use tickscope_analysis::series::RecordEpoch;
use tickscope_format::Snapshot;
use tickscope_format::codec;
use tickscope_format::codec::Decoder;

use crate::events::Past;

/// Maximum size of all payloads together, in bytes.
pub const BYTES_MAX: usize = 40 << 20;

const SECOND_NS: u64 = 1_000_000_000;

/// Age up to which all snapshots are kept.
const DENSE_NS: u64 = 30 * SECOND_NS;

/// Age up to which one snapshot per second is kept. Of older snapshots, one every ten seconds is kept.
const FINE_NS: u64 = 600 * SECOND_NS;

/// Age above which no snapshot is kept, except in a recording.
const LONGEST_NS: u64 = 3_600 * SECOND_NS;

/// Number of snapshots that stay decoded: the shown moment, the start of its window, and a neighbour.
const DECODED: usize = 3;

/// An encoded snapshot. Its sites are kept separately.
#[derive(Debug)]
struct Moment {
    unix_ns: u64,
    /// Reset epoch of the record; `None` if the payload has no readable capture section.
    epoch: Option<RecordEpoch>,
    payload: Box<[u8]>,
    /// Encoded sites; most moments share them with a neighbour.
    sites: Rc<[u8]>,
}

/// Snapshots of one program, sorted by capture time.
#[derive(Debug, Default)]
pub struct History {
    moments: Vec<Moment>,
    /// Whether the snapshots come from a recording. Those are kept regardless of their age, as long as they fit into
    /// [`BYTES_MAX`].
    pub recorded: bool,
    /// Sequence number and capture time of the last snapshot that was noted.
    noted: (u64, u64),
    /// Counts how often the past was cleared or a record was inserted before others.
    revision: u64,
    decoded: RefCell<Vec<Rc<Snapshot>>>,
    decoder: RefCell<Decoder>,
    /// Buffer for encoding, reused for all snapshots so that the heap does not fragment.
    buffer: Vec<u8>,
}

impl History {
    /// Takes records from a file, in any order. Known records are skipped.
    pub fn remember(&mut self, past: Vec<Past>) {
        for moment in past {
            self.insert(moment.unix_ns, &moment.payload);
        }
        self.thin();
    }

    /// Takes a new snapshot, unless the history already has its record from the file, or the snapshot is large and
    /// comes less than a second after the last one.
    pub fn note(&mut self, snapshot: &Snapshot) {
        let (seq, unix_ns) = (snapshot.capture.seq, snapshot.capture.unix_ns);
        if !self.recorded && self.noted.0 < seq && unix_ns < self.noted.1 {
            // The wall clock was set back, so the age of the other moments is unknown.
            self.clear();
        }
        self.noted = (seq, unix_ns);
        if self.place(unix_ns).is_ok() || self.is_too_dense(unix_ns) {
            return;
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        if codec::encode(snapshot, &mut buffer).is_ok() {
            self.insert(unix_ns, &buffer);
            self.thin();
        }
        self.buffer = buffer;
    }

    /// Whether snapshots are so large that only one per second should be kept, and this one comes less than a second
    /// after the last. Encoding more of them would cost time and push out older ones.
    fn is_too_dense(&self, unix_ns: u64) -> bool {
        let records = (DENSE_NS / SECOND_NS * 10) as usize;
        self.moments.last().is_some_and(|last| {
            last.payload.len() > BYTES_MAX / 2 / records
                && (last.unix_ns..last.unix_ns.saturating_add(SECOND_NS)).contains(&unix_ns)
        })
    }

    fn place(&self, unix_ns: u64) -> Result<usize, usize> {
        self.moments
            .binary_search_by_key(&unix_ns, |moment| moment.unix_ns)
    }

    fn insert(&mut self, unix_ns: u64, payload: &[u8]) {
        if payload.len() > BYTES_MAX / 2 {
            return;
        }
        let epoch = codec::capture(payload).ok().as_ref().map(RecordEpoch::from);
        let (Err(at), Ok((payload, sites))) = (self.place(unix_ns), codec::split_sites(payload)) else {
            return;
        };
        let near = [at.checked_sub(1), Some(at)];
        let near = near.into_iter().flatten().filter_map(|at| self.moments.get(at));
        let shared = near
            .map(|moment| &moment.sites)
            .find(|known| known[..] == sites[..]);
        let moment = Moment {
            unix_ns,
            epoch,
            payload: payload.into(),
            sites: shared.map_or_else(|| sites.into(), Rc::clone),
        };
        self.revision += u64::from(at < self.moments.len());
        self.moments.insert(at, moment);
    }

    /// Thins out old snapshots, and keeps the size of all payloads below `BYTES_MAX`.
    fn thin(&mut self) {
        let Some(newest) = self.moments.last().map(|moment| moment.unix_ns) else {
            return;
        };
        let mut former = None;
        let recorded = self.recorded;
        self.moments.retain(|moment| {
            if recorded {
                return true;
            }
            let slot = match newest - moment.unix_ns {
                0..DENSE_NS => (0, moment.unix_ns),
                DENSE_NS..FINE_NS => (1, moment.unix_ns / SECOND_NS),
                FINE_NS..LONGEST_NS => (2, moment.unix_ns / (10 * SECOND_NS)),
                _ => return false,
            };
            // The first snapshot in ten seconds is also the first in its second, so the finer thinning has kept it.
            former.replace(slot) != Some(slot)
        });
        while self.bytes() > BYTES_MAX && !self.moments.is_empty() {
            self.moments.remove(self.least_missed());
        }
    }

    /// Returns the size of all moments in bytes. Sites that neighbours share count once.
    pub(crate) fn bytes(&self) -> usize {
        let mut former: Option<&Rc<[u8]>> = None;
        let each = self.moments.iter().map(|moment| {
            let shared = former
                .replace(&moment.sites)
                .is_some_and(|f| Rc::ptr_eq(f, &moment.sites));
            moment.payload.len() + if shared { 0 } else { moment.sites.len() }
        });
        each.sum()
    }

    /// Returns the index of the moment to drop next, whose loss matters least: its neighbours are closest together relative to
    /// its age; in a recording, closest in absolute terms. The first and last moments are never chosen while there are others.
    fn least_missed(&self) -> usize {
        let newest = self.moments.last().map_or(0, |moment| moment.unix_ns);
        let gaps = self.moments.windows(3).map(|near| {
            let gap = near[2].unix_ns - near[0].unix_ns;
            let age = match self.recorded {
                true => 1,
                false => newest - near[1].unix_ns + SECOND_NS,
            };
            gap as f64 / age as f64
        });
        let least = gaps.enumerate().min_by(|a, b| a.1.total_cmp(&b.1));
        least.map_or(0, |(index, _)| index + 1)
    }

    /// Removes all moments, because another program or another run has begun, or the wall clock was set back.
    pub fn clear(&mut self) {
        *self = Self {
            revision: self.revision + 1,
            ..Self::default()
        };
    }

    /// Returns a number that changes whenever the past changes, except when a new record is added at the end.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Returns the capture times, the oldest first.
    pub fn times(&self) -> impl DoubleEndedIterator<Item = u64> + '_ {
        self.moments.iter().map(|moment| moment.unix_ns)
    }

    /// Returns the capture time of the last moment at or before `unix_ns`.
    pub fn at_or_before(&self, unix_ns: u64) -> Option<u64> {
        let after = self.moments.partition_point(|moment| moment.unix_ns <= unix_ns);
        Some(self.moments[after.checked_sub(1)?].unix_ns)
    }

    /// Returns the capture time of the first moment after `unix_ns`.
    pub fn after(&self, unix_ns: u64) -> Option<u64> {
        let after = self.moments.partition_point(|moment| moment.unix_ns <= unix_ns);
        self.moments.get(after).map(|moment| moment.unix_ns)
    }

    /// Returns the capture time of the moment that is nearest to `unix_ns`.
    pub fn nearest(&self, unix_ns: u64) -> Option<u64> {
        let before = self.at_or_before(unix_ns);
        let after = self.after(unix_ns);
        match before.zip(after) {
            Some((before, after)) if after - unix_ns < unix_ns - before => Some(after),
            Some((before, _)) => Some(before),
            None => before.or(after),
        }
    }

    /// Returns the capture time and epoch of all moments from `from` to `to`, oldest first.
    pub fn epochs(&self, from: u64, to: u64) -> impl DoubleEndedIterator<Item = (u64, RecordEpoch)> + '_ {
        let begin = self.moments.partition_point(|moment| moment.unix_ns < from);
        let end = self.moments.partition_point(|moment| moment.unix_ns <= to);
        let moments = self.moments[begin..end.max(begin)].iter();
        moments.filter_map(|moment| Some((moment.unix_ns, moment.epoch?)))
    }

    /// Returns the snapshot that was captured at `unix_ns`, and keeps it decoded.
    pub fn get(&self, unix_ns: u64) -> Option<Rc<Snapshot>> {
        let mut decoded = self.decoded.borrow_mut();
        let known = decoded
            .iter()
            .position(|snapshot| snapshot.capture.unix_ns == unix_ns);
        let snapshot = match known {
            Some(at) => decoded.remove(at),
            None => Rc::new(self.decode(unix_ns)?),
        };
        decoded.truncate(DECODED - 1);
        decoded.insert(0, Rc::clone(&snapshot));
        Some(snapshot)
    }

    /// Decodes the snapshot that was captured at `unix_ns`, without keeping it.
    pub fn decode(&self, unix_ns: u64) -> Option<Snapshot> {
        let moment = &self.moments[self.place(unix_ns).ok()?];
        let whole = [&moment.payload[..], &moment.sites[..]].concat();
        self.decoder.borrow_mut().decode(&whole).ok()
    }
}

#[cfg(test)]
mod tests {
    use tickscope_format::ring::Stamp;
    use tickscope_format::snapshot::CaptureKind;
    use tickscope_testkit::orderbook;
    use tickscope_testkit::test_program;

    use super::*;

    const TENTH_NS: u64 = SECOND_NS / 10;

    fn past(unix_ns: u64, bytes: usize) -> Past {
        let head = |word: u64| word.to_le_bytes();
        Past {
            unix_ns,
            kind: CaptureKind::Periodic,
            // A section of an unknown kind.
            payload: [&head(99), &head(bytes as u64), &vec![0; bytes][..]]
                .concat()
                .into(),
        }
    }

    #[test]
    fn an_hour_is_kept_ever_sparser() {
        let mut history = History::default();
        let end = 4_000 * SECOND_NS;
        let dense = end - 60 * SECOND_NS;
        let often = (dense..=end).step_by(TENTH_NS as usize);
        for at in (0..dense).step_by(SECOND_NS as usize / 2).chain(often) {
            history.remember(vec![past(at, 10)]);
        }
        let count = |from: u64, to: u64| {
            let ages = history.times().map(|at| end - at);
            ages.filter(|age| (from * SECOND_NS..to * SECOND_NS).contains(age))
                .count()
        };
        assert_eq!(count(0, 30), 300);
        assert_eq!(count(30, 600), 570);
        assert_eq!(count(600, 3_600), 300);
        assert_eq!(count(3_600, 4_001), 0);
    }

    #[test]
    fn it_is_bounded_whatever_comes_and_keeps_both_ends() {
        let mut history = History::default();
        for second in 0..300 {
            history.remember(vec![past(second * SECOND_NS, 1 << 20)]);
            assert!(history.bytes() <= BYTES_MAX);
        }
        let times: Vec<u64> = history.times().map(|at| at / SECOND_NS).collect();
        assert_eq!((times[0], times[times.len() - 1]), (0, 299));
        assert!(times.len() > 32, "{times:?}");
        let late = times.iter().filter(|&&at| at >= 270).count();
        assert!(late > times.len() / 4, "the last seconds stay densest: {times:?}");
        history.remember(vec![past(300 * SECOND_NS, BYTES_MAX)]);
        assert!(history.bytes() <= BYTES_MAX, "what is too long is not taken");
    }

    #[test]
    fn it_begins_anew_where_the_wall_clock_is_set_back() {
        let kept = |recorded| {
            let mut history = History {
                recorded,
                ..History::default()
            };
            let mut snapshot = orderbook::snapshot(20);
            for unix_ns in [5_000, 5_001, 1_000, 1_001].map(|seconds| seconds * SECOND_NS) {
                snapshot.capture.seq += 1;
                snapshot.capture.unix_ns = unix_ns;
                history.note(&snapshot);
            }
            history.times().map(|at| at / SECOND_NS).collect::<Vec<_>>()
        };
        assert_eq!(kept(false), [1_000, 1_001]);
        assert_eq!(kept(true), [1_000, 1_001, 5_000, 5_001], "a recording is kept");
    }

    #[test]
    fn moments_share_the_sites_that_they_have_in_common() {
        let mut history = History::default();
        for tenths in 1..=20 {
            history.note(&orderbook::snapshot(tenths));
        }
        let mut renamed = orderbook::snapshot(21);
        renamed.sites[0].line += 1;
        history.note(&renamed);
        let kinds: std::collections::BTreeSet<*const u8> = history
            .moments
            .iter()
            .map(|moment| moment.sites.as_ptr())
            .collect();
        assert_eq!((history.moments.len(), kinds.len()), (21, 2));
        let at = renamed.capture.unix_ns;
        assert_eq!(*history.get(at).unwrap(), renamed);
    }

    #[test]
    fn records_come_in_any_order_and_twice() {
        let mut history = History::default();
        history.note(&orderbook::snapshot(20));
        let at = |tenths: u64| orderbook::snapshot(tenths).capture.unix_ns;
        let payload = |tenths: u64| {
            let snapshot = orderbook::snapshot(tenths);
            Past::of(Stamp::from(&snapshot.capture), test_program::payload(&snapshot))
        };
        history.remember(vec![payload(10), payload(20), payload(5)]);
        history.note(&orderbook::snapshot(10));
        assert_eq!(history.times().collect::<Vec<_>>(), [at(5), at(10), at(20)]);
        assert_eq!(*history.get(at(10)).unwrap(), orderbook::snapshot(10));
        assert_eq!(history.at_or_before(at(10)), Some(at(10)));
        assert_eq!(history.at_or_before(at(10) - 1), Some(at(5)));
        assert_eq!(history.at_or_before(at(5) - 1), None);
        assert_eq!(history.after(at(10)), Some(at(20)));
        assert_eq!(history.after(at(20)), None);
        for tenths in [5, 10, 20, 5, 10, 20] {
            assert_eq!(history.get(at(tenths)).unwrap().capture.seq, tenths);
        }
    }
}
