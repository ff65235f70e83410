//! The command line.

use std::time::Duration;

use crate::cases::{CASES, Case};

const USAGE: &str =
    "usage: accuracy [SECONDS] | accuracy --json [--seconds S] [--case NAME] [cost | share | errors]";

/// The words before a case that make this the program that is recorded.
pub(crate) const PLAIN: &str = "plain";
pub(crate) const SCOPED: &str = "scoped";

/// What the program does.
#[derive(Debug)]
pub(crate) enum Task<'a> {
    /// Prints the table; each mode has so long.
    Table(Duration),
    /// Runs the plain copy of a case for so many seconds, for the process that records it.
    Plain(&'static Case, &'a str),
    /// Runs the copy with scopes, in a mode, for so many seconds.
    Scoped(&'static Case, &'a str, &'a str),
    /// Compares with the truth.
    Judge(Options),
}

/// What is compared with the truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Cost,
    Share,
    Errors,
}

/// What to compare, and for how long.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) parts: &'static [Part],
    /// The time of each part's unit; `None` for the part's own.
    pub(crate) time: Option<Duration>,
    /// The case; `None` for all.
    case: Option<&'static str>,
}

impl<'a> Task<'a> {
    pub(crate) fn new(words: &[&'a str]) -> Result<Self, String> {
        match words {
            [] => Ok(Self::Table(Duration::from_secs(10))),
            [PLAIN, case, seconds] => Ok(Self::Plain(named(case)?, seconds)),
            [SCOPED, case, mode, seconds] => Ok(Self::Scoped(named(case)?, mode, seconds)),
            ["--json", words @ ..] => Options::new(words).map(Self::Judge),
            [seconds] => time(seconds).map(Self::Table),
            _ => Err(format!("what is {}? {USAGE}", words.join(" "))),
        }
    }
}

impl Options {
    fn new(words: &[&str]) -> Result<Self, String> {
        let mut options = Self {
            parts: &[Part::Cost, Part::Share],
            time: None,
            case: None,
        };
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value; {USAGE}"));
            match word {
                "--seconds" => options.time = Some(time(value()?)?),
                "--case" => options.case = Some(named(value()?)?.name),
                "cost" => options.parts = &[Part::Cost],
                "share" => options.parts = &[Part::Share],
                "errors" => options.parts = &[Part::Errors],
                _ => return Err(format!("what is {word}? {USAGE}")),
            }
        }
        Ok(options)
    }

    /// Returns whether a case is to be compared.
    pub(crate) fn chose(&self, case: &Case) -> bool {
        self.case.is_none_or(|chosen| chosen == case.name)
    }
}

fn time(word: &str) -> Result<Duration, String> {
    match word.parse() {
        Ok(seconds) if (0.1..=3600.0).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err(format!("{word}: wanted 0.1 to 3600 seconds")),
    }
}

fn named(name: &str) -> Result<&'static Case, String> {
    let names: Vec<&str> = CASES.iter().map(|case| case.name).collect();
    let case = CASES.iter().find(|case| case.name == name);
    case.ok_or_else(|| format!("no case {name}; there are: {}", names.join(", ")))
}
