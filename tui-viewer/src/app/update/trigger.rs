//! Sets a trigger, looks whether its condition has become true, and tells what was kept.

use std::path::PathBuf;

use tickscope_analysis::trigger::Condition;

use crate::app::message::Effect;
use crate::app::state::App;
use crate::cli::args::TriggerOptions;
use crate::source::events::Past;
use crate::source::trigger::words::unmet;
use crate::source::trigger::{Event, Watch};
use crate::text::clock_time::{nanos, seconds};

impl App {
    /// Sets a trigger in place of the one that there may be.
    pub(in crate::app) fn set_trigger(&mut self, condition: Condition, options: TriggerOptions) {
        if !self.program.status.answers() {
            let why = self.why_no_answer();
            return self.complain(format!("trigger: no program answers, {why}"));
        }
        if self.program.is_together() {
            return self.complain(
                "trigger: what is kept is the ring of one process: tickscope PID, then :trigger there, or tickscope trigger -p PID",
            );
        }
        let newest = self.program.newest.as_deref();
        let text = match newest.and_then(|newest| unmet(&condition, newest)) {
            Some(unmet) => unmet,
            None => format!(
                "when {condition} in the last {}, the last {} are kept, at most {}",
                seconds(nanos(options.over)),
                seconds(nanos(options.keep)),
                options.at_most
            ),
        };
        let after_seq = newest.map_or(0, |newest| newest.capture.seq);
        self.trigger.watch = Some(Watch::new(condition, options, after_seq));
        self.tell(text);
    }

    /// Removes the trigger.
    pub(in crate::app) fn end_trigger(&mut self) {
        match self.trigger.watch.take() {
            Some(watch) => self.tell(format!("the trigger {} is removed", watch.condition())),
            None => self.tell("no trigger is set"),
        }
    }

    /// Tells which trigger is set, what it finds, and what was kept.
    pub(in crate::app) fn tell_trigger(&mut self) {
        let kept = match &self.trigger.last {
            None => "nothing was kept yet".to_string(),
            Some((path, words)) => {
                format!(
                    "kept {}, the last in {} ({words})",
                    self.trigger.kept,
                    path.display()
                )
            }
        };
        let text = match &self.trigger.watch {
            Some(watch) => {
                let held_back = match watch.held_back() {
                    0 => String::new(),
                    count => format!("; {count} held back by --at-most {}", watch.options().at_most),
                };
                let now = watch.doubt().unwrap_or_else(|| watch.now_in_words());
                format!(
                    "{}: {now}; {kept}{held_back}; :trigger off ends it",
                    watch.condition()
                )
            }
            None if self.trigger.last.is_some() => format!("no trigger is set; {kept}"),
            None => {
                "no trigger is set; :trigger p99(handle) > 50ms keeps the last 30 s when that becomes true"
                    .into()
            }
        };
        self.tell(text);
    }

    /// Shows the trigger the records that have come.
    pub(in crate::app) fn watch_trigger(&mut self, records: &[Past], effects: &mut Vec<Effect>) {
        let Some(watch) = &mut self.trigger.watch else {
            return;
        };
        let at_most = watch.options().at_most;
        match watch.take(records, self.screen.now) {
            Some(Event::Act(fired)) => {
                let Some(target) = &self.program.target else {
                    return;
                };
                effects.push(Effect::KeepPast {
                    ring: target.path.clone(),
                    length: watch.options().keep,
                    words: fired.words,
                });
            }
            Some(Event::HeldBack(left)) => {
                let condition = watch.condition().to_string();
                self.tell(format!(
                    "{condition} became true; nothing is kept for another {} (--at-most {at_most})",
                    seconds(nanos(left))
                ));
                self.screen.dirty = true;
            }
            None => {}
        }
    }

    /// The past was kept, or not: how much and where, or why not.
    pub(in crate::app) fn past_is_kept(&mut self, words: String, kept: Result<(PathBuf, String), String>) {
        match kept {
            Ok((path, length)) => {
                self.tell(format!("{words}: kept {length} in {}", path.display()));
                self.trigger.kept += 1;
                self.trigger.last = Some((path, words));
            }
            Err(why) => self.complain(format!("{words}: the past could not be kept: {why}")),
        }
        self.screen.dirty = true;
    }

    /// Another run or another program: what was seen before says nothing of it.
    pub(in crate::app) fn restart_trigger(&mut self) {
        if let Some(watch) = &mut self.trigger.watch {
            watch.restart();
        }
    }
}
