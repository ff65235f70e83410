//! Doubt about exact mode: its times of memory-bound functions are too long if reads of the clock wait for loads.

use tickscope_format::snapshot::{Mode, Snapshot};

/// Returns the doubt as a sentence without its full stop, if this mode measures times of the program's functions that
/// are too long.
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
