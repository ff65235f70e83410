//! Where threads are in the program's code: samples of the program counter.

use std::collections::BTreeMap;

use bincode::{Decode, Encode};

/// Module of an address that belongs to no file, such as code made at run time. With address 0 it stands for all places
/// that were summed up.
pub const NO_MODULE: u32 = u32::MAX;

/// Place in the call trees where a sample was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub enum SampledIn {
    /// In a call of this row, outside any scope that the call has opened.
    Row(u32),
    /// In this thread, outside all scopes.
    Thread(u32),
    /// In the collector itself, while it measured.
    Measuring,
}

/// Default number of samples per second of CPU time.
pub const LINES_HZ: u32 = 1_000;

/// Maximum length of a build id that is kept, in bytes.
pub const BUILD_ID_MAX: usize = 64;

/// Samples of the program counter since the last reset, of all threads that have had a scope. Each thread is
/// interrupted after a period of its own CPU time, so a waiting thread has no samples.
// The section of samples has the fields in this order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Lines {
    /// Whether samples are being taken, and the reason if not.
    pub state: LinesState,
    /// Samples per second of CPU time that were requested last. [`Lines::rate_hz`] is the actual rate.
    pub asked_hz: u32,
    /// The executable and libraries in which samples were taken. While the program lives, each module keeps its index.
    pub modules: Vec<Module>,
    /// Samples by row, module and address in rising order, with one entry for each place.
    pub samples: Vec<LineSample>,
    /// Samples that were lost because they came faster than they were read. Their places are unknown.
    pub lost: Sampled,
}

/// Whether the program counter is sampled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
#[non_exhaustive]
pub enum LinesState {
    /// Sampling was not requested, or was ended.
    #[default]
    Off,
    /// Sampling is on, and uses the signal with this number.
    On(u32),
    /// Sampling is off, because the program uses `SIGPROF` and all real-time signals.
    NoSignal,
    /// Sampling is off, because the system refused timers with this error number.
    NoTimers(i32),
    /// Sampling is off, because this system has no such timers.
    Unsupported,
}

/// A file that code was loaded from.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub struct Module {
    /// Path of the file as the program sees it, or the kernel's name in brackets, such as `[vdso]`.
    pub path: String,
    /// Build id, which distinguishes versions at the same path; empty if the file has none.
    pub build_id: Vec<u8>,
}

/// The samples of a row at an address.
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
    /// CPU time of the samples in nanoseconds. Each sample stands for the time that its thread had used since the previous
    /// sample.
    pub cpu_ns: u64,
}

/// Number of samples and their CPU time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Sampled {
    /// Number of samples.
    pub samples: u64,
    /// CPU time of the samples, in nanoseconds.
    pub cpu_ns: u64,
}

impl Sampled {
    /// Adds other samples.
    pub fn add(&mut self, other: Self) {
        self.samples = self.samples.saturating_add(other.samples);
        self.cpu_ns = self.cpu_ns.saturating_add(other.cpu_ns);
    }

    /// Subtracts other samples, which must be a part of these.
    pub fn without(self, other: Self) -> Self {
        Self {
            samples: self.samples.saturating_sub(other.samples),
            cpu_ns: self.cpu_ns.saturating_sub(other.cpu_ns),
        }
    }
}

impl LineSample {
    /// Returns the number of samples and their CPU time.
    pub fn sampled(&self) -> Sampled {
        Sampled {
            samples: self.samples,
            cpu_ns: self.cpu_ns,
        }
    }

    /// Returns the key that is unique among the samples of a snapshot.
    pub fn place(&self) -> (SampledIn, u32, u64) {
        (self.inside, self.module, self.address)
    }
}

impl Lines {
    /// Returns whether all fields have their defaults.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the state and rate of the sampling, without samples.
    #[must_use]
    pub fn without_samples(&self) -> Self {
        Self {
            state: self.state,
            asked_hz: self.asked_hz,
            ..Self::default()
        }
    }

    /// Returns the number of samples per second of CPU time; `None` without samples.
    pub fn rate_hz(&self) -> Option<f64> {
        let all =
            |of: fn(&LineSample) -> u64| -> f64 { self.samples.iter().map(|sample| of(sample) as f64).sum() };
        let samples = all(|sample| sample.samples) + self.lost.samples as f64;
        let cpu_ns = all(|sample| sample.cpu_ns) + self.lost.cpu_ns as f64;
        (cpu_ns > 0.0).then(|| samples * 1e9 / cpu_ns)
    }

    /// Keeps the `places` places with the most samples. All other samples keep only their row.
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

    /// Sorts the samples and sums up samples of the same place.
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
