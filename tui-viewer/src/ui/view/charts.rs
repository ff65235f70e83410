//! Charts in panes: latencies of calls, and activity in the last seconds.

use ratatui::layout::Rect;

use crate::app::data::Data;
use crate::app::past::activity::BEATS;
use crate::app::row::{RowId, What};
use crate::app::state::App;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::{counter, latency, spark};

/// Lines of the chart of the last seconds.
const SECONDS: u16 = 3;

/// Column of a pane, and the line for its next part.
pub(crate) struct Column {
    pub(crate) area: Rect,
    pub(crate) y: u16,
}

impl Column {
    /// Returns a column without parts.
    pub(crate) fn on(area: Rect) -> Self {
        Self { area, y: area.y }
    }

    /// Returns the rest of the pane, if this number of lines is left.
    pub(crate) fn room(&self, lines: u16) -> Option<Rect> {
        let left = self.area.bottom().saturating_sub(self.y);
        (left >= lines).then_some(Rect {
            y: self.y,
            height: left,
            ..self.area
        })
    }

    /// Draws a heading after an empty line, if this number of lines is left below it.
    pub(crate) fn heading(&mut self, canvas: &mut Canvas<'_>, text: &str, lines: u16) -> Option<Rect> {
        self.room(lines + 2)?;
        canvas.put_cut(self.area.x, self.y + 1, self.area.width, text, Meaning::Quiet);
        self.y += 2;
        self.room(lines)
    }
}

/// Draws the latencies of calls as a chart, or the reason why they are not known.
pub(crate) fn latencies(canvas: &mut Canvas<'_>, app: &App, data: &Data, what: What, column: &mut Column) {
    let Some(room) = column.room(2) else { return };
    match data.figures(what).tally {
        Some(tally) if tally.is_value() => {
            latency::draw_numbers(canvas, data, what, tally, room, 1);
            column.y += 2;
        }
        Some(tally) => {
            canvas.line(room, 1, counter::no_latencies(tally), Meaning::Quiet);
            column.y += 2;
        }
        None => {
            let word = "how long calls took";
            match latency::said(canvas, app, data, what) {
                Some((text, meaning)) => {
                    if let Some(room) = column.heading(canvas, word, 1) {
                        canvas.line(room, 0, &text, meaning);
                        column.y += 1;
                    }
                }
                None if data.latency(what).is_empty() => {}
                None => {
                    if let Some(room) = column.heading(canvas, word, latency::TALL_LINES) {
                        latency::draw_tall(canvas, app, data, what, room);
                        column.y += latency::TALL_LINES;
                    }
                }
            }
        }
    }
}

/// Draws the activity of the row in the last seconds.
pub(crate) fn seconds(canvas: &mut Canvas<'_>, app: &App, id: RowId, column: &mut Column) {
    let activity = app.playback.activity();
    let Some(steps) = activity.and_then(|activity| activity.steps(id, BEATS)) else {
        return;
    };
    let Some(room) = column.heading(canvas, "last 30 s", SECONDS) else {
        return;
    };
    // A second takes one cell or two, as there is room.
    let wide = usize::from((room.width / BEATS as u16).clamp(1, 2));
    let parts: Vec<Option<f64>> = steps
        .into_iter()
        .flat_map(|step| std::iter::repeat_n(step, wide))
        .collect();
    let height = SECONDS;
    spark::tall(canvas, &parts, Rect { height, ..room });
    column.y += SECONDS;
}
