//! The system calls in which threads wait: samples of threads that are off the CPU, by row and system call, and the
//! current state of each thread.

use std::collections::BTreeMap;

use bincode::{Decode, Encode};

/// State of a thread in its latest sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Now<'a> {
    /// The thread has a CPU.
    Running,
    /// The thread is ready to run, but has no CPU.
    Ready,
    /// The thread is waiting in this system call.
    In(&'a str),
}

/// Samples of threads that were waiting in a system call, by row. A program samples its threads only now and then, so a
/// system call's share of the samples is an estimate of its share of the waiting time.
// An encoded snapshot contains the fields in this order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct WaitsIn {
    /// Names of the system calls, sorted and without duplicates.
    pub(crate) names: Vec<String>,
    /// Row, index of the name, and number of samples, sorted by row and name.
    pub(crate) samples: Vec<(u32, u32, u64)>,
    /// Each thread and its state, sorted by thread. The state is [`RUNNING`], [`READY`], or [`FIRST_NAME`] plus the
    /// index of a name.
    pub(crate) now: Vec<(u32, u32)>,
}

const RUNNING: u32 = 0;
const READY: u32 = 1;

/// Code of the first name.
const FIRST_NAME: u32 = 2;

impl<'a> Now<'a> {
    /// Returns the name of the state.
    pub fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Ready => "ready",
            Self::In(_) => "waiting",
        }
    }

    /// Returns the system call in which the thread is waiting, or `None` if it is not waiting.
    pub fn call(self) -> Option<&'a str> {
        match self {
            Self::Running | Self::Ready => None,
            Self::In(call) => Some(call),
        }
    }
}

impl WaitsIn {
    /// Takes samples (row, system call, count) and the states of threads, in any order. Samples of the same row and
    /// system call are added up, and counts of 0 are left out.
    pub fn new<'a>(
        samples: impl IntoIterator<Item = (u32, &'a str, u64)>,
        now: impl IntoIterator<Item = (u32, Now<'a>)>,
    ) -> Self {
        let mut sums: BTreeMap<(u32, &str), u64> = BTreeMap::new();
        for (row, call, count) in samples.into_iter().filter(|&(.., count)| count > 0) {
            let sum = sums.entry((row, call)).or_default();
            *sum = sum.saturating_add(count);
        }
        let now: BTreeMap<u32, Now<'_>> = now.into_iter().collect();
        let waiting = now.values().filter_map(|now| match now {
            Now::In(call) => Some(*call),
            Now::Running | Now::Ready => None,
        });
        let calls = sums.keys().map(|&(_, call)| call).chain(waiting);
        let mut numbers: BTreeMap<&str, u32> = calls.map(|call| (call, 0)).collect();
        for (next, number) in (0..).zip(numbers.values_mut()) {
            *number = next;
        }
        let code = |now: Now<'_>| match now {
            Now::Running => RUNNING,
            Now::Ready => READY,
            Now::In(call) => FIRST_NAME + numbers[call],
        };
        let samples = sums.iter().map(|(&(row, call), &sum)| (row, numbers[call], sum));
        Self {
            samples: samples.collect(),
            now: now.iter().map(|(&thread, &now)| (thread, code(now))).collect(),
            names: numbers.keys().map(|&call| call.into()).collect(),
        }
    }

    /// Returns whether nothing was sampled.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty() && self.samples.is_empty() && self.now.is_empty()
    }

    /// Returns all samples as (row, system call, count), sorted by row.
    pub fn samples(&self) -> impl Iterator<Item = (u32, &str, u64)> {
        let name = |number: u32| self.names[number as usize].as_str();
        let samples = self.samples.iter();
        samples.map(move |&(row, call, count)| (row, name(call), count))
    }

    /// Returns the samples of a single row as (system call, count). Rows below it are not included.
    pub fn of_row(&self, row: u32) -> impl Iterator<Item = (&str, u64)> {
        let first = self.samples.partition_point(|&(other, ..)| other < row);
        self.samples[first..]
            .iter()
            .take_while(move |&&(other, ..)| other == row)
            .map(|&(_, call, count)| (self.names[call as usize].as_str(), count))
    }

    /// Returns the known states of threads, sorted by thread.
    pub fn now(&self) -> impl Iterator<Item = (u32, Now<'_>)> {
        let now = self.now.iter();
        now.map(|&(thread, code)| (thread, self.meaning(code)))
    }

    /// Returns the state of a thread, or `None` if it is unknown.
    pub fn now_of(&self, thread: u32) -> Option<Now<'_>> {
        let at = self.now.binary_search_by_key(&thread, |now| now.0).ok()?;
        Some(self.meaning(self.now[at].1))
    }

    fn meaning(&self, code: u32) -> Now<'_> {
        match code {
            RUNNING => Now::Running,
            READY => Now::Ready,
            name => Now::In(&self.names[(name - FIRST_NAME) as usize]),
        }
    }

    /// Reduces counts of samples, starting with the last ones, until their sum is at most `most`.
    pub fn hold(&mut self, mut most: u64) {
        for (.., count) in &mut self.samples {
            *count = (*count).min(most);
            most -= *count;
        }
        self.samples.retain(|&(.., count)| count > 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> WaitsIn {
        WaitsIn::new(
            [
                (7, "read", 1),
                (2, "futex", 3),
                (7, "fsync", 4),
                (2, "futex", 2),
                (3, "poll", 0),
            ],
            [(1, Now::Ready), (0, Now::In("accept4")), (4, Now::Running)],
        )
    }

    #[test]
    fn samples_are_in_order_and_each_name_is_there_once() {
        let some = some();
        assert_eq!(some.names, ["accept4", "fsync", "futex", "read"]);
        let all: Vec<_> = some.samples().collect();
        assert_eq!(all, [(2, "futex", 5), (7, "fsync", 4), (7, "read", 1)]);
        let of_row: Vec<_> = some.of_row(7).collect();
        assert_eq!(of_row, [("fsync", 4), ("read", 1)]);
        assert_eq!(some.of_row(3).count(), 0);
        assert_eq!(
            [0, 1, 2, 4].map(|thread| some.now_of(thread)),
            [
                Some(Now::In("accept4")),
                Some(Now::Ready),
                None,
                Some(Now::Running),
            ]
        );
    }

    #[test]
    fn samples_are_lowered_from_the_last_on() {
        let mut held = some();
        held.hold(6);
        let got = held.samples().collect::<Vec<_>>();
        assert_eq!(got, [(2, "futex", 5), (7, "fsync", 1)]);
    }
}
