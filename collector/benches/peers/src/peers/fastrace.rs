//! fastrace: each pass is one trace; the reporter counts spans and drops them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fastrace::collector::{Config, Reporter, SpanContext, SpanRecord};
use fastrace::local::LocalSpan;
use fastrace::{Span, flush, set_reporter};
use tickscope_bench::Probe;

use crate::peer::Peer;

/// Name of the root span of each trace, which is not one of the case's scopes.
const ROOT: &str = "pass";

pub(crate) struct Fastrace {
    spans: Arc<AtomicU64>,
}

struct Counter(Arc<AtomicU64>);

impl Probe for Fastrace {
    type Guard = LocalSpan;

    #[inline(always)]
    fn begin(name: &'static str, _: impl FnOnce() -> tickscope::Scope) -> LocalSpan {
        LocalSpan::enter_with_local_parent(name)
    }
}

impl Peer for Fastrace {
    fn start() -> Self {
        let spans = Arc::new(AtomicU64::new(0));
        set_reporter(Counter(Arc::clone(&spans)), Config::default());
        Self { spans }
    }

    fn pass(work: impl FnOnce()) {
        let root = Span::root(ROOT, SpanContext::random());
        let _parent = root.set_local_parent();
        work();
    }

    fn finish(self) -> Option<u64> {
        flush();
        Some(self.spans.load(Ordering::Relaxed))
    }
}

impl Reporter for Counter {
    fn report(&mut self, spans: Vec<SpanRecord>) {
        let recorded = spans.iter().filter(|span| span.name != ROOT).count();
        self.0.fetch_add(recorded as u64, Ordering::Relaxed);
    }
}
