//! The options of the command line.

use std::time::Duration;

pub(crate) const USAGE: &str = "usage: soak [--minutes N] [--viewers N] [--hz N] [--seed N]";

/// The options of a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Options {
    /// How long the load runs.
    pub(crate) length: Duration,
    /// The viewers that stay from beginning to end.
    pub(crate) viewers: usize,
    /// The records a second of the program that is watched.
    pub(crate) hz: u64,
    /// The seed of all random decisions.
    pub(crate) seed: u64,
}

impl Options {
    /// Reads the arguments. `seed` is used if they contain none.
    ///
    /// # Errors
    /// What is wrong with them.
    pub(crate) fn new(mut words: impl Iterator<Item = String>, seed: u64) -> Result<Self, String> {
        let mut options = Self {
            length: Duration::from_secs(60),
            viewers: 4,
            hz: 50,
            seed,
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value; {USAGE}"));
            match word.as_str() {
                "--minutes" => {
                    let minutes = number(&word, &value()?, 0.05, 10_000.0)?;
                    options.length = Duration::from_secs_f64(60.0 * minutes);
                }
                "--viewers" => options.viewers = whole(&word, &value()?, 0, 8)? as usize,
                // No program publishes more often than every 10 ms.
                "--hz" => options.hz = whole(&word, &value()?, 1, 100)?,
                "--seed" => options.seed = whole(&word, &value()?, 1, u64::MAX)?,
                _ => return Err(format!("what is {word}? {USAGE}")),
            }
        }
        Ok(options)
    }
}

fn number(option: &str, text: &str, least: f64, most: f64) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or(format!("{option} {text}: wanted {least} to {most}"))
}

fn whole(option: &str, text: &str, least: u64, most: u64) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or(format!("{option} {text}: wanted {least} to {most}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(line: &str) -> Result<Options, String> {
        Options::new(line.split_whitespace().map(str::to_owned), 7)
    }

    #[test]
    fn what_is_said_holds_and_what_is_not_understood_is_named() {
        let said = options("--minutes 0.1 --viewers 2 --hz 20 --seed 9");
        let wanted = Options {
            length: Duration::from_secs(6),
            viewers: 2,
            hz: 20,
            seed: 9,
        };
        assert_eq!(said, Ok(wanted));
        assert_eq!(
            options("").map(|options| (options.viewers, options.hz)),
            Ok((4, 50))
        );
        for (line, why) in [
            ("--minutes soon", "--minutes soon: wanted 0.05 to 10000"),
            ("--viewers 9", "--viewers 9: wanted 0 to 8"),
            ("--hz", "--hz needs a value"),
            ("--fast", "what is --fast?"),
        ] {
            let error = options(line);
            assert!(
                error.as_ref().is_err_and(|error| error.starts_with(why)),
                "{error:?}"
            );
        }
    }
}
