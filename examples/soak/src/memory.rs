//! The memory of the program and its viewers over the run: its size once it has settled, and its size now.

use std::fs;

use tickscope_bench::statistics::{median, sorted};

const MIB: f64 = 1024.0 * 1024.0;

/// A process counts as settled after this share of the run.
pub(crate) const SETTLED: f64 = 0.5;

/// In runs shorter than this, in minutes, nothing settles.
pub(crate) const LEAST_MINUTES: f64 = 5.0;

const SECOND_NS: u64 = 1_000_000_000;

/// A process that is watched.
#[derive(Debug)]
pub(crate) struct Memory {
    pid: u32,
    samples: Vec<Sample>,
}

/// Seconds since the beginning, and bytes of anonymous memory (`RssAnon`) without what the process is meant to keep.
type Sample = (f64, f64);

impl Memory {
    pub(crate) fn of(pid: u32) -> Self {
        let samples = Vec::new();
        Self { pid, samples }
    }

    /// Takes a sample, so many seconds after the beginning. `kept` is the number of bytes, at most, that the process is
    /// meant to keep.
    pub(crate) fn look(&mut self, seconds: f64, kept: u64) {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid)).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
        let sample = |kib| (seconds, 1024.0 * kib - kept as f64);
        self.samples.extend(kib.map(sample));
    }

    /// Returns the growth in MiB from so many seconds after the beginning: the difference between the medians of the first and the
    /// last tenth of the samples since.
    pub(crate) fn drift(&self, settled: f64) -> Option<f64> {
        let from = self.samples.partition_point(|(seconds, _)| *seconds < settled);
        let part = &self.samples[from..];
        let tenth = part.len().div_ceil(10);
        let middle = |part: &[Sample]| median(&sorted(part.iter().map(|(_, bytes)| *bytes)));
        let growth = || middle(&part[part.len() - tenth..]) - middle(&part[..tenth]);
        (part.len() > 1).then(|| growth() / MIB)
    }
}

/// What a viewer keeps of the past, and by which it therefore grows until it has run for an hour: all moments of the
/// last half minute, one a second of the last ten minutes, and one every ten seconds of the last hour. The moments in order: time
/// and bytes.
#[derive(Debug, Default)]
pub(crate) struct Past(Vec<(u64, u64)>);

impl Past {
    /// Takes the next moment.
    pub(crate) fn take(&mut self, unix_ns: u64, bytes: usize) {
        self.0.push((unix_ns, bytes as u64));
    }

    /// Drops what is not kept any more, and returns the bytes of what is.
    pub(crate) fn bytes(&mut self) -> u64 {
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
    fn what_grows_after_it_has_settled_drifts() {
        let mut memory = Memory::of(std::process::id());
        memory.look(0.0, 1 << 40);
        assert!(
            (memory.samples[0].1 + (1u64 << 40) as f64) > 0.1 * MIB,
            "of this very process"
        );
        // It grows fast until 10 s, then by 1 KiB a second.
        let bytes = |second: f64| {
            if second < 10.0 {
                1e6 * second
            } else {
                1e7 + 1024.0 * second
            }
        };
        let sample = |second: u32| (f64::from(second), bytes(f64::from(second)));
        memory.samples = (0..110).map(sample).collect();
        let drift = memory.drift(10.0).unwrap();
        assert!((drift - 90.0 / 1024.0).abs() < 1e-6, "{drift}");
        assert!(memory.drift(0.0).unwrap() > 4.0);
        assert_eq!(memory.drift(109.5), None);
    }

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
