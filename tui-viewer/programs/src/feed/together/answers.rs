//! Collects the answers of all processes to a request, and applies resets and undos to the counts.

use std::time::Instant;

use tickscope_analysis::side_by_side::{Part, fold, side_by_side};
use tickscope_format::ring::Stamp;
use tickscope_format::snapshot::{CaptureKind, Lifetime};
use tickscope_format::{Snapshot, codec};

use crate::events::{Outcome, Past, Request};
use crate::feed::together::asked::Asked;
use crate::feed::together::{TogetherFeed, ended};

impl TogetherFeed {
    /// Collects answers from the processes, and finishes a request once all of them have answered or the time is up.
    /// Returns the outcomes, and the last sum before each reset or undo.
    pub(super) fn answers(&mut self, now: Instant) -> (Vec<Outcome>, Vec<Past>) {
        for member in &mut self.members {
            for outcome in member.attached.answers() {
                let mut asked = self.asked.iter_mut();
                let same =
                    |asked: &&mut Asked| asked.request == outcome.request && asked.waits_for(member.id);
                if let Some(asked) = asked.find(same) {
                    asked.answered(member.id, outcome.result);
                }
            }
        }
        let (mut outcomes, mut past) = (Vec::new(), Vec::new());
        let members = &self.members;
        let is_seen = |id: u64, epoch: u64| {
            let member = members.iter().find(|member| member.id == id);
            let newest = member.and_then(|member| member.counted.newest());
            member.is_none() || newest.is_some_and(|newest| newest.capture.reset_epoch >= epoch)
        };
        let over: Vec<Asked> = self
            .asked
            .extract_if(.., |asked| asked.is_over(now, is_seen))
            .collect();
        for asked in over {
            let request = asked.request;
            let epochs: Vec<(u64, Option<u64>)> = self
                .members
                .iter()
                .map(|member| (member.id, asked.epoch_of(member.id)))
                .collect();
            let (result, words) = match asked.words() {
                Ok(words) => {
                    match request {
                        Request::Reset | Request::Mode(_) => past.extend(self.turn(&epochs, request)),
                        Request::Undo => past.extend(self.turn_back()),
                        Request::Interval { .. }
                        | Request::SitesOff(_)
                        | Request::SitesOn(_)
                        | Request::ForgetRule(_)
                        | Request::Watch(..)
                        | Request::Unwatch(_)
                        | Request::Lines(_) => {}
                    }
                    self.has_news = true;
                    self.look_at = now;
                    (Ok(self.epoch), Some(words))
                }
                Err(why) => (Err(why), None),
            };
            outcomes.push(Outcome {
                request,
                result,
                words,
            });
        }
        (outcomes, past)
    }

    /// Restarts counting after a reset. Returns the last sum before the reset.
    fn turn(&mut self, epochs: &[(u64, Option<u64>)], request: Request) -> Option<Past> {
        for member in &mut self.members {
            let of = epochs.iter().find(|(id, _)| *id == member.id);
            member.counted.turn(of.and_then(|(_, epoch)| *epoch));
        }
        let before: Vec<Part<'_>> = self
            .members
            .iter()
            .filter_map(|member| Some(member.part(member.counted.shown_before()?)))
            .chain(self.ended.as_ref().map(ended))
            .collect();
        let end = side_by_side(self.clock.as_ref()?, &before);
        let end = self.completed(end, CaptureKind::Closing);
        self.undoable =
            Some(self.withdraws.take().unwrap_or(self.epoch)).filter(|_| request == Request::Reset);
        self.epoch += 1;
        self.ended_before = self.ended.take();
        if let Some(ended) = &self.ended_before {
            self.gone.calls = self.gone.calls.saturating_add(ended.lifetime.calls);
            self.gone.ticks = self.gone.ticks.saturating_add(ended.lifetime.ticks);
        }
        past_of(&end)
    }

    /// Undoes the last reset. Returns the last sum before the undo.
    fn turn_back(&mut self) -> Option<Past> {
        let end = self.sum(CaptureKind::Closing);
        for member in &mut self.members {
            member.counted.turn_back();
        }
        let since = self.ended.take();
        self.gone = Lifetime::default();
        self.ended = match (self.ended_before.take(), since) {
            (before, Some(since)) => Some(fold(before, &since, 1.0)),
            (before, None) => before,
        };
        self.withdraws = self.undoable.take().or(self.withdraws);
        self.epoch += 1;
        past_of(&end?)
    }
}

fn past_of(snapshot: &Snapshot) -> Option<Past> {
    let mut payload = Vec::new();
    codec::encode(snapshot, &mut payload).ok()?;
    Some(Past::of(Stamp::from(&snapshot.capture), payload))
}
