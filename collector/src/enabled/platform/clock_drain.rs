//! Measures whether reading the clock waits for earlier loads. If it does, loads that overlap in the original program
//! run one after another in the measured program, which costs more than the measuring instructions themselves.
//!
//! Four loads that miss all caches are timed together, with and without reading the clock after each load. To subtract
//! the cost of reading the clock, the same is done with loads that hit a cache.

use crate::types::Clock;

/// Number of measurements for each combination of cache misses and clock reads. The median is used, so interruptions do
/// not matter.
#[cfg(target_arch = "x86_64")]
const ROUNDS: usize = 100;

/// Returns how many nanoseconds clock reads add to four loads that would otherwise overlap, not counting the reads
/// themselves. Takes about 0.2 ms. Returns `None` on CPUs other than x86-64, and with a custom clock.
pub(crate) fn drains_ns(clock: Clock) -> Option<f64> {
    match clock {
        Clock::Custom(..) => None,
        Clock::Tsc | Clock::TscOrdered | Clock::Monotonic => measured(clock),
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn measured(_: Clock) -> Option<f64> {
    None
}

#[cfg(target_arch = "x86_64")]
fn measured(clock: Clock) -> Option<f64> {
    use crate::enabled::platform::os;

    // The four cache lines are on different pages.
    let words: Vec<u64> = vec![1; 4 * STEP];
    let lines = [0, 1, 2, 3].map(|line| &words[line * STEP]);
    let mut times = [const { Vec::new() }; 4];
    for _ in 0..ROUNDS {
        for (of_kind, (misses, reads)) in
            times
                .iter_mut()
                .zip([(true, true), (true, false), (false, true), (false, false)])
        {
            let before = begin(lines, misses);
            let loaded = lines.map(|line| {
                // SAFETY: `line` is a valid reference. The read is volatile, so that no load is optimised away.
                let word = unsafe { std::ptr::read_volatile(line) };
                if reads { word ^ clock.now() } else { word }
            });
            std::hint::black_box(loaded);
            of_kind.push(os::monotonic_ns().saturating_sub(before));
        }
    }
    let [with, plain, reads, neither] = times.map(|mut times: Vec<u64>| {
        times.sort_unstable();
        times.get(times.len() / 2).copied().unwrap_or(0) as f64
    });
    Some(((with - plain) - (reads - neither)).max(0.0))
}

/// Distance between two of the cache lines, in words.
#[cfg(target_arch = "x86_64")]
const STEP: usize = (4096 + 64) / size_of::<u64>();

/// Evicts the lines from all caches if `misses` is true. Returns the monotonic time afterwards, in nanoseconds.
#[cfg(target_arch = "x86_64")]
fn begin(lines: [&u64; 4], misses: bool) -> u64 {
    use std::arch::x86_64::{_mm_clflush, _mm_lfence, _mm_mfence};

    use crate::enabled::platform::os;

    for line in lines.into_iter().filter(|_| misses) {
        // SAFETY: `line` is a valid reference, and the instruction changes no memory. It belongs to SSE2, which every
        // x86-64 CPU has.
        unsafe { _mm_clflush(std::ptr::from_ref(line).cast()) };
    }
    // SAFETY: also SSE2. The fence makes all earlier memory accesses finish before the time is read.
    unsafe { _mm_mfence() };
    let now = os::monotonic_ns();
    // SAFETY: also SSE2. The fence keeps later loads from starting before the time is read.
    unsafe { _mm_lfence() };
    now
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn a_fence_before_each_read_parts_the_loads() {
        // A load from memory takes 80 ns or more. The measurement is repeated until it succeeds, because the thread may
        // lose its CPU in the middle of it.
        let parts = || drains_ns(Clock::TscOrdered).is_some_and(|ns| ns > 40.0);
        while !parts() {
            std::thread::yield_now();
        }
    }
}
