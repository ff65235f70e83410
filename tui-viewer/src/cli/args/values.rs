//! Parsers for the values of individual arguments.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use tickscope_analysis::measure::Measure;
pub(crate) use tickscope_command::values::{duration, pattern};
use tickscope_format::snapshot::{Mode, Over};
use tickscope_report::form::Form;

pub(crate) fn pid(text: &str) -> Result<u32, &'static str> {
    text.parse()
        .map_err(|_| "wanted a process id, a number like 4711; give a name without -p")
}

// The parsers below reject unknown names before their closures run, so the fallback values in the closures are never
// used.

pub(crate) fn mode() -> impl TypedValueParser<Value = Mode> {
    PossibleValuesParser::new(Mode::ALL.map(Mode::as_str)).map(|name| Mode::named(&name).unwrap_or_default())
}

pub(crate) fn form() -> impl TypedValueParser<Value = Form> {
    let forms = Form::ALL.map(|form| PossibleValue::new(form.name()).help(form.description()));
    PossibleValuesParser::new(forms).map(|name| Form::named(&name).unwrap_or_default())
}

pub(crate) fn measure() -> impl TypedValueParser<Value = Measure> {
    PossibleValuesParser::new(Measure::ALL.map(Measure::name))
        .map(|name| Measure::named(&name).unwrap_or_default())
}

/// Parses one of the given words. Each tuple holds the word, its value and its description in the help.
pub(crate) fn one_of<T: Copy + Send + Sync + 'static, const N: usize>(
    all: [(&'static str, T, &'static str); N],
) -> impl TypedValueParser<Value = T> {
    let words = all.map(|(word, _, help)| PossibleValue::new(word).help(help));
    PossibleValuesParser::new(words).map(move |typed| {
        let found = all.iter().find(|(word, ..)| *word == typed);
        found.unwrap_or(&all[0]).1
    })
}

/// Parses the threshold for slow calls: `tail`, `p99`, `p99.9`, `5ms`.
pub(crate) fn over(text: &str) -> Result<Over, String> {
    text.parse()
}
