//! A trigger for one program: reads its new records and reports when the condition becomes true.

mod recent;
pub(crate) mod words;

use std::time::Duration;

use tickscope_analysis::trigger::{Absence, Comparison, Condition, Episodes, Finding, Step, judge};
use tickscope_programs::events::Past;

use crate::cli::args::TriggerOptions;
use crate::cli::trigger::recent::{Judgement, NoWindow, Recent};

/// Maximum number of evaluations per window length. Evaluating costs as much as drawing a view, so it must not happen
/// too often.
const JUDGEMENTS: u32 = 20;

/// Evaluates a trigger's condition against the records of one program.
#[derive(Debug)]
pub(crate) struct Watch {
    condition: Condition,
    options: TriggerOptions,
    recent: Recent,
    episodes: Episodes,
    /// Result of the most recent evaluation.
    found: Result<Judgement, NoWindow>,
    /// The evaluation that triggered the most recent action.
    fired: Option<Judgement>,
    /// Capture time of the record that was newest at the most recent evaluation.
    judged_ns: Option<u64>,
    /// Message saying that a function in the condition has not been called yet.
    unmet: Option<String>,
    /// Number of actions so far.
    pub(crate) acted: u64,
}

/// What a trigger reports after reading new records.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// The condition became true, so the recent past should be saved.
    Act(Box<Fired>),
    /// The condition became true, but `--at-most` forbids another action for this much longer.
    HeldBack(Duration),
}

/// How a condition became true.
#[derive(Clone, Debug)]
pub(crate) struct Fired {
    /// When the condition became true, in nanoseconds since the Unix epoch.
    pub(crate) unix_ns: u64,
    /// Description of the comparisons that were true: `p99(app::handle) = 63.1ms > 50ms in the last 5.0 s (104 calls)`.
    pub(crate) words: String,
    /// The first comparison that was true.
    pub(crate) comparison: Comparison,
    /// The value of `comparison` and the function in which it was found.
    pub(crate) finding: Finding,
}

impl Watch {
    /// Returns a trigger that has not read any records yet.
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

    /// Returns how many times `--at-most` has prevented an action.
    pub(crate) fn held_back(&self) -> u64 {
        self.episodes.held_back()
    }

    /// Reads new records, which must be in order of capture. `now` is the time on a monotonic clock.
    ///
    /// Even if this is called late, everything that happened since the previous call falls into a window that is
    /// evaluated.
    pub(crate) fn take(&mut self, records: &[Past], now: Duration) -> Option<Event> {
        let over_ns = self.options.over.as_nanos() as u64;
        let mut event = None;
        let mut any = false;
        for record in records {
            // Adding `record` moves the window forward. If that would leave a stretch of time that no evaluation
            // covers, evaluate the window without `record` first.
            let is_far = |judged: u64| record.unix_ns.saturating_sub(judged) >= over_ns / 2;
            let has_to_be_judged = |judged: u64| self.recent.fills || is_far(judged);
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

    /// Evaluates the condition over the window that ends at the newest record.
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
        let is_unmet = |finding: &Finding| finding.value == Err(Absence::Unmet);
        let may_be_unmet = match &self.found {
            Ok(judgement) => judgement.verdict.findings.iter().flatten().any(is_unmet),
            Err(_) => true,
        };
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

    /// Returns the evaluation that triggered the most recent action. If there was no action, returns the most recent
    /// evaluation, or `None` if there was no window to evaluate.
    pub(crate) fn found(&self) -> Option<&Judgement> {
        self.fired.as_ref().or(self.found.as_ref().ok())
    }

    /// Describes the result of the most recent evaluation, such as `p99(app::handle) = 12.1ms`.
    pub(crate) fn now_in_words(&self) -> String {
        words::found(&self.condition, &self.found, self.options.over)
    }

    /// Returns a message if a function in the condition has not been called yet, or if a value cannot be measured.
    pub(crate) fn doubt(&self) -> Option<String> {
        let judgement = self.found.as_ref().ok();
        let unmeasured = || words::unmeasured(&self.condition, judgement?);
        self.unmet.clone().or_else(unmeasured)
    }
}

#[cfg(test)]
mod tests;
