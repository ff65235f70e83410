//! The colours of a page: what a terminal of these colours shows.

use ratatui::style::{Color, Modifier};
use tickscope_cli::cli::args::ThemeKind;

/// Red, green, blue.
type Rgb = (u8, u8, u8);

/// What stands for the terminal's own colours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    text: Rgb,
    ground: Rgb,
    sixteen: [Rgb; 16],
}

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

const DARK: Paint = Paint {
    text: (0xd8, 0xde, 0xe9),
    ground: (0x16, 0x1b, 0x22),
    sixteen: [
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
    ],
};

const LIGHT: Paint = Paint {
    text: (0x1f, 0x23, 0x28),
    ground: (0xff, 0xff, 0xff),
    sixteen: [
        (0x1f, 0x23, 0x28),
        (0xaf, 0x00, 0x00),
        (0x1a, 0x6e, 0x2e),
        (0x8a, 0x5a, 0x00),
        (0x0a, 0x4f, 0xa8),
        (0x7a, 0x2f, 0xa0),
        (0x00, 0x66, 0x73),
        (0xd0, 0xd7, 0xde),
        (0x62, 0x62, 0x62),
        (0xcf, 0x22, 0x2e),
        (0x1a, 0x7f, 0x37),
        (0x9a, 0x67, 0x00),
        (0x09, 0x69, 0xda),
        (0x82, 0x50, 0xdf),
        (0x1b, 0x7c, 0x83),
        (0xff, 0xff, 0xff),
    ],
};

impl Paint {
    /// The colours on a page.
    pub(crate) fn on(ground: Ground) -> Self {
        match ground {
            Ground::Dark => DARK,
            Ground::Light => LIGHT,
        }
    }

    /// The page.
    pub(crate) fn page(&self) -> Rgb {
        self.ground
    }

    /// How a cell looks.
    pub(crate) fn look(&self, fg: Color, bg: Color, modifier: Modifier) -> Look {
        let mut text = self.colour(fg).unwrap_or(self.text);
        let mut ground = self.colour(bg);
        if modifier.contains(Modifier::REVERSED) {
            (text, ground) = (ground.unwrap_or(self.ground), Some(text));
        }
        if modifier.contains(Modifier::DIM) {
            text = halfway(text, ground.unwrap_or(self.ground));
        }
        Look {
            text,
            ground: ground.filter(|&ground| ground != self.ground),
            bold: modifier.contains(Modifier::BOLD),
            underlined: modifier.contains(Modifier::UNDERLINED),
        }
    }

    /// The parts of a colour; none of the page's own.
    fn colour(&self, colour: Color) -> Option<Rgb> {
        let index = match colour {
            Color::Reset => return None,
            Color::Rgb(r, g, b) => return Some((r, g, b)),
            Color::Indexed(index) => index,
            Color::Black => 0,
            Color::Red => 1,
            Color::Green => 2,
            Color::Yellow => 3,
            Color::Blue => 4,
            Color::Magenta => 5,
            Color::Cyan => 6,
            Color::Gray => 7,
            Color::DarkGray => 8,
            Color::LightRed => 9,
            Color::LightGreen => 10,
            Color::LightYellow => 11,
            Color::LightBlue => 12,
            Color::LightMagenta => 13,
            Color::LightCyan => 14,
            Color::White => 15,
        };
        Some(match index {
            0..16 => self.sixteen[usize::from(index)],
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
}

fn halfway(one: Rgb, other: Rgb) -> Rgb {
    // Nearer to the text: faint, and still to be read.
    let mix = |one: u8, other: u8| ((u16::from(one) * 3 + u16::from(other) * 2) / 5) as u8;
    (mix(one.0, other.0), mix(one.1, other.1), mix(one.2, other.2))
}

/// The page behind a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ground {
    /// Like most terminals.
    Dark,
    /// Like paper.
    Light,
}

impl Ground {
    /// The theme that is made for it.
    pub(crate) fn theme(self) -> ThemeKind {
        match self {
            Self::Dark => ThemeKind::Sixteen,
            Self::Light => ThemeKind::Light,
        }
    }
}
