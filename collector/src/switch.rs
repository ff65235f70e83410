//! Switches between modes: what is in force, since when, and what was before.
//!
//! Whoever switches holds the capture lock; he notes the switch here and then alarms every tree. A thread finds
//! the alarm at its next event and makes up for all switches since the last it knew of: it charges time up to the
//! end of each stretch that measured time, and none for the others. So a thread that sleeps through a switch is
//! charged to the tick.

use std::sync::atomic::{AtomicU64, Ordering};

use tickscope_format::snapshot::Mode;

/// Switches that a sleeping thread can make up for; of more it loses the time between the oldest ones.
const KEPT: u64 = 64;

const MODE_BITS: u64 = 0b11;
const HISTOGRAMS_BIT: u64 = 0b100;
const FLAG_BITS: u32 = 3;

/// Flags and number of the newest switch.
static NEWEST: AtomicU64 = AtomicU64::new(HISTOGRAMS_BIT);

/// Flags and number of each kept switch, and its tick.
static HISTORY: [(AtomicU64, AtomicU64); KEPT as usize] =
    [const { (AtomicU64::new(0), AtomicU64::new(0)) }; KEPT as usize];

/// How scopes are measured from a tick on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Switch {
    /// What trees keep of it; grows with each switch.
    pub(crate) word: u64,
    pub(crate) mode: Mode,
    pub(crate) histograms: bool,
    /// When it took place.
    pub(crate) tick: u64,
}

// === impl Switch ===

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

    /// Whether events charge time.
    pub(crate) fn is_timed(self) -> bool {
        matches!(self.mode, Mode::Exact | Mode::Adaptive)
    }
}

/// Whether events charge time after the switch of this word.
pub(crate) fn is_timed(word: u64) -> bool {
    Switch::of(word, 0).is_timed()
}

/// What is in force.
pub(crate) fn newest() -> Switch {
    let word = NEWEST.load(Ordering::SeqCst);
    let number = word >> FLAG_BITS;
    let tick = HISTORY[(number % KEPT) as usize].1.load(Ordering::Acquire);
    Switch::of(word, tick)
}

/// The switches after the one of this word, oldest first; those that are too long ago are left out.
pub(crate) fn after(word: u64) -> impl Iterator<Item = Switch> {
    let newest = newest().number();
    // The one that is being overwritten right now is left out as well.
    let first = ((word >> FLAG_BITS) + 1).max((newest + 2).saturating_sub(KEPT));
    (first..=newest).filter_map(|number| {
        let (word, tick) = &HISTORY[(number % KEPT) as usize];
        // SYNC POINT: tick before word.
        let (word, tick) = (word.load(Ordering::Acquire), tick.load(Ordering::Relaxed));
        let switch = Switch::of(word, tick);
        (switch.number() == number).then_some(switch)
    })
}

/// Notes a switch at a tick. Only under the capture lock, or before there is any thread that counts.
pub(crate) fn note(mode: Mode, histograms: bool, tick: u64) {
    let number = newest().number() + 1;
    let flags = mode as u64 | if histograms { HISTOGRAMS_BIT } else { 0 };
    let word = number << FLAG_BITS | flags;
    let (kept_word, kept_tick) = &HISTORY[(number % KEPT) as usize];
    kept_tick.store(tick, Ordering::Relaxed);
    // SYNC POINT: tick before word.
    kept_word.store(word, Ordering::Release);
    NEWEST.store(word, Ordering::SeqCst);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_are_made_up_for_in_order_and_old_ones_forgotten() {
        let mut words = vec![newest().word];
        for tick in 0..100 {
            let mode = if tick % 2 == 0 { Mode::Sampled } else { Mode::Exact };
            note(mode, tick % 3 == 0, tick);
            words.push(newest().word);
        }
        let seen: Vec<Switch> = after(words[97]).collect();
        assert_eq!(
            seen.iter().map(|switch| switch.tick).collect::<Vec<_>>(),
            [97, 98, 99]
        );
        assert_eq!((seen[1].mode, seen[2].mode), (Mode::Sampled, Mode::Exact));
        assert_eq!((seen[1].histograms, seen[2].histograms), (false, true));
        assert_eq!(newest(), seen[2]);
        assert!(is_timed(words[100]) && !is_timed(words[99]));
        let all: Vec<u64> = after(words[0]).map(|switch| switch.tick).collect();
        assert_eq!(all, (37..100).collect::<Vec<u64>>());
    }
}
