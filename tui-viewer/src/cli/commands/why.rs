//! `tickscope why`: prints why calls of a function are slow.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::bail;
use tickscope_analysis::functions::Functions;
use tickscope_analysis::names::{named, told};
use tickscope_analysis::window;
use tickscope_command::console;
use tickscope_command::console::{Misuse, printable, say};
use tickscope_command::similar::similar;
use tickscope_format::Snapshot;
use tickscope_format::addresses::Addresses;
use tickscope_format::file::open::RingFile;
use tickscope_format::pattern::Pattern;
use tickscope_format::slots::Op;
use tickscope_format::snapshot::{Over, Watch, WatchState};
use tickscope_programs::kept_traces::KeptTraces;
use tickscope_programs::local_time;
use tickscope_programs::status::state_of;
use tickscope_programs::target::wanted::{Found, is_live, one_alone};
use tickscope_programs::timeline::Timeline;
use tickscope_report::ProcessState;
use tickscope_report::brief::Next;
use tickscope_report::exemplar::ExemplarForm;
use tickscope_report::form::FormOptions;
use tickscope_report::html;
use tickscope_report::slow::{self, Answer, SlowOptions, Typed};

use crate::cli::args::{WhyArgs, WhyFormat};
use crate::cli::commands::brief::Named;
use crate::cli::commands::live_snapshot::{LiveSnapshot, Reader};
use crate::cli::commands::record::stop_on_signals;
use crate::cli::commands::{live_snapshot, request, watch};
use crate::outcome::watched::{others, watch_of, watches_of};

/// Number of older snapshots to search for traces, because each snapshot holds only some of them.
const TURNS: usize = 64;

/// Interval between checks for a new record.
const PAUSE: Duration = Duration::from_millis(20);

/// Prints why slow calls of a function are slow.
///
/// # Errors
/// The function is not watched, there is no such target, or it cannot be read.
pub fn run(args: &WhyArgs) -> anyhow::Result<u8> {
    let stop = match args.during {
        Some(_) => stop_on_signals()?,
        None => Arc::default(),
    };
    let (LiveSnapshot { snapshot, state, .. }, named) = answered(args, &stop)?;
    let watch = watched(&snapshot, args)?;
    write(args, &snapshot, state, watch, &named.in_shell(&args.target))?;
    Ok(console::DONE)
}

/// Returns a snapshot of the target that contains data about the function. With `--for`, first makes the program watch
/// the function for that duration, or until `stop` is set.
///
/// # Errors
/// The function is not watched, there is no such target, or it cannot be read.
pub(super) fn answered(args: &WhyArgs, stop: &AtomicBool) -> anyhow::Result<(LiveSnapshot, Named)> {
    let mut traces = KeptTraces::default();
    let (mut live, named) = match args.during {
        Some(during) => watched_for(args, during, stop, &mut traces)?,
        None => of_target(args, &mut traces)?,
    };
    traces.fill(&mut live.snapshot);
    Ok((live, named))
}

/// Returns the snapshot's watch of the function.
///
/// # Errors
/// The program no longer watches the function, or has no such function, or several watched functions match.
pub(super) fn watched<'a>(snapshot: &'a Snapshot, args: &WhyArgs) -> anyhow::Result<&'a Watch> {
    let watch = match watches_of(snapshot, &args.function)[..] {
        [only] => only,
        [] => {
            let name = printable(args.function.as_str());
            let why = format!("the program no longer watches {name}");
            return Err(Misuse(why).into());
        }
        ref several => {
            let names: Vec<&str> = several.iter().map(|watch| watch.function.as_str()).collect();
            return Err(ambiguous(&args.function, &names.join(", ")));
        }
    };
    if watch.state == WatchState::NoFunction {
        return Err(unmet(snapshot, &args.function));
    }
    Ok(watch)
}

/// Returns the error for a name that matches no function that has been called.
fn unmet(snapshot: &Snapshot, function: &Pattern) -> anyhow::Error {
    let name = printable(function.as_str());
    let why = format!(
        "no called function matches {name}{}; tickscope sites lists the called functions",
        similar(function.as_str(), snapshot)
    );
    Misuse(why).into()
}

/// Returns the error for an ambiguous name: it matches several functions, but only one is allowed.
fn ambiguous(function: &Pattern, there: &str) -> anyhow::Error {
    let name = printable(function.as_str());
    Misuse(format!(
        "{name} matches {}; give more of its path",
        printable(there)
    ))
    .into()
}

/// Returns the options for output to a shell.
pub(super) fn options() -> SlowOptions {
    SlowOptions {
        ascii: console::is_ascii(),
        utc_offset_s: local_time::utc_offset_s(),
        typed: Typed::Shell,
    }
}

fn write(
    args: &WhyArgs,
    snapshot: &Snapshot,
    state: ProcessState,
    watch: &Watch,
    next: &Next,
) -> anyhow::Result<()> {
    let answer = Answer::of(snapshot, watch, options());
    let text = match args.format {
        _ if args.json => slow::brief(&answer, next),
        WhyFormat::Json => slow::json(&answer, next),
        WhyFormat::Text => slow::text(&answer),
        WhyFormat::Markdown => slow::markdown(&answer),
        WhyFormat::Html => {
            let mut options = FormOptions::default();
            options.text.state = state;
            options.watch = snapshot.watches.iter().position(|one| one == watch);
            html::page(snapshot, &options)?
        }
        WhyFormat::Trace => return write_call(args, &answer, ExemplarForm::Chrome),
        WhyFormat::Firefox => return write_call(args, &answer, ExemplarForm::Firefox),
        WhyFormat::Speedscope => return write_call(args, &answer, ExemplarForm::Speedscope),
    };
    if let Some(number) = args.call {
        return Err(Misuse(format!(
            "--call {number} is for -f trace, firefox and speedscope; leave it out"
        ))
        .into());
    }
    console::write(&text)?;
    // The JSON document has no field for doubts about the answer, so they go to standard error.
    if (args.json || args.format == WhyFormat::Json)
        && let Some(doubt) = answer.doubt()
    {
        say(&doubt);
    }
    Ok(())
}

/// Writes one of the slow calls that have a complete trace, in another tool's format.
fn write_call(args: &WhyArgs, answer: &Answer<'_>, form: ExemplarForm) -> anyhow::Result<()> {
    let calls = answer.exemplars();
    let Some(longest) = calls.first() else {
        let doubt = answer
            .doubt()
            .unwrap_or_else(|| "no slow call is kept whole yet".into());
        bail!("{doubt}");
    };
    let call = match args.call {
        None => longest,
        Some(number) => calls.iter().find(|call| call.number == number).ok_or_else(|| {
            let numbers: Vec<String> = calls.iter().map(|call| call.number.to_string()).collect();
            Misuse(format!(
                "call {number} is not kept; kept calls: {}",
                numbers.join(", ")
            ))
        })?,
    };
    if call.trace.is_none() {
        bail!(
            "no snapshot has the steps of call {} any more; try again, or choose another with --call",
            call.number
        );
    }
    let mut out = Vec::new();
    form.write(answer.snapshot, answer.watch, call, &mut out)?;
    console::write(&String::from_utf8_lossy(&out))
}

/// Returns the snapshot of a target that is already watching the function.
fn of_target(args: &WhyArgs, traces: &mut KeptTraces) -> anyhow::Result<(LiveSnapshot, Named)> {
    let wanted = args.target.wanted();
    let is_text = !args.json && matches!(args.format, WhyFormat::Text | WhyFormat::Html);
    let found = live_snapshot::find(&args.target, Reader::of_text(is_text), None)?;
    if let Found::Together(name, _) = &found {
        return Err(one_alone(name, "slow calls are explained for a program").into());
    }
    let mut live = live_snapshot::of(&found, &wanted)?;
    let snapshot = &mut live.snapshot;
    if watch_of(snapshot, &args.function).is_none() {
        let is_met = snapshot.sites.iter().any(|site| args.function.matches(site));
        if !is_met && !similar(args.function.as_str(), snapshot).is_empty() {
            return Err(unmet(snapshot, &args.function));
        }
        let name = printable(args.function.as_str());
        let next = match &found {
            Found::Ring(_, liveness) if is_live(liveness) => {
                let target = args
                    .target
                    .target
                    .as_deref()
                    .map(|target| format!(" {}", printable(target)));
                let by_pid = || args.target.pid.map(|pid| format!(" -p {pid}"));
                let target = target.or_else(by_pid).unwrap_or_default();
                format!("watch it for a while: tickscope why {name}{target} --for 10s")
            }
            Found::Ring(..) | Found::Together(..) | Found::Kept(_) | Found::Streamed(_) => {
                "a function must be watched while the program runs: tickscope watch, then record".into()
            }
        };
        let watched = others(snapshot);
        return Err(Misuse(format!("{name} is not watched ({watched}); {next}")).into());
    }
    traces.take(snapshot);
    if !traces.fill(snapshot) {
        look_back(&found, traces);
    }
    Ok((live, Named::of(&args.target, &found)))
}

/// Collects traces from older snapshots for the calls that have no trace in the newest one.
fn look_back(found: &Found, traces: &mut KeptTraces) {
    // A file with only one snapshot has no older ones to search.
    let Ok(timeline) = Timeline::of(found, local_time::utc_offset_s()) else {
        return;
    };
    for at in (0..timeline.newest()).rev().take(TURNS) {
        if let Ok(earlier) = timeline.snapshot(at) {
            traces.take(&earlier);
        }
    }
}

/// Watches a function for the duration `during`. Afterwards it is watched as before, or not at all.
fn watched_for(
    args: &WhyArgs,
    during: Duration,
    stop: &AtomicBool,
    traces: &mut KeptTraces,
) -> anyhow::Result<(LiveSnapshot, Named)> {
    let target = &args.target;
    let ring = live_snapshot::find_running(target, None, "--for needs a running program; leave it out")?;
    // If the function was already being watched, its earlier calls must not be reported. A new record separates them
    // from the calls of this run.
    if let Some(mut slot) = ring.take_slot()? {
        let _old_will_do = live_snapshot::publish_by(&ring, &mut slot);
    }
    let newest = watch::newest(&ring);
    // A pattern with a `*` is meant to match several functions, so only plain names are checked for ambiguity.
    if let Some(newest) = newest.as_ref().filter(|_| !args.function.as_str().contains('*')) {
        let functions = Functions::of(newest);
        let found = named(&functions, args.function.as_str());
        if found.len() > 1 {
            return Err(ambiguous(&args.function, &told(&functions, &found)));
        }
    }
    let before = newest
        .as_ref()
        .and_then(|newest| watch_of(newest, &args.function));
    let requests = begin_and_end(args.function, args.over, before);
    let from = newest.as_ref().filter(|_| requests.is_none());
    let ring = match requests {
        None => ring,
        Some([begin, _]) => request::ask_of(ring, begin, "watch")?.ring,
    };
    let read = follow(&ring, during, stop, traces);
    let liveness = ring.liveness()?;
    let named = Named::of_ring(target, &ring, &liveness);
    // The watch ends even if reading failed.
    if let Some([_, end]) = requests
        && ring.liveness().is_ok_and(|liveness| is_live(&liveness))
    {
        request::ask_of(ring, end, "watch")?;
    }
    let read = read?;
    let snapshot = match from {
        Some(from) => window::between(&read, from),
        None => read,
    };
    let live = LiveSnapshot {
        snapshot,
        state: state_of(&liveness),
        addresses: Addresses::default(),
    };
    Ok((live, named))
}

/// Returns the request that begins a watch of a function, and the request after which the function is watched as before.
/// Returns `None` if the watch from before already has the wanted threshold.
fn begin_and_end(function: Pattern, over: Option<Over>, before: Option<&Watch>) -> Option<[Op; 2]> {
    let Some(before) = before else {
        let over = over.unwrap_or(Over::Tail);
        return Some([Op::Watch(function, over), Op::Unwatch(function)]);
    };
    let over = over.filter(|&over| over != before.over)?;
    // A function has one watch at a time, so the pattern of the watch from before is kept, even if it matches others.
    let function = Pattern::new(&before.function).ok()?;
    Some([Op::Watch(function, over), Op::Watch(function, before.over)])
}

/// Reads new records until `during` has elapsed or `stop` is set. Returns the last snapshot.
fn follow(
    ring: &RingFile,
    during: Duration,
    stop: &AtomicBool,
    traces: &mut KeptTraces,
) -> anyhow::Result<Snapshot> {
    let end = Instant::now() + during;
    let mut slot = ring.take_slot()?;
    let mut read = None;
    loop {
        let is_over = Instant::now() >= end || stop.load(Ordering::Relaxed);
        let is_alive = is_live(&ring.liveness()?);
        if let (true, true, Some(slot)) = (is_over, is_alive, &mut slot)
            && let Err(why) = live_snapshot::publish_by(ring, slot)
        {
            say(&format!("{why}; showing the newest record"));
        }
        let latest = ring.latest()?;
        if is_over || !is_alive || read != Some(latest) {
            let (_, snapshot) = ring.newest_snapshot()?;
            traces.take(&snapshot);
            read = Some(latest);
            if is_over || !is_alive {
                return Ok(snapshot);
            }
        }
        thread::sleep(PAUSE.min(end.saturating_duration_since(Instant::now())));
    }
}

#[cfg(test)]
mod tests {
    use tickscope_testkit::fixture;

    use super::*;

    #[test]
    fn a_function_is_watched_afterwards_as_it_was_before() {
        let frame = Pattern::new("draw_frame").unwrap();
        let over = Over::Ns(5_000_000);
        let alone = begin_and_end(frame, Some(over), None);
        assert_eq!(alone, Some([Op::Watch(frame, over), Op::Unwatch(frame)]));
        let mut before = fixture::slow_frames().watches.remove(0);
        (before.function, before.over) = ("game::draw*".into(), Over::P99);
        let known = Pattern::new("game::draw*").unwrap();
        let changed = begin_and_end(frame, Some(over), Some(&before));
        let both = [Op::Watch(known, over), Op::Watch(known, Over::P99)];
        assert_eq!(changed, Some(both));
        for same in [None, Some(Over::P99)] {
            assert_eq!(begin_and_end(frame, same, Some(&before)), None);
        }
    }
}
