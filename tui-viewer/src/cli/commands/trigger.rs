//! `tickscope trigger`: watches a program, and keeps its past in a recording when a condition becomes true.

mod action;
mod kept_past;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use tickscope_command::console;
use tickscope_command::console::{printable, put, say};
use tickscope_programs::clock_time::{clock_tenths, nanos, running, seconds};
use tickscope_programs::events::{Feed, Target};
use tickscope_programs::feed::RingFeed;
use tickscope_programs::local_time::utc_offset_s;
use tickscope_programs::status::Status;
use tickscope_programs::target;
use tickscope_programs::target::wanted::Wanted;

use self::action::Action;
use crate::cli::args::TriggerArgs;
use crate::cli::commands::live_snapshot;
use crate::cli::commands::record::stop_on_signals;
use crate::cli::commands::status_line::StatusLine;
use crate::cli::trigger::{Event, Fired, Watch};

/// Longest pause between two polls of the program, unless a poll itself takes long. Ctrl-C is noticed only after the pause.
const LOOK: Duration = Duration::from_millis(50);

/// Watches until the program ends, a signal arrives, or the reader closes standard output.
///
/// # Errors
/// There is no such running program, or it can no longer be read.
pub fn run(args: &TriggerArgs) -> anyhow::Result<u8> {
    let ring = live_snapshot::find_running(&args.target, args.wait, "a trigger needs a running program")?;
    let stop = stop_on_signals()?;
    let header = ring.header().clone();
    let who = format!("{} (pid {})", printable(&header.name), header.pid);
    let wanted = Wanted::File(ring.path().to_path_buf());
    let mut feed = RingFeed::new(wanted, args.target.dir.clone(), utc_offset_s());
    let mut session = Session::new(args);
    let options = args.options;
    say(&format!(
        "watching {who} for {} in the last {}; then the last {} are kept, at most {}",
        args.condition,
        seconds(nanos(options.over)),
        seconds(nanos(options.keep)),
        options.at_most
    ));
    let begin = Instant::now();
    let mut told_status = Status::Live.word();
    let ended = loop {
        let looked = Instant::now();
        let events = feed.poll();
        if events.new_run.is_some() {
            session.say(&format!(
                "the ring file of {who} was lost; its next ring is followed"
            ));
        }
        let event = session.watch.take(&events.past, begin.elapsed());
        if !session.tell(event, events.target.as_ref())? {
            break None;
        }
        if stop.load(Ordering::Relaxed) {
            break None;
        }
        let is_news = told_status != events.status.word();
        match &events.status {
            Status::Exited { .. } => break Some("has ended"),
            Status::Crashed { .. } => break Some("has ended without a last record"),
            Status::Broken { why } | Status::Waiting { why } if !target::runs_on(&header) => {
                session.line.clear();
                return Err(anyhow!("{why}"));
            }
            Status::Broken { why } if is_news => session.say(why),
            Status::Stale { .. } if is_news => session.say(&format!(
                "no new record from {who}: it may be stopped, or too busy to publish"
            )),
            Status::Broken { .. }
            | Status::Stale { .. }
            | Status::Live
            | Status::Waiting { .. }
            | Status::Kept
            | Status::Piped(_) => {}
        }
        told_status = events.status.word();
        session.show(begin.elapsed());
        // Reading and evaluating a large program's records takes long, so the pause is at least four times as long as
        // that took. This leaves most of the CPU time to other programs.
        let rest = looked.elapsed().saturating_mul(4);
        thread::sleep(feed.next_look().max(rest).min(LOOK.max(rest)));
    };
    session.line.clear();
    session.finish(&who, ended, &stop)
}

/// State of a running trigger.
struct Session<'a> {
    args: &'a TriggerArgs,
    watch: Watch,
    action: Action,
    line: StatusLine,
    kept: u64,
    /// Whether a recording could not be written.
    has_failed: bool,
    /// Last message about a function that has not occurred yet or cannot be measured.
    doubt: Option<String>,
    /// Whether the user was told that `--at-most` prevents a recording.
    told_held_back: bool,
}

impl<'a> Session<'a> {
    fn new(args: &'a TriggerArgs) -> Self {
        Self {
            args,
            watch: Watch::new(args.condition.clone(), args.options),
            action: Action::new(args.exec.clone()),
            line: StatusLine::on_stderr(true),
            kept: 0,
            has_failed: false,
            doubt: None,
            told_held_back: false,
        }
    }

    /// Prints a message where the status line was.
    fn say(&mut self, message: &str) {
        self.line.clear();
        say(message);
    }

    fn show(&mut self, elapsed: Duration) {
        self.line.show(elapsed, || {
            format!(
                "{}  kept {}  (Ctrl-C ends it)  {}",
                running(nanos(elapsed)),
                self.kept,
                printable(&self.watch.now_in_words()),
            )
        });
    }

    /// Acts on an event that the newest records caused, and prints messages. Returns false if standard output is closed.
    fn tell(&mut self, event: Option<Event>, target: Option<&Target>) -> anyhow::Result<bool> {
        if let Some(failure) = self.action.failure() {
            self.say(&failure);
        }
        let doubt = self.watch.doubt();
        if let Some(doubt) = doubt.as_ref().filter(|_| doubt != self.doubt) {
            self.say(doubt);
        }
        self.doubt = doubt;
        match (event, target) {
            (Some(Event::Act(fired)), Some(target)) => self.act(&fired, target),
            (Some(Event::HeldBack(left)), _) if !self.told_held_back => {
                self.told_held_back = true;
                let (condition, at_most) = (&self.args.condition, self.args.options.at_most);
                let left = seconds(nanos(left));
                self.say(&format!(
                    "{condition} became true, and nothing is kept for another {left} (--at-most {at_most})"
                ));
                Ok(true)
            }
            _ => Ok(true),
        }
    }

    fn act(&mut self, fired: &Fired, target: &Target) -> anyhow::Result<bool> {
        self.told_held_back = false;
        self.line.clear();
        let offset = utc_offset_s();
        let when = clock_tenths(fired.unix_ns, offset);
        let words = printable(&fired.words);
        match kept_past::keep(&target.path, self.args.options.keep, offset) {
            Ok(kept) => {
                self.kept += 1;
                let path = kept.path.display();
                let is_open = put(&format!("{when}  {words}: kept {} in {path}\n", kept.words))?;
                // The command may change its directory, so it gets an absolute path.
                let whole = std::path::absolute(&kept.path).unwrap_or(kept.path);
                self.action.start(&self.args.condition, fired, target, &whole);
                Ok(is_open)
            }
            Err(why) => {
                self.has_failed = true;
                say(&format!("{when}  {words}: the past could not be kept: {why}"));
                Ok(true)
            }
        }
    }

    /// Waits for the user's command to end, and prints a summary.
    fn finish(mut self, who: &str, ended: Option<&str>, stop: &AtomicBool) -> anyhow::Result<u8> {
        self.action.wait(|| stop.load(Ordering::Relaxed));
        let kept = match self.kept {
            0 if self.watch.acted == 0 => {
                format!("nothing was kept: {} did not become true", self.args.condition)
            }
            0 => "nothing could be kept".to_string(),
            1 => "1 recording was kept".to_string(),
            many => format!("{many} recordings were kept"),
        };
        let at_most = self.args.options.at_most;
        let held_back = match self.watch.held_back() {
            0 => String::new(),
            1 => format!("; it became true once more (--at-most {at_most})"),
            many => format!("; it became true {many} times more (--at-most {at_most})"),
        };
        let ended = ended.map_or_else(String::new, |ended| format!("{who} {ended}; "));
        say(&format!("{ended}{kept}{held_back}"));
        Ok(match self.has_failed {
            true => console::FAILED,
            false => console::DONE,
        })
    }
}
