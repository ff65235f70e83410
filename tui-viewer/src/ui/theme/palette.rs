//! The themes: how each `Meaning` looks in each of them.

use ratatui::style::{Color, Modifier, Style};

use crate::cli::args::look::ThemeKind;
use crate::ui::theme::{Meaning, ground};

/// Colours of the Okabe-Ito palette that are readable on black.
mod okabe_ito {
    use ratatui::style::Color;

    pub(super) const ORANGE: Color = Color::Rgb(0xe6, 0x9f, 0x00);
    pub(super) const SKY: Color = Color::Rgb(0x56, 0xb4, 0xe9);
    pub(super) const GREEN: Color = Color::Rgb(0x00, 0x9e, 0x73);
    pub(super) const VERMILION: Color = Color::Rgb(0xd5, 0x5e, 0x00);
}

/// Colours that are readable on white. All of them are in the 256-colour palette.
mod dark {
    use ratatui::style::Color;

    pub(super) const BLACK: Color = Color::Rgb(0x00, 0x00, 0x00);
    pub(super) const GREY: Color = Color::Rgb(0x62, 0x62, 0x62);
    pub(super) const BROWN: Color = Color::Rgb(0xaf, 0x5f, 0x00);
    pub(super) const RED: Color = Color::Rgb(0xaf, 0x00, 0x00);
    pub(super) const TEAL: Color = Color::Rgb(0x00, 0x5f, 0x5f);
    pub(super) const BLUE: Color = Color::Rgb(0x00, 0x5f, 0xaf);
    /// Background of search matches.
    pub(super) const SAND: Color = Color::Rgb(0xff, 0xd7, 0x87);
}

impl ThemeKind {
    /// Returns whether the selected row is marked with `>` in addition to being shown in reversed colours.
    pub(crate) fn points(self) -> bool {
        matches!(self, Self::Cvd | Self::Mono)
    }

    /// Returns the style for a meaning. Mono sets no colour at all, not even the default one.
    pub(crate) fn style(self, meaning: Meaning) -> Style {
        let (modifier, [sixteen, light, cvd]) = look(meaning);
        let plain = Style::new();
        let style = match self {
            Self::Sixteen => sixteen.map_or(plain, |colour| plain.fg(colour)),
            Self::Light => light.map_or(plain, |colour| plain.fg(colour)),
            Self::Cvd => cvd.map_or(plain, |colour| plain.fg(colour)),
            Self::Mono => plain,
        };
        let style = style.add_modifier(modifier);
        match (self, meaning) {
            (Self::Sixteen, Meaning::Match) => style.bg(Color::Cyan),
            (Self::Light, Meaning::Match) => style.bg(dark::SAND),
            (Self::Mono, Meaning::Match | Meaning::Notable | Meaning::Ended) => {
                style.add_modifier(Modifier::BOLD)
            }
            // These themes have no grey, so unimportant text is dim.
            (Self::Cvd | Self::Mono, Meaning::Quiet | Meaning::Rule | Meaning::Small)
            | (Self::Mono, Meaning::Waiting) => style.add_modifier(Modifier::DIM),
            _ => style,
        }
    }
}

/// Returns the modifier that a meaning has in every theme, and its colour in each of the themes sixteen, light and cvd.
fn look(meaning: Meaning) -> (Modifier, [Option<Color>; 3]) {
    let colours = |sixteen, light, cvd| [Some(sixteen), Some(light), Some(cvd)];
    let none = [None; 3];
    let grey = [Some(Color::DarkGray), Some(dark::GREY), None];
    let red = colours(Color::Red, dark::RED, okabe_ito::VERMILION);
    let yellow = colours(Color::Yellow, dark::BROWN, okabe_ito::ORANGE);
    match meaning {
        Meaning::Plain => (Modifier::empty(), none),
        Meaning::Strong | Meaning::Sorted => (Modifier::BOLD, none),
        Meaning::Selected => (Modifier::REVERSED, none),
        Meaning::Quiet | Meaning::Rule | Meaning::Small => (Modifier::empty(), grey),
        Meaning::Hottest => (
            Modifier::BOLD,
            colours(Color::Yellow, dark::RED, okabe_ito::VERMILION),
        ),
        Meaning::Warm | Meaning::Notable => (Modifier::empty(), yellow),
        Meaning::Match => (
            Modifier::UNDERLINED,
            colours(Color::Black, dark::BLACK, okabe_ito::SKY),
        ),
        Meaning::Good => (
            Modifier::empty(),
            colours(Color::Green, dark::TEAL, okabe_ito::GREEN),
        ),
        Meaning::Waiting => (
            Modifier::empty(),
            colours(Color::Cyan, dark::BLUE, okabe_ito::SKY),
        ),
        Meaning::Ended => (Modifier::empty(), red),
        Meaning::Alarm => (Modifier::BOLD, red),
    }
}

/// Levels of each channel in the 6 x 6 x 6 colour cube, whose first colour has index 16.
const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// Returns the closest colour of the 256-colour palette, which nearly all terminals have. Colours of filled areas have
/// a hand-picked replacement, which is returned instead.
pub(crate) fn indexed(colour: Color) -> Color {
    let Color::Rgb(r, g, b) = colour else {
        return colour;
    };
    if let Some(chosen) = ground::indexed(colour) {
        return chosen;
    }
    let step = |part: u8| {
        (0..6u8)
            .min_by_key(|&n| STEPS[usize::from(n)].abs_diff(part))
            .unwrap_or(0)
    };
    let steps = [r, g, b].map(step);
    let cube = steps.map(|n| STEPS[usize::from(n)]);
    // The palette has 24 greys, at levels 8, 18, 28 and so on.
    let mean = (u16::from(r) + u16::from(g) + u16::from(b)) / 3;
    let grey = ((mean.max(8) - 8 + 5) / 10).min(23) as u8;
    let distance = |other| distance([r, g, b], other);
    Color::Indexed(if distance([8 + 10 * grey; 3]) < distance(cube) {
        232 + grey
    } else {
        16 + 36 * steps[0] + 6 * steps[1] + steps[2]
    })
}

/// Returns the squared distance between two colours.
fn distance(one: [u8; 3], other: [u8; 3]) -> u32 {
    let parts = one.into_iter().zip(other);
    parts
        .map(|(one, other)| u32::from(one.abs_diff(other)).pow(2))
        .sum()
}

/// Returns the red, green and blue levels of a colour, or `None` if they depend on the terminal.
pub(super) fn parts_of(colour: Color) -> Option<(u8, u8, u8)> {
    if let Color::Rgb(r, g, b) = colour {
        return Some((r, g, b));
    }
    let Color::Indexed(index) = colour else {
        return None;
    };
    match index {
        0..16 => None,
        16..232 => {
            let n = usize::from(index) - 16;
            Some((STEPS[n / 36], STEPS[n / 6 % 6], STEPS[n % 6]))
        }
        232.. => {
            let grey = 8 + 10 * (index - 232);
            Some((grey, grey, grey))
        }
    }
}

/// Converts a text colour and its background colour for a terminal with only sixteen colours.
pub(crate) fn sixteen(text: Color, behind: Color) -> (Color, Color) {
    let behind = ground::ansi(behind).unwrap_or_else(|| nearest_of_sixteen(behind));
    let text = match (nearest_of_sixteen(text), behind) {
        // These backgrounds are dark in most terminals, so black text would be hard to read on them.
        (Color::Black, Color::Blue | Color::Red | Color::Magenta | Color::DarkGray) => Color::White,
        (text, _) => text,
    };
    (text, behind)
}

/// The sixteen colours, with the RGB values that most terminals use for them.
pub(super) const SIXTEEN: [(Color, [u8; 3]); 16] = [
    (Color::Black, [0, 0, 0]),
    (Color::Red, [170, 0, 0]),
    (Color::Green, [0, 170, 0]),
    (Color::Yellow, [170, 85, 0]),
    (Color::Blue, [0, 0, 170]),
    (Color::Magenta, [170, 0, 170]),
    (Color::Cyan, [0, 170, 170]),
    (Color::Gray, [170, 170, 170]),
    (Color::DarkGray, [85, 85, 85]),
    (Color::LightRed, [255, 85, 85]),
    (Color::LightGreen, [85, 255, 85]),
    (Color::LightYellow, [255, 255, 85]),
    (Color::LightBlue, [85, 85, 255]),
    (Color::LightMagenta, [255, 85, 255]),
    (Color::LightCyan, [85, 255, 255]),
    (Color::White, [255, 255, 255]),
];

fn nearest_of_sixteen(colour: Color) -> Color {
    let Some((r, g, b)) = parts_of(colour) else {
        return colour;
    };
    let nearest = SIXTEEN
        .into_iter()
        .min_by_key(|&(_, other)| distance([r, g, b], other));
    nearest.map_or(colour, |(nearest, _)| nearest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::theme::ground::tests::contrast;

    const MEANINGS: [Meaning; 15] = [
        Meaning::Plain,
        Meaning::Strong,
        Meaning::Quiet,
        Meaning::Rule,
        Meaning::Selected,
        Meaning::Hottest,
        Meaning::Warm,
        Meaning::Small,
        Meaning::Sorted,
        Meaning::Match,
        Meaning::Good,
        Meaning::Waiting,
        Meaning::Notable,
        Meaning::Ended,
        Meaning::Alarm,
    ];

    /// How a meaning can be recognized without seeing colours.
    #[derive(PartialEq)]
    enum Told {
        /// Bold, underlined or reversed text.
        Modifier,
        /// A mark or a word, which the tests of whole screens check.
        MarkOrWord,
        /// The number itself; the colour only emphasizes large numbers.
        Number,
        /// Nothing: the hue only makes the text more or less conspicuous.
        Nothing,
    }

    fn told(meaning: Meaning) -> Told {
        match meaning {
            Meaning::Strong | Meaning::Selected | Meaning::Sorted | Meaning::Match | Meaning::Alarm => {
                Told::Modifier
            }
            Meaning::Good | Meaning::Waiting | Meaning::Notable | Meaning::Ended => Told::MarkOrWord,
            Meaning::Hottest | Meaning::Warm | Meaning::Small => Told::Number,
            Meaning::Plain | Meaning::Quiet | Meaning::Rule => Told::Nothing,
        }
    }

    #[test]
    fn what_no_mark_and_no_number_tells_no_hue_tells_alone() {
        let seen = Modifier::BOLD | Modifier::UNDERLINED | Modifier::REVERSED;
        for meaning in MEANINGS.into_iter().filter(|&m| told(m) == Told::Modifier) {
            for kind in ThemeKind::ALL {
                let style = kind.style(meaning);
                assert!(style.add_modifier.intersects(seen), "{meaning:?} in {kind:?}");
            }
        }
    }

    #[test]
    fn only_mono_names_no_colour() {
        for kind in ThemeKind::ALL {
            let colourful = MEANINGS.into_iter().any(|meaning| {
                let style = kind.style(meaning);
                style.fg.is_some() || style.bg.is_some()
            });
            assert_eq!(colourful, kind != ThemeKind::Mono, "{kind:?}");
        }
    }

    #[test]
    fn every_colour_can_be_read_on_its_background() {
        let (black, white) = (Color::Rgb(0, 0, 0), Color::Rgb(255, 255, 255));
        for (kind, ground) in [(ThemeKind::Light, white), (ThemeKind::Cvd, black)] {
            for meaning in MEANINGS {
                let style = kind.style(meaning);
                let Some(text) = style.fg else { continue };
                let contrast = contrast(text, style.bg.unwrap_or(ground));
                assert!(contrast >= 4.5, "{meaning:?} in {kind:?}: {contrast:.1}");
            }
        }
    }

    #[test]
    fn each_theme_is_found_by_its_word_and_the_key_goes_through_all() {
        let mut kind = ThemeKind::default();
        for wanted in ThemeKind::ALL {
            assert_eq!(kind, wanted);
            assert_eq!(ThemeKind::named(kind.word()), Some(kind));
            kind = kind.next();
        }
        assert_eq!(kind, ThemeKind::default());
    }

    #[test]
    fn the_nearest_of_256_colours() {
        assert_eq!(indexed(Color::Rgb(0, 0, 0)), Color::Indexed(16));
        assert_eq!(indexed(Color::Rgb(255, 255, 255)), Color::Indexed(231));
        assert_eq!(indexed(dark::GREY), Color::Indexed(241));
        assert_eq!(indexed(dark::RED), Color::Indexed(124));
        assert_eq!(indexed(okabe_ito::VERMILION), Color::Indexed(166));
        assert_eq!(indexed(Color::Yellow), Color::Yellow);
    }

    #[test]
    fn a_terminal_of_sixteen_colours_keeps_text_readable() {
        let ink = Color::Rgb(10, 10, 10);
        let amber = ThemeKind::Sixteen.ground(ground::Ground::Module(0), false).bg;
        let blue = ThemeKind::Sixteen.ground(ground::Ground::Module(1), true).bg;
        assert_eq!(
            sixteen(ink, amber.expect("a colour")),
            (Color::Black, Color::LightYellow)
        );
        assert_eq!(sixteen(ink, blue.expect("a colour")), (Color::White, Color::Blue));
        assert_eq!(
            sixteen(okabe_ito::VERMILION, Color::Reset),
            (Color::Yellow, Color::Reset)
        );
        assert_eq!(
            sixteen(Color::Yellow, Color::Reset),
            (Color::Yellow, Color::Reset)
        );
    }
}
