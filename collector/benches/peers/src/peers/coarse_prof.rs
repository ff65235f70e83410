//! coarse-prof keeps a call tree per thread. It prints calls per second instead of counts, so the count is this rate
//! times the elapsed time.

use std::time::Instant;

use coarse_prof::Guard;
use tickscope_bench::Probe;

use crate::peer::Peer;

pub(crate) struct CoarseProf {
    begin: Instant,
}

impl Probe for CoarseProf {
    type Guard = Guard;

    #[inline(always)]
    fn begin(name: &'static str, _: impl FnOnce() -> tickscope::Scope) -> Guard {
        // The crate's macro cannot be used, because it binds the guard to a local variable.
        coarse_prof::PROFILER.with(|profiler| profiler.borrow_mut().enter(name))
    }
}

impl Peer for CoarseProf {
    fn start() -> Self {
        coarse_prof::reset();
        Self {
            begin: Instant::now(),
        }
    }

    fn finish(self) -> Option<u64> {
        let seconds = self.begin.elapsed().as_secs_f64();
        let mut text = Vec::new();
        coarse_prof::write(&mut text).ok()?;
        let rates = String::from_utf8_lossy(&text)
            .lines()
            .filter_map(|line| line.rsplit_once("@ ")?.1.strip_suffix("Hz")?.parse::<f64>().ok())
            .sum::<f64>();
        Some((rates * seconds).round() as u64)
    }
}
