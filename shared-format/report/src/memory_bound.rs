//! A caveat about exact mode: if reading the clock waits for loads, exact mode overestimates the time of memory-bound functions.

use tickscope_format::snapshot::{Mode, Snapshot};

/// Returns the caveat as a sentence without its full stop, or `None` if it does not apply to this mode or program.
pub fn doubt(snapshot: &Snapshot, mode: Mode) -> Option<&'static str> {
    (snapshot.clock_drains() && mode == Mode::Exact).then_some(
        "functions bound by memory look longer than they are, as the clock waits for loads; adaptive mode avoids that",
    )
}

#[cfg(test)]
mod tests {
    use tickscope_testkit::fixture;

    use super::*;

    #[test]
    fn it_is_exact_mode_on_a_clock_that_waits_for_loads() {
        let mut snapshot = fixture::two_threads();
        assert_eq!(doubt(&snapshot, Mode::Exact), None);
        snapshot.drains_ns = Some(231.5);
        assert!(doubt(&snapshot, Mode::Exact).is_some());
        assert_eq!(doubt(&snapshot, Mode::Adaptive), None);
    }
}
