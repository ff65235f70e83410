//! Columns of panes, charts of a row's recent activity, and bars.

use ratatui::layout::Rect;

use crate::app::past::activity::BEATS;
use crate::app::row::RowId;
use crate::app::state::App;
use crate::text::glyphs::Glyphs;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;

/// Height in lines of the chart of the last 30 seconds.
const SECONDS: u16 = 3;

/// A column of a pane, filled from top to bottom.
pub(crate) struct Column {
    pub(crate) area: Rect,
    pub(crate) y: u16,
}

impl Column {
    /// Returns a column in which nothing is drawn yet.
    pub(crate) fn on(area: Rect) -> Self {
        Self { area, y: area.y }
    }

    /// Returns the rest of the column, if at least this number of lines is left.
    pub(crate) fn room(&self, lines: u16) -> Option<Rect> {
        let left = self.area.bottom().saturating_sub(self.y);
        (left >= lines).then_some(Rect {
            y: self.y,
            height: left,
            ..self.area
        })
    }

    /// Draws an empty line and a heading, if at least `lines` lines would be left below them. Returns the rest of the
    /// column.
    pub(crate) fn heading(&mut self, canvas: &mut Canvas<'_>, text: &str, lines: u16) -> Option<Rect> {
        self.room(lines + 2)?;
        canvas.put_cut(self.area.x, self.y + 1, self.area.width, text, Meaning::Quiet);
        self.y += 2;
        self.room(lines)
    }
}

/// Draws a chart of a row's activity over the last 30 seconds.
pub(crate) fn seconds(canvas: &mut Canvas<'_>, app: &App, id: RowId, column: &mut Column) {
    let activity = app.playback.activity();
    let Some(steps) = activity.and_then(|activity| activity.steps(id, BEATS)) else {
        return;
    };
    let Some(room) = column.heading(canvas, "last 30 s", SECONDS) else {
        return;
    };
    // Each second is two cells wide if there is room for that, otherwise one.
    let wide = usize::from((room.width / BEATS as u16).clamp(1, 2));
    let parts: Vec<Option<f64>> = steps
        .into_iter()
        .flat_map(|step| std::iter::repeat_n(step, wide))
        .collect();
    let height = SECONDS;
    tall(canvas, &parts, Rect { height, ..room });
    column.y += SECONDS;
}

/// Returns a chart of a row's activity over the last 30 seconds in at most `cells` cells, with the newest second on the
/// right. Heights are relative to the highest column. Returns an empty string if nothing is known.
pub(crate) fn spark(canvas: &Canvas<'_>, app: &App, id: RowId, cells: u16) -> String {
    let steps = app
        .playback
        .activity()
        .and_then(|activity| activity.steps(id, cells.into()));
    let heights = canvas.glyphs.heights;
    let most = heights.len() - 1;
    let column = |step: Option<f64>| match step {
        // The blank glyph stands for an unknown second, so a known one gets at least the lowest bar.
        Some(step) => heights[((step * most as f64).ceil() as usize).clamp(1, most)],
        None => heights[0],
    };
    let mut text: String = steps.into_iter().flatten().map(column).collect();
    if text.trim().is_empty() {
        text.clear();
    }
    text
}

/// Draws a chart that is several lines tall. `parts` are the heights of its columns, from 0 to 1. A column is never
/// blank unless its height is 0.
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

/// Returns a bar for a share; a share of 1 fills `cells`. The bar may end within a cell.
pub(crate) fn bar(share: f64, cells: u16, glyphs: &Glyphs) -> String {
    let parts = glyphs.eighths.len() - 1;
    let all = usize::from(cells) * parts;
    let filled = ((share.clamp(0.0, 1.0) * all as f64).round() as usize).min(all);
    let mut out = glyphs.eighths[parts].repeat(filled / parts);
    out.push_str(glyphs.eighths[filled % parts]);
    out
}

/// Like [`bar`], but in two tones. The second tone shows time off the CPU, which is the fraction `off` (0 to 1) of the
/// share. Only a bar with a single tone can end within a cell.
pub(crate) fn in_two(share: f64, off: f64, cells: u16, glyphs: &Glyphs) -> [String; 2] {
    let whole = |share: f64| (share.clamp(0.0, 1.0) * f64::from(cells)).round() as usize;
    let (all, working) = (whole(share), whole(share * (1.0 - off.clamp(0.0, 1.0))));
    if all <= working {
        return [bar(share, cells, glyphs), String::new()];
    }
    let full = glyphs.eighths[glyphs.eighths.len() - 1];
    let [off_cpu, _] = glyphs.off_cpu;
    [full.repeat(working), off_cpu.repeat(all - working)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_its_share() {
        let unicode = Glyphs::of(false);
        assert_eq!(bar(0.751, 10, unicode), "███████▌");
        assert_eq!(bar(0.0, 10, unicode), "");
        assert_eq!(bar(1.0, 5, unicode), "█████");
        assert_eq!(bar(f64::NAN, 5, unicode), "");
        assert_eq!(bar(0.5, 5, Glyphs::of(true)), "##=");
    }

    #[test]
    fn what_is_off_the_cpu_has_a_tone_of_its_own_behind_the_rest() {
        let (unicode, ascii) = (Glyphs::of(false), Glyphs::of(true));
        assert_eq!(in_two(0.751, 0.0, 10, unicode), ["███████▌", ""]);
        assert_eq!(in_two(0.8, 0.25, 10, unicode), ["██████", "▒▒"]);
        assert_eq!(in_two(0.8, 1.0, 10, unicode), ["", "▒▒▒▒▒▒▒▒"]);
        assert_eq!(in_two(1.0, 0.5, 4, ascii), ["##", ".."]);
        // The time off the CPU is too short for a cell.
        assert_eq!(in_two(0.8, 0.01, 10, unicode), ["████████", ""]);
        assert_eq!(in_two(0.0, 0.5, 10, unicode), ["", ""]);
        assert_eq!(in_two(f64::NAN, f64::NAN, 10, unicode), ["", ""]);
    }
}
