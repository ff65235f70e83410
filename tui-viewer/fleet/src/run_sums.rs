//! Counts of one run of a program since its start, across all resets. Each record passes on only those counts that have
//! not been passed on before.

use serde::{Deserialize, Serialize};
use tickscope_analysis::series::{RecordEpoch, Series};
use tickscope_format::snapshot::CaptureInfo;

use crate::amounts::Amounts;

/// Maximum number of links in the series. The oldest links are joined; the newest must stay separate, because an undo
/// replaces them.
const LINKS_MOST: usize = 4;

/// Sums for all items of a run. An item is a function, a counter or a group, and is identified by its index.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct RunSums {
    #[serde(with = "kept")]
    series: Series<Vec<Amounts>>,
    /// For each item, the counts that have been passed on to `add` so far.
    handed_on: Vec<Amounts>,
    /// For each item, whether an earlier record had its latencies. An item has latencies only once it has a series.
    tracked: Vec<bool>,
    /// Number of resets for which the closing record was not read, so that the last counts before the reset are
    /// missing.
    pub(crate) unclosed: u64,
}

impl RunSums {
    /// Takes a record, which must be newer than all records so far. For each item with new counts, calls `add` with the
    /// item's index and these counts.
    pub(crate) fn take(
        &mut self,
        capture: &CaptureInfo,
        mut now: Vec<Amounts>,
        mut add: impl FnMut(usize, &Amounts),
    ) {
        let newest = self.series.newest();
        let is_first = newest.is_none();
        if let Some(before) = newest.filter(|before| before.begin == capture.begin()) {
            raise(&mut now, &before.counts, Amounts::raise_to);
        }
        if newest.is_some_and(|before| before.begin > capture.begin()) {
            // The undo restores an earlier epoch. Its latencies may be from before the items had series.
            self.tracked.clear();
        }
        let count = now.len();
        self.handed_on
            .resize(count.max(self.handed_on.len()), Amounts::default());
        self.tracked.resize(count.max(self.tracked.len()), false);
        let has_latencies: Vec<bool> = now.iter().map(Amounts::has_latencies).collect();
        self.unclosed += u64::from(!self.series.take(RecordEpoch::from(capture), now));
        self.series.join_oldest(LINKS_MOST, |one, other| {
            let mut both = other.clone();
            raise(&mut both, one, Amounts::add);
            both
        });
        let mut all = Vec::new();
        for link in self.series.links() {
            raise(&mut all, &link.counts, Amounts::add);
        }
        for (index, all) in all.iter().enumerate().take(count) {
            let handed_on = &mut self.handed_on[index];
            // When an item gets its series, the latencies from before are not passed on, unless this is the run's first
            // record.
            if has_latencies[index] && !std::mem::replace(&mut self.tracked[index], true) && !is_first {
                handed_on.set_latencies(all);
            }
            let mut more = all.clone();
            more.subtract(handed_on);
            handed_on.raise_to(all);
            if more != Amounts::default() {
                add(index, &more);
            }
        }
    }
}

/// Applies `how` to each element of `all` and the element of `by` with the same index. If `by` is longer, `all` is
/// extended first.
fn raise(all: &mut Vec<Amounts>, by: &[Amounts], how: fn(&mut Amounts, &Amounts)) {
    all.resize(all.len().max(by.len()), Amounts::default());
    for (one, by) in all.iter_mut().zip(by) {
        how(one, by);
    }
}

/// How a series is serialized: as `begin`, `epoch`, `is_end`, `follows` and `counts` of each
/// [`Link`](tickscope_analysis::series::Link).
mod kept {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use tickscope_analysis::series::{Link, Series};

    pub(super) fn serialize<T: Serialize, S: Serializer>(
        series: &Series<T>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        let of = |link: &Link<T>| (link.begin, link.epoch, link.is_end, link.follows);
        to.collect_seq(series.links().iter().map(|link| (of(link), &link.counts)))
    }

    pub(super) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Series<T>, D::Error> {
        let links: Vec<((u64, u64, bool, bool), T)> = Vec::deserialize(from)?;
        let link = |(number, ((begin, epoch, is_end, follows), counts))| Link {
            begin,
            epoch,
            is_end,
            follows,
            number,
            counts,
        };
        Ok(Series::of((1..).zip(links).map(link).collect()))
    }
}

#[cfg(test)]
mod tests {
    use tickscope_format::snapshot::CaptureKind;

    use super::*;
    use crate::amounts::Kind;

    /// Takes records of one item. Each is given as its epoch, the earlier epoch that an undo restored (if any), its
    /// kind, and its number of calls. Returns how many calls have been passed on in total after each record.
    fn handed_on(sums: &mut RunSums, records: &[(u64, Option<u64>, CaptureKind, u64)]) -> Vec<u64> {
        let mut all = 0;
        let mut take = |&(reset_epoch, withdraws, kind, shown): &(u64, Option<u64>, CaptureKind, u64)| {
            let mut amounts = Amounts::default();
            amounts.put(Kind::Calls, shown);
            let capture = CaptureInfo {
                reset_epoch,
                withdraws,
                kind,
                ..CaptureInfo::default()
            };
            sums.take(&capture, vec![Amounts::default(), amounts], |index, more| {
                assert_eq!(index, 1);
                all += more.get(Kind::Calls);
            });
            all
        };
        records.iter().map(&mut take).collect()
    }

    const OPEN: CaptureKind = CaptureKind::Periodic;
    const CLOSING: CaptureKind = CaptureKind::Closing;

    #[test]
    fn counts_are_handed_on_once_over_resets_and_undos() {
        let mut sums = RunSums::default();
        let records = [
            (0, None, OPEN, 3),
            (0, None, CLOSING, 5),
            (1, None, OPEN, 2),
            (2, Some(0), OPEN, 8),
            (2, Some(0), CLOSING, 8),
            (3, None, OPEN, 1),
        ];
        assert_eq!(handed_on(&mut sums, &records), [3, 5, 7, 8, 8, 9]);
        assert_eq!(sums.unclosed, 0);
        // From here on, the sums are read back from a file.
        let mut sums: RunSums = serde_json::from_str(&serde_json::to_string(&sums).unwrap()).unwrap();
        assert_eq!(handed_on(&mut sums, &[(4, Some(0), OPEN, 12)]), [3]);
    }

    #[test]
    fn an_end_that_no_record_shows_is_counted() {
        // In the second case, two resets came between the two reads, and the second reset was undone. In both cases,
        // there is no closing record for the first reset.
        for next in [(1, None, OPEN, 3), (3, Some(1), OPEN, 3)] {
            let mut sums = RunSums::default();
            assert_eq!(handed_on(&mut sums, &[(0, None, OPEN, 5), next]), [5, 8]);
            assert_eq!(sums.unclosed, 1);
        }
    }

    #[test]
    fn a_number_that_is_corrected_downward_stays_and_goes_on() {
        let mut sums = RunSums::default();
        let records = [10, 7, 9, 12].map(|shown| (0, None, OPEN, shown));
        assert_eq!(handed_on(&mut sums, &records), [10, 10, 10, 12]);
    }
}
