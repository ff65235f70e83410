//! Draws text and areas in the style of their meaning. Text that does not fit is cut off; it is never wrapped, and
//! nothing is written outside the buffer. A `Pen` writes pieces of text one after another on a line.

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use tickscope_report::number;

use crate::cli::args::look::ThemeKind;
use crate::text::cells::{cut_end, cut_middle, cut_path, cut_start, safe, width, without_module};
use crate::text::glyphs::Glyphs;
use crate::ui::theme::{Ground, Meaning};

/// The buffer to draw into, and the theme that decides how each meaning looks.
pub(crate) struct Canvas<'a> {
    buffer: &'a mut Buffer,
    theme: ThemeKind,
    /// Symbols for marks, lines, bars and charts.
    pub(crate) glyphs: &'static Glyphs,
    /// Whether only ASCII characters are written.
    pub(crate) ascii: bool,
}

#[cfg(test)]
std::thread_local! {
    /// Number of writes by this thread. A test checks that drawing a frame takes no more writes than the frame has
    /// cells. Drawing rows that are not on the screen would take more.
    pub(crate) static PUTS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

impl<'a> Canvas<'a> {
    pub(crate) fn new(buffer: &'a mut Buffer, theme: ThemeKind, ascii: bool) -> Self {
        Self {
            buffer,
            theme,
            glyphs: Glyphs::of(ascii),
            ascii,
        }
    }

    /// Writes text into at most `cells` cells. Returns the x position after the text.
    pub(crate) fn put(&mut self, x: u16, y: u16, cells: u16, text: &str, meaning: Meaning) -> u16 {
        // The reset removes the style of any earlier text in these cells.
        let style = Style::reset().patch(self.theme.style(meaning));
        self.write(x, y, cells, text, style)
    }

    fn write(&mut self, x: u16, y: u16, cells: u16, text: &str, style: Style) -> u16 {
        #[cfg(test)]
        PUTS.set(PUTS.get() + 1);
        let area = self.buffer.area;
        if y >= area.bottom() || x >= area.right() || cells == 0 {
            return x;
        }
        let cells = cells.min(area.right() - x);
        self.buffer.set_stringn(x, y, text, usize::from(cells), style).0
    }

    /// Writes text right-aligned in `cells` cells.
    pub(crate) fn put_right(&mut self, x: u16, y: u16, cells: u16, text: &str, meaning: Meaning) {
        let pad = usize::from(cells).saturating_sub(width(text)) as u16;
        self.put(x + pad, y, cells - pad, text, meaning);
    }

    /// Writes text that may contain any characters; see [`Self::safe`]. Text that is too long is cut off and gets an
    /// ellipsis.
    pub(crate) fn put_cut(&mut self, x: u16, y: u16, cells: u16, text: &str, meaning: Meaning) -> u16 {
        let text = self.safe(text);
        self.put(x, y, cells, &self.cut_end(&text, cells.into()), meaning)
    }

    /// Like [`Self::put_cut`], on the given line of an area. Lines are counted from 0.
    pub(crate) fn line(&mut self, area: Rect, line: u16, text: &str, meaning: Meaning) {
        self.put_cut(area.x, area.y + line, area.width, text, meaning);
    }

    /// Escapes characters that have no width, and characters that would make the terminal reorder the line.
    pub(crate) fn safe<'t>(&self, text: &'t str) -> Cow<'t, str> {
        safe(text, self.ascii)
    }

    /// Shortens text to `cells` cells by cutting out its middle.
    pub(crate) fn cut_middle<'t>(&self, text: &'t str, cells: usize) -> Cow<'t, str> {
        cut_middle(text, cells, self.glyphs.cut)
    }

    /// Shortens a name to `cells` cells by leaving out its module and, if that is not enough, cutting out its middle.
    pub(crate) fn without_module<'t>(&self, name: &'t str, cells: usize) -> Cow<'t, str> {
        self.cut_middle(without_module(name, cells), cells)
    }

    /// Shortens text to `cells` cells by cutting off its end.
    pub(crate) fn cut_end<'t>(&self, text: &'t str, cells: usize) -> Cow<'t, str> {
        cut_end(text, cells, self.glyphs.cut)
    }

    /// Shortens text to `cells` cells by cutting off its beginning.
    pub(crate) fn cut_start<'t>(&self, text: &'t str, cells: usize) -> Cow<'t, str> {
        cut_start(text, cells, self.glyphs.cut)
    }

    /// Shortens a path to `cells` cells by cutting off its beginning, at a directory boundary if possible.
    pub(crate) fn cut_path<'t>(&self, text: &'t str, cells: usize) -> Cow<'t, str> {
        cut_path(text, cells, self.glyphs.cut)
    }

    /// Draws a dividing line across the top of an area.
    pub(crate) fn rule(&mut self, area: Rect) {
        for x in area.left()..area.right() {
            self.put(x, area.y, 1, self.glyphs.rule, Meaning::Rule);
        }
    }

    /// Fills an area with a solid colour. If the theme has no colours, clears it.
    pub(crate) fn fill(&mut self, area: Rect, ground: Ground, darker: bool) {
        #[cfg(test)]
        PUTS.set(PUTS.get() + 1);
        let style = Style::reset().patch(self.theme.ground(ground, darker));
        for at in area.intersection(self.buffer.area).positions() {
            self.buffer[at].set_symbol(" ").set_style(style);
        }
    }

    pub(crate) fn fills(&self) -> bool {
        self.theme.fills()
    }

    /// Draws a block character in a solid colour, as one cell of a chart's column. The rest of the cell gets the colour
    /// `below`, if there is one.
    pub(crate) fn block(&mut self, x: u16, y: u16, glyph: &str, colour: Ground, below: Option<Ground>) {
        let solid = |ground: Ground| self.theme.ground(ground, false).bg.unwrap_or_default();
        let mut style = Style::reset().fg(solid(colour));
        if let Some(below) = below {
            style = style.bg(solid(below));
        }
        self.write(x, y, 1, glyph, style);
    }

    /// Writes text over a filled area, keeping the colours of the area. Returns the x position after the text.
    pub(crate) fn put_over(&mut self, x: u16, y: u16, cells: u16, text: &str, modifier: Modifier) -> u16 {
        self.write(x, y, cells, text, Style::new().add_modifier(modifier))
    }

    /// Applies the style of a meaning to all cells of an area.
    pub(crate) fn paint(&mut self, area: Rect, meaning: Meaning) {
        let area = area.intersection(self.buffer.area);
        self.buffer.set_style(area, self.theme.style(meaning));
    }

    pub(crate) fn select(&mut self, line: Rect) {
        self.paint(line, Meaning::Selected);
        if self.theme.points() {
            self.put(line.x, line.y, 1, ">", Meaning::Selected);
        }
    }

    pub(crate) fn clear(&mut self, area: Rect) {
        for at in area.intersection(self.buffer.area).positions() {
            self.buffer[at].reset();
        }
    }

    /// Draws an empty box with a title. Returns the area inside.
    pub(crate) fn frame(&mut self, area: Rect, title: &str) -> Rect {
        self.clear(area);
        let [top_left, top_right, bottom_left, bottom_right, side] = self.glyphs.frame;
        if area.width < 4 || area.height < 2 {
            return Rect::new(area.x, area.y, 0, 0);
        }
        let (right, bottom) = (area.right() - 1, area.bottom() - 1);
        self.rule(area);
        self.rule(Rect { y: bottom, ..area });
        for y in area.top()..area.bottom() {
            self.put(area.x, y, 1, side, Meaning::Rule);
            self.put(right, y, 1, side, Meaning::Rule);
        }
        for (x, y, corner) in [
            (area.x, area.y, top_left),
            (right, area.y, top_right),
            (area.x, bottom, bottom_left),
            (right, bottom, bottom_right),
        ] {
            self.put(x, y, 1, corner, Meaning::Rule);
        }
        let room = area.width.saturating_sub(6);
        let title = format!(" {} ", self.cut_end(title, room.into()));
        self.put(area.x + 2, area.y, room + 2, &title, Meaning::Strong);
        Rect::new(area.x + 2, area.y + 1, area.width - 4, area.height - 2)
    }

    /// Formats a duration in at most six cells.
    pub(crate) fn duration(&self, ns: u64) -> String {
        self.plain(number::duration(ns))
    }

    /// Formats a duration with two significant digits.
    pub(crate) fn rough(&self, ns: u64) -> String {
        self.plain(number::two_digits(ns))
    }

    /// Formats a duration with two significant digits, rounded up, as an upper bound.
    pub(crate) fn rough_up(&self, ns: u64) -> String {
        self.plain(number::two_digits(up(ns)))
    }

    fn plain(&self, text: String) -> String {
        if self.ascii { number::ascii(text) } else { text }
    }
}

/// Returns `n` rounded up to two significant digits.
pub(crate) fn up(n: u64) -> u64 {
    let unit = 10u64.pow(n.max(1).ilog10().saturating_sub(1));
    n.div_ceil(unit).saturating_mul(unit)
}

/// Writes pieces of text one after another on a line.
pub(crate) struct Pen<'a, 'b> {
    pub(crate) canvas: &'a mut Canvas<'b>,
    /// First cell of the next text.
    pub(crate) x: u16,
    y: u16,
    /// Cell after the last cell of the line.
    end: u16,
}

impl<'a, 'b> Pen<'a, 'b> {
    /// Returns a pen at the start of the given line of an area. Lines are counted from 0.
    pub(crate) fn on(canvas: &'a mut Canvas<'b>, area: Rect, line: u16) -> Self {
        let (x, y, end) = (area.x, area.y + line, area.right());
        Self { canvas, x, y, end }
    }

    /// Returns the number of cells left in the line.
    pub(crate) fn room(&self) -> usize {
        self.left().into()
    }

    fn left(&self) -> u16 {
        self.end.saturating_sub(self.x)
    }

    /// Takes this number of cells from the end of the line. Returns a pen that writes into them.
    pub(crate) fn cut_off(&mut self, cells: u16) -> Pen<'_, 'b> {
        let (y, end) = (self.y, self.end);
        self.end = end.saturating_sub(cells).max(self.x);
        let x = self.end;
        Pen {
            canvas: self.canvas,
            x,
            y,
            end,
        }
    }

    /// Skips this number of cells.
    pub(crate) fn skip(&mut self, cells: u16) {
        self.x = self.x.saturating_add(cells);
    }

    /// Writes as much of the text as fits.
    pub(crate) fn put(&mut self, text: &str, meaning: Meaning) {
        self.x = self.canvas.put(self.x, self.y, self.left(), text, meaning);
    }

    /// Writes text. If it is too long, it is cut off and gets an ellipsis.
    pub(crate) fn put_cut(&mut self, text: &str, meaning: Meaning) {
        self.x = self.canvas.put_cut(self.x, self.y, self.left(), text, meaning);
    }

    /// Writes text right-aligned in the rest of the line.
    pub(crate) fn put_right(&mut self, text: &str, meaning: Meaning) {
        self.canvas.put_right(self.x, self.y, self.left(), text, meaning);
    }

    /// Writes pairs of a label and a value, `gap` cells apart, until one does not fit. Returns the number of pairs
    /// written.
    pub(crate) fn facts(&mut self, facts: &[(&str, String)], gap: u16) -> usize {
        for (at, (word, text)) in facts.iter().enumerate() {
            let lead = width(word) + usize::from(!word.is_empty());
            if lead + width(text) > self.room() {
                return at;
            }
            if lead > 0 {
                self.put(word, Meaning::Quiet);
                self.skip(1);
            }
            self.put(text, Meaning::Plain);
            self.skip(gap);
        }
        facts.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upper_bound_is_never_rounded_down() {
        let table = [
            (0, "0ns"),
            (10, "10ns"),
            (412, "420ns"),
            (991, "1.0µs"),
            (1_849_999, "1.9ms"),
            (1_900_000, "1.9ms"),
            (134_000_000_000, "140s"),
            (561_000_000_000, "9m30s"),
            (u64::MAX, "584y"),
        ];
        for (ns, text) in table {
            assert_eq!(number::two_digits(up(ns)), text, "{ns}");
        }
    }
}
