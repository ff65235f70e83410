//! Where threads were in the program's code: samples of the program counter.

use std::collections::BTreeMap;

use bincode::{Decode, Encode};

/// The module of an address that belongs to no file, as of code that was made at run time. With address 0 it stands for all
/// places that were not told apart.
pub const NO_MODULE: u32 = u32::MAX;

/// Where in the call trees a sample was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub enum SampledIn {
    /// In a call of this row, and in no scope inside it.
    Row(u32),
    /// In this thread, outside all scopes.
    Thread(u32),
    /// In the collector itself, while it measured.
    Measuring,
}

/// How many samples a second of CPU time are asked for where nothing else is said.
pub const LINES_HZ: u32 = 1_000;

/// The longest build id that is kept, in bytes.
pub const BUILD_ID_MAX: usize = 64;

/// Samples of the program counter since the last reset, of all threads that have had a scope. Each thread is interrupted after
/// so much of its own CPU time, so a thread that waits has no samples.
// The section of samples has the fields in this order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Lines {
    /// Whether samples are being taken, and if not, why.
    pub state: LinesState,
    /// How many a second of CPU time were asked for, last or now. [`Lines::rate_hz`] is what there was.
    pub asked_hz: u32,
    /// The executable and its libraries, as far as a sample was in them. While the program lives, each keeps its place.
    pub modules: Vec<Module>,
    /// Samples by row, module and address, each of them once, in rising order.
    pub samples: Vec<LineSample>,
    /// Samples that came faster than they were taken, of which nothing is known.
    pub lost: Sampled,
}

/// Whether the program counter is sampled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
#[non_exhaustive]
pub enum LinesState {
    /// It was not asked for, or was ended.
    #[default]
    Off,
    /// It is, by this signal.
    On(u32),
    /// It is not: the program uses `SIGPROF` and all signals for real time.
    NoSignal,
    /// It is not: the system refused timers, with this error number.
    NoTimers(i32),
    /// It is not: this system has no such timers.
    Unsupported,
}

/// A file that code was loaded from.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub struct Module {
    /// Its path, as the program sees it. The name in brackets of what the kernel provides, as `[vdso]`.
    pub path: String,
    /// The build id, which tells it from another version in the same place; empty if it has none.
    pub build_id: Vec<u8>,
}

/// The samples of a row at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
pub struct LineSample {
    /// The innermost open call.
    pub inside: SampledIn,
    /// The number of the module, or [`NO_MODULE`].
    pub module: u32,
    /// The address as the module's file counts it (its virtual address there), or the one in memory without a module.
    pub address: u64,
    /// How many samples.
    pub samples: u64,
    /// The CPU time that they stand for, in nanoseconds: of each, what its thread had used since the one before.
    pub cpu_ns: u64,
}

/// Samples, and the CPU time that they stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Sampled {
    /// How many samples.
    pub samples: u64,
    /// The CPU time that they stand for, in nanoseconds.
    pub cpu_ns: u64,
}

impl Sampled {
    /// Adds others.
    pub fn add(&mut self, other: Self) {
        self.samples = self.samples.saturating_add(other.samples);
        self.cpu_ns = self.cpu_ns.saturating_add(other.cpu_ns);
    }

    /// Returns these without others that are among them.
    pub fn without(self, other: Self) -> Self {
        Self {
            samples: self.samples.saturating_sub(other.samples),
            cpu_ns: self.cpu_ns.saturating_sub(other.cpu_ns),
        }
    }
}

impl LineSample {
    /// Returns how many samples there are, and their CPU time.
    pub fn sampled(&self) -> Sampled {
        Sampled {
            samples: self.samples,
            cpu_ns: self.cpu_ns,
        }
    }

    /// Returns what tells it from the others of its snapshot.
    pub fn place(&self) -> (SampledIn, u32, u64) {
        (self.inside, self.module, self.address)
    }
}

impl Lines {
    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns how samples are taken, without any.
    #[must_use]
    pub fn without_samples(&self) -> Self {
        Self {
            state: self.state,
            asked_hz: self.asked_hz,
            ..Self::default()
        }
    }

    /// Returns how many samples there were for each second of CPU time; `None` without samples.
    pub fn rate_hz(&self) -> Option<f64> {
        let all =
            |of: fn(&LineSample) -> u64| -> f64 { self.samples.iter().map(|sample| of(sample) as f64).sum() };
        let samples = all(|sample| sample.samples) + self.lost.samples as f64;
        let cpu_ns = all(|sample| sample.cpu_ns) + self.lost.cpu_ns as f64;
        (cpu_ns > 0.0).then(|| samples * 1e9 / cpu_ns)
    }

    /// Keeps so many places, those with most samples. Of the others only the row is kept.
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

    /// Puts samples in order, and adds up those in one place.
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

    /// Returns the number of a module, which is new if it was not there.
    pub fn number_of(&mut self, module: &Module) -> u32 {
        let known = self.modules.iter().position(|known| known == module);
        let number = known.unwrap_or_else(|| {
            self.modules.push(module.clone());
            self.modules.len() - 1
        });
        number as u32
    }
}
