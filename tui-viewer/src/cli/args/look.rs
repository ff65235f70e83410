//! Arguments for the look of the screen.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

/// How the screen looks.
#[derive(Args, Clone, Debug)]
pub struct LookArgs {
    /// When to use colours: as the terminal and NO_COLOR say, or always, or never.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub color: ColorChoice,
    /// Which colours to use: the terminal's sixteen, for a light background, for every kind of colour vision, or none.
    /// Default: TICKSCOPE_THEME, or else the terminal's sixteen.
    #[arg(long, value_parser = theme(), value_name = "NAME")]
    pub theme: Option<ThemeKind>,
    /// Use only ASCII characters; the default if the locale is not UTF-8.
    #[arg(long)]
    pub ascii: bool,
    /// Take the mouse at the start, for clicks and the wheel; M gives it back.
    #[arg(long, overrides_with = "no_mouse")]
    pub mouse: bool,
    /// Leave the mouse to the terminal, as without --mouse; M takes it.
    #[arg(long, overrides_with = "mouse")]
    pub no_mouse: bool,
    /// Panic after this number of frames, to test that the terminal is restored.
    #[arg(long, hide = true)]
    pub panic_after: Option<u64>,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// As the terminal and NO_COLOR say.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Alternative word for the default theme.
const DEFAULT: &str = "default";

/// Sets of colours for the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ThemeKind {
    /// The terminal's own sixteen colours, for dark backgrounds.
    #[default]
    Sixteen,
    /// Dark colours, for light backgrounds.
    Light,
    /// The colours of Okabe and Ito, which are distinct in every kind of colour vision; for dark backgrounds.
    Cvd,
    /// No colours: bold, dim, underlined and reversed text replace them.
    Mono,
}

impl ThemeKind {
    /// All themes, in the order in which repeated presses of the theme key choose them.
    pub const ALL: [Self; 4] = [Self::Sixteen, Self::Light, Self::Cvd, Self::Mono];

    /// Returns the next theme.
    pub(crate) fn next(self) -> Self {
        Self::ALL[(self as usize + 1) % Self::ALL.len()]
    }

    /// Returns the word that chooses the theme on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Sixteen => "sixteen",
            Self::Light => "light",
            Self::Cvd => "cvd",
            Self::Mono => "mono",
        }
    }

    /// Returns the theme with this word; `default` is the first theme.
    pub fn named(word: &str) -> Option<Self> {
        if word == DEFAULT {
            return Some(Self::default());
        }
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// Returns the description of the theme for the notice that a key shows.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sixteen => "the terminal's sixteen colours",
            Self::Light => "for light backgrounds",
            Self::Cvd => "colours for every kind of colour vision",
            Self::Mono => "no colours",
        }
    }
}

pub(crate) fn theme() -> impl TypedValueParser<Value = ThemeKind> {
    let words = ThemeKind::ALL.into_iter().map(ThemeKind::word);
    PossibleValuesParser::new(std::iter::once(DEFAULT).chain(words))
        .map(|word| ThemeKind::named(&word).unwrap_or(ThemeKind::Sixteen))
}
