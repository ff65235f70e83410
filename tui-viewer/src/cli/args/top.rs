//! Arguments of `tickscope top`.

use clap::Args;
use tickscope_analysis::measure::Measure;

use crate::cli::args::moment::MomentArgs;
use crate::cli::args::shared::TargetArgs;
use crate::cli::args::values::measure;

/// Text after the options in `tickscope top --help`.
const EXAMPLES: &str = "\
A single word of digits is N; give a process id after -p, or after N. The default is ten functions, or with --json
the number that fits into 2 kB.

Examples:
  tickscope top                      of the running program
  tickscope top 5 order-book         the first five of a named program
  tickscope top --window 10s         of the last ten seconds
  tickscope top --by allocations     the functions that allocate most often
  tickscope top --json run.tks       of a recording, for scripts: unit, errors, how many there are, what to do next";

/// How many functions to show, of which program, and in which order.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub struct TopArgs {
    /// Number of functions, 1 to 10000. Default: 10, or with --json as many as fit into 2 kB.
    #[arg(value_name = "N")]
    pub count: Option<String>,
    /// Which program.
    #[command(flatten)]
    pub target: TargetArgs,
    /// Measure for shares and sorting. Default: working, or time if waits were not measured.
    #[arg(long, value_name = "MEASURE", value_parser = measure())]
    pub by: Option<Measure>,
    /// Moment or span of time to report on.
    #[command(flatten)]
    pub moment: MomentArgs,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

impl TopArgs {
    /// Returns the number of functions, if it is given, and the target.
    ///
    /// # Errors
    /// The number is not between 1 and 10000, the first of two words is not a number, or both a word and `-p` name a program.
    pub fn understood(&self) -> Result<(Option<usize>, TargetArgs), String> {
        let Some(word) = &self.count else {
            return Ok((None, self.target.clone()));
        };
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number && self.target.target.is_none() {
            if self.target.pid.is_some() {
                return Err(format!("{word} and -p: one program is shown at a time"));
            }
            let target = TargetArgs {
                target: Some(word.clone()),
                ..self.target.clone()
            };
            return Ok((None, target));
        }
        match word.parse() {
            Ok(count @ 1..=10_000) => Ok((Some(count), self.target.clone())),
            _ => Err(format!(
                "{word}: wanted a number of functions, 1 to 10000; give a process id after -p"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::cli::args::Command;
    use crate::cli::parse;

    fn parsed(line: &str) -> Result<(Option<usize>, Option<String>), String> {
        match parse::parse(line.split(' ').map(Into::into)).command {
            Some(Command::Top(args)) => args.understood().map(|(count, target)| (count, target.target)),
            other => panic!("{line} is {other:?}"),
        }
    }

    #[test]
    fn a_number_a_target_or_both() {
        for (line, count, target) in [
            ("tickscope top", None, None),
            ("tickscope top 5", Some(5), None),
            ("tickscope top order-book", None, Some("order-book")),
            ("tickscope top 5 4711", Some(5), Some("4711")),
            ("tickscope top run.tks --by calls", None, Some("run.tks")),
        ] {
            assert_eq!(parsed(line), Ok((count, target.map(String::from))), "{line}");
        }
        for (line, why) in [
            ("tickscope top 0", "1 to 10000"),
            ("tickscope top 471100", "after -p"),
            ("tickscope top app other", "app: wanted a number"),
            ("tickscope top app -p 7", "app and -p"),
        ] {
            assert!(parsed(line).unwrap_err().contains(why), "{line}");
        }
    }
}
