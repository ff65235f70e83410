//! The memory of the program and its viewers over the run: how large it is once it has settled, and at the end.

use tickscope_bench::kernel::of_status;
use tickscope_bench::statistics::{median, sorted};

use crate::checks::{KEPT_BYTES, RECORDS, Tally};

const MIB: f64 = 1024.0 * 1024.0;

/// Fraction of the run after which a process counts as settled.
const SETTLED: f64 = 0.5;

/// A process whose memory is watched.
#[derive(Debug)]
pub(crate) struct Memory {
    whose: &'static str,
    pid: u32,
    /// Seconds since the beginning, and bytes of anonymous memory (`RssAnon`), not counting the records that a viewer
    /// has to keep.
    samples: Vec<(f64, f64)>,
}

impl Memory {
    pub(crate) fn of(whose: &'static str, pid: u32) -> Self {
        let samples = Vec::new();
        Self { whose, pid, samples }
    }

    /// Takes a sample, `seconds` seconds after the beginning.
    pub(crate) fn look(&mut self, seconds: f64, tally: &Tally) {
        let kib = of_status(&self.pid.to_string(), "RssAnon:");
        let [records, _] = tally.of(RECORDS);
        let record = tally.of(KEPT_BYTES)[0] as f64 / records.max(1) as f64;
        let kept = match self.whose {
            "a viewer" => kept(seconds),
            _ => 0.0,
        };
        // The process may be gone.
        if kib > 0.0 {
            self.samples.push((seconds, 1024.0 * kib - record * kept));
        }
    }

    /// Returns whose memory this is, and by how many MiB it grew in the second half of a run. This is the difference
    /// between the medians of the first and the last tenth of the samples in that half.
    pub(crate) fn drift(&self, seconds: f64) -> (&'static str, Option<f64>) {
        let settled = SETTLED * seconds;
        let from = self.samples.partition_point(|(seconds, _)| *seconds < settled);
        let part = &self.samples[from..];
        let tenth = part.len().div_ceil(10);
        let middle = |part: &[(f64, f64)]| median(&sorted(part.iter().map(|(_, bytes)| *bytes)));
        let growth = || middle(&part[part.len() - tenth..]) - middle(&part[..tenth]);
        (self.whose, (part.len() > 1).then(|| growth() / MIB))
    }
}

/// Returns how many records a viewer keeps from before the last half minute: one for each second of the last ten
/// minutes, and one for every ten seconds of the rest of the last hour. They make a viewer's memory grow for one hour.
fn kept(seconds: f64) -> f64 {
    (seconds - 30.0).clamp(0.0, 570.0) + (seconds - 600.0).clamp(0.0, 3000.0) / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_grows_after_it_has_settled_drifts() {
        let mut memory = Memory::of("a test", std::process::id());
        memory.look(0.0, &Tally::new());
        assert!(memory.samples[0].1 > 0.1 * MIB, "of this very process");
        // The memory grows by 1 MB per second until 100 s, and then by 1 KiB per second.
        let bytes = |second: f64| {
            if second < 100.0 {
                1e6 * second
            } else {
                1e8 + 1024.0 * second
            }
        };
        let sample = |second: u32| (f64::from(second), bytes(f64::from(second)));
        memory.samples = (0..200).map(sample).collect();
        let (_, drift) = memory.drift(200.0);
        assert!((drift.unwrap() - 90.0 / 1024.0).abs() < 1e-6, "{drift:?}");
        assert!(memory.drift(100.0).1.unwrap() > 4.0);
        assert_eq!(memory.drift(399.0).1, None);
    }

    #[test]
    fn an_hour_is_kept_ever_sparser() {
        let moments = [10.0, 60.0, 1200.0, 7200.0].map(kept);
        assert_eq!(moments, [0.0, 30.0, 570.0 + 60.0, 570.0 + 300.0]);
    }
}
