//! What texts mean, and the themes, which decide how each meaning looks. The theme is chosen with an option or, without
//! one, by an environment variable.

use tickscope_programs::status::Mark;

use crate::cli::args::look::ColorChoice;
pub use crate::cli::args::look::ThemeKind;
pub(crate) use crate::ui::theme::ground::{Ground, Heat};
pub(crate) use crate::ui::theme::palette::{indexed, sixteen};

mod ground;
mod palette;

/// What a text means. The theme decides how it looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    Plain,
    /// Text that should catch the eye.
    Strong,
    /// Text that may be skipped, such as labels and hints.
    Quiet,
    /// Dividing lines.
    Rule,
    /// The selected row.
    Selected,
    /// A share of 25 % or more.
    Hottest,
    /// A share of 5 % or more.
    Warm,
    /// A share below 1 %.
    Small,
    /// Title of the column by which rows are sorted.
    Sorted,
    /// A match of the search.
    Match,
    /// All is well.
    Good,
    /// Time off the CPU, and threads that wait.
    Waiting,
    /// A state that is unusual but not wrong.
    Notable,
    /// State that is over, or wrong.
    Ended,
    /// Something that has ended or is wrong.
    Alarm,
}

impl Meaning {
    /// Returns the meaning of a program's state.
    pub(crate) fn of(mark: Mark) -> Self {
        match mark {
            Mark::Live => Self::Good,
            Mark::Frozen | Mark::Stale => Self::Notable,
            Mark::Ended => Self::Ended,
            Mark::Kept | Mark::Waiting => Self::Strong,
        }
    }
}

/// Environment variable that selects the theme if no option does.
const VARIABLE: &str = "TICKSCOPE_THEME";

/// Returns the theme selected by the option or, without one, by the environment variable.
///
/// # Errors
/// The variable does not name a theme.
pub(crate) fn chosen(
    option: Option<ThemeKind>,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Option<ThemeKind>, String> {
    let word = variable(VARIABLE).filter(|word| !word.is_empty());
    match (option, word) {
        (Some(kind), _) => Ok(Some(kind)),
        (None, None) => Ok(None),
        (None, Some(word)) => ThemeKind::named(&word).map(Some).ok_or_else(|| {
            let words = ThemeKind::ALL.map(ThemeKind::word).join(", ");
            format!("{VARIABLE} is {word:?}: no such theme; there are {words}")
        }),
    }
}

/// Returns the theme to use: Mono if colours are off, otherwise `wish` or the default theme. Whether colours are on is
/// decided by `--color`, then NO_COLOR, then FORCE_COLOR, then the type of terminal.
pub(crate) fn decide(
    choice: ColorChoice,
    wish: Option<ThemeKind>,
    variable: impl Fn(&str) -> Option<String>,
) -> ThemeKind {
    let set = |name| variable(name).is_some_and(|value| !value.is_empty());
    let colours = match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto if set("NO_COLOR") => false,
        ColorChoice::Auto if set("FORCE_COLOR") => true,
        ColorChoice::Auto => match variable("TERM").as_deref() {
            Some("dumb") => false,
            Some(term) if term.starts_with("vt1") => set("COLORTERM"),
            Some(_) | None => true,
        },
    };
    if colours {
        wish.unwrap_or_default()
    } else {
        ThemeKind::Mono
    }
}

/// Number of colours that a terminal supports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Colours {
    /// The sixteen basic colours, as on very old terminals and on text consoles.
    Sixteen,
    /// 256 colours, as on nearly all terminals.
    #[default]
    Indexed,
    /// All 24-bit colours.
    All,
}

/// Returns how many colours the terminal supports. `COLORTERM` identifies most of the terminals with 24-bit colours,
/// and `TERM` identifies the rest of them as well as the few terminals with only sixteen.
pub(crate) fn colours(variable: impl Fn(&str) -> Option<String>) -> Colours {
    let all = |value: String| value == "truecolor" || value == "24bit";
    if variable("COLORTERM").is_some_and(all) {
        return Colours::All;
    }
    match variable("TERM").as_deref() {
        Some(term) if term.ends_with("-direct") => Colours::All,
        Some("linux" | "ansi" | "cygwin") => Colours::Sixteen,
        Some(term) if term.ends_with("-16color") || term.starts_with("vt") => Colours::Sixteen,
        Some(_) | None => Colours::Indexed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Environment = &'static [(&'static str, &'static str)];

    /// Returns a function that looks up variables in `set`.
    fn with<'a>(set: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
        move |name| {
            set.iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| value.to_string())
        }
    }

    #[test]
    fn colour_is_decided_in_order() {
        use ColorChoice::{Always, Auto, Never};
        use ThemeKind::{Mono, Sixteen};
        let table: [(ColorChoice, Environment, ThemeKind); 10] = [
            (Auto, &[("TERM", "xterm")], Sixteen),
            (Auto, &[("NO_COLOR", "")], Sixteen),
            (Auto, &[("NO_COLOR", "1"), ("FORCE_COLOR", "1")], Mono),
            (Auto, &[("TERM", "dumb")], Mono),
            (Auto, &[("TERM", "dumb"), ("COLORTERM", "truecolor")], Mono),
            (Auto, &[("TERM", "vt100")], Mono),
            (Auto, &[("TERM", "vt100"), ("COLORTERM", "truecolor")], Sixteen),
            (Auto, &[("TERM", "dumb"), ("FORCE_COLOR", "1")], Sixteen),
            (Always, &[("NO_COLOR", "1")], Sixteen),
            (Never, &[("FORCE_COLOR", "1")], Mono),
        ];
        for (choice, environment, kind) in table {
            let decided = decide(choice, None, with(environment));
            assert_eq!(decided, kind, "{choice:?} {environment:?}");
        }
    }

    #[test]
    fn the_wished_theme_comes_where_there_are_colours() {
        let wish = Some(ThemeKind::Cvd);
        let no_color = [("NO_COLOR", "1")];
        assert_eq!(decide(ColorChoice::Auto, wish, with(&[])), ThemeKind::Cvd);
        assert_eq!(decide(ColorChoice::Auto, wish, with(&no_color)), ThemeKind::Mono);
        assert_eq!(decide(ColorChoice::Always, wish, with(&no_color)), ThemeKind::Cvd);
        assert_eq!(decide(ColorChoice::Never, wish, with(&[])), ThemeKind::Mono);
    }

    #[test]
    fn the_option_comes_before_the_variable() {
        let light = [("TICKSCOPE_THEME", "light")];
        assert_eq!(chosen(None, with(&light)), Ok(Some(ThemeKind::Light)));
        assert_eq!(
            chosen(Some(ThemeKind::Mono), with(&light)),
            Ok(Some(ThemeKind::Mono))
        );
        assert_eq!(chosen(None, with(&[("TICKSCOPE_THEME", "")])), Ok(None));
        let default = [("TICKSCOPE_THEME", "default")];
        assert_eq!(chosen(None, with(&default)), Ok(Some(ThemeKind::Sixteen)));
        assert_eq!(
            chosen(None, with(&[("TICKSCOPE_THEME", "pink")])),
            Err("TICKSCOPE_THEME is \"pink\": no such theme; there are sixteen, light, cvd, mono".into())
        );
    }

    #[test]
    fn terminals_say_how_many_colours_they_have() {
        use Colours::{All, Indexed, Sixteen};
        let table: [(Environment, Colours); 8] = [
            (&[("COLORTERM", "truecolor"), ("TERM", "linux")], All),
            (&[("COLORTERM", "24bit")], All),
            (&[("COLORTERM", "yes"), ("TERM", "xterm")], Indexed),
            (&[("TERM", "xterm-direct")], All),
            (&[("TERM", "screen-256color")], Indexed),
            (&[("TERM", "linux")], Sixteen),
            (&[("TERM", "xterm-16color")], Sixteen),
            (&[], Indexed),
        ];
        for (environment, wanted) in table {
            assert_eq!(colours(with(environment)), wanted, "{environment:?}");
        }
    }
}
