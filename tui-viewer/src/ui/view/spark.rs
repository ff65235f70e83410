//! How busy a row was in the last seconds, as a line of small columns.

use crate::app::row::RowId;
use crate::app::state::App;
use crate::ui::view::canvas::Canvas;

/// The last seconds of a row in so many cells, or fewer, the newest on the right; nothing where nothing is known.
/// Each is as high as its part of the row's own busiest.
pub(super) fn of(canvas: &Canvas<'_>, app: &App, id: RowId, cells: u16) -> String {
    let steps = app
        .playback
        .activity()
        .and_then(|activity| activity.steps(id, cells.into()));
    let heights = canvas.glyphs.heights;
    let most = heights.len() - 1;
    let column = |step: Option<f64>| match step {
        // The lowest column is none at all: it stands for what is not known.
        Some(step) => heights[((step * most as f64).ceil() as usize).clamp(1, most)],
        None => heights[0],
    };
    let mut text: String = steps.into_iter().flatten().map(column).collect();
    if text.trim().is_empty() {
        text.clear();
    }
    text
}
