//! Clocks: where ticks come from, which one is used and why, and how many make a second.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use tickscope_format::snapshot::ClockSource;

use crate::options::Clock;
use crate::os;

/// A clock that was found fit, and why it was taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chosen {
    pub(crate) clock: Clock,
    pub(crate) reason: &'static str,
}

// === impl Clock ===

impl Clock {
    pub(crate) fn source(self) -> ClockSource {
        match self {
            Self::Tsc => ClockSource::Tsc,
            Self::TscOrdered => ClockSource::TscOrdered,
            Self::Monotonic => ClockSource::Monotonic,
            Self::Custom(..) => ClockSource::Custom,
        }
    }

    /// Whether its rate has to be measured: it can break.
    pub(crate) fn source_is_measured(self) -> bool {
        matches!(self, Self::Tsc | Self::TscOrdered)
    }

    /// The clock by its name in settings.
    pub(crate) fn named(name: &[u8]) -> Option<Self> {
        match name {
            b"tsc" => Some(Self::Tsc),
            b"tsc-ordered" => Some(Self::TscOrdered),
            b"monotonic" => Some(Self::Monotonic),
            _ => None,
        }
    }

    /// The time now, in ticks.
    #[inline]
    pub(crate) fn now(self) -> u64 {
        match self {
            Self::Tsc => tsc(),
            Self::TscOrdered => tsc_ordered(),
            Self::Monotonic => os::monotonic_ns(),
            Self::Custom(now, _) => now(),
        }
    }

    /// This clock where it is fit, else the monotonic one.
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

/// The time stamp counter.
#[inline(always)]
pub fn tsc() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has `rdtsc`; a kernel that forbids it to user code does not exist on Linux servers
    // and desktops unless a process asks for that by `prctl(PR_SET_TSC)`.
    unsafe {
        std::arch::x86_64::_rdtsc()
    }
    #[cfg(target_arch = "aarch64")]
    {
        let ticks: u64;
        // SAFETY: reads the virtual counter, which Linux lets user code read.
        unsafe { std::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack)) };
        ticks
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    os::monotonic_ns()
}

/// The time stamp counter after all loads before it.
#[inline]
fn tsc_ordered() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: part of SSE2, which every x86-64 has.
    unsafe {
        std::arch::x86_64::_mm_lfence();
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a barrier has no operands.
    unsafe {
        std::arch::asm!("isb", options(nostack));
    }
    tsc()
}

/// Whether the time stamp counter ticks at one rate on all CPUs, in the CPU's words and the kernel's.
#[cfg(target_arch = "x86_64")]
fn tsc_fitness() -> Result<&'static str, &'static str> {
    use std::arch::x86_64::__cpuid;
    if __cpuid(0x8000_0000).eax < 0x8000_0007 || __cpuid(0x8000_0007).edx & (1 << 8) == 0 {
        return Err("monotonic clock: the CPU's time stamp counter is not invariant");
    }
    let mut buffer = [0; 64];
    let path = c"/sys/devices/system/clocksource/clocksource0/current_clocksource";
    match os::read_small(path, &mut buffer) {
        Some(b"tsc") => Ok("invariant, kernel clocksource tsc"),
        Some(b"kvm-clock") if kvm_clock_is_stable() => Ok("invariant, kernel clocksource kvm-clock, stable"),
        Some(b"hyperv_clocksource_tsc_page") => {
            Ok("invariant, kernel clocksource hyperv_clocksource_tsc_page")
        }
        Some(_) => Err("monotonic clock: the kernel does not use the time stamp counter as its clocksource"),
        None => Err("monotonic clock: the kernel does not say which clocksource it uses"),
    }
}

/// The hypervisor's word that its clock, and so the counter below it, is the same on all CPUs.
#[cfg(target_arch = "x86_64")]
fn kvm_clock_is_stable() -> bool {
    use std::arch::x86_64::__cpuid;
    // Bit 24 of KVM's feature leaf: KVM_FEATURE_CLOCKSOURCE_STABLE_BIT.
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

/// How many ticks make a second, measured against the monotonic clock over all the time since it began, and so
/// better the longer the program runs.
#[derive(Debug)]
pub(crate) struct Rate {
    began_tick: AtomicU64,
    began_ns: AtomicU64,
    began_boottime_ns: AtomicU64,
    /// How often the clock broke.
    breaks: AtomicU32,
    /// The rate when the clock was last found in order, as the bits of an `f64`.
    in_order: AtomicU64,
    /// The clock is broken: the rate is the one before, not what can be measured now.
    held: AtomicBool,
}

/// The clock did not behave since it was last looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Break {
    /// The machine slept.
    Suspended,
    /// Ticks came at another rate: another machine, most likely.
    OtherRate,
}

/// A moment on the program's clock and on the machine's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) tick: u64,
    pub(crate) ns: u64,
}

/// Shortest time to measure a rate over, in nanoseconds: two reads are good to some 50 ns each.
const RATE_LEAST_NS: u64 = 200_000;

impl Moment {
    /// Both clocks at once: the tightest of a few tries.
    pub(crate) fn now(clock: Clock) -> Self {
        let mut best = (u64::MAX, Self { tick: 0, ns: 0 });
        for _ in 0..5 {
            let before = clock.now();
            let ns = os::monotonic_ns();
            let after = clock.now();
            let width = after.wrapping_sub(before);
            if width < best.0 {
                best = (
                    width,
                    Self {
                        tick: before.wrapping_add(width / 2),
                        ns,
                    },
                );
            }
        }
        best.1
    }
}

impl Rate {
    pub(crate) const fn new() -> Self {
        Self {
            began_tick: AtomicU64::new(0),
            began_ns: AtomicU64::new(0),
            began_boottime_ns: AtomicU64::new(0),
            breaks: AtomicU32::new(0),
            in_order: AtomicU64::new(0),
            held: AtomicBool::new(false),
        }
    }

    /// Measures from now on.
    pub(crate) fn begin(&self, clock: Clock) {
        let moment = Moment::now(clock);
        self.began_tick.store(moment.tick, Ordering::Relaxed);
        self.began_ns.store(moment.ns, Ordering::Relaxed);
        self.began_boottime_ns.store(os::boottime_ns(), Ordering::Relaxed);
    }

    /// Measures anew after a break.
    pub(crate) fn begin_again(&self, clock: Clock) {
        self.breaks.fetch_add(1, Ordering::Relaxed);
        self.begin(clock);
        self.held.store(false, Ordering::Relaxed);
    }

    /// The clock is in order now.
    pub(crate) fn note_in_order(&self, clock: Clock) {
        self.in_order
            .store(self.ticks_per_second(clock).to_bits(), Ordering::Relaxed);
    }

    /// Keeps the rate as it was when the clock was last in order, until it begins again.
    pub(crate) fn hold(&self) {
        self.held
            .store(self.in_order.load(Ordering::Relaxed) != 0, Ordering::Relaxed);
    }

    /// How often the clock broke so far.
    pub(crate) fn breaks(&self) -> u32 {
        self.breaks.load(Ordering::Relaxed)
    }

    /// When the measuring began, on the monotonic clock.
    fn began_ns(&self) -> u64 {
        self.began_ns.load(Ordering::Relaxed)
    }

    /// Ticks in a second. Waits out the rest of a fifth of a millisecond where it has just begun.
    pub(crate) fn ticks_per_second(&self, clock: Clock) -> f64 {
        match clock {
            Clock::Monotonic => return 1e9,
            Clock::Custom(_, rate) if rate.is_finite() && rate > 0.0 => return rate,
            Clock::Custom(..) => return 1e9,
            Clock::Tsc | Clock::TscOrdered if self.held.load(Ordering::Relaxed) => {
                return f64::from_bits(self.in_order.load(Ordering::Relaxed));
            }
            Clock::Tsc | Clock::TscOrdered => {}
        }
        loop {
            let now = Moment::now(clock);
            let ns = now.ns.saturating_sub(self.began_ns());
            let ticks = now.tick.saturating_sub(self.began_tick.load(Ordering::Relaxed));
            if ns >= RATE_LEAST_NS {
                return (ticks.max(1) as f64) * 1e9 / ns as f64;
            }
            std::hint::spin_loop();
        }
    }

    /// Whether the clock broke since `earlier`: the machine slept, or the rate in between is not the rate over
    /// all. After a break, [`Self::begin_again`].
    pub(crate) fn broke_since(&self, clock: Clock, earlier: Moment) -> Option<Break> {
        let now = Moment::now(clock);
        let slept = (os::boottime_ns().saturating_sub(now.ns)).saturating_sub(
            self.began_boottime_ns
                .load(Ordering::Relaxed)
                .saturating_sub(self.began_ns()),
        );
        let rate = self.ticks_per_second(clock);
        judge(slept, rate, earlier, now)
    }
}

/// A sleep counts from a second on; a rate 1 % off over half a second cannot be the adjusting of the
/// monotonic clock, which stays below 0.05 %.
fn judge(slept_ns: u64, rate: f64, earlier: Moment, now: Moment) -> Option<Break> {
    if slept_ns > 1_000_000_000 {
        return Some(Break::Suspended);
    }
    let ns = now.ns.saturating_sub(earlier.ns);
    if ns < 500_000_000 {
        return None;
    }
    let between = now.tick.saturating_sub(earlier.tick) as f64 * 1e9 / ns as f64;
    ((between / rate - 1.0).abs() > 0.01).then_some(Break::OtherRate)
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn a_choice_has_its_reason() {
        assert_eq!(Clock::Monotonic.choose().reason, "asked for");
        let tsc = Clock::Tsc.choose();
        match tsc.clock {
            Clock::Tsc => assert!(!tsc.reason.contains("monotonic")),
            Clock::TscOrdered | Clock::Monotonic | Clock::Custom(..) => {
                assert!(matches!(tsc.clock, Clock::Monotonic));
                assert!(tsc.reason.starts_with("monotonic clock: "), "{}", tsc.reason);
            }
        }
    }

    #[test]
    fn the_monotonic_clock_makes_a_billion_ticks_a_second_when_measured_like_another() {
        let rate = Rate::new();
        rate.begin(Clock::Monotonic);
        let as_measured = rate.ticks_per_second(Clock::Tsc);
        assert!(as_measured > 0.0);
        assert_eq!(rate.ticks_per_second(Clock::Monotonic), 1e9);
        assert_eq!(rate.ticks_per_second(Clock::Custom(tsc, 5.0)), 5.0);
        assert_eq!(rate.ticks_per_second(Clock::Custom(tsc, f64::NAN)), 1e9);
    }

    #[test]
    fn a_sleep_and_another_rate_are_breaks() {
        let at = |tick: u64, ns: u64| Moment { tick, ns };
        let second = 1_000_000_000;
        assert_eq!(judge(0, 2e9, at(0, 0), at(2 * second, second)), None);
        assert_eq!(judge(0, 2e9, at(0, 0), at(2_010_000_000, second)), None);
        assert_eq!(
            judge(0, 2e9, at(0, 0), at(3 * second, second)),
            Some(Break::OtherRate)
        );
        assert_eq!(
            judge(0, 2e9, at(0, 0), at(3 * second, second / 4)),
            None,
            "too short to tell"
        );
        assert_eq!(
            judge(2 * second, 2e9, at(0, 0), at(2 * second, second)),
            Some(Break::Suspended)
        );
    }
}
