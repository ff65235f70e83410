//! Activity of a row in the last seconds, as a line of small columns.

use ratatui::layout::Rect;

use crate::app::row::RowId;
use crate::app::state::App;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;

/// Returns the last seconds of a row in these cells, or fewer, the newest on the right; empty if nothing is
/// known. Each column's height is its part of the row's own busiest second.
pub(crate) fn of(canvas: &Canvas<'_>, app: &App, id: RowId, cells: u16) -> String {
    let steps = app
        .playback
        .activity()
        .and_then(|activity| activity.steps(id, cells.into()));
    let heights = canvas.glyphs.heights;
    let most = heights.len() - 1;
    let column = |step: Option<f64>| match step {
        // The lowest column is blank: it stands for an unknown second.
        Some(step) => heights[((step * most as f64).ceil() as usize).clamp(1, most)],
        None => heights[0],
    };
    let mut text: String = steps.into_iter().flatten().map(column).collect();
    if text.trim().is_empty() {
        text.clear();
    }
    text
}

/// Draws columns of several lines: each as high as its part, 0 to 1. A part above 0 is never blank.
pub(crate) fn tall(canvas: &mut Canvas<'_>, parts: &[Option<f64>], area: Rect) {
    let heights = canvas.glyphs.heights;
    let steps = (heights.len() - 1) as u16;
    for (x, part) in (area.left()..area.right()).zip(parts) {
        let exact = (part.unwrap_or(0.0) * f64::from(area.height * steps)).round() as u16;
        let filled = exact.max(u16::from(part.is_some_and(|part| part > 0.0)));
        for line in 0..area.height {
            let here = filled.saturating_sub(line * steps).min(steps);
            if here > 0 {
                let y = area.bottom() - 1 - line;
                canvas.put(x, y, 1, heights[usize::from(here)], Meaning::Warm);
            }
        }
    }
}
