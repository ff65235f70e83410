//! Where threads are in the program's code: samples of the program counter.

use std::collections::BTreeMap;

use bincode::{Decode, Encode};

/// Module of code that belongs to no file, such as code generated at run time. With address 0, it stands for all places
/// whose samples were merged.
pub const NO_MODULE: u32 = u32::MAX;

/// Where in the call trees a sample was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub enum SampledIn {
    /// In a call of this row, but not in a scope inside that call.
    Row(u32),
    /// In this thread, outside any scope.
    Thread(u32),
    /// In the collector itself, while it was measuring.
    Measuring,
}

/// Default number of samples per second of CPU time.
pub const LINES_HZ: u32 = 1_000;

/// Minimum number of samples that tell what measuring costs.
const SHARE_SAMPLES: u64 = 100;

/// Maximum length of a build id in bytes. Longer build ids are not kept.
pub const BUILD_ID_MAX: usize = 64;

/// Samples of the program counter since the last reset, from all threads that have opened a scope. A thread is
/// interrupted each time it has used a certain amount of CPU time, so no samples are taken while it waits.
// An encoded snapshot contains the fields in this order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Lines {
    /// Whether samples are being taken, and if not, why.
    pub state: LinesState,
    /// The rate that was requested last, in samples per second of CPU time. [`Lines::rate_hz`] returns the actual rate.
    pub asked_hz: u32,
    /// The executable and the libraries in which samples were taken. A module keeps its index as long as the program
    /// runs.
    pub modules: Vec<Module>,
    /// The samples, sorted by [`SampledIn`], module and address. There is one entry for each combination of the three.
    pub samples: Vec<LineSample>,
    /// Samples that were lost because they came faster than they were read. It is unknown where they were taken.
    pub lost: Sampled,
}

/// Whether the program counter is sampled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
#[non_exhaustive]
pub enum LinesState {
    /// Sampling was not requested, or has been stopped.
    #[default]
    Off,
    /// Sampling is on, and uses the signal with this number.
    On(u32),
    /// Sampling is off, because the program uses `SIGPROF` and all real-time signals.
    NoSignal,
    /// Sampling is off, because the system refused to create the timers. The number is the system's error code.
    NoTimers(i32),
    /// Sampling is off, because this system does not have the necessary timers.
    Unsupported,
}

/// A file from which code was loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub struct Module {
    /// Path of the file as the program sees it, or the kernel's name in brackets, such as `[vdso]`.
    pub path: String,
    /// Build id, which tells apart different versions of the file at this path; empty if the file has none.
    pub build_id: Vec<u8>,
}

/// The samples that were taken at one address, in one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
pub struct LineSample {
    /// The innermost open call.
    pub inside: SampledIn,
    /// Index of the module, or [`NO_MODULE`].
    pub module: u32,
    /// Virtual address in the module's file, or the address in memory if there is no module.
    pub address: u64,
    /// Number of samples.
    pub samples: u64,
    /// CPU time that the samples stand for, in nanoseconds. Each sample stands for the CPU time that its thread had
    /// used since the thread's previous sample.
    pub cpu_ns: u64,
}

/// Number of samples, and the CPU time that they stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Sampled {
    /// Number of samples.
    pub samples: u64,
    /// CPU time that the samples stand for, in nanoseconds.
    pub cpu_ns: u64,
}

impl Sampled {
    /// Adds other samples.
    pub fn add(&mut self, other: Self) {
        self.samples = self.samples.saturating_add(other.samples);
        self.cpu_ns = self.cpu_ns.saturating_add(other.cpu_ns);
    }

    /// Subtracts other samples, which must be a subset of these.
    pub fn without(self, other: Self) -> Self {
        Self {
            samples: self.samples.saturating_sub(other.samples),
            cpu_ns: self.cpu_ns.saturating_sub(other.cpu_ns),
        }
    }
}

impl LineSample {
    /// Returns the number of samples, and the CPU time that they stand for.
    pub fn sampled(&self) -> Sampled {
        Sampled {
            samples: self.samples,
            cpu_ns: self.cpu_ns,
        }
    }

    /// Returns whether the entry stands for merged samples, whose places are unknown.
    pub fn is_merged(&self) -> bool {
        (self.module, self.address) == (NO_MODULE, 0)
    }

    /// Returns the key of this entry, which no other entry of the snapshot has.
    pub fn place(&self) -> (SampledIn, u32, u64) {
        (self.inside, self.module, self.address)
    }
}

impl Lines {
    /// Returns whether all fields have their default values.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the state and the requested rate, without any samples.
    #[must_use]
    pub fn without_samples(&self) -> Self {
        Self {
            state: self.state,
            asked_hz: self.asked_hz,
            ..Self::default()
        }
    }

    /// Returns the number of samples per second of CPU time, or `None` if there are no samples.
    pub fn rate_hz(&self) -> Option<f64> {
        let all =
            |of: fn(&LineSample) -> u64| -> f64 { self.samples.iter().map(|sample| of(sample) as f64).sum() };
        let samples = all(|sample| sample.samples) + self.lost.samples as f64;
        let cpu_ns = all(|sample| sample.cpu_ns) + self.lost.cpu_ns as f64;
        (cpu_ns > 0.0).then(|| samples * 1e9 / cpu_ns)
    }

    /// Returns the CPU time in the collector's code, relative to all other CPU time, and the standard error of this ratio. Returns
    /// `None` if there are fewer than [`SHARE_SAMPLES`] samples.
    pub(super) fn measuring_share(&self) -> Option<(f64, f64)> {
        let mut all = Sampled::default();
        let mut own = Sampled::default();
        for sample in &self.samples {
            all.add(sample.sampled());
            if sample.inside == SampledIn::Measuring {
                own.add(sample.sampled());
            }
        }
        let rest_ns = all.cpu_ns.saturating_sub(own.cpu_ns);
        if all.samples < SHARE_SAMPLES || rest_ns == 0 {
            return None;
        }
        // Laplace's rule of succession, as if one more sample had been taken in the collector and one outside. Otherwise the error
        // would be 0 without a sample in the collector.
        let part = (own.samples as f64 + 1.0) / (all.samples as f64 + 2.0);
        let error = (part * (1.0 - part) / all.samples as f64).sqrt();
        Some((own.cpu_ns as f64 / rest_ns as f64, error / (1.0 - part).powi(2)))
    }

    /// Keeps the `places` places with the most samples. For all other samples, only the row or thread is kept.
    pub fn keep_most(&mut self, places: usize) {
        if self.samples.len() <= places {
            return;
        }
        self.samples
            .sort_unstable_by_key(|sample| std::cmp::Reverse(sample.samples));
        for sample in &mut self.samples[places..] {
            (sample.module, sample.address) = (NO_MODULE, 0);
        }
        let samples = std::mem::take(&mut self.samples);
        self.set(samples);
    }

    /// Replaces the samples with the given ones. They are sorted, and samples of the same place are added up.
    pub fn set(&mut self, samples: impl IntoIterator<Item = LineSample>) {
        let mut sums: BTreeMap<_, Sampled> = BTreeMap::new();
        for sample in samples {
            sums.entry(sample.place()).or_default().add(sample.sampled());
        }
        let sum = |((inside, module, address), Sampled { samples, cpu_ns })| LineSample {
            inside,
            module,
            address,
            samples,
            cpu_ns,
        };
        self.samples = sums.into_iter().map(sum).collect();
    }
}
