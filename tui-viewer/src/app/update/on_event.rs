//! What the feed says: status, snapshots, answers.

use std::rc::Rc;

use tickscope_format::Snapshot;
use tickscope_format::ids::ThreadId;
use tickscope_format::snapshot::Mode;

use crate::app::activity::Pulse;
use crate::app::filter::Lens;
use crate::app::flame::Flame;
use crate::app::function::FunctionView;
use crate::app::pending::Pending;
use crate::app::pending::rate_hz;
use crate::app::popup::Popup;
use crate::app::state::Model;
use crate::app::threads;
use crate::app::update::sites;
use crate::source::events::{News, Outcome, Request};
use crate::source::status::Status;

impl Model {
    pub(in crate::app) fn hear(&mut self, news: News) {
        if news.status != self.status {
            self.status = news.status;
            self.rows_stale = true;
            self.dirty = true;
        }
        if let Some(target) = news.target.filter(|target| self.target.as_ref() != Some(target)) {
            if news.new_run.is_none() && self.target.is_some() {
                // Another program: what was folded and seen there means nothing here.
                self.forget();
            }
            self.target = Some(target);
            self.dirty = true;
        }
        if let Some((old, new)) = news.new_run {
            self.warnings_seen = false;
            self.ask_nothing();
            // The next ring of the same process begins with nothing, but what is known of it holds.
            if old != new {
                self.time.history.clear();
                self.time.begin_ns = None;
                self.time.pulse = Pulse::default();
            }
            self.tell(if old == new {
                format!("the ring file of pid {new} was lost; its next one is followed")
            } else {
                format!("new run: pid {new}, followed; it was {old}")
            });
            self.dirty = true;
        }
        self.dirty |= self.lapped != news.lapped;
        self.lapped = news.lapped;
        if let Some(rings) = news.rings {
            self.hear_rings(rings);
        }
        for outcome in news.outcomes {
            self.hear_outcome(outcome);
        }
        // With each snapshot comes its own record, and that of others just before it: they change nothing of the past.
        let known = self.newest.as_ref().or(news.snapshot.as_ref());
        let known = known.map(|newest| newest.capture.unix_ns);
        let more_past = news
            .past
            .iter()
            .any(|past| known.is_some_and(|known| past.unix_ns < known));
        self.time.begin_ns = news.begin_ns.or(self.time.begin_ns);
        self.time.history.recorded = self.status == Status::Kept;
        // Before the snapshot: the record of it need not be made again.
        self.time.history.remember(news.past);
        if let Some(snapshot) = news.snapshot {
            self.hear_snapshot(snapshot);
        }
        if more_past {
            self.past_has_come();
        }
        self.settle_pending();
    }

    fn forget(&mut self) {
        self.shown = None;
        self.newest = None;
        self.frozen = false;
        self.greeted = false;
        self.warnings_seen = false;
        self.open.clear();
        self.lens = Lens::default();
        self.function = FunctionView::default();
        self.flame = Flame::default();
        self.per_call = None;
        self.ask_nothing();
        self.forget_past();
        self.data_stale = true;
    }

    /// Nothing that was asked of one process is answered, or taken back, by another.
    fn ask_nothing(&mut self) {
        self.undoable = false;
        self.pending = None;
        self.wished_hz = None;
        self.switching.clear();
        if let Some(Popup::Ask(_)) = self.popup {
            self.popup = None;
        }
    }

    fn hear_rings(&mut self, rings: Vec<crate::source::events::RingLine>) {
        if rings == self.rings {
            return;
        }
        // The selection stays on its file.
        let chosen = self.rings.get(self.ring).map(|line| line.path.clone());
        let found = chosen.and_then(|path| rings.iter().position(|line| line.path == path));
        self.ring = found.unwrap_or(self.ring).min(rings.len().saturating_sub(1));
        self.rings = rings;
        self.dirty = true;
    }

    fn hear_outcome(&mut self, outcome: Outcome) {
        self.dirty = true;
        match (outcome.request, outcome.result) {
            (Request::Interval { ns }, Ok(_)) => {
                let hz = 1_000_000_000 / ns.max(1);
                self.tell(format!("the program takes it: {hz} snapshots a second"));
            }
            (request @ (Request::SitesOff(_) | Request::SitesOn(_)), Ok(_)) => self.switch_granted(request),
            // Answered after the user was told that nobody answers: it is done all the same.
            (request, Ok(epoch)) if self.pending.is_none() => {
                self.pending = Some(Pending {
                    request,
                    asked: self.now,
                    epoch: Some(epoch),
                });
            }
            (request, Ok(epoch)) => {
                if let Some(pending) = self.pending.as_mut().filter(|pending| pending.request == request) {
                    pending.epoch = Some(epoch);
                }
            }
            (request, Err(why)) => {
                // Whatever the reason, asking again would get the same answer.
                self.undoable &= request != Request::Undo;
                self.refused(request, &why);
            }
        }
    }

    pub(in crate::app) fn refused(&mut self, request: Request, why: &str) {
        let what = match request {
            Request::Reset => "reset",
            Request::Undo => "undo",
            Request::Interval { .. } => "rate",
            Request::Mode(_) => "mode",
            Request::SitesOff(_) => "off",
            Request::SitesOn(_) => "on",
        };
        self.switching.retain(|switching| switching.request != request);
        if self.pending.is_some_and(|pending| pending.request == request) {
            self.pending = None;
        }
        if matches!(request, Request::Interval { .. }) {
            self.wished_hz = None;
        }
        self.complain(format!("{what}: {why}"));
        self.dirty = true;
    }

    fn hear_snapshot(&mut self, snapshot: Rc<Snapshot>) {
        self.keep_thread_choice(&snapshot);
        if self.wished_hz.is_some_and(|hz| hz == rate_hz(&snapshot)) {
            self.wished_hz = None;
        }
        self.cpu_history.note(&snapshot);
        self.time.history.note(&snapshot);
        self.newest = Some(Rc::clone(&snapshot));
        if !self.frozen {
            self.shown = Some(snapshot);
            self.data_stale = true;
            self.dirty = true;
        }
        self.settle_switching();
    }

    /// The list of threads may be open while threads come and go: the choice stays on its thread.
    fn keep_thread_choice(&mut self, next: &Snapshot) {
        let (Some(Popup::Threads { index }), false) = (self.popup, self.frozen) else {
            return;
        };
        let Some(shown) = &self.shown else {
            self.thread_order = threads::busiest_first(next);
            self.popup = Some(Popup::Threads { index: 0 });
            return;
        };
        let key = |snapshot: &Snapshot, at: ThreadId| {
            snapshot
                .threads
                .get(at.0 as usize)
                .map(|thread| (thread.tid, thread.name.clone()))
        };
        let chosen = index
            .checked_sub(1)
            .and_then(|line| key(shown, *self.thread_order.get(line)?));
        let order = threads::kept_order(shown, &self.thread_order, next);
        let found = chosen.and_then(|chosen| {
            order
                .iter()
                .position(|&at| key(next, at).as_ref() == Some(&chosen))
        });
        let index = found.map_or(index.min(order.len()), |line| line + 1);
        self.thread_order = order;
        self.popup = Some(Popup::Threads { index });
    }

    /// A reset or another mode is done when a snapshot of its epoch is here, not when it was promised.
    fn settle_pending(&mut self) {
        let Some(Pending {
            request,
            epoch: Some(epoch),
            ..
        }) = self.pending
        else {
            return;
        };
        if self
            .newest
            .as_ref()
            .is_none_or(|newest| newest.capture.reset_epoch < epoch)
        {
            return;
        }
        self.pending = None;
        self.undoable = match request {
            Request::Reset => true,
            Request::SitesOff(_) | Request::SitesOn(_) => self.undoable,
            Request::Undo | Request::Mode(_) | Request::Interval { .. } => false,
        };
        self.tell(self.done(request));
        self.dirty = true;
    }

    /// What was done, and the step after it.
    fn done(&self, request: Request) -> String {
        match request {
            Request::Reset if self.frozen => {
                "counting from zero behind the frozen screen; p shows it, u takes it back".into()
            }
            Request::Reset => "counting from zero; u takes it back".into(),
            Request::Undo | Request::Interval { .. } => "the reset is taken back".into(),
            Request::SitesOff(_) | Request::SitesOn(_) => self
                .newest
                .as_deref()
                .map_or(String::new(), |newest| sites::said(newest, request)),
            Request::Mode(mode) => {
                let behind = if self.frozen {
                    " behind the frozen screen"
                } else {
                    ""
                };
                format!(
                    "{} from here on, counting from zero{behind}: {}; , goes back to the numbers before",
                    mode.as_str(),
                    meaning(mode)
                )
            }
        }
    }
}

/// What a mode means for who reads the numbers.
fn meaning(mode: Mode) -> &'static str {
    match mode {
        Mode::Exact => "every call is timed",
        Mode::Adaptive => "calls are counted, times marked ~ are estimates",
        Mode::Sampled => "calls are counted, times marked ~ are shares of samples",
        Mode::Off => "nothing is measured",
        // One of a later format, whose name alone is known.
        _ => mode.as_str(),
    }
}
