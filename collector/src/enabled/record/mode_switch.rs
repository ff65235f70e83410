//! Mode switches: the current mode, and the most recent switches with the tick of each.
//!
//! A switch is made under the capture lock: it is recorded here, and then every tree gets an alarm. A thread notices the alarm at
//! its next event, and catches up with all switches since the last one that it has seen. For each period between two switches, it
//! charges time if the mode measured time, and none otherwise. So even a thread that sleeps through a switch is charged exactly,
//! to the tick.

use crate::enabled::platform::sync::{AtomicU64, Ordering};
use tickscope_format::snapshot::Mode;

const MODE_BITS: u64 = 0b11;
const HISTOGRAMS_BIT: u64 = 0b100;
const FLAG_BITS: u32 = 3;

const _: () = assert!(Mode::ALL.len() <= (MODE_BITS + 1) as usize);

/// The switches so far.
struct Switches<const KEPT: usize> {
    /// The flags and the number of the newest switch.
    newest: AtomicU64,
    /// The flags, number and tick of each switch that is kept.
    history: [(AtomicU64, AtomicU64); KEPT],
}

static SWITCHES: Switches<64> = Switches::new();

/// A mode switch. It decides how scopes are measured from its tick on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Switch {
    /// The flags and the number of the switch, packed into one word. Trees remember a switch by this word. Each later switch has
    /// a larger word.
    pub(crate) word: u64,
    pub(crate) mode: Mode,
    pub(crate) histograms: bool,
    /// The tick of the switch.
    pub(crate) tick: u64,
}

impl Switch {
    fn of(word: u64, tick: u64) -> Self {
        Self {
            word,
            mode: Mode::ALL[(word & MODE_BITS) as usize],
            histograms: word & HISTOGRAMS_BIT != 0,
            tick,
        }
    }

    fn number(self) -> u64 {
        self.word >> FLAG_BITS
    }

    /// Returns whether this switch comes directly after the switch with the given word.
    pub(crate) fn follows(self, word: u64) -> bool {
        self.number() == (word >> FLAG_BITS) + 1
    }

    /// Returns whether this switch is later than the switch with the given word.
    pub(crate) fn is_after(self, word: u64) -> bool {
        self.number() > word >> FLAG_BITS
    }

    /// Returns whether time is charged after this switch.
    pub(crate) fn is_timed(self) -> bool {
        self.mode.charges_time()
    }

    /// Returns whether nodes record latencies. Histograms are made from them, and adaptive mode uses them to recognize short
    /// calls.
    pub(crate) fn wants_latencies(self) -> bool {
        self.histograms || self.mode.times_some_calls()
    }
}

/// Returns whether time is charged after the switch with the given word.
pub(crate) fn is_timed(word: u64) -> bool {
    Switch::of(word, 0).is_timed()
}

impl<const KEPT: usize> Switches<KEPT> {
    const fn new() -> Self {
        Self {
            newest: AtomicU64::new(Mode::USUAL as u64 | HISTOGRAMS_BIT),
            history: [const { (AtomicU64::new(0), AtomicU64::new(0)) }; KEPT],
        }
    }

    fn kept(&self, number: u64) -> &(AtomicU64, AtomicU64) {
        &self.history[number as usize % KEPT]
    }

    fn newest(&self) -> Switch {
        // SYNC POINT: the switch is stored before `newest` (pairs with `note`).
        let word = self.newest.load(Ordering::Acquire);
        let (_, tick) = self.kept(word >> FLAG_BITS);
        Switch::of(word, tick.load(Ordering::Relaxed))
    }

    fn after(&self, word: u64) -> impl Iterator<Item = Switch> {
        // The oldest kept switch is left out as well, because it may be overwritten during the read.
        let oldest = |newest: u64| (newest + 2).saturating_sub(KEPT as u64);
        let newest = self.newest().number();
        let first = ((word >> FLAG_BITS) + 1).max(oldest(newest));
        (first..=newest).filter_map(move |number| {
            let (word, tick) = self.kept(number);
            let word = word.load(Ordering::Relaxed);
            // SYNC POINT: `note` stores the previous `newest` before it overwrites a tick. So a reader that loads the tick of a
            // later switch here also loads a later `newest` below, and learns that this switch is gone.
            let switch = Switch::of(word, tick.load(Ordering::Acquire));
            let is_kept = number >= oldest(self.newest.load(Ordering::Relaxed) >> FLAG_BITS);
            (is_kept && switch.number() == number).then_some(switch)
        })
    }

    fn note(&self, mode: Mode, histograms: bool, tick: u64) {
        let number = self.newest().number() + 1;
        let flags = mode as u64 | if histograms { HISTOGRAMS_BIT } else { 0 };
        let word = number << FLAG_BITS | flags;
        let (kept_word, kept_tick) = self.kept(number);
        // SYNC POINT: the previous `newest` is stored before this tick (pairs with `after`).
        kept_tick.store(tick, Ordering::Release);
        kept_word.store(word, Ordering::Relaxed);
        // SYNC POINT: the switch is stored before `newest` (pairs with the load in `newest`).
        self.newest.store(word, Ordering::Release);
    }
}

pub(crate) fn newest() -> Switch {
    SWITCHES.newest()
}

/// Returns the switches after the one with the given word, oldest first, but at most the last 63. If a thread has slept through
/// more switches, its time before the first returned switch counts as a gap that was not charged.
pub(crate) fn after(word: u64) -> impl Iterator<Item = Switch> {
    SWITCHES.after(word)
}

/// Records a switch made at `tick`. The caller must hold the capture lock, unless no thread has begun to count yet.
pub(crate) fn note(mode: Mode, histograms: bool, tick: u64) {
    SWITCHES.note(mode, histograms, tick);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_catch_up_in_order_and_old_switches_are_forgotten() {
        let switches = Switches::<64>::new();
        let newest = || switches.newest();
        let mut words = vec![newest().word];
        for tick in 0..100 {
            let mode = if tick % 2 == 0 { Mode::Sampled } else { Mode::Exact };
            switches.note(mode, tick % 3 == 0, tick);
            words.push(newest().word);
        }
        let seen: Vec<Switch> = switches.after(words[97]).collect();
        assert!(seen.iter().map(|switch| switch.tick).eq([97, 98, 99]));
        assert_eq!((seen[1].mode, seen[2].mode), (Mode::Sampled, Mode::Exact));
        assert_eq!((seen[1].histograms, seen[2].histograms), (false, true));
        assert_eq!(newest(), seen[2]);
        assert!(is_timed(words[100]) && !is_timed(words[99]));
        let all: Vec<u64> = switches.after(words[0]).map(|switch| switch.tick).collect();
        assert_eq!(all, (37..100).collect::<Vec<u64>>());
    }

    /// A thread reads the switches that it missed while newer switches overwrite the oldest ones. It must never read a mix of two
    /// switches.
    #[test]
    fn a_switch_that_is_overwritten_is_left_out() {
        use crate::enabled::platform::sync::modelled;

        let switches: &'static Switches<4> = Box::leak(Box::new(Switches::new()));
        modelled::check(None, move || {
            for number in 1..=3 {
                switches.note(Mode::Exact, false, number * 10);
            }
            let notes = modelled::spawn(move || {
                for number in 4..=6 {
                    switches.note(Mode::Exact, false, number * 10);
                }
            });
            let mut before = 1;
            for switch in switches.after(1 << FLAG_BITS) {
                assert_eq!(switch.tick, switch.number() * 10);
                assert!(switch.number() > before);
                before = switch.number();
            }
            notes.join().unwrap();
        });
    }
}
