//! tracing with its registry and a minimal layer that only sums, for each thread, the time between enter and exit.
//!
//! The measured cost is a lower bound: a profiler also needs sums per function, which this layer does not keep.

use std::cell::Cell;
use std::time::Instant;

use tickscope_bench::Probe;
use tracing::span::{EnteredSpan, Id};
use tracing::{Subscriber, info_span};
use tracing_subscriber::Registry;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

use crate::peer::Peer;
use crate::sites::site;

pub(crate) struct Tracing;

struct Timing;

/// Time at which a span was last entered.
struct Entered(Instant);

thread_local! {
    /// Number of exits, and total ns between each enter and its exit.
    static SUMS: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
}

macro_rules! entered {
    ($name:literal) => {
        info_span!($name).entered()
    };
}

impl Probe for Tracing {
    type Guard = EnteredSpan;

    #[inline(always)]
    fn begin(name: &'static str, _: impl FnOnce() -> tickscope::Scope) -> EnteredSpan {
        site!(name, entered)
    }
}

impl Peer for Tracing {
    #[expect(clippy::expect_used, reason = "nobody else sets a subscriber here")]
    fn start() -> Self {
        let subscriber = Registry::default().with(Timing);
        tracing::subscriber::set_global_default(subscriber).expect("the first subscriber");
        Self
    }

    fn finish(self) -> Option<u64> {
        Some(SUMS.get().0)
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Timing {
    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        if let Some(span) = context.span(id) {
            span.extensions_mut().replace(Entered(Instant::now()));
        }
    }

    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(entered) = span.extensions().get::<Entered>() {
            let (count, sum) = SUMS.get();
            SUMS.set((count + 1, sum + entered.0.elapsed().as_nanos() as u64));
        }
    }
}
