//! A pen: writes texts one after the other on a line.

use ratatui::layout::Rect;

use crate::text::cells::width;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;

/// A position on a line.
pub(crate) struct Pen<'a, 'b> {
    pub(crate) canvas: &'a mut Canvas<'b>,
    /// Cell of the next text.
    pub(crate) x: u16,
    y: u16,
    /// Cell after the last one of the line.
    end: u16,
}

impl<'a, 'b> Pen<'a, 'b> {
    /// Returns a pen at the beginning of a line of an area; lines count from 0.
    pub(crate) fn on(canvas: &'a mut Canvas<'b>, area: Rect, line: u16) -> Self {
        let (x, y, end) = (area.x, area.y + line, area.right());
        Self { canvas, x, y, end }
    }

    /// Returns the rest of the line, in cells.
    pub(crate) fn room(&self) -> usize {
        self.left().into()
    }

    fn left(&self) -> u16 {
        self.end.saturating_sub(self.x)
    }

    /// Takes cells from the end of the line; returns a pen for them.
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

    /// Leaves cells empty.
    pub(crate) fn skip(&mut self, cells: u16) {
        self.x = self.x.saturating_add(cells);
    }

    /// Writes a text, as far as there is room.
    pub(crate) fn put(&mut self, text: &str, meaning: Meaning) {
        self.x = self.canvas.put(self.x, self.y, self.left(), text, meaning);
    }

    /// Writes a text, and shows where it was cut.
    pub(crate) fn put_cut(&mut self, text: &str, meaning: Meaning) {
        self.x = self.canvas.put_cut(self.x, self.y, self.left(), text, meaning);
    }

    /// Writes a text at the end of the line.
    pub(crate) fn put_right(&mut self, text: &str, meaning: Meaning) {
        self.canvas.put_right(self.x, self.y, self.left(), text, meaning);
    }

    /// Writes words with their values while they fit, `gap` cells apart; returns how many were written.
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
