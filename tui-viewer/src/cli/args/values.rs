//! Readers of single arguments.

use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use tickscope_analysis::measure::Measure;
use tickscope_format::path::split_at;
use tickscope_format::pattern::Pattern;
use tickscope_format::snapshot::{Mode, Over};
use tickscope_report::form::Form;

pub(crate) fn pid(text: &str) -> Result<u32, &'static str> {
    text.parse()
        .map_err(|_| "wanted a process id, a number like 4711; give a name without -p")
}

// The parsers refuse unknown values before these closures look them up.

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

pub(crate) fn pattern(text: &str) -> Result<Pattern, String> {
    Pattern::typed(text).map_err(|_| {
        let found = match text.is_empty() {
            true => "nothing",
            false => "control characters",
        };
        format!("wanted a name or a pattern like parse, book::insert or alloc::*; found {found}")
    })
}

/// Reads the choice of slow calls: `tail`, `p99`, `p99.9`, `5ms`.
pub(crate) fn over(text: &str) -> Result<Over, String> {
    text.parse()
}

/// Reads patterns of functions, separated by commas, in the form in which they are passed on. A comma between generic
/// arguments is no separator, and becomes `*`.
pub(crate) fn function_patterns(text: &str) -> Result<String, String> {
    let mut words: Vec<String> = Vec::new();
    let mut rest = Some(text);
    while let Some(list) = rest {
        let (first, others) =
            split_at(list, ",").map_or((list, None), |(first, others)| (first, Some(others)));
        words.push(pattern(first.trim())?.as_str().replace(',', "*"));
        rest = others;
    }
    Ok(words.join(","))
}

/// Reads a share of the CPU time, `5%` or `5`, or `off` for no limit, in the form in which it is passed on.
pub(crate) fn budget(text: &str) -> Result<String, &'static str> {
    if text == "off" {
        return Ok(text.into());
    }
    let number: Option<f64> = text.strip_suffix('%').unwrap_or(text).trim().parse().ok();
    match number {
        Some(percent) if (0.1..=1000.0).contains(&percent) => Ok(format!("{percent}%")),
        _ => Err("wanted 0.1% to 1000%, like 5% or 2.5%, or off"),
    }
}

/// Reads a duration: `10` and `10s` are seconds, `500ms` milliseconds, `2m` minutes.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match &text[digits.len()..] {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err("wanted a duration like 10, 10s, 500ms, 2m".into()),
    };
    let number: f64 = digits
        .parse()
        .map_err(|_| "wanted a duration like 10, 10s, 500ms, 2m".to_string())?;
    Duration::try_from_secs_f64(number * factor)
        .map_err(|_| "out of range; wanted a duration like 10, 10s, 500ms, 2m".into())
}

/// Reads the time between two looks of an agent: 1s to 1h.
pub(crate) fn every(text: &str) -> Result<Duration, String> {
    let every = duration(text)?;
    let allowed = Duration::from_secs(1)..=Duration::from_secs(3600);
    match allowed.contains(&every) {
        true => Ok(every),
        false => Err("wanted 1s to 1h".into()),
    }
}
