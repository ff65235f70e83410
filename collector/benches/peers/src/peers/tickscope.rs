//! tickscope in exact mode, with a running publisher.

use tickscope::{Scope, Session};
use tickscope_bench::Probe;

use crate::peer::Peer;

pub(crate) struct Exact {
    session: Session,
}

impl Probe for Exact {
    type Guard = Scope;

    #[inline(always)]
    fn begin(_: &'static str, open: impl FnOnce() -> Scope) -> Scope {
        open()
    }
}

impl Peer for Exact {
    fn start() -> Self {
        Self {
            session: tickscope::Builder::new("peers")
                .mode(tickscope::Mode::Exact)
                .start(),
        }
    }

    fn finish(self) -> Option<u64> {
        let calls = tickscope::snapshot().calls();
        drop(self.session);
        Some(calls)
    }
}
