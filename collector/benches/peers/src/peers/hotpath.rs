//! hotpath: each scope runs the code that `#[hotpath::measure]` inserts into a function. A guard around all scopes
//! writes the report to a file when it is dropped.

use std::path::PathBuf;

use ::hotpath::functions::{MeasurementGuardSync, build_measurement_guard_sync};
use ::hotpath::{Format, HotpathGuard, HotpathGuardBuilder};
use tickscope_bench::Probe;

use crate::peer::Peer;

/// Name under which the guard itself appears in the report. It is not one of the case's scopes.
const CALLER: &str = "peers";

pub(crate) struct Hotpath {
    guard: HotpathGuard,
    report: PathBuf,
}

impl Probe for Hotpath {
    type Guard = MeasurementGuardSync;

    #[inline(always)]
    fn begin(name: &'static str, _: impl FnOnce() -> tickscope::Scope) -> MeasurementGuardSync {
        build_measurement_guard_sync(name, false)
    }
}

impl Peer for Hotpath {
    fn start() -> Self {
        let report = std::env::temp_dir().join(format!("peers-hotpath-{}.json", std::process::id()));
        let guard = HotpathGuardBuilder::new(CALLER)
            .functions_limit(0)
            .format(Format::Json)
            .output_path(&report)
            .build();
        Self { guard, report }
    }

    fn finish(self) -> Option<u64> {
        // Dropping the guard handles the calls that are still in hotpath's queues, and writes the report.
        drop(self.guard);
        let text = std::fs::read_to_string(&self.report).ok()?;
        let _ = std::fs::remove_file(&self.report);
        let calls = text.split(r#""calls":"#).skip(1).filter_map(|rest| {
            let digits = rest.trim_start();
            let end = digits.find(|c: char| !c.is_ascii_digit())?;
            digits[..end].parse::<u64>().ok()
        });
        // The guard itself is counted as one call.
        Some(calls.sum::<u64>().saturating_sub(1))
    }
}
