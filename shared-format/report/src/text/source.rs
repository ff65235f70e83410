//! The source view: the source lines in which each function spends its time, and the unmeasured functions it calls.

use std::fmt::{self, Write};

use tickscope_analysis::code::{Code, Scope, code};
use tickscope_format::snapshot::{LinesState, Sampled, saturating_sum};

use super::page::Page;
use crate::escape::visible;
use crate::label::place;
use crate::number;

/// Maximum number of source lines, and of called functions, to list below each function.
const LISTED: usize = 12;

/// Minimum share of the sampled CPU time for a function to be listed. Functions below it are only counted.
const LEAST_SHARE: f64 = 0.005;

/// Indentation up to the column with names and source text.
const INDENT: &str = "                     ";

/// Writes the functions that have samples, in order of decreasing CPU time.
pub(super) fn write(out: &mut String, page: &Page<'_>) -> fmt::Result {
    let lines = &page.snapshot.lines;
    let codes = code(page.snapshot, &page.options.code.addresses);
    let all = saturating_sum(codes.iter().map(|code| code.all.cpu_ns));
    let Some(rate) = lines.rate_hz().filter(|_| all > 0) else {
        return writeln!(out, "{}", without_samples(lines.state));
    };
    let samples: u64 = codes.iter().map(|code| code.all.samples).sum();
    write!(
        out,
        "Lines by samples of the program counter: {} in {} of CPU time, {rate:.0} a second ({} asked for)",
        number::count(samples),
        page.duration(all),
        lines.asked_hz
    )?;
    if lines.lost.samples > 0 {
        write!(out, "; {} more had no room", number::count(lines.lost.samples))?;
    }
    writeln!(out)?;
    let least = LEAST_SHARE.max(page.options.min_share);
    let shares = Shares { page, all };
    let (shown, small): (Vec<&Code>, Vec<&Code>) =
        codes.iter().partition(|code| shares.of(code.all) >= least);
    for of_scope in shown {
        writeln!(out)?;
        writeln!(
            out,
            "{}  {:>6}  {}",
            shares.columns(of_scope.all),
            number::count(of_scope.all.samples),
            title(page, of_scope.scope),
        )?;
        shares.write_lines(out, of_scope)?;
        shares.write_called(out, of_scope)?;
    }
    if !small.is_empty() {
        let together = saturating_sum(small.iter().map(|code| code.all.cpu_ns));
        writeln!(
            out,
            "\n{} more with less than {} each, {} together",
            small.len(),
            number::percent(least),
            number::percent(together as f64 / all as f64)
        )?;
    }
    let problems = &page.options.code.problems;
    if !problems.is_empty() {
        writeln!(out)?;
    }
    problems
        .iter()
        .try_for_each(|problem| writeln!(out, "{}", visible(problem, page.options.ascii)))
}

/// Explains why there are no samples of the program counter, and what to do about it.
pub fn without_samples(state: LinesState) -> String {
    let why: String = match state {
        LinesState::On(_) => " yet: no thread with a scope has used the CPU".into(),
        LinesState::NoSignal => ": the program uses SIGPROF and all signals for real time".into(),
        LinesState::NoTimers(error) => format!(": the system refused timers (error {error}); see ulimit -i"),
        LinesState::Unsupported => ": they need Linux on x86-64 or AArch64".into(),
        LinesState::Off | _ => ": ask for them with tickscope lines on, or TICKSCOPE_LINES=1".into(),
    };
    format!("no samples of the program counter{why}")
}

/// Returns the title of a scope: its name, file and line.
fn title(page: &Page<'_>, scope: Scope) -> String {
    match scope {
        Scope::Site(site) => {
            let site = &page.snapshot.sites[site as usize];
            let name = visible(&site.name, page.options.ascii);
            format!("{name}  {}", place(&site.file, site.line, page.options.ascii))
        }
        Scope::Outside => "(outside any scope)".into(),
        Scope::Measuring => "(tickscope, measuring)".into(),
    }
}

/// Formats CPU times together with their shares of the total sampled CPU time.
struct Shares<'a> {
    page: &'a Page<'a>,
    all: u64,
}

impl Shares<'_> {
    fn of(&self, sampled: Sampled) -> f64 {
        sampled.cpu_ns as f64 / self.all as f64
    }

    fn columns(&self, sampled: Sampled) -> String {
        let share = number::percent(self.of(sampled));
        format!("{share:>6} {:>7}", self.page.duration(sampled.cpu_ns))
    }

    fn write_lines(&self, out: &mut String, code: &Code) -> fmt::Result {
        let mut hottest: Vec<&(String, u32, Sampled)> = code.lines.iter().collect();
        hottest.sort_by_key(|(_, _, sampled)| std::cmp::Reverse(sampled.cpu_ns));
        let hidden = hottest.split_off(hottest.len().min(LISTED));
        hottest.sort_by_key(|(file, line, _)| (file, *line));
        let options = self.page.options;
        for (file, line, sampled) in hottest {
            let text = options.code.texts.get(&(file.clone(), *line));
            let text = text.map_or_else(String::new, |text| visible(text, options.ascii).into_owned());
            let row = format!("{}  {line:>6}  {text}", self.columns(*sampled));
            writeln!(out, "{}", row.trim_end())?;
        }
        self.write_hidden(out, "line", hidden.iter().map(|(_, _, sampled)| *sampled))
    }

    fn write_called(&self, out: &mut String, code: &Code) -> fmt::Result {
        let (listed, hidden) = code.called.split_at(code.called.len().min(LISTED));
        if listed.is_empty() {
            return Ok(());
        }
        writeln!(out, "{INDENT}  in functions that are not measured:")?;
        for (name, sampled) in listed {
            let name = visible(name, self.page.options.ascii);
            writeln!(out, "{}          {name}", self.columns(*sampled))?;
        }
        self.write_hidden(out, "function", hidden.iter().map(|(_, sampled)| *sampled))
    }

    /// Writes how many more lines or functions there are that are not listed.
    fn write_hidden(
        &self,
        out: &mut String,
        what: &str,
        hidden: impl ExactSizeIterator<Item = Sampled>,
    ) -> fmt::Result {
        let count = hidden.len();
        if count == 0 {
            return Ok(());
        }
        let together: f64 = hidden.map(|sampled| self.of(sampled)).sum();
        let plural = if count == 1 { "" } else { "s" };
        let together = number::percent(together);
        writeln!(out, "{INDENT}  {count} more {what}{plural}, {together} together")
    }
}
