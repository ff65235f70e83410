//! Arguments of `tickscope report`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::TypedValueParser;
use tickscope_analysis::measure::{Dimension, Measure};
use tickscope_report::form::Form;
use tickscope_report::text::View;
use tickscope_report::unit::Unit;

use crate::cli::args::ending;
use crate::cli::args::moment::MomentArgs;
use crate::cli::args::shared::TargetArgs;
use crate::cli::args::values::{duration, form, measure, one_of};

/// Explanation of times, printed before the formats in `tickscope report --help`.
const TIMES: &str = "\
Times:
  --at, --from, --to and --window look back in a recording (tickscope record), or in the ring of a
  program, which holds some minutes in full, and an hour in steps of ten seconds.
    tickscope report --window 10s           what happened in the last ten seconds
    tickscope report run.tks --at -5s       the state five seconds before the recording's end
    tickscope report run.tks --from 12s --to 14:02:11
  Resets in between do not matter. The header says which moments are shown, because the nearest
  records are not always at the requested moments.";

/// Notes printed after the formats in `tickscope report --help`.
const ABOUT_FORMATS: &str = "\
In every form the self times of all rows add up to the total of the roots, in nanoseconds. Time
outside any scope is a row of the text only; json has it as a member of each thread.

A counter (count!) has calls and their sum, and no time. It is a row of text, html and json, and
has its calls in pprof and callgrind; folded and speedscope show time and leave it out.

json and speedscope keep names unchanged. Other forms write invisible characters as escapes
(\\n). In folded ; becomes : and the blank before a number at a name's end becomes _. Paths of
folded end after 512 frames with a frame (deeper).
In folded, callgrind and pprof a name without a letter is (unnamed), and if two functions have
the same name, the second gets #2 after it.

With --per NAME times and calls are divided by the calls of NAME in all threads, once, at the end;
shares, means, percentiles and clock errors stay unchanged. json has a member per for it.

A page or a .tks file is a TARGET like a program: tickscope now.html, tickscope report now.tks.
A page carries its snapshot as it was measured.";

/// What to report, in which format, and to which file.
#[derive(Args, Clone, Debug, Default)]
#[command(after_long_help = long_help())]
pub struct ReportArgs {
    /// Which program.
    #[command(flatten)]
    pub target: TargetArgs,
    /// Output format. Default: determined by the name of FILE, or else text.
    #[arg(short, long, value_parser = form())]
    pub format: Option<Form>,
    /// Print only this part of the text: the tree, all functions by self time, these functions with gprof's columns,
    /// the threads, or the lines of each function.
    #[arg(long, value_parser = view(), value_name = "VIEW")]
    pub view: Option<View>,
    /// Moment or span of time to report on.
    #[command(flatten)]
    pub moment: MomentArgs,
    /// Report only on the threads with this name, or on the thread with this id.
    #[arg(long, value_name = "NAME|TID")]
    pub thread: Option<String>,
    /// Leave out rows below this share of the measured time, such as 1% or 0.5%. Exports sum them up in rows named (small).
    #[arg(long, value_name = "PERCENT", value_parser = share)]
    pub min_share: Option<f64>,
    /// Show all rows in the text, even those with less than 0.5% of the measured time.
    #[arg(long, conflicts_with = "min_share")]
    pub all_rows: bool,
    /// Divide times and calls by the number of calls of this function or scope, for numbers per frame or per request.
    /// Give its name, with as much of its path as is needed: frame, app::frame. For text, html and json.
    #[arg(long, value_name = "NAME")]
    pub per: Option<String>,
    /// Measure for shares, totals and sorting. Default: time, or working in lists of functions. json contains all measures.
    #[arg(long, value_name = "MEASURE", value_parser = measure())]
    pub by: Option<Measure>,
    /// Unit of times in text; default ns.
    #[arg(long, value_parser = unit(), value_name = "UNIT")]
    pub unit: Option<Unit>,
    /// Create this file and write to it instead of standard output, completely or not at all. - means standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Overwrite the file if it exists.
    #[arg(long, requires = "output")]
    pub force: bool,
    /// Wait at most this long for the program to appear: 10, 10s, 500ms.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub wait: Option<Duration>,
}

fn view() -> impl TypedValueParser<Value = View> {
    one_of([
        ("tree", View::Tree, "The call tree"),
        ("hot", View::Hot, "All functions by self time"),
        ("flat", View::Flat, "The same with gprof's columns"),
        (
            "threads",
            View::Threads,
            "The threads: their times, what they do, and the scopes they have open",
        ),
        (
            "source",
            View::Source,
            "The lines of each function, and what it calls that is not measured: by samples (tickscope lines on)",
        ),
    ])
}

fn unit() -> impl TypedValueParser<Value = Unit> {
    one_of([
        ("ns", Unit::Ns, "Nanoseconds"),
        ("ticks", Unit::Ticks, "Ticks of the program's clock"),
        ("both", Unit::Both, "Both, in columns of their own"),
    ])
}

impl ReportArgs {
    /// Returns the output format: the one given with `--format`, otherwise the one implied by the file name, otherwise
    /// text.
    pub fn form(&self) -> Form {
        let by_ending = || self.output.as_deref().and_then(Form::of_file);
        self.format.or_else(by_ending).unwrap_or_default()
    }

    /// Checks that the output format is known, either from `--format` or from the file name.
    ///
    /// # Errors
    /// The file extension is unknown, and `--format` is not given. The message lists the known extensions and mentions `-f`.
    pub fn check_file(&self) -> Result<(), String> {
        let file = self.output.as_deref();
        let is_known = self.format.is_some() || file.and_then(Form::of_file).is_some();
        ending::check(file, is_known, &Form::endings())
    }

    /// Checks that the given options can be combined.
    ///
    /// # Errors
    /// Two options conflict, or an option does not apply to the chosen format.
    pub fn check(&self) -> Result<(), &'static str> {
        let format = self.form();
        if self.view.is_some() && format != Form::Text {
            return Err("--view chooses a part of the text; leave it out, or give -f text");
        }
        if self.per.is_some() {
            format.check_per()?;
        }
        if self.unit.is_some() {
            format.check_unit()?;
        }
        if let Some(measure) = self.by {
            format.check_by()?;
            if measure.dimension() != Dimension::Time && self.unit.is_some() {
                return Err("--unit is for times; leave it out, or give --by time");
            }
        }
        Ok(())
    }
}

/// Returns the text after the options in `tickscope report --help`.
fn long_help() -> String {
    let mut formats = String::new();
    for form in Form::ALL {
        for (number, line) in form.help().lines().enumerate() {
            let name = if number == 0 { form.name() } else { "" };
            formats.push_str(&format!("  {name:<10}  {line}\n"));
        }
    }
    format!(
        "{TIMES}\n\nFormats:\n{formats}\nA FILE whose name ends in {}, or\n\
         begins with callgrind.out, says the form itself.\n\n{ABOUT_FORMATS}",
        Form::endings()
    )
}

/// Parses a percentage, such as `1%` or `0.5`, into a fraction from 0 to 1.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').parse();
    match number {
        Ok(percent @ 0.0..=100.0) => Ok(percent / 100.0),
        _ => Err("wanted a percentage from 0 to 100, like 1% or 0.5%".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares() {
        assert_eq!(share("1%"), Ok(0.01));
        assert_eq!(share("0.5"), Ok(0.005));
        assert_eq!(share("100%"), Ok(1.0));
        for bad in ["", "%", "-1", "101", "nan", "inf", "a"] {
            assert!(share(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_files_name_says_the_form() {
        let args = ReportArgs {
            output: Some("now.folded".into()),
            ..ReportArgs::default()
        };
        assert_eq!(args.form(), Form::Folded);
        let format = Some(Form::Json);
        assert_eq!(ReportArgs { format, ..args }.form(), Form::Json);
        assert_eq!(ReportArgs::default().form(), Form::Text);
    }

    #[test]
    fn the_help_names_every_format() {
        let help = long_help();
        for form in Form::ALL {
            assert!(help.contains(&format!("\n  {} ", form.name())), "{form:?}");
        }
    }

    #[test]
    fn options_that_do_not_go_together() {
        let args = |format, view, unit| ReportArgs {
            format: Some(format),
            view,
            unit,
            ..ReportArgs::default()
        };
        use Form as F;
        assert!(args(F::Text, Some(View::Flat), None).check().is_ok());
        assert!(args(F::Text, None, Some(Unit::Both)).check().is_ok());
        assert!(args(F::Json, None, Some(Unit::Ns)).check().is_err());
        assert!(args(F::Json, Some(View::Flat), None).check().is_err());
        assert!(args(F::Folded, None, Some(Unit::Ticks)).check().is_err());
        for format in F::ALL {
            let per = ReportArgs {
                per: Some("frame".into()),
                ..args(format, None, None)
            };
            let is_divided = matches!(format, F::Text | F::Html | F::Json);
            assert_eq!(per.check().is_ok(), is_divided, "{format:?}");
            let by = |by, unit| ReportArgs {
                by: Some(by),
                ..args(format, None, unit)
            };
            let shows_one = !matches!(format, F::Json | F::Tks);
            assert_eq!(by(Measure::Bytes, None).check().is_ok(), shows_one, "{format:?}");
            assert!(by(Measure::Calls, Some(Unit::Ns)).check().is_err());
        }
    }
}
