//! `tickscope diff`: compares two builds or runs; its gates fail if a measure has grown.

use tickscope_analysis::compare::diff::{Diff, DiffError};
use tickscope_analysis::compare::gate::{self, Condition, Verdict};
use tickscope_analysis::functions::Function;
use tickscope_analysis::measure::Measure;
use tickscope_command::console;
use tickscope_command::console::{Misuse, printable, say};
use tickscope_command::output_file::OutputFile;
use tickscope_command::similar::{similar, similar_of};
use tickscope_format::Snapshot;
use tickscope_report::diff::{Comparison, Run, doubts, json, markdown, page, text};

use crate::cli::args::{DiffArgs, DiffFormat, MomentArgs, TargetArgs};
use crate::cli::commands::brief::read;
use crate::cli::commands::live_snapshot::Reader;
use crate::cli::commands::report::terminal_width;

/// Width of the text if there is no terminal.
const WIDTH: usize = 100;

/// Default of `--min-share`: a row whose calls have not changed is hidden if its time has changed by less than this
/// share of the whole program's time.
const MIN_SHARE: f64 = 0.01;

/// Compares the runs and writes the result. Returns the exit code, which depends on whether all gates passed.
///
/// # Errors
/// There is no such target, a gate cannot be evaluated, or a file cannot be read or written.
pub fn run(args: &DiffArgs) -> anyhow::Result<u8> {
    let (before, after) = args.sides().map_err(Misuse)?;
    args.check_file().map_err(Misuse)?;
    let place = OutputFile::new(args.output.as_deref(), args.force);
    let (of_before, of_after) = args.moments();
    let (before_snapshots, before_runs) = runs(before, args, &of_before)?;
    let (after_snapshots, after_runs) = runs(after, args, &of_after)?;
    let format = args.form();
    if args.by.is_some() && format == DiffFormat::Json {
        return Err(Misuse("json has a member for each measure: leave out --by".into()).into());
    }
    let all: Vec<&Snapshot> = before_snapshots.iter().chain(&after_snapshots).collect();
    let per = args.per.as_deref();
    let by = |measure: Measure| -> Result<Diff, Misuse> {
        for (target, snapshot) in before.iter().chain(after).zip(&all) {
            let missing = |why| Misuse(format!("{target}, by {}: {why}", measure.name()));
            measure.check(snapshot).map_err(missing)?;
        }
        Diff::by(measure, &before_snapshots, &after_snapshots, per).map_err(|error| {
            let DiffError { is_after, run, why } = error;
            let (target, snapshot) = match is_after {
                true => (&after[run], &after_snapshots[run]),
                false => (&before[run], &before_snapshots[run]),
            };
            let meant = per.map_or(String::new(), |name| similar(name, snapshot));
            Misuse(format!("{target}: {}{meant}", printable(&why.to_string())))
        })
    };
    let usual = match format {
        DiffFormat::Json => Measure::Time,
        DiffFormat::Text | DiffFormat::Markdown | DiffFormat::Html => Measure::of_lists(&all),
    };
    let mut wanted = vec![args.by.unwrap_or(usual)];
    if format == DiffFormat::Json {
        let is_counted = |measure: &Measure| all.iter().all(|snapshot| measure.check(snapshot).is_ok());
        let quantities = Measure::ALL
            .into_iter()
            .filter(|measure| measure.quantity().is_some());
        wanted.extend(quantities.filter(is_counted));
    }
    let of_document = 1..wanted.len();
    for condition in &args.fail_if {
        // Every comparison includes the calls, so a condition on calls needs no comparison of its own.
        if condition.measure != Measure::Calls && !wanted.contains(&condition.measure) {
            wanted.push(condition.measure);
        }
    }
    let diffs = wanted
        .into_iter()
        .map(by)
        .collect::<Result<Vec<Diff>, Misuse>>()?;
    let diff = &diffs[0];
    let judge = |condition: &Condition| -> Result<Verdict, Misuse> {
        let by = diffs.iter().find(|diff| diff.measure == condition.measure);
        gate::judge(by.unwrap_or(diff), condition).map_err(|error| {
            let paths = || diff.functions.list.iter().map(Function::full_name);
            let meant = error
                .unknown
                .map_or(String::new(), |name| similar_of(&name, paths()));
            Misuse(printable(&error.why) + &meant)
        })
    };
    let verdicts = args
        .fail_if
        .iter()
        .map(judge)
        .collect::<Result<Vec<Verdict>, Misuse>>()?;
    let mut notes = doubts(&before_snapshots, &after_snapshots);
    if args.by.is_none() && usual == Measure::Working {
        notes.push("times are on a CPU only; --by time includes waits".into());
    }
    let comparison = Comparison {
        diff,
        measures: &diffs[of_document],
        runs: (&before_runs, &after_runs),
        per,
        verdicts: &verdicts,
        doubts: &notes,
        tables: args.view.unwrap_or_default(),
        min_share: args.min_share.unwrap_or(MIN_SHARE),
        ascii: console::is_ascii(),
        width: terminal_width(std::io::stdout())
            .filter(|_| place.is_stdout())
            .unwrap_or(WIDTH),
    };
    let result = match format {
        DiffFormat::Text => text::report(&comparison),
        DiffFormat::Json => json::report(&comparison),
        DiffFormat::Markdown => markdown::report(&comparison),
        DiffFormat::Html => page::report(&comparison),
    };
    place.write(|out| out.write_all(result.as_bytes()))?;
    // Unless the failures are already in the text on standard output, they are also printed to standard error, so that
    // a log contains them wherever the result was written.
    if format != DiffFormat::Text || !place.is_stdout() {
        comparison.failures().iter().for_each(|failure| say(failure));
    }
    let is_passed = verdicts.iter().all(Verdict::is_passed);
    Ok(if is_passed {
        console::DONE
    } else {
        console::GATE_FAILED
    })
}

/// Returns the snapshots of one side, limited to the time span `part`, and a description of each run.
fn runs(targets: &[String], args: &DiffArgs, part: &MomentArgs) -> anyhow::Result<(Vec<Snapshot>, Vec<Run>)> {
    let run = |target: &String| {
        let one = TargetArgs {
            target: Some(target.clone()),
            ended: args.ended,
            dir: args.dir.clone(),
            ..TargetArgs::default()
        };
        let answered = read(&one, part, Reader::Script)?;
        answered.notes.iter().for_each(|note| say(note));
        let snapshot = answered.live.snapshot;
        let run = Run {
            part: answered.extent.when,
            ..Run::of(target, &snapshot)
        };
        Ok((snapshot, run))
    };
    targets.iter().map(run).collect()
}
