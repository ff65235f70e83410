//! What a viewer keeps of the past, and by which it therefore grows until it has run for an hour: all moments of the
//! last half minute, one a second of the last ten minutes, and one every ten seconds of the last hour.

const SECOND_NS: u64 = 1_000_000_000;

/// The moments in order: time and bytes.
#[derive(Debug, Default)]
pub(crate) struct Past(Vec<(u64, usize)>);

impl Past {
    /// Takes the next moment.
    pub(crate) fn take(&mut self, unix_ns: u64, bytes: usize) {
        self.0.push((unix_ns, bytes));
    }

    /// Drops what is not kept any more, and returns the bytes of what is.
    pub(crate) fn bytes(&mut self) -> usize {
        let newest = self.0.last().map_or(0, |(unix_ns, _)| *unix_ns);
        let mut former = None;
        self.0.retain(|&(unix_ns, _)| {
            let slot = match newest.saturating_sub(unix_ns) / SECOND_NS {
                0..30 => (0, unix_ns),
                30..600 => (1, unix_ns / SECOND_NS),
                600..3600 => (2, unix_ns / (10 * SECOND_NS)),
                _ => return false,
            };
            former.replace(slot) != Some(slot)
        });
        self.0.iter().map(|(_, bytes)| bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hour_is_kept_ever_sparser() {
        let mut past = Past::default();
        // Ten moments a second for two hours.
        for tenth in 0..72_000 {
            past.take(tenth * SECOND_NS / 10, 1);
            if tenth % 100 == 0 {
                past.bytes();
            }
        }
        let kept = past.bytes();
        assert!(
            (300 + 570 + 300 - 3..300 + 570 + 300 + 3).contains(&kept),
            "{kept}"
        );
    }
}
