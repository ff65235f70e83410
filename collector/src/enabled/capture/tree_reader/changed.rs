//! The histograms that have to be read again, because their nodes were called or open recently.

/// Number of readings that a node needs after it was called or open. A call may end after a reading has read its histogram, but
/// before that reading finds the open calls. So only the next reading is complete.
const READINGS: u8 = 2;

/// Number of further readings that each node needs.
#[derive(Debug, Default)]
pub(super) struct Changed(Vec<u8>);

impl Changed {
    /// Sets the number of known nodes. New nodes have to be read.
    pub(super) fn resize(&mut self, length: usize) {
        self.0.resize(length, READINGS);
    }

    /// Returns whether the histogram of a node has to be read. `called` says whether the node was called or took time
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

    /// Marks a node whose reading was not complete.
    pub(super) fn again(&mut self, index: usize) {
        self.0[index] = READINGS;
    }

    /// Marks the nodes of open calls.
    pub(super) fn keep_open(&mut self, open: &[(u32, u64)]) {
        open.iter().for_each(|&(index, _)| self.again(index as usize));
    }

    /// Marks all nodes, because the thread measures something else in the new mode.
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
