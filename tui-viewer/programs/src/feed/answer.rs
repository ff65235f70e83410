//! Turns a program's answers to requests into results and messages.

use std::fs::OpenOptions;

use tickscope_format::file::open::RingFile;
use tickscope_format::slots::{Outcome, Reply};

use crate::events::Request;

/// Reason why a program accepts no further rules for sites.
pub const RULES_FULL: &str = "the program has its maximum of rules; `on *` removes them all";

/// Reason why a program does not watch functions.
pub const TOO_OLD: &str = "the program's collector is older and cannot watch functions; build the program with the tickscope of this version";

/// Reason why a program does not watch another function.
const WATCHES_FULL: &str = "the program watches four functions, its maximum, or watches none for viewers; X in the view Slow stops watching one";

/// Returns the reason why no request slot could be taken in a ring, so that its program takes no requests from this
/// viewer.
pub fn refusal(ring: &RingFile) -> &'static str {
    if !ring.header().control {
        return "takes no requests from this viewer (Builder::allow_remote_control is off in the program)";
    }
    match OpenOptions::new().write(true).open(ring.path()) {
        Ok(_) => "takes no requests from this viewer (16 viewers are there already; close one)",
        Err(_) => "takes no requests from this viewer (you may not write to its file; ask as the owner)",
    }
}

/// Like [`result_of`], but with error messages that fit the request.
pub(super) fn answer_to(request: Request, reply: &Reply) -> Result<u64, String> {
    match (request, reply.outcome) {
        (Request::Watch(..) | Request::Unwatch(_), Outcome::Unknown) => Err(TOO_OLD.into()),
        (Request::Watch(..), Outcome::Refused) => Err(WATCHES_FULL.into()),
        (Request::SitesOff(_) | Request::SitesOn(_) | Request::ForgetRule(_), Outcome::Refused) => {
            Err(RULES_FULL.into())
        }
        _ => result_of(reply),
    }
}

/// Returns the first reset epoch whose counts reflect the request, or the reason why the program refused it.
pub fn result_of(reply: &Reply) -> Result<u64, String> {
    match reply.outcome {
        Outcome::Done => Ok(reply.reset_epoch),
        Outcome::NothingToUndo => Err("there is no reset to undo".into()),
        Outcome::Unknown => Err("the program's collector is older and does not know this request".into()),
        Outcome::Refused => Err("the program takes no requests (Builder::allow_remote_control)".into()),
        Outcome::Other(_) | _ => {
            Err("this viewer does not know the program's answer; update tickscope".into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_rule_says_that_there_are_too_many() {
        let pattern = tickscope_format::pattern::Pattern::new("alloc::*").unwrap();
        let reply = |outcome| Reply {
            sequence: 1,
            outcome,
            record: 0,
            reset_epoch: 3,
            crc: 0,
        };
        for request in [Request::SitesOff(pattern), Request::SitesOn(pattern)] {
            assert_eq!(
                answer_to(request, &reply(Outcome::Refused)),
                Err(RULES_FULL.into())
            );
            assert_eq!(answer_to(request, &reply(Outcome::Done)), Ok(3));
        }
        let why = answer_to(Request::Reset, &reply(Outcome::Refused)).unwrap_err();
        assert!(why.contains("takes no requests"), "{why}");
        assert_eq!(
            answer_to(Request::Reset, &reply(Outcome::Other(9))),
            Err("this viewer does not know the program's answer; update tickscope".into())
        );
    }
}
