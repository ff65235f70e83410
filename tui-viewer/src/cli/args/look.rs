//! Arguments that control how the screen looks.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

/// How the screen looks.
#[derive(Args, Clone, Debug)]
pub struct LookArgs {
    /// When to use colours; with auto, the terminal and NO_COLOR decide.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub color: ColorChoice,
    /// Colour theme: the terminal's own sixteen colours, colours for a light background, colours for every kind of
    /// colour vision, or no colours. Default: TICKSCOPE_THEME, or else the terminal's own sixteen colours.
    #[arg(long, value_parser = theme(), value_name = "NAME")]
    pub theme: Option<ThemeKind>,
    /// Use only ASCII characters; the default if the locale is not UTF-8.
    #[arg(long)]
    pub ascii: bool,
    /// Capture the mouse at the start, for clicks and the wheel; M releases it.
    #[arg(long, overrides_with = "no_mouse")]
    pub mouse: bool,
    /// Do not capture the mouse at the start (the default); M captures it.
    #[arg(long, overrides_with = "mouse")]
    pub no_mouse: bool,
    /// Panic after this number of frames, to test that the terminal is restored.
    #[arg(long, hide = true)]
    pub panic_after: Option<u64>,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// The terminal and NO_COLOR decide.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Alias for the default theme.
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
    /// All themes, in the order in which the theme key cycles through them.
    pub const ALL: [Self; 4] = [Self::Sixteen, Self::Light, Self::Cvd, Self::Mono];

    /// Returns the next theme.
    pub(crate) fn next(self) -> Self {
        Self::ALL[(self as usize + 1) % Self::ALL.len()]
    }

    /// Returns the name by which the theme is chosen on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Sixteen => "sixteen",
            Self::Light => "light",
            Self::Cvd => "cvd",
            Self::Mono => "mono",
        }
    }

    /// Returns the theme with this command-line name. `default` is an alias for the first theme.
    pub fn named(word: &str) -> Option<Self> {
        if word == DEFAULT {
            return Some(Self::default());
        }
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// Returns the description of the theme that is shown when the theme key selects it.
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
