//! The memory of the program and its viewers over the run: its size once it has settled, and its size now.

use std::fs;

use tickscope_bench::statistics::{median, sorted};

const MIB: f64 = 1024.0 * 1024.0;

/// A process counts as settled after this share of the run.
pub(crate) const SETTLED: f64 = 0.5;

/// In runs shorter than this, in minutes, nothing settles.
pub(crate) const LEAST_MINUTES: f64 = 5.0;

/// A process that is watched.
#[derive(Debug)]
pub(crate) struct Memory {
    pid: u32,
    /// Seconds since the beginning, and bytes of anonymous memory (`RssAnon`).
    samples: Vec<(f64, f64)>,
    /// The same without what the process is meant to keep.
    net: Vec<(f64, f64)>,
}

/// How the memory of a process grew once it had settled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Drift {
    /// The difference between the medians of the first and the last tenth of the settled part, in MiB.
    pub(crate) gross: f64,
    /// The same without what the process is meant to keep.
    pub(crate) net: f64,
    /// The slope of the line through all net samples of that part, in KiB a minute.
    pub(crate) kib_a_minute: f64,
}

impl Memory {
    pub(crate) fn of(pid: u32) -> Self {
        Self {
            pid,
            samples: Vec::new(),
            net: Vec::new(),
        }
    }

    /// Takes a sample, so many seconds after the beginning. `kept` is the number of bytes, at most, that the process is
    /// meant to keep.
    pub(crate) fn look(&mut self, seconds: f64, kept: usize) {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid)).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
        if let Some(kib) = kib {
            self.samples.push((seconds, 1024.0 * kib));
            self.net.push((seconds, 1024.0 * kib - kept as f64));
        }
    }

    /// Returns the last sample in MiB.
    pub(crate) fn mib(&self) -> f64 {
        self.samples.last().map_or(0.0, |(_, bytes)| bytes / MIB)
    }

    /// Returns the growth from so many seconds after the beginning.
    pub(crate) fn drift(&self, settled: f64) -> Option<Drift> {
        let from = self.samples.partition_point(|(seconds, _)| *seconds < settled);
        let (part, net) = (&self.samples[from..], &self.net[from..]);
        (part.len() > 1).then(|| Drift {
            gross: growth(part) / MIB,
            net: growth(net) / MIB,
            kib_a_minute: slope(net) * 60.0 / 1024.0,
        })
    }
}

/// Returns the growth from the first tenth to the last.
fn growth(samples: &[(f64, f64)]) -> f64 {
    let tenth = samples.len().div_ceil(10);
    let middle = |part: &[(f64, f64)]| median(&sorted(part.iter().map(|(_, bytes)| *bytes)));
    middle(&samples[samples.len() - tenth..]) - middle(&samples[..tenth])
}

/// Returns the slope of the least-squares line through all points.
fn slope(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let over: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    let under: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
    if under > 0.0 { over / under } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_grows_after_it_has_settled_drifts() {
        let mut memory = Memory::of(std::process::id());
        memory.look(0.0, 0);
        assert!(memory.mib() > 0.1, "of this very process");
        // It grows fast until 10 s, then by 1 KiB a second.
        let bytes = |second: u32| {
            if second < 10 {
                1e6 * f64::from(second)
            } else {
                1e7 + 1024.0 * f64::from(second)
            }
        };
        memory.samples = (0..110)
            .map(|second| (f64::from(second), bytes(second)))
            .collect();
        memory.net = memory
            .samples
            .iter()
            .map(|(at, bytes)| (*at, bytes - 512.0 * at))
            .collect();
        let drift = memory.drift(10.0).unwrap();
        assert!((drift.kib_a_minute - 30.0).abs() < 1e-6, "{drift:?}");
        assert!((drift.gross - 90.0 / 1024.0).abs() < 1e-6, "{drift:?}");
        assert!((drift.net - 45.0 / 1024.0).abs() < 1e-6, "{drift:?}");
        assert!(memory.drift(0.0).unwrap().net > 4.0);
        assert_eq!(memory.drift(109.5), None);
    }
}
