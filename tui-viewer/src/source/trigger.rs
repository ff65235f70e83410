//! A trigger at work: it takes the records of a program as they come and tells when its condition has become true.

mod judgement;
mod recent;
pub(crate) mod words;

use std::time::Duration;

use tickscope_analysis::trigger::{Comparison, Condition, Episodes, Finding, Step, Verdict, judge};

use crate::cli::args::TriggerOptions;
use crate::source::events::Past;
use crate::source::trigger::judgement::Judgement;
use crate::source::trigger::recent::{NoWindow, Recent};

/// The condition is judged at most so many times in a window: judging costs as much as showing a view.
const JUDGEMENTS: u32 = 20;

/// A trigger of one program.
#[derive(Debug)]
pub(crate) struct Watch {
    condition: Condition,
    options: TriggerOptions,
    recent: Recent,
    episodes: Episodes,
    /// What was found at the last judgement.
    found: Result<Judgement, NoWindow>,
    /// What was found when it acted last.
    fired: Option<Judgement>,
    /// When the record of the last judgement was captured.
    judged_ns: Option<u64>,
    /// That a function of the condition was not met yet.
    unmet: Option<String>,
    acted: u64,
}

/// What has become of a trigger.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// The condition has become true: the past is to be kept.
    Act(Box<Fired>),
    /// It has become true, but the limit lets nothing be kept for so long.
    HeldBack(Duration),
}

/// A condition that has become true.
#[derive(Clone, Debug)]
pub(crate) struct Fired {
    /// When: nanoseconds since the Unix epoch.
    pub(crate) unix_ns: u64,
    /// What was true, in words: `p99(app::handle) = 63.1ms > 50ms in the last 5.0 s (104 calls)`.
    pub(crate) words: String,
    /// The comparison that was true, the first one of several.
    pub(crate) comparison: Comparison,
    /// What was found of it.
    pub(crate) finding: Finding,
}

impl Watch {
    /// A trigger that has seen nothing yet.
    pub(crate) fn new(condition: Condition, options: TriggerOptions) -> Self {
        Self {
            recent: Recent::new(options.over),
            episodes: Episodes::new(options.at_most, options.over),
            condition,
            options,
            found: Err(NoWindow::TooShort { ns: 0 }),
            fired: None,
            judged_ns: None,
            unmet: None,
            acted: 0,
        }
    }

    /// The condition.
    pub(crate) fn condition(&self) -> &Condition {
        &self.condition
    }

    /// How often it has acted.
    pub(crate) fn acted(&self) -> u64 {
        self.acted
    }

    /// How often the limit has held it back.
    pub(crate) fn held_back(&self) -> u64 {
        self.episodes.held_back()
    }

    /// Takes the records that have come, in the order of their capture. `now` is the time on a clock that never goes back.
    ///
    /// All that happens between two calls is in some window that is judged, however late the second one comes.
    pub(crate) fn take(&mut self, records: &[Past], now: Duration) -> Option<Event> {
        let over_ns = self.options.over.as_nanos() as u64;
        let mut event = None;
        let mut any = false;
        for record in records {
            // A window that ends with this record might not reach back to the last judgement.
            let is_far = |judged: u64| record.unix_ns.saturating_sub(judged) >= over_ns / 2;
            let has_to_be_judged = |judged: u64| self.recent.fills() || is_far(judged);
            if any && self.judged_ns.is_some_and(has_to_be_judged) {
                let next = self.judge_newest(now);
                event = event.or(next);
            }
            any |= self.recent.push(record);
        }
        if any {
            let next = self.judge_newest(now);
            event = event.or(next);
        }
        event
    }

    /// Judges the window that ends with the newest record.
    fn judge_newest(&mut self, now: Duration) -> Option<Event> {
        let newest_ns = self.recent.newest_ns()?;
        let least_ns = (self.options.over / JUDGEMENTS).as_nanos() as u64;
        if self
            .judged_ns
            .is_some_and(|judged| newest_ns.abs_diff(judged) < least_ns)
        {
            return None;
        }
        self.judged_ns = Some(newest_ns);
        self.found = self.recent.window().map(|window| Judgement {
            verdict: judge(&self.condition, &window),
            window_ns: window.capture.since_reset_ns,
        });
        let may_be_unmet = self.found.as_ref().map_or(true, Judgement::has_unmet);
        let newest = may_be_unmet.then(|| self.recent.newest().ok()).flatten();
        self.unmet = newest.and_then(|newest| words::unmet(&self.condition, &newest));
        let judgement = self.found.as_ref().ok()?;
        match self.episodes.step(now, judgement.verdict.is_true) {
            Step::Nothing => None,
            Step::HeldBack { until } => Some(Event::HeldBack(until.saturating_sub(now))),
            Step::Act => {
                let (comparison, finding) = judgement.verdict.decisive(&self.condition).next()?;
                let fired = Fired {
                    unix_ns: newest_ns,
                    words: words::fired(&self.condition, judgement),
                    comparison: comparison.clone(),
                    finding: finding.clone(),
                };
                self.acted += 1;
                self.fired = Some(judgement.clone());
                Some(Event::Act(Box::new(fired)))
            }
        }
    }

    /// What was found last, and how long the window was in nanoseconds; none where there was no window yet.
    pub(crate) fn found(&self) -> Option<(&Verdict, u64)> {
        let judgement = self.found.as_ref().ok()?;
        Some((&judgement.verdict, judgement.window_ns))
    }

    /// The same of when it was true last; none where it never was.
    pub(crate) fn true_once(&self) -> Option<(&Verdict, u64)> {
        let judgement = self.fired.as_ref()?;
        Some((&judgement.verdict, judgement.window_ns))
    }

    /// What was found last, in words: `p99(app::handle) = 12.1ms`.
    pub(crate) fn now_in_words(&self) -> String {
        words::found(&self.condition, &self.found, self.options.over)
    }

    /// That a function of the condition was not met yet, or cannot be measured so, and why; none while all is well.
    pub(crate) fn doubt(&self) -> Option<String> {
        let judgement = self.found.as_ref().ok();
        let unmeasured = || words::unmeasured(&self.condition, judgement?);
        self.unmet.clone().or_else(unmeasured)
    }
}

#[cfg(test)]
mod tests;
