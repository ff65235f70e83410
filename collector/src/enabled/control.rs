//! What a program may change while it runs: the mode, histograms, which sites count.

use tickscope_format::pattern::Pattern;
use tickscope_format::snapshot;

use crate::enabled::capture::collector_state;
use crate::enabled::record::mode_switch;
use crate::types::Mode;

/// Measures in another way from now on, in all threads and with scopes open. Begins a new reset epoch: the closing
/// snapshot goes into the ring. In [`Mode::Sampled`] times need a session that publishes.
pub fn set_mode(mode: Mode) {
    if let Some(mut books) = collector_state::books() {
        books.switch_by_program(mode.into(), mode_switch::newest().histograms);
    }
}

/// How scopes are measured now.
pub fn mode() -> Mode {
    Mode::from(mode_switch::newest().mode)
}

/// Collects latency histograms or not, from now on. Begins a new reset epoch.
pub fn set_histogram(on: bool) {
    if let Some(mut books) = collector_state::books() {
        books.switch_by_program(mode_switch::newest().mode, on);
    }
}

/// Switches off all sites that a pattern matches: `parse`, `book::insert`, `alloc::*`. A scope that is off costs one
/// branch, and its time is its parent's. Sites met later are looked at ten times a second while a session
/// publishes. Gives how many sites match so far; none where this is no pattern (1 to 96 bytes) or there are 256
/// already.
pub fn off(pattern: &str) -> Option<usize> {
    rule(pattern, true)
}

/// Switches sites on again: of all patterns given to [`off`] and `on`, the last that matches a site decides. `*`
/// switches all on and forgets the patterns before it.
pub fn on(pattern: &str) -> Option<usize> {
    rule(pattern, false)
}

fn rule(pattern: &str, off: bool) -> Option<usize> {
    let pattern = Pattern::new(pattern).ok()?;
    collector_state::books()?.rule(pattern, off)
}

// === impl Mode ===

impl From<Mode> for snapshot::Mode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Exact => Self::Exact,
            Mode::Adaptive => Self::Adaptive,
            Mode::Sampled => Self::Sampled,
            Mode::Off => Self::Off,
        }
    }
}

impl From<snapshot::Mode> for Mode {
    fn from(mode: snapshot::Mode) -> Self {
        match mode {
            snapshot::Mode::Adaptive => Self::Adaptive,
            snapshot::Mode::Sampled => Self::Sampled,
            snapshot::Mode::Off => Self::Off,
            snapshot::Mode::Exact | _ => Self::Exact,
        }
    }
}
