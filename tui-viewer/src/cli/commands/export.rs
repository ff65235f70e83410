//! `tickscope export`: what a program did over time, for tools that draw tracks.

use tickscope_report::over_time::{OverTime, OverTimeForm};

use crate::cli::args::{ExportArgs, ExportFormat};
use crate::cli::commands::live_snapshot;
use crate::cli::commands::live_snapshot::Reader;
use crate::output::console;
use crate::output::console::say;
use crate::output::output_file::OutputFile;
use crate::source::local_time;
use crate::source::timeline::Timeline;

/// So many intervals are written at most; of longer recordings, several become one.
const INTERVALS: usize = 4_000;

/// Writes what a target did over time.
///
/// # Errors
/// No such target, a single snapshot, or why it cannot be read or written.
pub fn run(args: &ExportArgs) -> anyhow::Result<u8> {
    let place = OutputFile::new(args.output.as_deref(), args.force);
    let found = live_snapshot::find(&args.target, Reader::Script, None)?;
    let timeline = Timeline::of(&found, local_time::utc_offset_s())?;
    let newest = timeline.newest();
    let step = newest.div_ceil(INTERVALS).max(1);
    let mut over_time = OverTime::default();
    let mut told: Vec<&str> = Vec::new();
    for from in (0..newest).step_by(step) {
        let to = (from + step).min(newest);
        let between = timeline.between(from, to)?;
        over_time.add(timeline.unix_ns(from), timeline.unix_ns(to), &between.snapshot);
        for doubt in between.doubts {
            if !told.contains(&doubt) {
                told.push(doubt);
                say(doubt);
            }
        }
    }
    let form = match args.format {
        ExportFormat::Trace => OverTimeForm::Chrome,
        ExportFormat::Firefox => OverTimeForm::Firefox,
    };
    place.write(|mut out| form.write(&over_time, args.top, &mut out))?;
    Ok(console::DONE)
}
