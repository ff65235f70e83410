//! The colours of a dark page: what a terminal of these colours shows.

use vt100::{Cell, Color};

/// Red, green, blue.
type Rgb = (u8, u8, u8);

/// How a cell looks in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    /// Its text.
    pub(crate) text: Rgb,
    /// What is behind it, where that is not the page.
    pub(crate) ground: Option<Rgb>,
    /// Bold.
    pub(crate) bold: bool,
    /// Underlined.
    pub(crate) underlined: bool,
}

/// The colour of text that has none of its own.
const TEXT: Rgb = (0xd8, 0xde, 0xe9);

/// The colour of the page.
pub(crate) const PAGE: Rgb = (0x16, 0x1b, 0x22);

/// The terminal's own colours.
const SIXTEEN: [Rgb; 16] = [
    (0x16, 0x1b, 0x22),
    (0xff, 0x6b, 0x68),
    (0x57, 0xc7, 0x7a),
    (0xe5, 0xb5, 0x4a),
    (0x6c, 0xa8, 0xf0),
    (0xc6, 0x8a, 0xee),
    (0x56, 0xc8, 0xd8),
    (0xc9, 0xd1, 0xd9),
    (0x76, 0x80, 0x8f),
    (0xff, 0x8e, 0x8b),
    (0x7e, 0xdc, 0x9b),
    (0xf2, 0xcc, 0x60),
    (0x94, 0xc3, 0xff),
    (0xd9, 0xae, 0xf5),
    (0x7f, 0xdd, 0xe9),
    (0xff, 0xff, 0xff),
];

/// How a cell looks.
pub(crate) fn look(cell: &Cell) -> Look {
    let mut text = colour(cell.fgcolor()).unwrap_or(TEXT);
    let mut ground = colour(cell.bgcolor());
    if cell.inverse() {
        (text, ground) = (ground.unwrap_or(PAGE), Some(text));
    }
    if cell.dim() {
        text = halfway(text, ground.unwrap_or(PAGE));
    }
    Look {
        text,
        ground: ground.filter(|&ground| ground != PAGE),
        bold: cell.bold(),
        underlined: cell.underline(),
    }
}

/// The parts of a colour; none of the page's own.
fn colour(colour: Color) -> Option<Rgb> {
    let index = match colour {
        Color::Default => return None,
        Color::Rgb(r, g, b) => return Some((r, g, b)),
        Color::Idx(index) => index,
    };
    Some(match index {
        0..16 => SIXTEEN[usize::from(index)],
        16..232 => {
            let step = |n: u8| if n == 0 { 0 } else { 55 + 40 * n };
            let n = index - 16;
            (step(n / 36), step(n / 6 % 6), step(n % 6))
        }
        232.. => {
            let grey = 8 + 10 * (index - 232);
            (grey, grey, grey)
        }
    })
}

fn halfway(one: Rgb, other: Rgb) -> Rgb {
    // Nearer to the text: faint, and still to be read.
    let mix = |one: u8, other: u8| ((u16::from(one) * 3 + u16::from(other) * 2) / 5) as u8;
    (mix(one.0, other.0), mix(one.1, other.1), mix(one.2, other.2))
}
