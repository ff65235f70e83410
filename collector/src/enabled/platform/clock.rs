//! The clocks that can provide ticks, and the choice between them.

use tickscope_format::snapshot::ClockSource;

use crate::enabled::platform::{descriptors, os};
use crate::types::Clock;

/// The chosen clock, and the reason for the choice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chosen {
    pub(crate) clock: Clock,
    pub(crate) reason: &'static str,
}

impl Clock {
    pub(crate) fn source(self) -> ClockSource {
        match self {
            Self::Tsc => ClockSource::Tsc,
            Self::TscOrdered => ClockSource::TscOrdered,
            Self::Monotonic => ClockSource::Monotonic,
            Self::Custom(..) => ClockSource::Custom,
        }
    }

    /// Returns the number of ticks per second, if the clock has a fixed rate. Otherwise, the collector measures the
    /// rate and checks whether it changes.
    pub(crate) fn declared_rate(self) -> Option<f64> {
        match self {
            Self::Tsc | Self::TscOrdered => None,
            Self::Monotonic => Some(1e9),
            Self::Custom(_, rate) => Some(rate).filter(|rate| rate.is_finite() && *rate > 0.0),
        }
    }

    /// Reads the clock, in ticks.
    #[inline]
    pub(crate) fn now(self) -> u64 {
        match self {
            Self::Tsc => tsc(),
            Self::TscOrdered => tsc_ordered(),
            Self::Monotonic => os::monotonic_ns(),
            Self::Custom(now, _) => now(),
        }
    }

    /// Returns this clock if it is reliable on this machine, and otherwise the monotonic clock.
    pub(crate) fn choose(self) -> Chosen {
        let (clock, reason) = match self {
            Self::Monotonic => (self, "asked for"),
            Self::Custom(..) => (self, "the program's own"),
            Self::Tsc | Self::TscOrdered => match tsc_fitness() {
                Ok(reason) => (self, reason),
                Err(reason) => (Self::Monotonic, reason),
            },
        };
        Chosen { clock, reason }
    }
}

/// Reads the time stamp counter.
#[inline(always)]
pub fn tsc() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 CPU has `rdtsc`. Linux disables it only in a process that requests this with
    // `prctl(PR_SET_TSC)`.
    unsafe {
        std::arch::x86_64::_rdtsc()
    }
    #[cfg(target_arch = "aarch64")]
    {
        let ticks: u64;
        // SAFETY: this reads the virtual counter, which Linux lets user code read.
        unsafe { std::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack)) };
        ticks
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    os::monotonic_ns()
}

/// Makes later reads of the counter wait until earlier loads have finished. Otherwise, an Arm CPU may read the counter
/// before it loads a tick that another thread has written, and that tick would then seem to lie in the future. Events
/// that involve only one thread do not need this barrier, which costs more than reading the counter.
#[inline]
pub(crate) fn after_loads() {
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a barrier has no operands and changes no memory.
    unsafe {
        std::arch::asm!("isb", options(nostack, preserves_flags));
    }
}

/// Reads the time stamp counter once all earlier loads have finished.
#[inline]
fn tsc_ordered() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the instruction belongs to SSE2, which every x86-64 CPU has.
    unsafe {
        std::arch::x86_64::_mm_lfence();
    }
    after_loads();
    tsc()
}

/// Checks whether the time stamp counter ticks at one rate on all CPUs, according to the CPU and the kernel. Returns
/// the reason in either case.
#[cfg(target_arch = "x86_64")]
fn tsc_fitness() -> Result<&'static str, &'static str> {
    use std::arch::x86_64::__cpuid;
    let is_invariant = __cpuid(0x8000_0000).eax >= 0x8000_0007 && __cpuid(0x8000_0007).edx & (1 << 8) != 0;
    let mut buffer = [0; 64];
    let path = c"/sys/devices/system/clocksource/clocksource0/current_clocksource";
    judged(is_invariant, descriptors::read_small(path, &mut buffer))
}

#[cfg(target_arch = "x86_64")]
fn judged(is_invariant: bool, clocksource: Option<&[u8]>) -> Result<&'static str, &'static str> {
    if !is_invariant {
        return Err("monotonic clock: the CPU's time stamp counter is not invariant");
    }
    match clocksource {
        Some(b"tsc") => Ok("invariant, kernel clocksource tsc"),
        Some(b"kvm-clock") if kvm_clock_is_stable() => Ok("invariant, kernel clocksource kvm-clock, stable"),
        Some(b"hyperv_clocksource_tsc_page") => {
            Ok("invariant, kernel clocksource hyperv_clocksource_tsc_page")
        }
        Some(_) => Err("monotonic clock: the kernel does not use the time stamp counter as its clocksource"),
        None => Err("monotonic clock: the kernel does not say which clocksource it uses"),
    }
}

/// Returns whether the hypervisor guarantees that the KVM clock, which is derived from the time stamp counter, is the
/// same on all CPUs.
#[cfg(target_arch = "x86_64")]
fn kvm_clock_is_stable() -> bool {
    use std::arch::x86_64::__cpuid;
    // Bit 24 of KVM's feature leaf is KVM_FEATURE_CLOCKSOURCE_STABLE_BIT.
    let leaf = __cpuid(0x4000_0000);
    leaf.ebx == u32::from_le_bytes(*b"KVMK") && __cpuid(0x4000_0001).eax & (1 << 24) != 0
}

#[cfg(target_arch = "aarch64")]
fn tsc_fitness() -> Result<&'static str, &'static str> {
    Ok("the architecture's virtual counter")
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn tsc_fitness() -> Result<&'static str, &'static str> {
    Err("monotonic clock: this CPU's counter is not known to tickscope")
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn a_counter_that_is_not_taken_says_why() {
        let hpet = Some(&b"hpet"[..]);
        for (is_invariant, clocksource, why) in [
            (
                false,
                Some(&b"tsc"[..]),
                "monotonic clock: the CPU's time stamp counter is not invariant",
            ),
            (
                true,
                hpet,
                "monotonic clock: the kernel does not use the time stamp counter as its clocksource",
            ),
            (
                true,
                None,
                "monotonic clock: the kernel does not say which clocksource it uses",
            ),
        ] {
            assert_eq!(judged(is_invariant, clocksource), Err(why));
        }
        assert!(judged(true, Some(b"tsc")).is_ok());
    }

    #[test]
    fn every_clock_goes_forward() {
        fn mine() -> u64 {
            static TICK: AtomicU64 = AtomicU64::new(0);
            TICK.fetch_add(7, Ordering::Relaxed)
        }
        for clock in [
            Clock::Tsc,
            Clock::TscOrdered,
            Clock::Monotonic,
            Clock::Custom(mine, 7.0),
        ] {
            let first = clock.now();
            let mut last = first;
            for _ in 0..100_000 {
                let now = clock.now();
                assert!(now >= last, "{clock:?}");
                last = now;
            }
            assert!(last > first, "{clock:?}");
        }
    }
}
