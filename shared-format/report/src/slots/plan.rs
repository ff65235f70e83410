//! Chooses the records at which slots begin and end.

/// If two records are further apart than this, there is a gap between them, unless records are usually far apart; see [`GAPS`].
/// While a program publishes, it makes a record at least every ten seconds.
const GAP_NS: u64 = 12_000_000_000;

/// A gap must also be longer than the usual time between two records times this factor.
const GAPS: u64 = 3;

/// Returns the first and the last record of each slot, given the times of all records. There are at most `most` slots, not
/// counting the slots that are cut short by a gap.
pub(super) fn slots(unix_ns: &[u64], most: usize) -> Vec<(usize, usize)> {
    let lengths: Vec<u64> = unix_ns
        .windows(2)
        .map(|pair| pair[1].saturating_sub(pair[0]))
        .collect();
    let mut sorted = lengths.clone();
    sorted.sort_unstable();
    let usual = sorted.get(sorted.len() / 2).copied().unwrap_or_default();
    let gap = GAP_NS.max(usual.saturating_mul(GAPS));
    // A reset makes two records at almost the same time, which are too close together for a slot.
    let mut least = usual / 10;
    if lengths.len() > most {
        let known = lengths.iter().filter(|&&length| length <= gap);
        let known = known.fold(0, |sum: u64, &length| sum.saturating_add(length));
        least = least.max(known.div_ceil(most.max(1) as u64));
    }
    let mut slots = Vec::new();
    let mut begin = 0;
    for (at, &length) in lengths.iter().enumerate() {
        let is_gap = length > gap;
        let end = if is_gap { at } else { at + 1 };
        let is_full = unix_ns[end].saturating_sub(unix_ns[begin]) >= least.max(1);
        if begin < end && (is_gap || is_full || end + 1 == unix_ns.len()) {
            slots.push((begin, end));
            begin = end;
        }
        if is_gap {
            begin = at + 1;
        }
    }
    slots
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    fn at(seconds: impl IntoIterator<Item = u64>) -> Vec<u64> {
        seconds.into_iter().map(|second| second * S).collect()
    }

    #[test]
    fn neighbours_make_a_slot() {
        assert_eq!(slots(&at(5..9), 300), [(0, 1), (1, 2), (2, 3)]);
        assert_eq!(slots(&at([5]), 300), []);
        assert_eq!(slots(&[], 300), []);
        // A reset makes two records 1 ns apart.
        let reset = [10 * S, 11 * S, 11 * S + 1, 12 * S, 13 * S];
        assert_eq!(slots(&reset, 300), [(0, 1), (1, 3), (3, 4)]);
    }

    #[test]
    fn of_many_several_become_one_evenly() {
        for records in [301u64, 302, 500, 3_000] {
            let found = slots(&at(0..records), 300);
            assert!((150..=300).contains(&found.len()), "{records}: {}", found.len());
            assert_eq!(found[0].0, 0);
            assert_eq!(found.last().unwrap().1, records as usize - 1);
            assert!(found.windows(2).all(|pair| pair[0].1 == pair[1].0), "{records}");
            let (short, long) = (records / 300, records / 150 + 1);
            let of = |&(begin, end): &(usize, usize)| (end - begin) as u64;
            assert!(
                found[..found.len() - 1]
                    .iter()
                    .all(|slot| (short..=long).contains(&of(slot)))
            );
        }
        // A minute with ten records per second must not shorten all slots.
        let dense = (0..600).map(|tenth| tenth * S / 10);
        let found = slots(&dense.chain(at(60..600)).collect::<Vec<_>>(), 300);
        assert!(found.len() <= 300);
        assert_eq!(found[0], (0, 20));
    }

    #[test]
    fn gaps_are_no_part_of_a_slot() {
        assert_eq!(
            slots(&at([0, 1, 2, 60, 61, 62]), 300),
            [(0, 1), (1, 2), (3, 4), (4, 5)]
        );
        // The record at 40 s is between two gaps, so it is in no slot. The other slots have several records.
        let times = at((0..10).chain([40]).chain(80..90));
        assert_eq!(slots(&times, 4), [(0, 5), (5, 9), (11, 16), (16, 20)]);
        // If records are expensive, they are made only every ten seconds. That is not a gap.
        assert_eq!(slots(&at([0, 1, 2, 12, 22]), 300).len(), 4);
        assert_eq!(slots(&at([0, 60, 120, 180]), 300).len(), 3);
    }
}
