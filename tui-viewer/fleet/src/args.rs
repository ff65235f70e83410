//! Arguments of the commands `merge`, `metrics` and `push`.

mod merge;
mod metrics;
mod push;

use std::time::Duration;

use tickscope_command::values::duration_within;

pub use self::merge::MergeArgs;
pub use self::metrics::MetricsArgs;
pub use self::push::PushArgs;

/// Parses the interval between two rounds of an agent: 1s to 1h.
fn every(text: &str) -> Result<Duration, String> {
    duration_within(text, "1s", "1h")
}
