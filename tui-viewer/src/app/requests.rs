//! Requests on their way: each is done when a snapshot shows its effect, not when it was sent or answered.

use std::collections::BTreeSet;
use std::time::Duration;

use tickscope_analysis::sites::sites;
use tickscope_format::Snapshot;
use tickscope_format::pattern::Pattern;
use tickscope_format::snapshot::LinesState;

use crate::source::events::Request;

/// So long a program may take to answer before the user is told.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

/// What was asked of the program. Another process never answers it, so all of it is dropped as one.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    /// A reset, its undoing, or another mode on its way.
    pub(crate) pending: Option<Pending>,
    /// A reset was made from here and can be taken back.
    pub(crate) undoable: bool,
    /// The rate that was asked for, times a second, until a snapshot shows it.
    pub(super) wished_hz: Option<u64>,
    /// To whom the last request went that was answered, where several programs were asked.
    pub(super) words: Option<String>,
    /// Sites that the program was asked to switch.
    pub(super) switching: Vec<Switching>,
    /// The functions that the program was asked from here to watch, by their patterns.
    pub(super) watched: BTreeSet<String>,
    /// Rules that were asked for by one key, and what is said when the last of them is in force.
    pub(super) together: Option<(Vec<Request>, String)>,
}

/// A reset, its undoing, or another mode on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pending {
    /// What was asked for.
    pub(crate) request: Request,
    /// When.
    pub(crate) asked: Duration,
    /// The reset epoch that the program named in its answer.
    pub(crate) epoch: Option<u64>,
}

impl Pending {
    /// For the header.
    pub(crate) fn word(&self) -> &'static str {
        match self.request {
            Request::Reset => "resetting",
            Request::Undo => "undoing",
            Request::Mode(_) | Request::SitesOff(_) | Request::SitesOn(_) | Request::ForgetRule(_) => {
                "switching"
            }
            Request::Watch(..) | Request::Unwatch(_) | Request::Lines(_) => "asking",
            Request::Interval { .. } => "",
        }
    }

    /// When waiting has been long enough.
    pub(crate) fn deadline(&self) -> Duration {
        self.asked + PATIENCE
    }
}

/// Snapshots a second, as the program says.
pub(crate) fn rate_hz(snapshot: &Snapshot) -> u64 {
    let interval = snapshot.capture.interval_ns.max(1);
    ((1_000_000_000 + interval / 2) / interval).max(1)
}

/// A rule on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Switching {
    /// What was asked for.
    pub(super) request: Request,
    pub(super) asked: Duration,
    /// The program has said that it is done.
    pub(super) granted: bool,
}

/// The pattern of a request, and whether it switches off; none where it takes a rule back.
pub(crate) fn rule_of(request: Request) -> Option<(Pattern, Option<bool>)> {
    match request {
        Request::SitesOff(pattern) => Some((pattern, Some(true))),
        Request::SitesOn(pattern) => Some((pattern, Some(false))),
        Request::ForgetRule(pattern) => Some((pattern, None)),
        Request::Reset | Request::Undo | Request::Interval { .. } | Request::Mode(_) => None,
        Request::Watch(..) | Request::Unwatch(_) | Request::Lines(_) => None,
    }
}

/// Rules that are in force.
#[derive(Clone, Debug)]
pub(crate) enum Settled {
    /// This one.
    One(Request),
    /// All that one key asked for, in words.
    Together(String),
}

impl Switching {
    /// Whether a snapshot shows it.
    pub(super) fn is_in(&self, snapshot: &Snapshot) -> bool {
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

impl Requests {
    /// Waits for the answer to a request.
    pub(super) fn begin(&mut self, request: Request, now: Duration) {
        self.pending = Some(Pending {
            request,
            asked: now,
            epoch: None,
        });
    }

    /// The program named the reset epoch in which a request shows.
    pub(super) fn answered(&mut self, request: Request, epoch: u64, now: Duration) {
        match &mut self.pending {
            Some(pending) if pending.request == request => pending.epoch = Some(epoch),
            Some(_) => {}
            // Answered after the user was told that no answer had come: it is done all the same.
            None => {
                self.pending = Some(Pending {
                    request,
                    asked: now,
                    epoch: Some(epoch),
                });
            }
        }
    }

    /// The program refuses a request.
    pub(super) fn refused(&mut self, request: Request) {
        self.switching.retain(|switching| switching.request != request);
        self.together.take_if(|(requests, _)| requests.contains(&request));
        self.pending.take_if(|pending| pending.request == request);
        if matches!(request, Request::Interval { .. }) {
            self.wished_hz = None;
        }
    }

    /// Takes the request that the newest snapshot shows done.
    pub(super) fn settle(&mut self, newest: Option<&Snapshot>) -> Option<Request> {
        let pending = self.pending?;
        let (epoch, newest) = (pending.epoch?, newest?);
        let watches = |function: Pattern| {
            let mut watches = newest.watches.iter();
            watches.any(|watch| watch.function == function.as_str())
        };
        let is_shown = match pending.request {
            Request::Watch(function, _) => watches(function),
            Request::Unwatch(function) => !watches(function),
            Request::Lines(hz) => (hz > 0) == (newest.lines.state != LinesState::Off),
            Request::Reset
            | Request::Undo
            | Request::Interval { .. }
            | Request::Mode(_)
            | Request::SitesOff(_)
            | Request::SitesOn(_)
            | Request::ForgetRule(_) => true,
        };
        if newest.capture.reset_epoch < epoch || !is_shown {
            return None;
        }
        let request = self.pending.take()?.request;
        match request {
            Request::Watch(function, _) => {
                self.watched.insert(function.as_str().to_owned());
            }
            Request::Unwatch(function) => {
                self.watched.remove(function.as_str());
            }
            Request::Reset | Request::Undo | Request::Interval { .. } | Request::Mode(_) => {}
            Request::SitesOff(_) | Request::SitesOn(_) | Request::ForgetRule(_) | Request::Lines(_) => {}
        }
        self.undoable = match request {
            Request::Reset => true,
            Request::SitesOff(_) | Request::SitesOn(_) | Request::ForgetRule(_) => self.undoable,
            Request::Watch(..) | Request::Unwatch(_) | Request::Lines(_) => self.undoable,
            Request::Undo | Request::Mode(_) | Request::Interval { .. } => false,
        };
        Some(request)
    }

    /// What to say of a request that has waited long enough; `answers` is whether the program can still answer.
    pub(super) fn expire(&mut self, now: Duration, answers: bool) -> Option<&'static str> {
        let pending = self
            .pending
            .as_mut()
            .filter(|pending| pending.deadline() <= now)?;
        if pending.epoch.is_some() && !answers {
            self.pending = None;
            Some("the program has answered, but it ended before a snapshot of it came")
        } else if pending.epoch.is_some() {
            // It is done, only not here yet: the header goes on saying so.
            pending.asked = now;
            Some("the program has answered, but no snapshot of it has come in 2 s")
        } else {
            self.pending = None;
            Some("no answer from the program in 2 s: it may be stopped, or too busy to publish")
        }
    }

    /// The new state of a site whose rule is on its way; `off` where none is.
    pub(super) fn is_switched_off(&self, pattern: &Pattern, off: bool) -> bool {
        // Taken back it is on, where nothing else keeps it off.
        let mut rules = self
            .switching
            .iter()
            .rev()
            .filter_map(|rule| rule_of(rule.request));
        rules
            .find(|(asked, _)| asked == pattern)
            .map_or(off, |(_, off)| off == Some(true))
    }

    /// Waits for a rule to show; a later rule of the same pattern takes the place of the one before.
    pub(super) fn await_rule(&mut self, request: Request, now: Duration, granted: bool) {
        self.switching
            .retain(|switching| pattern_of(switching.request) != pattern_of(request));
        self.switching.push(Switching {
            request,
            asked: now,
            granted,
        });
    }

    /// The program says that a rule is in force.
    pub(super) fn granted(&mut self, request: Request, now: Duration) {
        // Those behind it were waiting for it.
        for waiting in &mut self.switching {
            waiting.asked = now;
        }
        // A former rule of the same pattern is only passed by: what came after it will be answered as well.
        let is_later = |switching: &Switching| {
            switching.request != request && pattern_of(switching.request) == pattern_of(request)
        };
        if !self.switching.iter().any(is_later) {
            self.await_rule(request, now, true);
        }
    }

    /// Takes the rules that the newest snapshot shows; returns the last of them, or what is said of all that were asked for
    /// by one key.
    pub(super) fn settle_rules(&mut self, newest: &Snapshot) -> Option<Settled> {
        let shows = |switching: &mut Switching| switching.granted && switching.is_in(newest);
        let done: Vec<Switching> = self.switching.extract_if(.., shows).collect();
        if let Some((requests, _)) = &self.together
            && done.iter().any(|switching| requests.contains(&switching.request))
        {
            let left = self.switching.iter().any(|rule| requests.contains(&rule.request));
            let said = self.together.take_if(|_| !left).map(|(_, said)| said);
            return said.map(Settled::Together);
        }
        done.last().map(|switching| Settled::One(switching.request))
    }

    /// When waiting for a rule has been long enough.
    fn rules_deadline(&self) -> Option<Duration> {
        let deadlines = self.switching.iter().map(|switching| switching.asked + PATIENCE);
        deadlines.min()
    }

    /// When something that was asked for has waited long enough.
    pub(super) fn deadline(&self) -> Option<Duration> {
        let pending = self.pending.map(|pending| pending.deadline());
        [pending, self.rules_deadline()].into_iter().flatten().min()
    }

    /// Gives up the rules that have waited long enough; returns what to say of them.
    pub(super) fn expire_rules(&mut self, now: Duration) -> Option<String> {
        let is_due = |switching: &Switching| switching.asked + PATIENCE <= now;
        let late = self.switching.iter().copied().find(is_due)?;
        self.switching.retain(|switching| !is_due(switching));
        let name = pattern_of(late.request).map_or(String::new(), |pattern| pattern.as_str().to_string());
        Some(match late.granted {
            true => format!("{name}: the program has answered, but no snapshot has shown it in 2 s"),
            false => {
                format!(
                    "{name}: no answer from the program in 2 s: it may be stopped, or too busy to publish"
                )
            }
        })
    }
}

fn pattern_of(request: Request) -> Option<Pattern> {
    rule_of(request).map(|(pattern, _)| pattern)
}
