//! Pending requests. A request is done when a snapshot shows its effect, not when it was sent or answered.

use std::collections::BTreeSet;
use std::time::Duration;

use tickscope_analysis::sites::sites;
use tickscope_format::Snapshot;
use tickscope_format::pattern::Pattern;
use tickscope_format::snapshot::LinesState;
use tickscope_programs::events::Request;

/// Time after which the user is told that the program has not answered.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

/// Notice about a request that was not answered.
const NO_ANSWER: &str = "no answer from the program in 2 s: it may be stopped, or too busy to publish";

/// Requests to the program. They are all dropped when the process changes, because a new process will never answer requests
/// to the old one.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    /// The pending request. Pending rules are in `switching` instead.
    pub(crate) pending: Option<Pending>,
    /// Whether this viewer has requested a reset that can be undone.
    pub(crate) undoable: bool,
    /// Requested number of snapshots per second; `None` once a snapshot shows the new rate.
    pub(crate) wished_hz: Option<u64>,
    /// Message about which programs received the last answered request; `None` for a single program.
    pub(crate) words: Option<String>,
    /// Pending rules that switch sites on or off.
    pub(crate) switching: Vec<Pending>,
    /// Patterns of the functions that this viewer has asked the program to watch.
    pub(crate) watched: BTreeSet<String>,
    /// Rules requested by a single key press, and the notice to show once all of them are in force.
    pub(crate) together: Option<(Vec<Request>, String)>,
}

/// A pending request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pending {
    /// Request that was sent.
    pub(crate) request: Request,
    /// Time of the request.
    pub(crate) asked: Duration,
    /// The reset epoch that the program named in its answer; `None` before the answer.
    pub(crate) epoch: Option<u64>,
}

impl Pending {
    fn of(request: Request, asked: Duration, epoch: Option<u64>) -> Self {
        Self {
            request,
            asked,
            epoch,
        }
    }

    /// Returns the time at which the user is told that no answer came.
    pub(crate) fn deadline(&self) -> Duration {
        self.asked + PATIENCE
    }

    /// Whether a snapshot shows the effect of this rule. Always true for requests that are not rules.
    fn is_in(&self, snapshot: &Snapshot) -> bool {
        rule_of(self.request).is_none_or(|(pattern, off)| {
            let mut rules = snapshot.measuring.rules.iter();
            let Some(off) = off else {
                return rules.all(|rule| rule.pattern != pattern.as_str());
            };
            sites(snapshot)
                .iter()
                .filter(|row| pattern.matches(&snapshot.sites[row.site.index()]))
                .all(|row| row.off == off)
        })
    }
}

/// Returns two words for a request: one for the header while the request is pending, and one for notices.
pub(crate) fn words_of(request: Request) -> [&'static str; 2] {
    match request {
        Request::Reset => ["resetting", "reset"],
        Request::Undo => ["undoing", "undo"],
        Request::Interval { .. } => ["", "rate"],
        Request::Mode(_) => ["switching", "mode"],
        Request::SitesOff(_) => ["switching", "off"],
        Request::SitesOn(_) | Request::ForgetRule(_) => ["switching", "on"],
        Request::Watch(..) | Request::Unwatch(_) => ["asking", "watch"],
        Request::Lines(_) => ["asking", "lines"],
    }
}

/// Returns the program's rate in snapshots per second, calculated from its interval.
pub(crate) fn rate_hz(snapshot: &Snapshot) -> u64 {
    let interval = snapshot.capture.interval_ns.max(1);
    ((1_000_000_000 + interval / 2) / interval).max(1)
}

/// Returns the pattern of a rule and whether the rule switches sites off, where `None` stands for removing the rule.
/// Returns `None` if the request is not a rule.
pub(crate) fn rule_of(request: Request) -> Option<(Pattern, Option<bool>)> {
    match request {
        Request::SitesOff(pattern) => Some((pattern, Some(true))),
        Request::SitesOn(pattern) => Some((pattern, Some(false))),
        Request::ForgetRule(pattern) => Some((pattern, None)),
        Request::Reset | Request::Undo | Request::Interval { .. } | Request::Mode(_) => None,
        Request::Watch(..) | Request::Unwatch(_) | Request::Lines(_) => None,
    }
}

/// Rules that came into force.
#[derive(Clone, Debug)]
pub(crate) enum Settled {
    /// The last of these rules.
    One(Request),
    /// The notice about several rules from a single key press, once all of them are in force.
    Together(String),
}

impl Requests {
    /// Starts waiting for the answer to a request.
    pub(crate) fn begin(&mut self, request: Request, now: Duration) {
        self.pending = Some(Pending::of(request, now, None));
    }

    /// Notes the reset epoch that the program named in its answer. Snapshots from this epoch on show the request's effect.
    pub(crate) fn answered(&mut self, request: Request, epoch: u64, now: Duration) {
        match &mut self.pending {
            Some(pending) if pending.request == request => pending.epoch = Some(epoch),
            Some(_) => {}
            // The user was already told that there was no answer, but the request was carried out all the same.
            None => self.pending = Some(Pending::of(request, now, Some(epoch))),
        }
    }

    /// Drops a request that the program refused.
    pub(crate) fn refused(&mut self, request: Request) {
        self.switching.retain(|switching| switching.request != request);
        self.together.take_if(|(requests, _)| requests.contains(&request));
        self.pending.take_if(|pending| pending.request == request);
        if matches!(request, Request::Interval { .. }) {
            self.wished_hz = None;
        }
    }

    /// Removes and returns the pending request if the newest snapshot shows its effect.
    pub(crate) fn settle(&mut self, newest: Option<&Snapshot>) -> Option<Request> {
        let pending = self.pending?;
        let (epoch, newest) = (pending.epoch?, newest?);
        let watches = |function: Pattern| {
            let mut watches = newest.watches.iter();
            watches.any(|watch| watch.function == function.as_str())
        };
        let request = pending.request;
        let is_shown = if let Request::Watch(function, _) = request {
            watches(function)
        } else if let Request::Unwatch(function) = request {
            !watches(function)
        } else if let Request::Lines(hz) = request {
            (hz > 0) == (newest.lines.state != LinesState::Off)
        } else {
            true
        };
        if newest.capture.reset_epoch < epoch || !is_shown {
            return None;
        }
        self.pending = None;
        if let Request::Watch(function, _) = request {
            self.watched.insert(function.as_str().to_owned());
        } else if let Request::Unwatch(function) = request {
            self.watched.remove(function.as_str());
        }
        let begins_anew = matches!(
            request,
            Request::Undo | Request::Mode(_) | Request::Interval { .. }
        );
        self.undoable = request == Request::Reset || (self.undoable && !begins_anew);
        Some(request)
    }

    /// Returns the notice to show if the pending request has expired. `answers` tells whether the program can still answer.
    pub(crate) fn expire(&mut self, now: Duration, answers: bool) -> Option<&'static str> {
        let pending = self
            .pending
            .as_mut()
            .filter(|pending| pending.deadline() <= now)?;
        if pending.epoch.is_some() && !answers {
            self.pending = None;
            Some("the program has answered, but it ended before a snapshot of it came")
        } else if pending.epoch.is_some() {
            // The request is done, but no snapshot shows its effect yet, so the header still shows the request as pending.
            pending.asked = now;
            Some("the program has answered, but no snapshot of it has come in 2 s")
        } else {
            self.pending = None;
            Some(NO_ANSWER)
        }
    }

    /// Whether a site will be off once its pending rule is in force. If no rule is pending, returns `off`, the site's
    /// current state.
    pub(crate) fn is_switched_off(&self, pattern: &Pattern, off: bool) -> bool {
        // A site whose rule is removed is on, unless something else keeps it off.
        let mut rules = self
            .switching
            .iter()
            .rev()
            .filter_map(|rule| rule_of(rule.request));
        rules
            .find(|(asked, _)| asked == pattern)
            .map_or(off, |(_, off)| off == Some(true))
    }

    /// Starts waiting for a snapshot that shows the rule's effect. Replaces an earlier pending rule with the same pattern.
    pub(crate) fn await_rule(&mut self, request: Request, now: Duration, epoch: Option<u64>) {
        self.switching
            .retain(|switching| pattern_of(switching.request) != pattern_of(request));
        self.switching.push(Pending::of(request, now, epoch));
    }

    /// Notes the program's answer that a rule is in force.
    pub(crate) fn granted(&mut self, request: Request, epoch: u64, now: Duration) {
        // The other requests had to wait for this one, so their time limit starts over.
        for waiting in &mut self.switching {
            waiting.asked = now;
        }
        // A rule is ignored if a later rule with the same pattern is pending, because that one will be answered too.
        let is_later = |switching: &Pending| {
            switching.request != request && pattern_of(switching.request) == pattern_of(request)
        };
        if !self.switching.iter().any(is_later) {
            self.await_rule(request, now, Some(epoch));
        }
    }

    /// Removes the pending rules whose effect the newest snapshot shows, and returns the last of them. For rules requested
    /// by a single key press, returns their notice instead, but only once all of them are in force.
    pub(crate) fn settle_rules(&mut self, newest: &Snapshot) -> Option<Settled> {
        let shows = |switching: &mut Pending| switching.epoch.is_some() && switching.is_in(newest);
        let done: Vec<Pending> = self.switching.extract_if(.., shows).collect();
        if let Some((requests, _)) = &self.together
            && done.iter().any(|switching| requests.contains(&switching.request))
        {
            let left = self.switching.iter().any(|rule| requests.contains(&rule.request));
            let said = self.together.take_if(|_| !left).map(|(_, said)| said);
            return said.map(Settled::Together);
        }
        done.last().map(|switching| Settled::One(switching.request))
    }

    /// Returns the time at which the first pending request expires.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        let all = self.pending.iter().chain(&self.switching);
        all.map(Pending::deadline).min()
    }

    /// Drops the rules that have waited too long. Returns a notice about the first of them.
    pub(crate) fn expire_rules(&mut self, now: Duration) -> Option<String> {
        let is_due = |switching: &Pending| switching.deadline() <= now;
        let late = self.switching.iter().copied().find(is_due)?;
        self.switching.retain(|switching| !is_due(switching));
        let name = pattern_of(late.request).map_or(String::new(), |pattern| pattern.as_str().to_string());
        let why = match late.epoch {
            Some(_) => "the program has answered, but no snapshot has shown it in 2 s",
            None => NO_ANSWER,
        };
        Some(format!("{name}: {why}"))
    }
}

fn pattern_of(request: Request) -> Option<Pattern> {
    rule_of(request).map(|(pattern, _)| pattern)
}
