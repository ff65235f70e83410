//! tracy-client: it records from its start on and keeps all records until a viewer connects, which does not happen here.
//!
//! tracy has no count that a program could read; only its memory use shows that it records.

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
