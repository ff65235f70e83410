//! The watched function, the call, and the part of the call that the view Slow shows.

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use tickscope_analysis::waterfall::Waterfall;

/// Choices of the user in the view.
#[derive(Clone, Debug, Default)]
pub(crate) struct SlowView {
    /// Pattern of the watched function; if no watch has it, the first function is shown.
    pub(crate) function: Option<String>,
    /// Number of the call whose waterfall is shown; if there is no such call, the longest call is shown.
    pub(crate) call: Option<u64>,
    /// Part of the call that is shown, in ticks; `None` for the whole call.
    pub(crate) zoom: Option<Range<u64>>,
    /// Moment and history revision at which earlier snapshots were searched for the events that this snapshot leaves out.
    pub(crate) searched: Option<(u64, u64)>,
    /// The last waterfall and its call, kept because a frame asks for it more than once.
    pub(crate) made: RefCell<Option<(CallKey, Rc<Waterfall>)>>,
}

/// A call: the number of its watch, its own number, and the number of its known steps.
pub(crate) type CallKey = (u64, u64, usize);

/// Part of the shown time that remains after one step closer.
const CLOSER: (u64, u64) = (1, 2);

/// Divisor of the shown time that gives a step to the side.
const STEP: u64 = 4;

/// Minimum number of ticks that are shown.
const LEAST: u64 = 16;

impl SlowView {
    /// Returns the part of a call of `ticks` ticks that is on screen.
    pub(crate) fn shown(&self, ticks: u64) -> Range<u64> {
        let whole = 0..ticks.max(1);
        match &self.zoom {
            Some(zoom) if zoom.end <= whole.end && zoom.start < zoom.end => zoom.clone(),
            Some(_) | None => whole,
        }
    }

    /// Zooms closer to a moment, or further from it.
    pub(crate) fn zoom(&mut self, ticks: u64, around: Option<u64>, closer: bool) {
        let shown = self.shown(ticks);
        let length = shown.end - shown.start;
        let (more, less) = CLOSER;
        let next = match closer {
            true => (length / less * more).max(LEAST.min(ticks.max(1))),
            false => length.saturating_mul(less) / more,
        };
        if next >= ticks {
            self.zoom = None;
            return;
        }
        let around = around.unwrap_or(shown.start + length / 2);
        // The moment at the pointer keeps its place.
        let part =
            u128::from(around.saturating_sub(shown.start)) * u128::from(next) / u128::from(length.max(1));
        let start = around.saturating_sub(part as u64).min(ticks - next);
        self.zoom = Some(start..start + next);
    }

    /// Moves to an earlier or a later part.
    pub(crate) fn pan(&mut self, ticks: u64, later: bool) {
        let shown = self.shown(ticks);
        let length = shown.end - shown.start;
        let step = (length / STEP).max(1);
        let start = match later {
            true => shown.start.saturating_add(step).min(ticks.saturating_sub(length)),
            false => shown.start.saturating_sub(step),
        };
        if length < ticks {
            self.zoom = Some(start..start + length);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zooming_stays_around_a_moment_and_ends_at_the_whole() {
        let mut view = SlowView::default();
        assert_eq!(view.shown(1_000), 0..1_000);
        view.zoom(1_000, Some(900), true);
        assert_eq!(view.shown(1_000), 450..950);
        view.pan(1_000, true);
        assert_eq!(view.shown(1_000), 500..1_000);
        view.pan(1_000, false);
        assert_eq!(view.shown(1_000), 375..875);
        for _ in 0..20 {
            view.zoom(1_000, None, true);
        }
        let shown = view.shown(1_000);
        assert_eq!(shown.end - shown.start, LEAST);
        for _ in 0..20 {
            view.zoom(1_000, None, false);
        }
        assert_eq!(view.shown(1_000), 0..1_000);
        view.pan(1_000, true);
        assert_eq!(view.shown(1_000), 0..1_000, "there is nothing beside the whole");
        assert_eq!(
            SlowView {
                zoom: Some(5..50),
                ..view
            }
            .shown(20),
            0..20,
            "of another call"
        );
    }
}
