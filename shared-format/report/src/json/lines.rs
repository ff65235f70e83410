//! Samples of the program counter in the JSON document.

use serde::Serialize;
use tickscope_analysis::code::{Code, Scope, code};
use tickscope_format::addresses::Addresses;
use tickscope_format::snapshot::{LinesState, NO_MODULE, Sampled, SampledIn, Snapshot};

/// The members of the document that describe samples of the program counter.
#[derive(Serialize)]
pub(super) struct Lines<'a> {
    lines: Sampling,
    modules: Vec<Module<'a>>,
    line_samples: Vec<Sample>,
    /// Sampled functions, most CPU time first; empty if the addresses were not looked up.
    line_functions: Vec<Function>,
}

#[derive(Serialize)]
struct Sampling {
    state: &'static str,
    asked_hz: u32,
    /// Actual samples per second of CPU time; 0 if sampling is off.
    rate_hz: f64,
    lost: Amount,
}

#[derive(Serialize)]
struct Amount {
    samples: u64,
    cpu_ns: u64,
}

#[derive(Serialize)]
struct Module<'a> {
    path: &'a str,
    /// Build id in hexadecimal digits.
    build_id: String,
}

#[derive(Serialize)]
struct Sample {
    scope: &'static str,
    site: Option<u32>,
    node: Option<u32>,
    module: Option<u32>,
    address: u64,
    #[serde(flatten)]
    amount: Amount,
}

#[derive(Serialize)]
struct Function {
    scope: &'static str,
    site: Option<u32>,
    #[serde(flatten)]
    amount: Amount,
    lines: Vec<Line>,
    called: Vec<Called>,
}

#[derive(Serialize)]
struct Line {
    file: String,
    line: u32,
    #[serde(flatten)]
    amount: Amount,
}

#[derive(Serialize)]
struct Called {
    function: String,
    #[serde(flatten)]
    amount: Amount,
}

/// Returns the members that describe samples, or `None` if sampling was never on.
pub(super) fn lines<'a>(snapshot: &'a Snapshot, addresses: &Addresses) -> Option<Lines<'a>> {
    let lines = &snapshot.lines;
    if lines.is_empty() {
        return None;
    }
    let line_functions = match addresses.is_empty() {
        true => Vec::new(),
        false => code(snapshot, addresses).into_iter().map(function).collect(),
    };
    Some(Lines {
        lines: Sampling {
            state: match lines.state {
                LinesState::On(_) => "on",
                LinesState::NoSignal => "no_signal",
                LinesState::NoTimers(_) => "no_timers",
                LinesState::Unsupported => "unsupported",
                LinesState::Off | _ => "off",
            },
            asked_hz: lines.asked_hz,
            rate_hz: lines.rate_hz().unwrap_or(0.0),
            lost: amount(lines.lost),
        },
        modules: lines
            .modules
            .iter()
            .map(|module| Module {
                path: &module.path,
                build_id: module.build_id.iter().map(|byte| format!("{byte:02x}")).collect(),
            })
            .collect(),
        line_samples: lines
            .samples
            .iter()
            .map(|sample| {
                let (scope, site) = scope(Scope::of(snapshot, sample));
                Sample {
                    scope,
                    site,
                    node: match sample.inside {
                        SampledIn::Row(row) => Some(row),
                        SampledIn::Thread(_) | SampledIn::Measuring => None,
                    },
                    module: (sample.module != NO_MODULE).then_some(sample.module),
                    address: sample.address,
                    amount: amount(sample.sampled()),
                }
            })
            .collect(),
        line_functions,
    })
}

fn function(code: Code) -> Function {
    let (scope, site) = scope(code.scope);
    Function {
        scope,
        site,
        amount: amount(code.all),
        lines: code
            .lines
            .into_iter()
            .map(|(file, line, sampled)| Line {
                file,
                line,
                amount: amount(sampled),
            })
            .collect(),
        called: code
            .called
            .into_iter()
            .map(|(function, sampled)| Called {
                function,
                amount: amount(sampled),
            })
            .collect(),
    }
}

fn amount(Sampled { samples, cpu_ns }: Sampled) -> Amount {
    Amount { samples, cpu_ns }
}

/// Returns the name of a scope's kind, and the index of its site if it has one.
fn scope(scope: Scope) -> (&'static str, Option<u32>) {
    match scope {
        Scope::Site(site) => ("site", Some(site)),
        Scope::Outside => ("outside", None),
        Scope::Measuring => ("measuring", None),
    }
}
