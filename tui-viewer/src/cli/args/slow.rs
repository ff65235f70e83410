//! Arguments of `tickscope why` and `tickscope watch`.

use std::time::Duration;

use clap::{Args, ValueEnum};
use tickscope_format::pattern::Pattern;
use tickscope_format::snapshot::Over;

use crate::cli::args::shared::TargetArgs;
use crate::cli::args::values;

/// Text after the options in `tickscope why --help`.
const WHY: &str = "\
Watching a function tells its slow calls from typical calls: tickscope watch FUNCTION, W in the viewer, or --for here.
Times are per call of FUNCTION, in the path without callees; CALLS are calls of the path in a typical and a slow call.

Examples:
  tickscope why handle_request --for 10s          watch it for 10 s, and say why slow calls are slow
  tickscope why handle_request order-book --json  of a program that watches it already
  tickscope why handle_request run.tks            of a recording
  tickscope why handle_request -f trace > slow.json
                                                  the longest call over time, for ui.perfetto.dev
  tickscope why handle_request -f html > slow.html
                                                  the answer and all calls that are kept over time, for a browser";

/// The function, and how its slow calls are found and reported.
#[derive(Args, Clone, Debug)]
#[command(after_help = WHY)]
pub struct WhyArgs {
    /// The function, such as parse or book::insert.
    #[arg(value_parser = values::pattern)]
    pub function: Pattern,
    /// Which program.
    #[command(flatten)]
    pub target: TargetArgs,
    /// Watch the function for this long first: 10, 10s, 500ms. Afterwards it is watched as before, or not at all.
    #[arg(long = "for", value_name = "DURATION", value_parser = values::duration)]
    pub during: Option<Duration>,
    /// With --for: which calls are slow; see tickscope watch.
    #[arg(long, value_name = "THRESHOLD", value_parser = values::over, requires = "during")]
    pub over: Option<Over>,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = WhyFormat::Text)]
    pub format: WhyFormat,
    /// With -f trace, firefox or speedscope: the number of the call to show, as given in the JSON. Default: the longest call.
    #[arg(long, value_name = "NUMBER")]
    pub call: Option<u64>,
    /// Print JSON of at most 2 kB, for scripts and agents: the members of -f json, but only the first entries of each list.
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
}

/// Output formats of `tickscope why`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WhyFormat {
    /// For reading.
    Text,
    /// For programs.
    Json,
    /// For messages and issues.
    Markdown,
    /// A web page that starts with the slow calls.
    Html,
    /// Timeline of one of the slowest calls, as trace events for Perfetto.
    Trace,
    /// Timeline of one of the slowest calls, for the Firefox Profiler.
    Firefox,
    /// Timeline of one of the slowest calls, for speedscope.
    Speedscope,
}

/// Function to watch, and which of its calls are slow.
#[derive(Args, Clone, Debug)]
pub struct WatchArgs {
    /// The function, such as parse or book::insert. If it is switched off, it is switched on.
    #[arg(value_parser = values::pattern)]
    pub function: Pattern,
    /// Which calls count as slow: those of at least this duration (5ms), the slowest 1% (p99) or 0.1% (p99.9), or those
    /// above the widest gap between durations (tail).
    #[arg(long, value_name = "THRESHOLD", value_parser = values::over, default_value_t = Over::Tail)]
    pub over: Over,
    /// End the watch.
    #[arg(long, conflicts_with = "over")]
    pub off: bool,
}
