//! The section of the calls that threads wait in: the names of the calls, the samples by row and name, and the current
//! state of each thread.

use super::section::{Section, refuse, sum};
use crate::snapshot::WaitsIn;

/// Maximum length, in bytes, of the name of a call that threads wait in.
const NAME_MAX: usize = 64;

pub(super) const WAITS_IN: Section = Section {
    id: 16,
    write: |s, out| out.put_small_if(!s.waits_in.is_empty(), &s.waits_in),
    read: |to, body| body.read_small().map(|waits_in| to.snapshot.waits_in = waits_in),
    check: |s| {
        let found = fault(&s.waits_in, s.nodes.len(), s.threads.len());
        let wanted = "rising rows, threads and names that exist, with a sum of 64 bits";
        refuse("waits in calls", found, wanted)
    },
};

/// Returns the first fault, if any, in the waits of a snapshot with `rows` rows and `threads` threads.
fn fault(waits_in: &WaitsIn, rows: usize, threads: usize) -> Option<&'static str> {
    let is_word = |name: &String| {
        let bytes = name.as_bytes();
        (1..=NAME_MAX).contains(&bytes.len()) && bytes.iter().all(|byte| (b' '..=b'~').contains(byte))
    };
    let names = waits_in.names.len();
    if !waits_in.names.is_sorted_by(|a, b| a < b) || !waits_in.names.iter().all(is_word) {
        return Some("names out of order, or names that are not text");
    }
    let sample_fits =
        |&(row, call, count): &(u32, u32, u64)| (row as usize) < rows && (call as usize) < names && count > 0;
    if !waits_in.samples.is_sorted_by(|a, b| (a.0, a.1) < (b.0, b.1))
        || !waits_in.samples.iter().all(sample_fits)
    {
        return Some("samples out of order, out of range or 0");
    }
    if sum(waits_in.samples.iter().map(|&(.., count)| count)).is_none() {
        return Some("a sum beyond 64 bits");
    }
    let now_fits = |&(thread, code): &(u32, u32)| (thread as usize) < threads && (code as usize) < names + 2;
    if !waits_in.now.is_sorted_by(|a, b| a.0 < b.0) || !waits_in.now.iter().all(now_fits) {
        return Some("threads out of order or out of range");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::Now;

    #[test]
    fn what_no_program_writes_is_refused() {
        type Craft = fn(&mut WaitsIn);
        let crafts: [Craft; 12] = [
            |s| s.names.swap(0, 1),
            |s| s.names[3] = "read\x1b[2J".into(),
            |s| s.names[3] = "r".repeat(NAME_MAX + 1),
            |s| s.names[0].clear(),
            |s| s.samples.swap(0, 1),
            |s| s.samples[1] = s.samples[0],
            |s| s.samples[2].0 = 8,
            |s| s.samples[2].1 = 4,
            |s| s.samples[2].2 = 0,
            |s| s.samples[2].2 = u64::MAX,
            |s| s.now[2].0 = 5,
            |s| s.now[2].1 = 6,
        ];
        let some = WaitsIn::new(
            [(7, "read", 1), (2, "futex", 5), (7, "fsync", 4)],
            [(1, Now::Ready), (0, Now::In("accept4")), (4, Now::Running)],
        );
        assert_eq!(fault(&some, 8, 5), None);
        for (index, craft) in crafts.into_iter().enumerate() {
            let mut crafted = some.clone();
            craft(&mut crafted);
            assert!(fault(&crafted, 8, 5).is_some(), "{index}");
        }
    }
}
