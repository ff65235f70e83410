//! Copies a program's past from its ring into a recording.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tickscope_command::console::about;
use tickscope_format::FormatError;
use tickscope_format::file::open::RingFile;
use tickscope_format::recording::Writer;
use tickscope_format::ring::Record;
use tickscope_programs::clock_time::{UtcOffset, nanos, seconds};
use tickscope_symbols::symbolizer::Names;

use crate::event_loop::saved_files;

/// Longest time from the start of a program to its first record.
const FIRST_RECORD_NS: u64 = 2_000_000_000;

/// Recording of a program's past.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeptPast {
    pub(crate) path: PathBuf,
    /// How long the recording is and, if it is shorter than requested, why: `30.0 s`.
    pub(crate) words: String,
}

/// Copies the newest records of a ring, going back by `wanted`, to a new recording named after the program and the time.
///
/// # Errors
/// The ring cannot be read or the file cannot be written. The message is a single line.
pub(crate) fn keep(ring: &Path, wanted: Duration, offset: UtcOffset) -> Result<KeptPast, String> {
    let ring = RingFile::open(ring).map_err(|error| about(ring, &error))?;
    let (records, words) = gather(&ring, wanted).map_err(|error| about(ring.path(), &error))?;
    let header = ring.header();
    let newest_ns = records.first().map_or(0, |newest| newest.stamp.unix_ns);
    let path = saved_files::for_recording(&format!("{}-{}", header.name, header.pid), newest_ns, offset);
    let (written, result) = write(&path, &records, Names::of(header.pid));
    match result {
        Ok(()) => Ok(KeptPast { path, words }),
        Err(error) if written > 0 => Err(format!(
            "{}; the first {written} of {} records are in it",
            about(&path, &error),
            records.len()
        )),
        Err(error) => Err(about(&path, &error)),
    }
}

/// Returns the newest records of a ring, going back by `wanted`. They are sorted newest first. Also returns a text that
/// says how far back they reach.
fn gather(ring: &RingFile, wanted: Duration) -> Result<(Vec<Record>, String), FormatError> {
    let newest = ring.newest()?;
    let (newest_ns, wanted_ns) = (newest.stamp.unix_ns, nanos(wanted));
    let begin_ns = newest_ns.saturating_sub(wanted_ns);
    let mut records = vec![newest];
    // The search ends at the first record that the program has overwritten.
    while let Some(oldest) = records.last()
        && oldest.stamp.unix_ns > begin_ns
        && let Ok(Some(before)) = ring.before(oldest)
    {
        records.push(before);
    }
    let oldest_ns = records.last().map_or(newest_ns, |oldest| oldest.stamp.unix_ns);
    let held = seconds(newest_ns.saturating_sub(oldest_ns));
    let since_start_ns = oldest_ns.saturating_sub(ring.header().started_unix_ns);
    let words = if oldest_ns <= begin_ns {
        held
    } else if since_start_ns < FIRST_RECORD_NS {
        format!("{held}, which is all since the start of the program,")
    } else {
        format!(
            "{held} of {}, because the ring holds no more (TICKSCOPE_RING_BYTES),",
            seconds(wanted_ns)
        )
    };
    Ok((records, words))
}

/// Writes records to a new file in the order of their capture; `records` holds them newest first. Returns the number of
/// records in the file. If the disk fills up, the records that fit are kept. A file without records is removed.
fn write(path: &Path, records: &[Record], mut names: Names) -> (u64, Result<(), FormatError>) {
    let mut writer = match Writer::create(path, false) {
        Ok(writer) => writer,
        Err(error) => return (0, Err(error)),
    };
    let appended = records.iter().rev().try_for_each(|record| {
        writer.name(names.new_in(&record.payload));
        writer.append(record.stamp, &record.payload)
    });
    let written = writer.records();
    let finished = writer.finish();
    (written, appended.and(finished))
}

#[cfg(test)]
mod tests {
    use tickscope_format::file::create::OwnRing;
    use tickscope_format::file::header::Header;
    use tickscope_format::recording::Recording;
    use tickscope_format::ring::Stamp;
    use tickscope_testkit::test_program::payload;

    use super::*;
    use crate::orderbook;

    /// Makes a ring with a record for every tenth of a second, and keeps its newest records, going back by `wanted`. Returns
    /// the sequence numbers of the kept records, and the text that says how long a time they cover.
    fn kept(ring_bytes: u64, started_unix_ns: u64, wanted: Duration) -> (Vec<u64>, String) {
        let dir = tempfile::tempdir().unwrap();
        let header = Header {
            ring_words: ring_bytes / 8,
            started_unix_ns,
            ..tickscope_testkit::ring::header("kept")
        };
        let mut own = OwnRing::create(dir.path(), header).unwrap();
        for tenths in 1_000..1_100 {
            let snapshot = orderbook::snapshot(tenths);
            own.publish(Stamp::from(&snapshot.capture), &payload(&snapshot))
                .unwrap();
        }
        own.link().unwrap();
        let (records, words) = gather(&RingFile::open(own.path()).unwrap(), wanted).unwrap();
        let path = dir.path().join("kept.tks");
        let (written, result) = write(&path, &records, Names::of(0));
        result.unwrap();
        assert_eq!(written, records.len() as u64);
        // An existing file is not overwritten.
        assert!(write(&path, &records, Names::of(0)).1.is_err());
        let recording = Recording::open(&path).unwrap();
        let all = recording.moments().iter().map(|moment| {
            let snapshot = recording.snapshot(moment).unwrap();
            assert_eq!(snapshot, orderbook::snapshot(snapshot.capture.seq));
            snapshot.capture.seq
        });
        (all.collect(), words)
    }

    #[test]
    fn the_last_seconds_are_kept_or_it_is_said_why_there_are_fewer() {
        let (large, long_ago) = (1 << 20, orderbook::STARTED_UNIX_NS);
        let (all, words) = kept(large, long_ago, Duration::from_secs(3));
        assert_eq!(all, (1_069..1_100).collect::<Vec<u64>>());
        assert_eq!(words, "3.0 s");
        let just_now = orderbook::snapshot(999).capture.unix_ns;
        let (all, words) = kept(large, just_now, Duration::from_secs(30));
        assert_eq!(all.len(), 100);
        assert_eq!(words, "9.9 s, which is all since the start of the program,");
        // The program has overwritten this ring many times.
        let (all, words) = kept(64 << 10, long_ago, Duration::from_secs(30));
        assert!((2..50).contains(&all.len()), "{}", all.len());
        assert!(
            words.contains(" of 30.0 s, because the ring holds no more"),
            "{words}"
        );
    }
}
