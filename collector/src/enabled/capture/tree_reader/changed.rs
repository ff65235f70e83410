//! Tracks which histograms have to be read again because their nodes were recently called or open.

/// Number of readings that have to include a node's histogram after the node was called or open. A reading looks at histograms
/// before it looks for open calls. A call that ends in between is missing from both, so only the next reading is complete.
const READINGS: u8 = 2;

/// For each node, the number of readings that still have to include its histogram.
#[derive(Debug, Default)]
pub(super) struct Changed(Vec<u8>);

impl Changed {
    /// Sets the number of known nodes. The histograms of new nodes have to be read.
    pub(super) fn resize(&mut self, length: usize) {
        self.0.resize(length, READINGS);
    }

    /// Returns whether a node's histogram has to be read. `called` tells whether the node was called or charged time
    /// since the last reading.
    pub(super) fn look(&mut self, index: usize, called: bool) -> bool {
        if called {
            self.again(index);
        }
        let left = &mut self.0[index];
        let read = *left > 0;
        *left = left.saturating_sub(1);
        read
    }

    /// Schedules a node's histogram to be read again, for example because its last reading was incomplete.
    pub(super) fn again(&mut self, index: usize) {
        self.0[index] = READINGS;
    }

    /// Schedules the histograms of all nodes that have an open call.
    pub(super) fn keep_open(&mut self, open: &[(u32, u64)]) {
        open.iter().for_each(|&(index, _)| self.again(index as usize));
    }

    /// Schedules all histograms, because a mode switch has changed what the thread measures.
    pub(super) fn forget(&mut self) {
        self.0.fill(READINGS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_is_read_until_its_node_has_rested_for_two_readings() {
        let mut changed = Changed(vec![READINGS]);
        let mut before = 0;
        let mut reads = |calls, open: bool| {
            let read = changed.look(0, std::mem::replace(&mut before, calls) != calls);
            if open {
                changed.keep_open(&[(0, 5)]);
            }
            read
        };
        assert!(reads(1, true), "its first call");
        assert!(reads(1, true), "still open");
        assert!(reads(1, false), "was open");
        assert!(reads(1, false), "may have ended behind the reading before");
        assert!(!reads(1, false));
        assert!(reads(2, false), "called again");
    }
}
