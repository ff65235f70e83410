//! `tickscope cost`: what measuring costs a program, measured in it.

use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use tickscope_format::Snapshot;
use tickscope_format::file::open::RingFile;
use tickscope_format::pattern::Pattern;
use tickscope_format::slots::Op;
use tickscope_report::cost;

use crate::cli::args::CostArgs;
use crate::cli::commands::live_snapshot;
use crate::cli::commands::live_snapshot::Reader;
use crate::cli::commands::record::stop_on_signals;
use crate::cli::commands::request;
use crate::output::console;
use crate::output::console::{Misuse, printable};
use crate::source::target::wanted::{Found, Wanted, is_live, one_alone};

/// Between two looks for a result.
const PAUSE: Duration = Duration::from_millis(50);

/// The program ends the measurement itself; so much later it is given up.
const LATE: Duration = Duration::from_secs(2);

/// Has a program measure what measuring costs it, and tells.
///
/// # Errors
/// No such target, or why it does not measure.
pub fn run(args: &CostArgs) -> anyhow::Result<u8> {
    let wanted = Wanted::of(&args.target);
    let found = live_snapshot::find(&args.target, Reader::of_text(!args.json), None)?;
    let (snapshot, who) = match found {
        Found::Ring(ring, liveness) if is_live(&liveness) => {
            let header = ring.header();
            let who = format!("{} ({})", printable(&header.name), header.pid);
            (measured(*ring, args)?, Some(who))
        }
        Found::Together(name, _) => {
            return Err(one_alone(&name, "what measuring costs is measured in a program").into());
        }
        found @ (Found::Ring(..) | Found::Kept(_) | Found::Streamed(_)) => {
            (live_snapshot::of(&found, &wanted)?.snapshot, None)
        }
    };
    if args.json {
        console::write(&cost::json(&snapshot))?;
    } else {
        let text = printable_lines(&cost::text(&snapshot));
        let who = who.map_or(String::new(), |who| format!("{who}\n"));
        console::write(&format!("{who}{text}"))?;
    }
    Ok(console::DONE)
}

fn printable_lines(text: &str) -> String {
    text.lines().map(|line| printable(line) + "\n").collect()
}

/// Has the program measure, and returns what it shows at the end.
fn measured(ring: RingFile, args: &CostArgs) -> anyhow::Result<Snapshot> {
    let of = args.of.unwrap_or(Pattern::all());
    let seconds = u32::try_from(args.during.as_secs_f64().ceil() as u64).unwrap_or(u32::MAX);
    if seconds == 0 {
        return Err(Misuse("--for 0 measures nothing; wanted: a second or more".into()).into());
    }
    let stop = stop_on_signals()?;
    let ring = request::ask_of(ring, Op::MeasureCost(of, seconds), "measure")?.into_ring();
    let end = Instant::now() + Duration::from_secs(seconds.into()) + LATE;
    let mut slot = ring.take_slot()?;
    loop {
        let stopped = stop.load(Ordering::Relaxed);
        if let Some(slot) = &mut slot {
            let _the_newest_will_do = live_snapshot::publish_by(&ring, slot);
        }
        let (_, snapshot) = ring.newest_snapshot()?;
        let is_over = snapshot
            .in_place
            .as_ref()
            .is_none_or(|found| found.state.is_over());
        if is_over || !is_live(&ring.liveness()?) {
            return Ok(snapshot);
        }
        if stopped || Instant::now() >= end {
            drop(slot);
            let granted = request::ask_of(ring, Op::MeasureCost(of, 0), "measure")?;
            return Ok(granted.snapshot().unwrap_or(snapshot));
        }
        thread::sleep(PAUSE);
    }
}
