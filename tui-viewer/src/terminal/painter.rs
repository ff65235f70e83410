//! Turns frames into bytes. Only cells that have changed are written, in one synchronized update. If none has changed,
//! nothing is written.

use std::io;

use ratatui::backend::Backend;
use ratatui::buffer::Buffer;
use ratatui::layout::{Rect, Size};
use ratatui::style::Color;
use ratatui_crossterm::CrosstermBackend;

use crate::ui::theme::{Colours, indexed, sixteen};

/// The frame currently on the terminal, and a buffer for the next one.
#[derive(Debug, Default)]
pub(crate) struct Painter {
    shown: Buffer,
    next: Buffer,
    /// Whether the terminal may no longer show the frame in `shown`, so that all cells must be redrawn.
    spoiled: bool,
    /// How many colours the terminal supports.
    colours: Colours,
}

impl Painter {
    /// Returns a painter that draws all cells in its first frame.
    pub(crate) fn new(colours: Colours) -> Self {
        // The theme decides whether to use colours. If the library obeyed NO_COLOR, it would write a plain reset, which
        // would also remove bold and reverse video.
        crossterm::style::force_color_output(true);
        Self {
            spoiled: true,
            colours,
            ..Self::default()
        }
    }

    /// Makes the next frame redraw all cells.
    pub(crate) fn spoil(&mut self) {
        self.spoiled = true;
    }

    /// Returns the bytes that turn the frame on the terminal into a new frame, or no bytes if no cell has changed.
    pub(crate) fn frame(&mut self, size: Size, draw: impl FnOnce(&mut Buffer)) -> io::Result<Vec<u8>> {
        let area = Rect::new(0, 0, size.width, size.height);
        self.next.resize(area);
        self.next.reset();
        draw(&mut self.next);
        let parts = |colour| matches!(colour, Color::Rgb(..));
        let poorer: fn(Color, Color) -> (Color, Color) = match self.colours {
            Colours::All => |text, behind| (text, behind),
            Colours::Indexed => |text, behind| (indexed(text), indexed(behind)),
            Colours::Sixteen => sixteen,
        };
        if self.colours != Colours::All {
            let cells = self.next.content.iter_mut();
            for cell in cells.filter(|c| parts(c.fg) || parts(c.bg)) {
                (cell.fg, cell.bg) = poorer(cell.fg, cell.bg);
            }
        }
        let whole = self.spoiled || self.shown.area != area;
        let mut bytes = b"\x1b[?2026h".to_vec();
        if whole {
            self.shown.resize(area);
            self.shown.reset();
            bytes.extend_from_slice(b"\x1b[0m\x1b[2J");
        }
        let changes = self.shown.diff(&self.next);
        if changes.is_empty() && !whole {
            return Ok(Vec::new());
        }
        CrosstermBackend::new(&mut bytes).draw(changes.into_iter())?;
        // The cursor is hidden, but some terminals still show where it is, so it is moved to the origin.
        bytes.extend_from_slice(b"\x1b[H\x1b[?2026l");
        std::mem::swap(&mut self.shown, &mut self.next);
        self.spoiled = false;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use ratatui::style::Style;

    use super::*;

    fn paint(painter: &mut Painter, text: &str) -> Vec<u8> {
        let draw = |buffer: &mut Buffer| {
            buffer.set_stringn(0, 0, text, 20, Style::new());
        };
        painter
            .frame(Size::new(20, 2), draw)
            .expect("a vector takes everything")
    }

    #[test]
    fn an_equal_frame_writes_nothing() {
        let mut painter = Painter::new(Colours::All);
        assert!(!paint(&mut painter, "hello").is_empty());
        assert_eq!(paint(&mut painter, "hello"), b"");
        let change = String::from_utf8(paint(&mut painter, "hallo")).expect("text");
        assert!(
            change.contains('a') && !change.contains('h') || !change.contains("hallo"),
            "{change:?}"
        );
        painter.spoil();
        assert!(
            String::from_utf8(paint(&mut painter, "hallo"))
                .expect("text")
                .contains("hallo")
        );
    }

    #[test]
    fn a_terminal_is_asked_for_no_colours_that_it_has_not() {
        for (colours, sequence) in [
            (Colours::All, "38;2;213;94;0"),
            (Colours::Indexed, "38;5;166"),
            (Colours::Sixteen, "38;5;3"),
        ] {
            let draw = |buffer: &mut Buffer| {
                buffer.set_stringn(0, 0, "x", 1, Style::new().fg(Color::Rgb(213, 94, 0)));
            };
            let bytes = Painter::new(colours).frame(Size::new(2, 1), draw);
            let text = String::from_utf8(bytes.expect("a vector takes everything")).expect("text");
            assert!(text.contains(sequence), "{text:?}");
        }
    }
}
