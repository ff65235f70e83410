//! Arguments of the commands.

mod merge;
mod metrics;
mod push;

use std::time::Duration;

use tickscope_command::values::duration;

pub use self::merge::MergeArgs;
pub use self::metrics::MetricsArgs;
pub use self::push::PushArgs;

/// Reads the time between two rounds of an agent: 1s to 1h.
fn every(text: &str) -> Result<Duration, String> {
    let every = duration(text)?;
    let allowed = Duration::from_secs(1)..=Duration::from_secs(3600);
    match allowed.contains(&every) {
        true => Ok(every),
        false => Err("wanted 1s to 1h".into()),
    }
}
