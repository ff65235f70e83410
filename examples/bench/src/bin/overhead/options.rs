//! The options of the command line.

use crate::cases::{CASES, Case};

pub(crate) const USAGE: &str =
    "usage: overhead [--json | --markdown | --harm] [--case NAME] [--threads N] [--no-instructions] [--long]";

/// The form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    /// One object a line, and only rows.
    Json,
    /// Tables for docs/design/benchmarks.md.
    Markdown,
}

#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) form: Form,
    /// The case; `None` for all.
    pub(crate) case: Option<&'static Case>,
    /// The number of threads; `None` for one and two.
    pub(crate) threads: Option<usize>,
    /// Whether to count instructions. `--json` never does.
    pub(crate) instructions: bool,
    /// Whether memory is watched for a minute; for `--harm`, whether there are more rounds and settings.
    pub(crate) long: bool,
    /// Whether to measure only what the slowest operations lose.
    pub(crate) harm: bool,
}

impl Options {
    pub(crate) fn new(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self {
            form: Form::Text,
            case: None,
            threads: None,
            instructions: true,
            long: false,
            harm: false,
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value; {USAGE}"));
            match word.as_str() {
                "--json" => options.form = Form::Json,
                "--markdown" => options.form = Form::Markdown,
                "--no-instructions" => options.instructions = false,
                "--harm" => options.harm = true,
                "--long" => options.long = true,
                "--case" => {
                    let name = value()?;
                    let names: Vec<&str> = CASES.iter().map(|case| case.name).collect();
                    let case = Case::named(&name);
                    options.case =
                        Some(case.ok_or(format!("no case {name}; there are: {}", names.join(", ")))?);
                }
                "--threads" => {
                    let number = value()?;
                    let threads = number.parse().ok().filter(|threads| (1..=64).contains(threads));
                    options.threads = Some(threads.ok_or(format!("--threads {number}: wanted 1 to 64"))?);
                }
                _ => return Err(format!("what is {word}? {USAGE}")),
            }
        }
        Ok(options)
    }

    pub(crate) fn cases(&self) -> impl Iterator<Item = &'static Case> {
        let chosen = self.case.map(|case| case.name);
        CASES
            .iter()
            .filter(move |case| chosen.is_none_or(|chosen| chosen == case.name))
    }

    pub(crate) fn thread_counts(&self) -> Vec<usize> {
        self.threads.map_or(vec![1, 2], |threads| vec![threads])
    }
}
