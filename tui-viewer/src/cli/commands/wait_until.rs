//! `tickscope wait-until`: waits for a condition. The exit code reports the result.

use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use tickscope_analysis::trigger::{Condition, Limit, Verdict, judge};
use tickscope_command::console;
use tickscope_command::console::{printable, say};
use tickscope_format::Snapshot;
use tickscope_format::file::open::{Liveness, RingFile};
use tickscope_programs::clock_time::{nanos, seconds};
use tickscope_programs::events::Feed;
use tickscope_programs::feed::RingFeed;
use tickscope_programs::local_time::utc_offset_s;
use tickscope_programs::status::{Status, state_of};
use tickscope_programs::target;
use tickscope_programs::target::wanted::{Found, Wanted, is_live};
use tickscope_report::brief::condition::{Outcome, Waited};
use tickscope_report::brief::{self, Subject};

use crate::cli::args::{TriggerOptions, WaitUntilArgs};
use crate::cli::commands::brief::Named;
use crate::cli::commands::live_snapshot;
use crate::cli::commands::live_snapshot::Reader;
use crate::cli::trigger::{Watch, words};

/// Maximum pause between two polls of the program, unless evaluating the condition is slow.
const LOOK: Duration = Duration::from_millis(50);

/// Waits until the condition is true, the timeout expires, or the program ends.
///
/// # Errors
/// There is no such running program, or it can no longer be read.
pub fn run(args: &WaitUntilArgs) -> anyhow::Result<u8> {
    let begin = Instant::now();
    let found = live_snapshot::find(&args.target, Reader::Script, args.wait)?;
    let Found::Ring(ring, liveness) = &found else {
        return Err(live_snapshot::not_running(&found, "wait-until watches a program that runs").into());
    };
    let (outcome, judged) = wait(args, ring, liveness, begin)?;
    tell(args, (ring, liveness), outcome, &judged, begin.elapsed())?;
    Ok(match outcome {
        Outcome::True => console::DONE,
        Outcome::Timeout => console::TIME_OVER,
        Outcome::Ended => console::PROGRAM_ENDED,
    })
}

/// The latest verdict, and what it is based on.
struct Judged {
    verdict: Verdict,
    over_ns: u64,
    /// Newest snapshot; empty before the first one is read.
    newest: Rc<Snapshot>,
    doubt: Option<String>,
}

fn wait(
    args: &WaitUntilArgs,
    ring: &RingFile,
    liveness: &Liveness,
    begin: Instant,
) -> anyhow::Result<(Outcome, Judged)> {
    let header = ring.header();
    let wanted = Wanted::File(ring.path().to_path_buf());
    let mut feed = RingFeed::new(wanted, args.target.dir.clone(), utc_offset_s());
    let mut watch = args.over.map(|over| window(&args.condition, over));
    let mut judged = Judged {
        verdict: judge(&args.condition, &Snapshot::default()),
        over_ns: 0,
        newest: Rc::default(),
        doubt: None,
    };
    let mut has_ended = !is_live(liveness);
    loop {
        let looked = Instant::now();
        let events = feed.poll();
        if let Some(watch) = &mut watch {
            watch.take(&events.past, begin.elapsed());
            // One poll may read several records, so the condition may have been true for one of them and false again
            // for a later one. That counts as true.
            if let Some(found) = watch.found() {
                (judged.verdict, judged.over_ns) = (found.verdict.clone(), found.window_ns);
            }
            judged.doubt = watch.doubt();
        } else if let Some(snapshot) = &events.snapshot {
            judged.verdict = judge(&args.condition, snapshot);
            judged.over_ns = snapshot.capture.since_reset_ns;
            judged.doubt = words::unmet(&args.condition, snapshot);
        }
        if let Some(snapshot) = events.snapshot {
            judged.newest = snapshot;
        }
        if judged.verdict.is_true {
            return Ok((Outcome::True, judged));
        }
        match &events.status {
            Status::Exited { .. } | Status::Crashed { .. } => has_ended = true,
            Status::Broken { why } | Status::Waiting { why } if !target::runs_on(header) => {
                return Err(anyhow!("{why}"));
            }
            Status::Broken { .. }
            | Status::Waiting { .. }
            | Status::Stale { .. }
            | Status::Live
            | Status::Kept
            | Status::Piped(_) => {}
        }
        if has_ended {
            return Ok((Outcome::Ended, judged));
        }
        if args.timeout.is_some_and(|timeout| begin.elapsed() >= timeout) {
            return Ok((Outcome::Timeout, judged));
        }
        let left = args
            .timeout
            .map(|timeout| timeout.saturating_sub(begin.elapsed()));
        // Evaluating the condition on a large program is slow, so sleep at least four times as long as that took. This
        // leaves four fifths of the time to other programs.
        let rest = looked.elapsed().saturating_mul(4);
        let pause = feed.next_look().min(LOOK).max(rest);
        thread::sleep(left.map_or(pause, |left| pause.min(left)));
    }
}

/// Returns a watch that evaluates the condition over a moving window. `wait-until` does not use the other trigger
/// options, so their values do not matter.
fn window(condition: &Condition, over: Duration) -> Watch {
    let options = TriggerOptions {
        over,
        keep: over,
        at_most: Limit {
            count: 1,
            per: Duration::from_secs(1),
        },
    };
    Watch::new(condition.clone(), options)
}

fn tell(
    args: &WaitUntilArgs,
    (ring, liveness): (&RingFile, &Liveness),
    outcome: Outcome,
    judged: &Judged,
    waited: Duration,
) -> anyhow::Result<()> {
    let condition = &args.condition;
    if args.json {
        let notes: Vec<String> = judged.doubt.iter().cloned().collect();
        let subject = Subject {
            snapshot: &judged.newest,
            state: state_of(&ring.liveness().unwrap_or(*liveness)),
            when: None,
            notes: &notes,
            next: &Named::of_ring(&args.target, ring, liveness).in_shell(&args.target),
        };
        let waited = Waited {
            condition,
            verdict: &judged.verdict,
            outcome,
            waited_ns: nanos(waited),
            over_ns: judged.over_ns,
        };
        return console::write(&brief::condition::json(&subject, &waited));
    }
    let values: Vec<String> = judged
        .verdict
        .decisive(condition)
        .map(|(comparison, finding)| words::value(comparison, &finding.function, finding))
        .collect();
    let values = printable(&values.join(", "));
    let header = ring.header();
    let who = format!("{} (pid {})", printable(&header.name), header.pid);
    match outcome {
        Outcome::True => return console::write(&format!("{condition} is true: {values}\n")),
        Outcome::Timeout => say(&format!(
            "{condition} did not become true within {}: {values}",
            seconds(nanos(args.timeout.unwrap_or(waited)))
        )),
        Outcome::Ended => say(&format!(
            "{who} has ended, and {condition} did not become true: {values}"
        )),
    }
    if let Some(doubt) = &judged.doubt {
        say(doubt);
    }
    Ok(())
}
