//! Whether a read of the clock waits for the loads before it. Where it does, loads of memory that would overlap in the plain program
//! come one after another in measured code, so that costs more than the instructions of measuring.
//!
//! Four loads that miss all caches are timed together, with a read of the clock behind each of them and without. What the reads
//! take themselves is found with the same loads from a cache, and taken off.

use crate::types::Clock;

/// How often each is timed. The median counts, so interruptions do not.
#[cfg(target_arch = "x86_64")]
const ROUNDS: usize = 100;

/// Returns how many nanoseconds longer four loads take that overlap if the clock does not part them. It takes about a fifth of a
/// millisecond. Returns none where that cannot be measured: on other CPUs than x86-64, and with a clock of the program's own.
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

    // Each on a page of its own.
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
                // SAFETY: a valid place; each load has to be made.
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

/// Words between two of the lines.
#[cfg(target_arch = "x86_64")]
const STEP: usize = (4096 + 64) / size_of::<u64>();

/// Takes lines out of all caches, or leaves them there; returns when that was done.
#[cfg(target_arch = "x86_64")]
fn begin(lines: [&u64; 4], misses: bool) -> u64 {
    use std::arch::x86_64::{_mm_clflush, _mm_lfence, _mm_mfence};

    use crate::enabled::platform::os;

    for line in lines.into_iter().filter(|_| misses) {
        // SAFETY: a valid place, and the instruction changes no memory. It belongs to SSE2, which every x86-64 CPU has.
        unsafe { _mm_clflush(std::ptr::from_ref(line).cast()) };
    }
    // SAFETY: also SSE2. Nothing is on its way when the time is taken.
    unsafe { _mm_mfence() };
    let now = os::monotonic_ns();
    // SAFETY: as before. No load begins before the time is taken.
    unsafe { _mm_lfence() };
    now
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn a_fence_before_each_read_parts_the_loads() {
        // Loads from memory take some 80 ns and more. A machine that takes the CPU away at the wrong time is looked at again.
        let parts = || drains_ns(Clock::TscOrdered).is_some_and(|ns| ns > 40.0);
        while !parts() {
            std::thread::yield_now();
        }
    }
}
