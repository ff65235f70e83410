//! tracy-client: records from the moment it starts, and keeps all records until a viewer connects, which never happens
//! here.
//!
//! tracy provides no count that a program could read, so only its memory use shows that it records anything.

use tickscope_bench::Probe;
use tracy_client::{Client, Span, span};

use crate::peer::Peer;
use crate::sites::site;

pub(crate) struct Tracy;

impl Probe for Tracy {
    type Guard = Span;

    #[inline(always)]
    fn begin(name: &'static str, _: impl FnOnce() -> tickscope::Scope) -> Span {
        site!(name, span)
    }
}

impl Peer for Tracy {
    fn start() -> Self {
        Client::start();
        Self
    }

    fn finish(self) -> Option<u64> {
        None
    }
}
