//! Solid background colours for text: frames of the flame graph, and other filled areas.
//!
//! The colours were found with a search program. They can be told apart both with normal vision and with each of the
//! three kinds of colour blindness, as the tests below verify. Each colour has a second, darker tone for adjacent areas
//! with the same meaning.

use ratatui::style::{Color, Modifier, Style};
use tickscope_report::modules::{COLOURS, HUES};
use tickscope_report::trend::{self, Trend};

use crate::cli::args::look::ThemeKind;

/// Meaning of a filled area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ground {
    /// A module, identified by the index of its hue.
    Module(u8),
    /// Self time of a function, as a share of the total time.
    Own(Heat),
    /// Change of a share, in a comparison with another snapshot.
    Change(Trend),
    /// Time off the CPU.
    Waiting,
    /// Frames that do not match the search, frames too small to draw separately, outdated data, and the chosen columns
    /// of the timeline.
    Faded,
    /// The selected frame.
    Selected,
}

/// Self time of a function, as a share of the total time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heat {
    /// Less than 1 %.
    Cold,
    /// From 1 % to less than 5 %.
    Mild,
    /// From 5 % to less than 25 %.
    Warm,
    /// 25 % or more.
    Hot,
}

/// A colour, and its replacements on terminals with fewer colours.
#[derive(Clone, Copy, Debug)]
struct Tone {
    rgb: Color,
    /// Replacement from the 256 colours that nearly every terminal has.
    indexed: u8,
    /// Replacement from the sixteen basic colours.
    ansi: Color,
}

const fn tone(rgb: u32, indexed: u8, ansi: Color) -> Tone {
    Tone {
        rgb: Color::from_u32(rgb),
        indexed,
        ansi,
    }
}

/// A colour and its darker tone.
type Pair = [Tone; 2];

const fn pair(rgb: [u32; 2], indexed: [u8; 2], ansi: [Color; 2]) -> Pair {
    [
        tone(rgb[0], indexed[0], ansi[0]),
        tone(rgb[1], indexed[1], ansi[1]),
    ]
}

/// Text on light colours.
const INK: Color = Color::from_u32(trend::INK);

/// Text on dark areas.
const LIGHT_INK: Color = Color::from_u32(0xe4_e6_ea);

/// Text on faded areas: first on a black background, then on a white one.
const FAINT_INK: [Color; 2] = [Color::from_u32(0xa8_a8_a8), Color::from_u32(0x5e_5e_5e)];

/// Colours of modules. Among the sixteen basic colours, only four pairs can be told apart by everybody, so some hues
/// share a pair.
const MODULES: [Pair; HUES] = [
    pair(COLOURS[0], [216, 173], [Color::LightYellow, Color::Yellow]),
    pair(COLOURS[1], [110, 67], [Color::LightBlue, Color::Blue]),
    pair(COLOURS[2], [210, 167], [Color::LightRed, Color::Red]),
    pair(COLOURS[3], [158, 115], [Color::LightCyan, Color::Cyan]),
    pair(COLOURS[4], [147, 104], [Color::LightBlue, Color::Blue]),
    pair(COLOURS[5], [222, 179], [Color::LightYellow, Color::Yellow]),
    pair(COLOURS[6], [80, 73], [Color::LightCyan, Color::Cyan]),
];

const HEATS: [Pair; 4] = [
    pair([0xdcd8cc, 0xc6c2b6], [188, 250], [Color::LightBlue, Color::Blue]),
    pair([0xf0dc8c, 0xdcc878], [222, 186], [Color::LightCyan, Color::Cyan]),
    pair(
        [0xf0a850, 0xdc9440],
        [215, 172],
        [Color::LightYellow, Color::Yellow],
    ),
    pair([0xea6a48, 0xd85a3a], [209, 203], [Color::LightRed, Color::Red]),
];

const TRENDS: [Pair; 5] = [
    pair(
        [Trend::MuchLess.rgb(), 0x4a84d2],
        [75, 68],
        [Color::Blue, Color::Blue],
    ),
    pair(
        [Trend::Less.rgb(), 0x8cb4e0],
        [153, 110],
        [Color::LightBlue, Color::LightBlue],
    ),
    pair(
        [Trend::Same.rgb(), 0xc4c0b8],
        [188, 250],
        [Color::LightYellow, Color::Yellow],
    ),
    pair(
        [Trend::More.rgb(), 0xe09c78],
        [216, 180],
        [Color::LightRed, Color::LightRed],
    ),
    pair(
        [Trend::MuchMore.rgb(), 0xda5440],
        [209, 203],
        [Color::Red, Color::Red],
    ),
];

const WAITING: Pair = pair(
    [0x535968, 0x464b58],
    [240, 238],
    [Color::DarkGray, Color::DarkGray],
);

/// Faded areas: first on a black background, then on a white one.
const FADED: [Pair; 2] = [
    pair(
        [0x343434, 0x2a2a2a],
        [236, 235],
        [Color::DarkGray, Color::DarkGray],
    ),
    pair([0xe4e4e4, 0xdadada], [254, 253], [Color::Gray, Color::Gray]),
];

impl ThemeKind {
    /// Returns the style of a filled area. Mono uses no colours and only inverts the selected frame.
    pub(crate) fn ground(self, ground: Ground, darker: bool) -> Style {
        let pair = match (self, ground) {
            (Self::Mono, Ground::Selected) => return Style::new().add_modifier(Modifier::REVERSED),
            (Self::Mono, _) => return Style::new(),
            (Self::Light, Ground::Selected) => return Style::new().fg(Color::White).bg(Color::Black),
            (_, Ground::Selected) => return Style::new().fg(Color::Black).bg(Color::White),
            (_, Ground::Module(hue)) => &MODULES[usize::from(hue) % HUES],
            (_, Ground::Own(heat)) => &HEATS[heat as usize],
            (_, Ground::Change(trend)) => &TRENDS[trend as usize],
            (_, Ground::Waiting) => &WAITING,
            (_, Ground::Faded) => &FADED[usize::from(self == Self::Light)],
        };
        let ink = match ground {
            Ground::Faded => FAINT_INK[usize::from(self == Self::Light)],
            Ground::Waiting => LIGHT_INK,
            Ground::Module(_) | Ground::Own(_) | Ground::Change(_) | Ground::Selected => INK,
        };
        Style::new().fg(ink).bg(pair[usize::from(darker)].rgb)
    }

    /// Returns whether areas are filled with colour. Otherwise, they are marked with characters.
    pub(crate) fn fills(self) -> bool {
        self != Self::Mono
    }
}

fn tones() -> impl Iterator<Item = &'static Tone> {
    let pairs = MODULES
        .iter()
        .chain(&HEATS)
        .chain(&TRENDS)
        .chain([&WAITING])
        .chain(&FADED);
    pairs.flatten()
}

/// Returns the colour that replaces one of the tones above on terminals with 256 colours. `None` if `rgb` is not such a
/// tone.
pub(super) fn indexed(rgb: Color) -> Option<Color> {
    tones()
        .find(|tone| tone.rgb == rgb)
        .map(|tone| Color::Indexed(tone.indexed))
}

/// Returns the colour that replaces one of the tones above on terminals with sixteen colours. `None` if `rgb` is not
/// such a tone.
pub(super) fn ansi(rgb: Color) -> Option<Color> {
    tones().find(|tone| tone.rgb == rgb).map(|tone| tone.ansi)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::ui::theme::palette::{SIXTEEN, parts_of};

    /// Matrices that convert linear RGB to what people with the three kinds of dichromacy see: protanopia,
    /// deuteranopia, tritanopia. From Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of
    /// Color Vision Deficiency", IEEE TVCG 15(6), 2009, table 1 of the supplement, severity 1.0.
    const DICHROMATS: [[[f64; 3]; 3]; 3] = [
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ],
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ],
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ],
    ];

    fn linear(colour: Color) -> [f64; 3] {
        let (r, g, b) = parts_of(colour).expect("known by its parts");
        [r, g, b].map(|part| match f64::from(part) / 255.0 {
            part if part <= 0.04045 => part / 12.92,
            part => ((part + 0.055) / 1.055).powf(2.4),
        })
    }

    /// Returns the contrast ratio between two colours, as defined by WCAG.
    pub(in crate::ui::theme) fn contrast(one: Color, other: Color) -> f64 {
        let [one, other] = [one, other].map(|colour| {
            let [r, g, b] = linear(colour);
            0.2126 * r + 0.7152 * g + 0.0722 * b
        });
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    /// Converts linear sRGB to CIE L*a*b* with the D65 white point (IEC 61966-2-1, CIE 15).
    fn lab([r, g, b]: [f64; 3]) -> [f64; 3] {
        let x = 0.4124564 * r + 0.3575761 * g + 0.1804375 * b;
        let y = 0.2126729 * r + 0.7151522 * g + 0.0721750 * b;
        let z = 0.0193339 * r + 0.1191920 * g + 0.9503041 * b;
        let f = |t: f64| match t {
            t if t > 216.0 / 24389.0 => t.cbrt(),
            t => (24389.0 / 27.0 * t + 16.0) / 116.0,
        };
        let (x, y, z) = (f(x / 0.95047), f(y), f(z / 1.08883));
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    /// Returns a colour as it appears with normal vision and with the three kinds of dichromacy, in L*a*b*.
    fn seen(colour: Color) -> Vec<[f64; 3]> {
        let rgb = linear(colour);
        let through = |matrix: &[[f64; 3]; 3]| {
            matrix.map(|row| {
                let sum: f64 = row.iter().zip(rgb).map(|(part, value)| part * value).sum();
                sum.clamp(0.0, 1.0)
            })
        };
        let all = DICHROMATS.iter().map(through);
        std::iter::once(rgb).chain(all).map(lab).collect()
    }

    /// Returns the smallest difference between two colours (CIE 1976) over the four kinds of vision. A difference of
    /// 2.3 is just noticeable.
    fn least(one: Color, other: Color) -> f64 {
        let distance = |a: &[f64; 3], b: &[f64; 3]| {
            let squares = a.iter().zip(b).map(|(a, b)| (a - b).powi(2));
            squares.sum::<f64>().sqrt()
        };
        let pairs = seen(one).into_iter().zip(seen(other));
        pairs.map(|(a, b)| distance(&a, &b)).fold(f64::MAX, f64::min)
    }

    /// Returns groups of colours. Colours of the same group may appear next to each other, so they must be easy to tell
    /// apart.
    fn families() -> [Vec<Pair>; 3] {
        let with_waiting = |pairs: &[Pair]| pairs.iter().copied().chain([WAITING]).collect();
        [
            with_waiting(&MODULES),
            with_waiting(&HEATS),
            with_waiting(&TRENDS),
        ]
    }

    #[test]
    fn what_means_something_else_looks_different_to_everybody() {
        type Of = fn(&Tone) -> Color;
        let kinds: [(&str, f64, f64, Of); 2] = [
            ("truecolor", 9.0, 4.5, |tone| tone.rgb),
            ("256 colours", 9.0, 3.0, |tone| Color::Indexed(tone.indexed)),
        ];
        for (kind, between, within, of) in kinds {
            for family in families() {
                for (at, pair) in family.iter().enumerate() {
                    let tones = least(of(&pair[0]), of(&pair[1]));
                    assert!(
                        tones >= within,
                        "{kind}: the tones of {pair:?} differ by {tones:.1}"
                    );
                    for other in &family[..at] {
                        for (one, other) in pair
                            .iter()
                            .flat_map(|one| other.iter().map(move |other| (one, other)))
                        {
                            let seen = least(of(one), of(other));
                            assert!(
                                seen >= between,
                                "{kind}: {one:?} and {other:?} differ by {seen:.1}"
                            );
                        }
                    }
                }
            }
        }
    }

    /// The sixteen default colours of xterm, the Linux console, GNOME Terminal and Windows Terminal.
    const TERMINALS: [[u32; 16]; 4] = [
        [
            0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5, 0x7f7f7f,
            0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff,
        ],
        [
            0x000000, 0xaa0000, 0x00aa00, 0xaa5500, 0x0000aa, 0xaa00aa, 0x00aaaa, 0xaaaaaa, 0x555555,
            0xff5555, 0x55ff55, 0xffff55, 0x5555ff, 0xff55ff, 0x55ffff, 0xffffff,
        ],
        [
            0x2e3436, 0xcc0000, 0x4e9a06, 0xc4a000, 0x3465a4, 0x75507b, 0x06989a, 0xd3d7cf, 0x555753,
            0xef2929, 0x8ae234, 0xfce94f, 0x729fcf, 0xad7fa8, 0x34e2e2, 0xeeeeec,
        ],
        [
            0x0c0c0c, 0xc50f1f, 0x13a10e, 0xc19c00, 0x0037da, 0x881798, 0x3a96dd, 0xcccccc, 0x767676,
            0xe74856, 0x16c60c, 0xf9f1a5, 0x3b78ff, 0xb4009e, 0x61d6d6, 0xf2f2f2,
        ],
    ];

    #[test]
    fn of_sixteen_colours_those_that_differ_do_so_for_everybody() {
        let number = |colour: Color| {
            let place = SIXTEEN.iter().position(|(one, _)| *one == colour);
            place.expect("one of the sixteen")
        };
        // Modules share four pairs of colours, whereas each heat and each trend has its own pair.
        for (family, different) in families().iter().zip([4, HEATS.len(), TRENDS.len()]) {
            let mut seen: Vec<[Color; 2]> = Vec::new();
            for pair in family {
                let pair = pair.map(|tone| tone.ansi);
                if seen.contains(&pair) {
                    continue;
                }
                for (one, other) in seen
                    .iter()
                    .flatten()
                    .flat_map(|one| pair.map(|other| (*one, other)))
                {
                    for terminal in TERMINALS {
                        let [one, other] =
                            [one, other].map(|colour| Color::from_u32(terminal[number(colour)]));
                        let seen = least(one, other);
                        assert!(seen >= 9.0, "{one:?} and {other:?} differ by {seen:.1}");
                    }
                }
                seen.push(pair);
            }
            assert_eq!(seen.len(), different + 1, "with that of waiting");
        }
    }

    #[test]
    fn text_can_be_read_on_every_ground() {
        for family in families() {
            for (at, pair) in family.iter().enumerate() {
                let ink = if at + 1 == family.len() { LIGHT_INK } else { INK };
                for tone in pair {
                    for colour in [tone.rgb, Color::Indexed(tone.indexed)] {
                        let contrast = contrast(ink, colour);
                        assert!(contrast >= 4.5, "{tone:?}, {colour:?}: {contrast:.1}");
                    }
                }
            }
        }
        for (faded, ink) in FADED.iter().zip(FAINT_INK) {
            for tone in faded {
                let contrast = contrast(ink, tone.rgb);
                assert!(contrast >= 4.5, "{tone:?}: {contrast:.1}");
            }
        }
    }

    #[test]
    fn every_tone_is_found_again_for_poorer_terminals() {
        for tone in tones() {
            let found = tones().filter(|other| other.rgb == tone.rgb).count();
            assert_eq!(found, 1, "{tone:?}");
            assert_eq!(indexed(tone.rgb), Some(Color::Indexed(tone.indexed)));
            assert_eq!(ansi(tone.rgb), Some(tone.ansi));
        }
        assert_eq!(indexed(INK), None);
    }
}
