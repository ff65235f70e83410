//! A request that was sent to several processes: which of them have answered, and the message about the request.

use std::time::{Duration, Instant};

use crate::events::Request;

/// Time within which processes must answer. It is shorter than the time for which the screen waits.
const PATIENCE: Duration = Duration::from_millis(1500);

/// Reason that is reported for a process that did not answer.
const SILENT: &str = "does not answer (is it stopped?)";

/// A request and its answers.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) request: Request,
    /// Processes that have not answered: number in this feed, and process id.
    waits: Vec<(u64, u32)>,
    /// Processes that have carried out the request: number in this feed, and the first reset epoch whose counts reflect
    /// it.
    done: Vec<(u64, u64)>,
    /// Processes that have not carried out the request: process id, and the reason.
    failed: Vec<(u32, String)>,
    until: Instant,
}

impl Asked {
    pub(super) fn new(request: Request, now: Instant) -> Self {
        Self {
            request,
            waits: Vec::new(),
            done: Vec::new(),
            failed: Vec::new(),
            until: now + PATIENCE,
        }
    }

    /// Notes that the request was sent to a process, or could not be sent.
    pub(super) fn sent(&mut self, member: u64, pid: u32, sent: Result<(), String>) {
        match sent {
            Ok(()) => self.waits.push((member, pid)),
            Err(why) => self.failed.push((pid, why)),
        }
    }

    /// Whether this process has yet to answer.
    pub(super) fn waits_for(&self, member: u64) -> bool {
        self.waits.iter().any(|(waits, _)| *waits == member)
    }

    /// Notes the answer of a process.
    pub(super) fn answered(&mut self, member: u64, result: Result<u64, String>) {
        let Some(at) = self.waits.iter().position(|(waits, _)| *waits == member) else {
            return;
        };
        let (_, pid) = self.waits.remove(at);
        match result {
            Ok(epoch) => self.done.push((member, epoch)),
            Err(why) => self.failed.push((pid, why)),
        }
    }

    /// Notes that a process has ended, and will not answer.
    pub(super) fn ended(&mut self, member: u64) {
        self.waits.retain(|(waits, _)| *waits != member);
        self.done.retain(|(done, _)| *done != member);
    }

    /// Whether the request is finished: either all processes have answered and their records show the effect, or the
    /// time is up.
    pub(super) fn is_over(&self, now: Instant, is_seen: impl Fn(u64, u64) -> bool) -> bool {
        let is_done =
            self.waits.is_empty() && self.done.iter().all(|&(member, epoch)| is_seen(member, epoch));
        is_done || now >= self.until
    }

    /// Returns the first reset epoch of a process whose counts reflect the request, if the process has carried it out.
    pub(super) fn epoch_of(&self, member: u64) -> Option<u64> {
        let mut done = self.done.iter();
        done.find(|(done, _)| *done == member).map(|(_, epoch)| *epoch)
    }

    /// Returns the message about the request, or the reason why no process has carried it out.
    pub(super) fn words(mut self) -> Result<String, String> {
        let silent = self.waits.drain(..).map(|(_, pid)| (pid, SILENT.to_string()));
        self.failed.extend(silent);
        let all = self.done.len() + self.failed.len();
        let programs = |count: usize| if count == 1 { "program" } else { "programs" };
        let Some((pid, why)) = self.failed.first() else {
            return match all {
                0 => Err("the programs have ended".into()),
                _ => Ok(format!("sent to {all} {}", programs(all))),
            };
        };
        let why = why.trim_start_matches("the program ");
        let more = match self.failed.len() - 1 {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        let begins_anew = matches!(self.request, Request::Reset | Request::Mode(_));
        let alone = match (begins_anew, more.is_empty()) {
            (true, true) => ", its numbers count from here on this screen alone",
            (true, false) => ", their numbers count from here on this screen alone",
            (false, _) => "",
        };
        match self.done.len() {
            0 => Err(format!(
                "0 of {all} {} did it: pid {pid} {why}{more}",
                programs(all)
            )),
            done => Ok(format!(
                "{done} of {all} programs did it (pid {pid} {why}{more}{alone})"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_did_not_do_it_is_named_with_the_reason() {
        let now = Instant::now();
        let asked = |results: &[Result<u64, &str>]| {
            let mut asked = Asked::new(Request::Reset, now);
            for (member, result) in (0..).zip(results) {
                asked.sent(member, 100 + member as u32, Ok(()));
                if *result != Err("") {
                    asked.answered(member, result.map_err(Into::into));
                }
            }
            asked
        };
        assert!(!asked(&[Err(""), Ok(1)]).is_over(now, |_, _| true));
        assert!(asked(&[Err(""), Ok(1)]).is_over(now + PATIENCE, |_, _| false));
        assert!(!asked(&[Ok(1)]).is_over(now, |_, epoch| epoch < 1));
        assert_eq!(asked(&[Ok(1), Ok(3)]).words().unwrap(), "sent to 2 programs");
        assert_eq!(asked(&[Ok(1)]).words().unwrap(), "sent to 1 program");
        assert_eq!(
            asked(&[Ok(1), Err(""), Err("the program takes no requests")])
                .words()
                .unwrap(),
            "1 of 3 programs did it (pid 102 takes no requests, and 1 more, their numbers count from here on this screen alone)"
        );
        assert_eq!(
            asked(&[Err("")]).words().unwrap_err(),
            "0 of 1 program did it: pid 100 does not answer (is it stopped?)"
        );
        let mut gone = asked(&[Err("")]);
        gone.ended(0);
        assert!(gone.is_over(now, |_, _| false));
        assert_eq!(gone.words().unwrap_err(), "the programs have ended");
    }
}
