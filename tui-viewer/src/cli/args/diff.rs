//! Arguments of `tickscope diff`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::builder::TypedValueParser;
use clap::{Args, ValueEnum};
use tickscope_analysis::compare::gate::Condition;
use tickscope_analysis::measure::Measure;
use tickscope_programs::moment::When;
use tickscope_report::diff::Tables;

use crate::cli::args::ending;
use crate::cli::args::moment::MomentArgs;
use crate::cli::args::report::share;
use crate::cli::args::values::{measure, one_of};

/// Option that `--` is rewritten to, so that clap still accepts other options after it.
const AFTER: &str = "--after";

/// Options that can be given for each side, and the names they are rewritten to when they come after `--`.
const OF_A_SIDE: [(&str, &str); 2] = [("--from", "--from-after"), ("--to", "--to-after")];

/// Text after the options in `tickscope diff --help`.
const GATES: &str = "\
Gates:
  calls > 1%         a function is called more often, by more than 1 %. Counts have no noise: one
                     run a side is enough. If the runs of a side do not agree, there is noise, and
                     five runs a side are judged as times are. A new function has grown by more
                     than any percentage; a function that is gone has not grown.
  calls > 0          by any number of calls
  time > 10%         the whole program, or a function with 1 % of its time or more, takes longer
                     with all it calls, by more than 10 %; time > 2ms: by more than that
  self > 10%         the same for the time in a function itself
  p99 > 25%          for the latency that 99 of 100 calls did not exceed; max > 2ms: longest call
  waiting > 10%      the same for the time off the CPU in which threads could not run;
  working > 10%      for the time on the CPU. Both need programs that measure waiting
  allocations > 0    the whole program, or a function with all it calls, allocates more often;
  bytes > 1%         or more bytes. Both are counts, if the program counts them
  calls(parse) > 0   for one function, by its name or more of its path; for times also a small one
  >= instead of > also fails at exactly the limit.

Percentiles and longest calls lie somewhere in a bucket of a histogram, which is up to 12.5 % wide.
They fail if it is certain that they have grown by more: p99 > 10% fails from +25 % on.

Times are judged by a rank test (Mann and Whitney), over five runs a side or more: whether the
runs after are slower than the runs before, lengthened by the percentage. The level is 5 % for all
rows together (Holm). Five runs can tell twelve rows apart at that level; with more rows, each run
after must be slower than each lengthened run before. Take the runs before and after in turns: a
machine that gets busy in between makes a whole side slower.

A TARGET is a file (.tks, .html, a ring) or a program, by name or pid, of which a new
snapshot is taken. With several runs a side, times are medians; calls are exact if the runs of a
side agree, else medians. ~ marks such medians, and times that are estimates. With --per NAME each
run is divided by its calls of NAME, so that runs of different length can be compared; a function
that is never called inside NAME, and equally often in all runs, stays per run.

--from and --to take a part of each recording: 10s after its beginning, -1m before its end,
14:02:11. They apply to both sides. Given before -- and again after it, they apply to one side
each: the first minute of a recording against its last is
  tickscope diff run.tks --to 1m -- run.tks --from -1m

Exit codes: 0 compared, and no gate failed; 1 failed; 2 misuse, no such target, or too few runs
for a gate; 3 a gate failed, with the reason on standard error.

Examples:
  tickscope diff before.tks after.tks
  tickscope diff before.tks app                   with the running program
  tickscope diff a*.tks -- b*.tks --per frame     several runs a side, numbers per call of frame
  tickscope diff a*.tks -- b*.tks --from 10s      without the first ten seconds
  tickscope diff a*.tks -- b*.tks --fail-if 'calls > 1%' --fail-if 'time > 10%' -f markdown";

/// What to compare, and what must not grow.
#[derive(Args, Clone, Debug, Default)]
#[command(
    after_long_help = GATES,
    override_usage = "tickscope diff [OPTIONS] BEFORE AFTER\n       tickscope diff [OPTIONS] BEFORE... -- AFTER... [OPTIONS]"
)]
pub struct DiffArgs {
    /// Runs before the change: names, process ids or files. Without --, give exactly two: the run before and the run after.
    #[arg(required = true, value_name = "TARGET")]
    pub before: Vec<String>,
    /// Runs after the change. A -- on the command line is rewritten to this option.
    #[arg(long, num_args = 1.., value_name = "TARGET", hide = true)]
    pub after: Vec<String>,
    /// Print numbers per call of this function or scope.
    #[arg(long, value_name = "NAME")]
    pub per: Option<String>,
    /// Compare only what happened from this time on: 10s (after the start of the recording), -1m (before its end), 14:02:11.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub from: Option<When>,
    /// Compare only what happened up to this time. If --from or --to is given on both sides of --, each applies to its own side.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub to: Option<When>,
    /// The --from that was given after --.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, hide = true)]
    pub from_after: Option<When>,
    /// The --to that was given after --.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, hide = true)]
    pub to_after: Option<When>,
    /// Exit with code 3 if something has grown beyond this limit: 'calls > 1%', 'time > 10%'. May be given several times.
    #[arg(long, value_name = "CONDITION")]
    pub fail_if: Vec<Condition>,
    /// Measure for the total and self values. Default: working, or time if waits were not measured. json contains all measures.
    #[arg(long, value_name = "MEASURE", value_parser = measure())]
    pub by: Option<Measure>,
    /// Output format. Default: determined by the extension of FILE, or else text.
    #[arg(short, long, value_enum)]
    pub format: Option<DiffFormat>,
    /// Which tables to print. Default: all tables; in markdown only functions.
    #[arg(long, value_parser = view(), value_name = "VIEW")]
    pub view: Option<Tables>,
    /// Hide rows whose calls have not changed if their time has changed by less than this share of the whole program's
    /// time. Default: 1%. json contains all rows.
    #[arg(long, value_name = "PERCENT", value_parser = share)]
    pub min_share: Option<f64>,
    /// Create this file and write to it instead of standard output, completely or not at all. - means standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Overwrite the file if it exists.
    #[arg(long, requires = "output")]
    pub force: bool,
    /// If no program with the given name is running, use the most recent run that has ended.
    #[arg(long)]
    pub ended: bool,
    /// Search for programs only in this directory. Default: TICKSCOPE_DIR, or else /dev/shm/tickscope-UID and
    /// /tmp/tickscope-UID.
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

/// Output formats of `tickscope diff`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum DiffFormat {
    /// For reading.
    #[default]
    Text,
    /// For programs.
    Json,
    /// For pull requests.
    Markdown,
    /// A page for a browser.
    Html,
}

fn view() -> impl TypedValueParser<Value = Tables> {
    one_of([
        ("functions", Tables::Functions, "By function"),
        ("paths", Tables::Paths, "By path in the call tree"),
    ])
}

impl DiffArgs {
    /// Returns the output format: the one given with `--format`, otherwise the one implied by the file extension, otherwise
    /// text.
    pub fn form(&self) -> DiffFormat {
        let by_ending = || self.output.as_deref().and_then(DiffFormat::of_file);
        self.format.or_else(by_ending).unwrap_or_default()
    }

    /// Checks that the output format is known, either from `--format` or from the file extension.
    ///
    /// # Errors
    /// The file extension is unknown, and `--format` is not given. The message lists the known extensions and mentions `-f`.
    pub fn check_file(&self) -> Result<(), String> {
        let file = self.output.as_deref();
        let is_known = self.format.is_some() || file.and_then(DiffFormat::of_file).is_some();
        ending::check(file, is_known, ".txt .json .md .html")
    }

    /// Returns the time spans to compare: first for the runs before the change, then for the runs after it.
    pub fn moments(&self) -> (MomentArgs, MomentArgs) {
        let of = |from: Option<When>, to: Option<When>| MomentArgs {
            from,
            to,
            ..MomentArgs::default()
        };
        let before = of(self.from, self.to);
        let after = of(self.from_after, self.to_after);
        match (before.is_newest(), after.is_newest()) {
            (false, false) => (before, after),
            (false, true) => (before.clone(), before),
            (true, _) => (after.clone(), after),
        }
    }

    /// Returns the runs before the change, and the runs after it.
    ///
    /// # Errors
    /// Only one run is given, or more than two without a `--` between the sides.
    pub fn sides(&self) -> Result<(&[String], &[String]), String> {
        match (&self.before[..], &self.after[..]) {
            ([before, after], []) => Ok((std::slice::from_ref(before), std::slice::from_ref(after))),
            ([_], []) => Err("one run cannot be compared; wanted tickscope diff BEFORE AFTER".into()),
            (several, []) => Err(format!(
                "which of the {} are before? put -- between the sides: tickscope diff BEFORE... -- AFTER...",
                several.len()
            )),
            (before, after) => Ok((before, after)),
        }
    }
}

impl DiffFormat {
    /// Returns the format for a file extension, or `None` if the extension is unknown.
    fn of_file(file: &Path) -> Option<Self> {
        match file.extension()?.to_string_lossy().to_lowercase().as_str() {
            "txt" => Some(Self::Text),
            "json" => Some(Self::Json),
            "md" => Some(Self::Markdown),
            "html" => Some(Self::Html),
            _ => None,
        }
    }
}

/// Replaces the first `--` with [`AFTER`], because clap treats every word after `--` as a target, even options.
/// After it, `--from` and `--to` are renamed, so that they apply to the second side only.
pub(crate) fn with_option_for_dashes(mut words: Vec<OsString>) -> Vec<OsString> {
    let Some(at) = words.iter().position(|word| word == "--") else {
        return words;
    };
    words[at] = AFTER.into();
    for word in &mut words[at + 1..] {
        let renamed = OF_A_SIDE.iter().find_map(|(option, of_after)| {
            let value = word.to_str()?.strip_prefix(option)?;
            (value.is_empty() || value.starts_with('=')).then(|| format!("{of_after}{value}"))
        });
        if let Some(renamed) = renamed {
            *word = renamed.into();
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::Command;
    use crate::cli::parse;

    fn parsed(line: &str) -> DiffArgs {
        match parse::parse(line.split(' ').map(OsString::from)).command {
            Some(Command::Diff(args)) => *args,
            other => panic!("{line} is {other:?}"),
        }
    }

    #[test]
    fn two_are_before_and_after_and_dashes_stand_between_more() {
        let of = |line| {
            let args = parsed(line);
            args.sides()
                .map(|(before, after)| (before.join(","), after.join(",")))
        };
        assert_eq!(of("tickscope diff a b"), Ok(("a".into(), "b".into())));
        assert_eq!(of("tickscope diff a b -- c"), Ok(("a,b".into(), "c".into())));
        assert_eq!(of("tickscope diff a -- b c"), Ok(("a".into(), "b,c".into())));
    }

    #[test]
    fn options_may_stand_on_both_sides() {
        for line in [
            "tickscope diff --per frame --fail-if calls>1% a -- b c",
            "tickscope diff a -- b c --per frame --fail-if calls>1%",
            "tickscope diff a --per frame -- b c --fail-if calls>1%",
            "tickscope --per frame diff a -- b c --fail-if calls>1%",
        ] {
            let args = parsed(line);
            assert_eq!(args.per.as_deref(), Some("frame"), "{line}");
            assert_eq!((args.before.len(), args.after.len()), (1, 2), "{line}");
            assert_eq!(args.fail_if[0].to_string(), "calls>1%");
        }
        let run = parse::parse("tickscope run diff a -- b".split(' ').map(OsString::from));
        let Some(Command::Run { command, .. }) = run.command else {
            panic!("{run:?}")
        };
        assert_eq!(command, ["diff", "a", "--", "b"]);
    }

    #[test]
    fn a_part_is_of_both_sides_or_of_a_side_each() {
        let of = |line: &str| {
            let text = |when: Option<When>| when.map_or("-".into(), |when| when.to_string());
            let (before, after) = parsed(line).moments();
            [before.from, before.to, after.from, after.to].map(text).join(" ")
        };
        assert_eq!(of("tickscope diff a b"), "- - - -");
        for both in [
            "tickscope diff a b --from 10s --to -5s",
            "tickscope diff a --from 10s --to -5s -- b",
            "tickscope diff a -- b --from 10s --to=-5s",
            "tickscope --from 10s --to -5s diff a -- b",
        ] {
            assert_eq!(of(both), "10s -5s 10s -5s", "{both}");
        }
        assert_eq!(of("tickscope diff a --to 1m -- a --from -1m"), "- 60s -60s -");
    }

    #[test]
    fn a_files_name_says_the_form() {
        assert_eq!(parsed("tickscope diff a b -o c.md").form(), DiffFormat::Markdown);
        assert_eq!(
            parsed("tickscope diff a b -o c.md -f json").form(),
            DiffFormat::Json
        );
        assert_eq!(parsed("tickscope diff a b -o c").form(), DiffFormat::Text);
    }
}
