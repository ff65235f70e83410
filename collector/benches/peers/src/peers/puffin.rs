//! puffin: each pass is a frame with one scope around it. The sink counts the scopes of each frame, and drops the
//! frame.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use puffin::{GlobalProfiler, ProfilerScope, profile_scope_custom};
use tickscope_bench::Probe;

use crate::peer::Peer;
use crate::sites::site;

pub(crate) struct Puffin {
    /// Number of scopes in all frames so far, without the one around each frame.
    scopes: Arc<AtomicU64>,
}

impl Probe for Puffin {
    type Guard = Option<ProfilerScope>;

    #[inline(always)]
    fn begin(name: &'static str, _: impl FnOnce() -> tickscope::Scope) -> Option<ProfilerScope> {
        site!(name, profile_scope_custom)
    }
}

impl Peer for Puffin {
    fn start() -> Self {
        let scopes = Arc::new(AtomicU64::new(0));
        let sum = Arc::clone(&scopes);
        GlobalProfiler::lock().add_sink(Box::new(move |frame| {
            sum.fetch_add(frame.meta().num_scopes as u64 - 1, Ordering::Relaxed);
        }));
        puffin::set_scopes_on(true);
        Self { scopes }
    }

    fn pass(work: impl FnOnce()) {
        GlobalProfiler::lock().new_frame();
        puffin::profile_scope!("frame");
        work();
    }

    fn finish(self) -> Option<u64> {
        GlobalProfiler::lock().new_frame();
        Some(self.scopes.load(Ordering::Relaxed))
    }
}
