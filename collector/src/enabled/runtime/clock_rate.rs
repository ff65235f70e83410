//! Measures the number of ticks per second, and detects breaks of the clock, which occur when the machine has slept or the rate
//! has changed. The rate becomes more accurate as the program runs.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use crate::enabled::platform::os;
use crate::types::Clock;

/// The number of ticks per second, measured against the monotonic clock over the whole time since the measurement began.
pub(crate) struct ClockRate {
    began_tick: AtomicU64,
    began_ns: AtomicU64,
    /// Time that the machine had slept when the measurement began, in ns.
    began_slept_ns: AtomicU64,
    /// How many times the clock has broken.
    breaks: AtomicU32,
    /// The rate when the clock was last known to run normally, as the bits of an `f64`.
    in_order: AtomicU64,
    /// Whether the clock is broken. If so, the rate from before the break is used instead of the current measurement.
    held: AtomicBool,
}

/// The same moment on the program's clock and on the system's clocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) tick: u64,
    pub(crate) ns: u64,
    /// Time that the machine has slept since it was booted, in ns.
    pub(crate) slept_ns: u64,
}

/// The shortest time over which a rate is measured, in nanoseconds. A single reading is accurate to about 50 ns.
const RATE_LEAST_NS: u64 = 200_000;

impl Moment {
    /// Reads both clocks several times, and keeps the pair of readings that are closest together.
    pub(crate) fn now(clock: Clock) -> Self {
        let mut best: Option<(u64, u64, u64)> = None;
        for _ in 0..5 {
            let before = clock.now();
            let ns = os::monotonic_ns();
            let after = clock.now();
            // If the clock went backward between its two readings, their midpoint is meaningless. The later reading is then used
            // unless a better pair is found.
            let (width, tick) = match after.checked_sub(before) {
                Some(width) => (width, before + width / 2),
                None => (u64::MAX, after),
            };
            if best.is_none_or(|(tightest, ..)| width < tightest) {
                best = Some((width, tick, ns));
            }
        }
        let (_, tick, ns) = best.unwrap_or_default();
        Self {
            tick,
            ns,
            slept_ns: os::boottime_ns().saturating_sub(os::monotonic_ns()),
        }
    }
}

impl ClockRate {
    pub(crate) const fn new() -> Self {
        Self {
            began_tick: AtomicU64::new(0),
            began_ns: AtomicU64::new(0),
            began_slept_ns: AtomicU64::new(0),
            breaks: AtomicU32::new(0),
            in_order: AtomicU64::new(0),
            held: AtomicBool::new(false),
        }
    }

    /// Begins the measurement at this moment.
    pub(crate) fn begin(&self, now: Moment) {
        self.began_tick.store(now.tick, Ordering::Relaxed);
        self.began_ns.store(now.ns, Ordering::Relaxed);
        self.began_slept_ns.store(now.slept_ns, Ordering::Relaxed);
    }

    /// Begins a new measurement after a break.
    pub(crate) fn begin_again(&self, now: Moment) {
        self.breaks.fetch_add(1, Ordering::Relaxed);
        self.begin(now);
        self.held.store(false, Ordering::Relaxed);
    }

    /// Notes that the clock is running normally at this moment.
    pub(crate) fn note_in_order(&self, now: Moment) {
        if let Some(rate) = self.measured(now) {
            self.in_order.store(rate.to_bits(), Ordering::Relaxed);
        }
    }

    /// Holds on to the rate from the last time the clock ran normally, until the measurement is started again.
    pub(crate) fn hold(&self) {
        self.held.store(true, Ordering::Relaxed);
    }

    pub(crate) fn breaks(&self) -> u32 {
        self.breaks.load(Ordering::Relaxed)
    }

    /// Returns how many times per second a clock ticks. If necessary, waits until the measurement has lasted 0.2 ms.
    pub(crate) fn ticks_per_second(&self, clock: Clock) -> f64 {
        if let Some(rate) = clock.declared_rate() {
            return rate;
        }
        loop {
            let now = Moment::now(clock);
            if now.ns.saturating_sub(self.began_ns.load(Ordering::Relaxed)) >= RATE_LEAST_NS {
                return self.at(now);
            }
            std::hint::spin_loop();
        }
    }

    /// Returns how many times per second a clock ticks, or `None` if the measurement has only just begun.
    pub(crate) fn if_known(&self, clock: Clock) -> Option<f64> {
        if let Some(rate) = clock.declared_rate() {
            return Some(rate);
        }
        let now = Moment::now(clock);
        let measured_ns = now.ns.saturating_sub(self.began_ns.load(Ordering::Relaxed));
        (measured_ns >= RATE_LEAST_NS).then(|| self.at(now))
    }

    /// Returns the number of ticks per second, as known at this moment.
    pub(crate) fn at(&self, now: Moment) -> f64 {
        let in_order = f64::from_bits(self.in_order.load(Ordering::Relaxed));
        let in_order = Some(in_order).filter(|&rate| rate > 0.0);
        let measured = self.measured(now);
        let rate = match self.held.load(Ordering::Relaxed) {
            true => in_order.or(measured),
            // If the clock has not ticked, there is no measured rate. Any rate will do, because no time has passed on this clock.
            false => measured.or(in_order),
        };
        rate.unwrap_or(1e9)
    }

    /// Returns the number of ticks per second over the whole measurement so far, or `None` if the clock has not ticked.
    fn measured(&self, now: Moment) -> Option<f64> {
        let ns = now.ns.saturating_sub(self.began_ns.load(Ordering::Relaxed));
        let ticks = now.tick.saturating_sub(self.began_tick.load(Ordering::Relaxed));
        (ns > 0 && ticks > 0).then(|| ticks as f64 * 1e9 / ns as f64)
    }

    /// Returns whether the clock has broken since `earlier`. It has if the machine slept, or if the rate since then differs from
    /// the overall rate, most likely because the program was moved to another machine. The caller should then call
    /// [`Self::begin_again`].
    pub(crate) fn broke_since(&self, earlier: Moment, now: Moment) -> bool {
        let slept = now
            .slept_ns
            .saturating_sub(self.began_slept_ns.load(Ordering::Relaxed));
        is_break(slept, self.measured(now).unwrap_or(0.0), earlier, now)
    }
}

/// A sleep counts as a break if it lasts for more than a second. A rate that is off by more than 1 % for half a second is also a
/// break, because the system adjusts the monotonic clock by less than 0.05 %. A clock that stops counts as a single break.
fn is_break(slept_ns: u64, rate: f64, earlier: Moment, now: Moment) -> bool {
    let ns = now.ns.saturating_sub(earlier.ns);
    let between = now.tick.saturating_sub(earlier.tick) as f64 * 1e9 / ns as f64;
    let is_other_rate = ns >= 500_000_000 && (between - rate).abs() > rate * 0.01;
    slept_ns > 1_000_000_000 || is_other_rate
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// A machine with a program running on it. The test controls the machine's clocks.
    struct World {
        now: Moment,
        rate: ClockRate,
        /// Moment at which the clock last behaved normally.
        in_order: Moment,
        /// True duration of this epoch in nanoseconds, and the ticks counted in this epoch.
        epoch_ns: u64,
        epoch_ticks: u64,
        /// For each closed epoch, the relative error of its measured duration.
        off: Vec<f64>,
    }

    impl World {
        fn new() -> Self {
            let now = Moment {
                tick: 5_000_000_000_000,
                ns: 77 * SECOND,
                slept_ns: 3 * SECOND,
            };
            let rate = ClockRate::new();
            rate.begin(now);
            Self {
                now,
                rate,
                in_order: now,
                epoch_ns: 0,
                epoch_ticks: 0,
                off: Vec::new(),
            }
        }

        /// Runs for `seconds` at this rate. The clock is checked ten times a second, as the publisher does.
        fn run(&mut self, seconds: u64, ticks_per_second: f64) {
            for _ in 0..seconds * 10 {
                let ticks = (ticks_per_second / 10.0) as u64;
                self.now.ns += SECOND / 10;
                self.now.tick += ticks;
                self.epoch_ns += SECOND / 10;
                self.epoch_ticks += ticks;
                self.look();
            }
        }

        /// Does the same as `Publisher::clock_broke`, including the changes that it makes to the collector's state.
        fn look(&mut self) {
            let broke = self.rate.broke_since(self.in_order, self.now);
            if broke {
                self.rate.hold();
                self.close();
                self.rate.begin_again(self.now);
            }
            if broke || self.now.ns - self.in_order.ns > SECOND {
                self.in_order = self.now;
                if !broke {
                    self.rate.note_in_order(self.now);
                }
            }
        }

        fn close(&mut self) {
            let shown_ns = self.epoch_ticks as f64 * 1e9 / self.rate.at(self.now);
            self.off.push(shown_ns / self.epoch_ns as f64 - 1.0);
            (self.epoch_ns, self.epoch_ticks) = (0, 0);
        }

        /// Returns the number of breaks and the error of each epoch, including the last.
        fn end(mut self) -> (u32, Vec<f64>) {
            self.close();
            (self.rate.breaks(), self.off)
        }
    }

    #[test]
    fn a_clock_at_any_rate_is_measured_and_no_break() {
        // A counter at 2.8 times the CPU's nominal frequency is no problem, because the nominal frequency is not used.
        for rate in [1e6, 1e9, 2.8e9, 5e9] {
            let mut world = World::new();
            world.run(20, rate);
            let (breaks, off) = world.end();
            assert!(breaks == 0, "{rate}: {off:?}");
            assert!(off.len() == 1, "{rate}: {off:?}");
            assert!(off[0].abs() < 1e-6, "{rate}: {off:?}");
        }
    }

    #[test]
    fn a_rate_that_changes_in_the_middle_is_one_break_and_wrong_for_a_second_at_most() {
        for factor in [2.8, 1.0 / 2.8, 1.02] {
            let mut world = World::new();
            world.run(60, 1e9);
            world.run(60, 1e9 * factor);
            let (breaks, off) = world.end();
            assert_eq!((breaks, off.len()), (1, 2), "{factor}");
            // At most one second out of 61 ran at the other rate.
            let most = (factor - 1.0f64).abs() * 1.2 / 60.0;
            assert!(off[0].abs() <= most, "{factor}: {} of at most {most}", off[0]);
            assert!(off[1].abs() < 1e-6, "{factor}: {}", off[1]);
        }
    }

    #[test]
    fn a_clock_that_drifts_is_followed() {
        let mut world = World::new();
        // The rate drifts from 0 to 100 parts per million within a minute.
        for second in 0..60 {
            world.run(1, 1e9 * (1.0 + f64::from(second) * 1e-4 / 60.0));
        }
        let one_shot = world.epoch_ticks as f64 * 1e9 / 1e9 / world.epoch_ns as f64 - 1.0;
        let (breaks, off) = world.end();
        assert_eq!(breaks, 0);
        assert!(one_shot > 4e-5, "measured once at the beginning: {one_shot}");
        assert!(off[0].abs() < 1e-7, "measured over all: {}", off[0]);
    }

    #[test]
    fn a_machine_that_slept_has_a_new_epoch() {
        let mut world = World::new();
        world.run(10, 1e9);
        world.now.slept_ns += 3600 * SECOND;
        // During a sleep, a counter may keep running or start again. This one has started again.
        world.now.tick = 1000;
        world.run(10, 1e9);
        let (breaks, off) = world.end();
        assert_eq!((breaks, off.len()), (1, 2));
        assert!(off[1].abs() < 0.02, "{off:?}");
    }

    #[test]
    fn a_clock_that_stands_still_breaks_once_and_takes_no_time() {
        let mut world = World::new();
        world.run(30, 1e9);
        world.run(30, 0.0);
        let rate = world.rate.at(world.now);
        assert!(
            (rate / 1e9 - 1.0).abs() < 0.02,
            "as before, and no tick is no rate: {rate}"
        );
        world.run(30, 1e9);
        let (breaks, off) = world.end();
        assert_eq!(breaks, 2, "{off:?}");
        assert!(
            off.iter().all(|&off| off < 0.01),
            "nothing is longer than it was: {off:?}"
        );
        assert!(off[2].abs() < 0.01, "{off:?}");
    }

    #[test]
    fn moments_of_a_clock_that_goes_backward_are_its_own() {
        fn to_and_fro() -> u64 {
            static READS: AtomicU64 = AtomicU64::new(0);
            1_000_000 - READS.fetch_add(1, Ordering::Relaxed) % 2 * 1000
        }
        for _ in 0..10 {
            let tick = Moment::now(Clock::Custom(to_and_fro, 1e9)).tick;
            assert!((999_000..=1_000_000).contains(&tick), "{tick}");
        }
    }

    #[test]
    fn a_rate_that_is_said_holds_and_one_that_is_none_is_measured() {
        fn thrice() -> u64 {
            os::monotonic_ns() * 3
        }
        let rate = ClockRate::new();
        rate.begin(Moment::now(Clock::Custom(thrice, 0.0)));
        assert_eq!(rate.ticks_per_second(Clock::Monotonic), 1e9);
        assert_eq!(rate.ticks_per_second(Clock::Custom(thrice, 5.0)), 5.0);
        for none in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let measured = rate.ticks_per_second(Clock::Custom(thrice, none));
            assert!((measured / 3e9 - 1.0).abs() < 0.1, "{none}: {measured}");
        }
    }

    #[test]
    fn a_sleep_and_another_rate_are_breaks() {
        let at = |tick: u64, ns: u64| Moment {
            tick,
            ns,
            slept_ns: 0,
        };
        for (slept_ns, tick, ns, breaks) in [
            (0, 2 * SECOND, SECOND, false),
            (0, 2_010_000_000, SECOND, false),
            (0, 3 * SECOND, SECOND, true),
            // Too short to tell.
            (0, 3 * SECOND, SECOND / 4, false),
            (2 * SECOND, 2 * SECOND, SECOND, true),
        ] {
            assert_eq!(
                is_break(slept_ns, 2e9, at(0, 0), at(tick, ns)),
                breaks,
                "{slept_ns} {tick} {ns}"
            );
        }
    }
}
