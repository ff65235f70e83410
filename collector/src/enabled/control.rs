//! Settings that a program may change while it runs: the mode, histograms, and which sites count.

use tickscope_format::pattern::Pattern;
use tickscope_format::snapshot;

use crate::enabled::capture::capture_lock::{self, FORKED};
use crate::enabled::record::site_table::RULES_MAX;
use crate::enabled::record::{current_thread, mode_switch};
use crate::types::{Mode, Over, SitesError, WatchError};

/// Changes the mode of all threads, also while scopes are open.
///
/// Begins a new reset epoch; the snapshot that closes the old epoch is written into the ring. [`Mode::Sampled`] finds
/// times only while a session publishes. Does nothing in a forked child.
///
/// ```
/// tickscope::set_mode(tickscope::Mode::Adaptive);
/// ```
pub fn set_mode(mode: Mode) {
    let _own = current_thread::own_work();
    capture_lock::with(|state| state.switch_by_program(mode.into(), mode_switch::newest().histograms));
}

/// Returns how scopes are measured now.
pub fn mode() -> Mode {
    Mode::from(mode_switch::newest().mode)
}

/// Starts or stops collecting latency histograms. Begins a new reset epoch. Does nothing in a forked child.
pub fn set_histogram(on: bool) {
    let _own = current_thread::own_work();
    capture_lock::with(|state| state.switch_by_program(mode_switch::newest().mode, on));
}

/// Disables all sites that a pattern matches, such as `parse`, `book::insert` or `alloc::*`, and returns how many known
/// sites match.
///
/// A disabled scope costs one branch, and its time is charged to its parent. The patterns also apply to sites that are
/// first met later. Of all patterns given to this function and to [`enable_sites`], the last one that matches a site
/// decides.
///
/// ```
/// let _tickscope = tickscope::start("order-book");
/// tickscope::disable_sites("alloc::*")?;
/// # Ok::<(), tickscope::SitesError>(())
/// ```
///
/// # Errors
/// The pattern is invalid (wanted: 1 to 96 bytes without control characters), there are 256 patterns already, or this
/// is a forked child.
pub fn disable_sites(pattern: &str) -> Result<usize, SitesError> {
    rule(pattern, true)
}

/// Enables all sites that a pattern matches, and returns how many known sites match: see [`disable_sites`]. The pattern
/// `*` enables all sites and forgets all earlier patterns.
///
/// # Errors
/// The errors of [`disable_sites`].
pub fn enable_sites(pattern: &str) -> Result<usize, SitesError> {
    rule(pattern, false)
}

fn rule(pattern: &str, off: bool) -> Result<usize, SitesError> {
    let _own = current_thread::own_work();
    let failed = |message: String| SitesError { message };
    let pattern = Pattern::new(pattern).map_err(|error| failed(error.to_string()))?;
    let matched = capture_lock::with(|state| state.rule(pattern, off));
    matched.ok_or_else(|| failed(FORKED.into()))?.ok_or_else(|| {
        failed(format!(
            "{RULES_MAX} patterns are in force, which is the limit; `enable_sites(\"*\")` removes them all"
        ))
    })
}

/// Watches the functions that a pattern matches, such as `handle_request`. Their slow calls and their typical calls get
/// separate sums for each path. `over` is the threshold of slow calls. The view Slow, `tickscope why` and reports show
/// the sums.
///
/// While a call of such a function is open, each event in it costs some nanoseconds more; other events do not. At most
/// four patterns are watched at once. Disabled functions that match are enabled. A pattern that is already watched gets
/// the new threshold, and its counts start from zero. Slow calls are found only while a session publishes, in the modes
/// exact and adaptive.
///
/// ```
/// use tickscope::Over;
///
/// let _tickscope = tickscope::start("order-book");
/// tickscope::watch("handle_request", Over::P99)?;
/// # Ok::<(), tickscope::WatchError>(())
/// ```
///
/// # Errors
/// The pattern is invalid (wanted: 1 to 96 bytes without control characters), four other patterns are watched already,
/// or this is a forked child.
pub fn watch(pattern: &str, over: Over) -> Result<(), WatchError> {
    let _own = current_thread::own_work();
    capture_lock::watch(pattern, over.into()).map_err(|message| WatchError { message })
}

/// Stops watching the functions of a pattern. The pattern `*` stops watching all functions.
///
/// # Errors
/// The pattern is invalid, or this is a forked child.
pub fn unwatch(pattern: &str) -> Result<(), WatchError> {
    let _own = current_thread::own_work();
    let failed = |message: String| WatchError { message };
    let pattern = Pattern::new(pattern).map_err(|error| failed(error.to_string()))?;
    capture_lock::with(|state| state.watches.remove(pattern)).ok_or_else(|| failed(FORKED.into()))
}

impl From<Over> for snapshot::Over {
    fn from(over: Over) -> Self {
        match over {
            Over::Tail => Self::Tail,
            Over::P99 => Self::P99,
            Over::P999 => Self::P999,
            Over::Duration(duration) => {
                Self::Ns(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX).max(1))
            }
        }
    }
}

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
