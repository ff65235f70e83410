//! Settings that a program may change while it runs: the mode, latency histograms, and which sites are enabled or
//! watched.

use tickscope_format::pattern::Pattern;
use tickscope_format::snapshot;

use crate::enabled::capture::capture_lock::{self, FORKED};
use crate::enabled::record::site_table::RULES_MAX;
use crate::enabled::record::{current_thread, mode_switch};
use crate::types::{Mode, Over, SitesError, WatchError};

/// Changes the mode of all threads, even while scopes are open.
///
/// Begins a new reset epoch; the snapshot that closes the old epoch is written into the ring. [`Mode::Sampled`]
/// measures time only while a session publishes. Does nothing in a forked child.
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

/// Disables all sites that match a pattern, such as `parse`, `book::insert` or `alloc::*`, and returns the number of
/// known sites that match.
///
/// A disabled scope costs one branch, and its time is charged to its parent. The pattern also applies to sites that the
/// program has not reached yet. If several patterns given to this function and to [`enable_sites`] match a site, the
/// last one decides.
///
/// ```
/// let _tickscope = tickscope::start("order-book");
/// tickscope::disable_sites("alloc::*")?;
/// # Ok::<(), tickscope::SitesError>(())
/// ```
///
/// # Errors
/// Returns an error if the pattern is invalid (it must have 1 to 96 bytes and no control characters), if there are
/// already 256 patterns, or if this is a forked child.
pub fn disable_sites(pattern: &str) -> Result<usize, SitesError> {
    rule(pattern, true)
}

/// Enables all sites that match a pattern, and returns the number of known sites that match. See [`disable_sites`] for
/// how patterns apply. The pattern `*` enables all sites and removes all earlier patterns.
///
/// # Errors
/// Returns the same errors as [`disable_sites`].
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

/// Watches the functions that match a pattern, such as `handle_request`. Their slow and typical calls are summed
/// separately for each path, and `over` is the threshold from which a call is slow. The sums are shown in the viewer's
/// Slow view, by `tickscope why` and in reports.
///
/// While a call of a watched function is open, each event inside it costs a few nanoseconds more; other events cost no
/// more than before. At most four patterns can be watched at once. Matching functions that are disabled are enabled. If
/// the pattern is already watched with a different threshold, it gets the new threshold, and its counts start again
/// from zero. Slow calls are found only while a session publishes, and only in the modes [`Mode::Exact`] and
/// [`Mode::Adaptive`].
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
/// Returns an error if the pattern is invalid (it must have 1 to 96 bytes and no control characters), if four other
/// patterns are already watched, or if this is a forked child.
pub fn watch(pattern: &str, over: Over) -> Result<(), WatchError> {
    let _own = current_thread::own_work();
    capture_lock::watch(pattern, over.into()).map_err(|message| WatchError { message })
}

/// Ends the watch that [`watch`] began for a pattern. The pattern `*` ends all watches.
///
/// # Errors
/// Returns an error if the pattern is invalid or if this is a forked child.
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
