//! Calls that threads wait in: samples of threads off their CPU, by row and call, and the present state of each thread.

use std::collections::BTreeMap;

use bincode::{Decode, Encode};

/// State of a thread in its newest sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Now<'a> {
    /// The thread has a CPU.
    Running,
    /// The thread could run, but has no CPU.
    Ready,
    /// The thread waits in this call.
    In(&'a str),
}

/// Samples of threads that were waiting in a call, by row. A program samples its threads now and then, so a call's
/// share of the samples is an estimate of its share of the waiting time.
// The section of waits has the fields in this order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct WaitsIn {
    /// Names of calls in rising order, each of them once.
    pub(crate) names: Vec<String>,
    /// Row, index of the name, and number of samples, in rising order.
    pub(crate) samples: Vec<(u32, u32, u64)>,
    /// Each thread and its state: [`RUNNING`], [`READY`], or [`FIRST_NAME`] plus the index of a name. Threads are in rising
    /// order.
    pub(crate) now: Vec<(u32, u32)>,
}

const RUNNING: u32 = 0;
const READY: u32 = 1;

/// Code of the first name.
const FIRST_NAME: u32 = 2;

impl<'a> Now<'a> {
    /// Returns the word for the state.
    pub fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Ready => "ready",
            Self::In(_) => "waiting",
        }
    }

    /// Returns the call that the thread waits in.
    pub fn call(self) -> Option<&'a str> {
        match self {
            Self::Running | Self::Ready => None,
            Self::In(call) => Some(call),
        }
    }
}

impl WaitsIn {
    /// Sorts samples (row, call, count) and the states of threads. Samples of one row in one call are added up, and
    /// zeros are left out.
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

    /// Returns all samples: row, call and count, in the order of the rows.
    pub fn samples(&self) -> impl Iterator<Item = (u32, &str, u64)> {
        let name = |number: u32| self.names[number as usize].as_str();
        let samples = self.samples.iter();
        samples.map(move |&(row, call, count)| (row, name(call), count))
    }

    /// Returns the samples of one row itself: call and count.
    pub fn of_row(&self, row: u32) -> impl Iterator<Item = (&str, u64)> {
        let first = self.samples.partition_point(|&(other, ..)| other < row);
        self.samples[first..]
            .iter()
            .take_while(move |&&(other, ..)| other == row)
            .map(|&(_, call, count)| (self.names[call as usize].as_str(), count))
    }

    /// Returns the known states of threads, in the order of the threads.
    pub fn now(&self) -> impl Iterator<Item = (u32, Now<'_>)> {
        let now = self.now.iter();
        now.map(|&(thread, code)| (thread, self.meaning(code)))
    }

    /// Returns the state of one thread, or `None` if it is not known.
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

    /// Lowers samples, the last ones first, so that they add up to at most `most`.
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
