//! Cells as SVG: text as text in any monospaced font, each run stretched to exactly its cells; bars as rectangles,
//! so that no font leaves gaps in them.

use std::fmt::Write;

use unicode_width::UnicodeWidthStr;
use vt100::Screen;

use crate::paint::{self, Look};

/// A cell, in pixels.
pub(crate) const CELL_WIDTH: f64 = 8.4;
const CELL_HEIGHT: f64 = 18.0;

/// From the top of a cell to the line on which its letters stand.
const BASELINE: f64 = 13.5;
const FONT_SIZE: f64 = 14.0;

/// Around the screen.
const MARGIN: f64 = 14.0;

const FONTS: &str =
    "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace";

/// Neighbouring cells of one look.
struct Run {
    x: u16,
    cells: u16,
    text: String,
    look: Look,
}

/// Writes the cells as a file.
pub(crate) fn write(screen: &Screen, title: &str) -> String {
    let (rows, columns) = size(screen);
    let page_width = f64::from(columns) * CELL_WIDTH + 2.0 * MARGIN;
    let page_height = f64::from(rows) * CELL_HEIGHT + 2.0 * MARGIN;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0}\" height=\"{1:.0}\" \
         viewBox=\"0 0 {0:.0} {1:.0}\" role=\"img\" font-family=\"{FONTS}\" font-size=\"{FONT_SIZE}\">\n\
         <title>{2}</title>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{3}\"/>\n",
        page_width,
        page_height,
        escaped(title),
        hex(paint::PAGE),
    );
    for y in 0..rows {
        let runs = runs(screen, y);
        for run in &runs {
            ground(&mut out, run, y);
        }
        for run in &runs {
            letters(&mut out, run, y);
        }
    }
    out.push_str("</svg>\n");
    out
}

/// The cell whose text stands at a point.
#[cfg(test)]
pub(crate) fn cell_at(x: f64, y: f64) -> (usize, usize) {
    let cell = |pixels: f64, size: f64| ((pixels - MARGIN) / size).round() as usize;
    (cell(x, CELL_WIDTH), cell(y - BASELINE, CELL_HEIGHT))
}

/// Rows and columns.
fn size(screen: &Screen) -> (u16, u16) {
    let (rows, columns) = screen.size();
    (rows.get(), columns.get())
}

fn runs(screen: &Screen, y: u16) -> Vec<Run> {
    let (_, columns) = size(screen);
    let mut runs: Vec<Run> = Vec::new();
    let mut x = 0;
    while let Some(cell) = screen.cell(y, x).filter(|_| x < columns) {
        let look = paint::look(cell);
        let symbol = if cell.has_contents() { cell.contents() } else { " " };
        let cells = (symbol.width() as u16).max(1);
        match runs.last_mut() {
            // A wide letter stands alone: fonts make it less than two cells wide.
            Some(run)
                if run.look == look && cells == 1 && usize::from(run.cells) == run.text.chars().count() =>
            {
                run.cells += 1;
                run.text.push_str(symbol);
            }
            _ => runs.push(Run {
                x,
                cells,
                text: symbol.to_string(),
                look,
            }),
        }
        x += cells;
    }
    runs
}

/// What is behind a run.
fn ground(out: &mut String, run: &Run, y: u16) {
    if let Some(ground) = run.look.ground {
        rect(
            out,
            (run.x.into(), y.into()),
            (run.cells.into(), 1.0),
            hex(ground),
        );
    }
}

/// The letters of a run without the spaces around them, and its bars.
fn letters(out: &mut String, run: &Run, y: u16) {
    let colour = hex(run.look.text);
    let mut begin = None;
    let chars: Vec<char> = run.text.chars().chain([' ', ' ']).collect();
    for (at, &c) in chars.iter().enumerate() {
        let cell = f64::from(run.x) + at as f64;
        if let Some(bar) = bar(c) {
            let (left, top, wide, high) = bar;
            rect(
                out,
                (cell + left, f64::from(y) + top),
                (wide, high),
                colour.clone(),
            );
        }
        // One space is part of a text, two end it.
        let ends = bar(c).is_some() || (c == ' ' && chars.get(at + 1).is_none_or(|&next| next == ' '));
        match (begin, ends) {
            (None, false) if c != ' ' => begin = Some(at),
            (Some(start), true) => {
                let text: String = chars[start..at].iter().collect();
                word(out, run, start as u16, &text, y, &colour);
                begin = None;
            }
            _ => {}
        }
    }
}

fn word(out: &mut String, run: &Run, start: u16, text: &str, y: u16, colour: &str) {
    let text = text.trim_end();
    let cells = text.width() as f64;
    let x = MARGIN + f64::from(run.x + start) * CELL_WIDTH;
    let y = MARGIN + f64::from(y) * CELL_HEIGHT + BASELINE;
    let bold = if run.look.bold {
        " font-weight=\"bold\""
    } else {
        ""
    };
    let line = if run.look.underlined {
        " text-decoration=\"underline\""
    } else {
        ""
    };
    let _ = writeln!(
        out,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" textLength=\"{:.1}\" lengthAdjust=\"spacingAndGlyphs\" fill=\"{colour}\"{bold}{line}>{}</text>",
        cells * CELL_WIDTH,
        escaped(text),
    );
}

/// A rectangle, in cells.
fn rect(out: &mut String, (x, y): (f64, f64), (wide, high): (f64, f64), colour: String) {
    let _ = writeln!(
        out,
        "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{colour}\"/>",
        MARGIN + x * CELL_WIDTH,
        MARGIN + y * CELL_HEIGHT,
        wide * CELL_WIDTH,
        high * CELL_HEIGHT,
    );
}

/// Left, top, width and height of the part of a cell that a character fills.
fn bar(c: char) -> Option<(f64, f64, f64, f64)> {
    match c {
        // From one eighth of the height to all of it.
        '\u{2581}'..='\u{2588}' => {
            let high = f64::from(c as u32 - 0x2580) / 8.0;
            Some((0.0, 1.0 - high, 1.0, high))
        }
        // From seven eighths of the width to one.
        '\u{2589}'..='\u{258f}' => Some((0.0, 0.0, f64::from(0x2590 - c as u32) / 8.0, 1.0)),
        _ => None,
    }
}

fn hex((r, g, b): (u8, u8, u8)) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}
