//! The pprof format: a gzipped `profile.proto`, for `go tool pprof` and other readers of that format.
//!
//! Each node of each thread is a sample with its calls, its self time in nanoseconds, and its self value for each other measure
//! in the snapshot. The labels `thread` and `tid` identify the thread.
//!
//! If the functions and source lines of sampled code are known, the profile has one more sample type, `sampled`: CPU time in
//! nanoseconds. Its samples are separate from the others. Each of them has the source line in the measured function, and the
//! functions called from there. Their callers and threads are unknown.

mod message;
mod sampled;
mod strings;
mod wire;

use std::io::{self, Write};
use std::iter::successors;

use flate2::Compression;
use flate2::write::GzEncoder;
use tickscope_analysis::functions::Functions;
use tickscope_analysis::measure::{Dimension, Measure};
use tickscope_format::addresses::Addresses;
use tickscope_format::ids::{NodeId, ThreadId};
use tickscope_format::snapshot::{Snapshot, Thread};

use self::message::{Function, Label, Line, Location, MAPPING, Mapping, Profile, Sample, ValueType, signed};
use self::strings::Strings;
use self::wire::Message;
use crate::names::{full_names, in_one_line};

/// Size in bytes at which buffered data is passed to the compressor.
const CHUNK_BYTES: usize = 64 << 10;

/// Writes the profile. Tools show the measure `by` first. `addresses` contains the functions and source lines of sampled
/// addresses, as far as they are known.
///
/// # Errors
/// Any error from writing to `out`.
pub fn write(
    snapshot: &Snapshot,
    by: Measure,
    addresses: &Addresses,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut strings = Strings::default();
    let measures = measures(snapshot);
    let mut tables = tables(snapshot, &measures, by, &mut strings);
    let sampled = match addresses.is_empty() {
        true => Vec::new(),
        false => sampled::samples(snapshot, addresses, &mut tables, &mut strings),
    };
    let labels: Vec<Vec<Label>> = snapshot
        .threads
        .iter()
        .map(|thread| labels(thread, &mut strings))
        .collect();
    let values = tables.sample_type.len();
    let profile = Profile {
        string_table: strings.list,
        ..tables
    };
    let mut out = GzEncoder::new(out, Compression::default());
    let mut buffer = Vec::new();
    profile.encode(&mut buffer);
    let columns: Vec<Vec<u64>> = measures
        .iter()
        .map(|&measure| {
            if measure == Measure::Calls {
                // The calls come directly from the nodes, because the measure `Calls` does not include counters.
                snapshot.nodes.calls.clone()
            } else {
                measure.self_values(snapshot)
            }
        })
        .collect();
    let threads = (0..).map(ThreadId).zip(&labels);
    let rows = threads.flat_map(|(id, labels)| snapshot.rows_of(id).map(move |row| (row, labels)));
    let counted = rows.filter_map(|(row, labels)| {
        let mut value: Vec<i64> = columns.iter().map(|column| signed(column[row])).collect();
        let is_something = value.iter().any(|&value| value != 0);
        value.resize(values, 0);
        is_something.then(|| Sample {
            location_id: stack(snapshot, row),
            value,
            label: labels.clone(),
        })
    });
    for sample in counted.chain(sampled) {
        // In this format, a concatenation of messages is read as a single message. So samples can be written one by one, and only
        // one has to be in memory at a time.
        let one = Profile {
            sample: vec![sample],
            ..Profile::default()
        };
        one.encode(&mut buffer);
        if buffer.len() >= CHUNK_BYTES {
            out.write_all(&buffer)?;
            buffer.clear();
        }
    }
    out.write_all(&buffer)?;
    out.finish().map(|_| ())
}

/// Returns the name and the unit of each measure that [`write()`] writes. The sample type `sampled` is not included.
pub fn sample_types(snapshot: &Snapshot) -> Vec<(&'static str, &'static str)> {
    let measures = measures(snapshot).into_iter();
    measures
        .map(|measure| (measure.name(), unit(measure.dimension())))
        .collect()
}

/// Returns the measures of a snapshot, calls and time first.
fn measures(snapshot: &Snapshot) -> Vec<Measure> {
    let first = [Measure::Calls, Measure::Time];
    let others = Measure::measured(snapshot).filter(|measure| !first.contains(measure));
    first.into_iter().chain(others).collect()
}

/// Returns pprof's name for a unit.
fn unit(dimension: Dimension) -> &'static str {
    match dimension {
        Dimension::Time => "nanoseconds",
        Dimension::Count => "count",
        Dimension::Bytes => "bytes",
    }
}

/// Returns the profile without samples and strings.
fn tables(snapshot: &Snapshot, measures: &[Measure], by: Measure, strings: &mut Strings) -> Profile {
    let functions = Functions::of(snapshot);
    let names = full_names(&functions, str::to_string);
    let capture = &snapshot.capture;
    let since_reset_ns = signed(capture.since_reset_ns);
    let mut value_type = |measure: Measure| strings.value_type(measure.name(), unit(measure.dimension()));
    let sample_type: Vec<ValueType> = measures.iter().map(|&measure| value_type(measure)).collect();
    let [calls, time, shown] = [Measure::Calls, Measure::Time, by].map(value_type);
    let hz = snapshot.measuring.sampling_hz;
    let (period_type, period) = if capture.mode.is_sampling() && hz > 0.0 {
        (time, (1e9 / hz).round() as i64)
    } else {
        (calls, 1)
    };
    let comments = [
        concat!("tickscope ", env!("CARGO_PKG_VERSION")).to_string(),
        format!("mode {}", capture.mode.as_str()),
    ];
    Profile {
        default_sample_type: shown.r#type,
        sample_type,
        mapping: vec![Mapping {
            id: MAPPING,
            filename: strings.number(&in_one_line(&snapshot.process.name, "")),
            has_functions: true,
            has_filenames: true,
            has_line_numbers: true,
        }],
        location: locations(snapshot, &functions),
        function: functions
            .list
            .iter()
            .zip(&names)
            .zip(1..)
            .map(|((function, name), id)| {
                let name = strings.number(name);
                Function {
                    id,
                    name,
                    system_name: name,
                    filename: strings.number(&in_one_line(&function.file, "")),
                    start_line: function.line.into(),
                }
            })
            .collect(),
        time_nanos: signed(capture.unix_ns).saturating_sub(since_reset_ns),
        duration_nanos: since_reset_ns,
        period_type: Some(period_type),
        period,
        comment: comments.map(|text| strings.number(&text)).into(),
        ..Profile::default()
    }
}

/// Returns one location per site, and not per function, because a function may have several scopes with the same name on
/// different lines.
fn locations(snapshot: &Snapshot, functions: &Functions) -> Vec<Location> {
    let sites = snapshot.sites.iter().zip(&functions.of_site);
    sites
        .zip(1..)
        .map(|((site, function), id)| Location {
            id,
            mapping_id: MAPPING,
            line: vec![Line {
                function_id: u64::from(function.0) + 1,
                line: site.line.into(),
            }],
        })
        .collect()
}

fn labels(thread: &Thread, strings: &mut Strings) -> Vec<Label> {
    let mut labels = vec![Label {
        key: strings.number("thread"),
        str: strings.number(&in_one_line(&thread.name, "")),
        num: 0,
    }];
    if thread.tid > 0 {
        labels.push(Label {
            key: strings.number("tid"),
            str: 0,
            num: thread.tid.into(),
        });
    }
    labels
}

/// Returns the locations of a row and of the rows above it, innermost first.
fn stack(snapshot: &Snapshot, row: usize) -> Vec<u64> {
    let nodes = &snapshot.nodes;
    let rows = successors(Some(NodeId(row as u32)), |&row| nodes.parent_of(row));
    rows.map(|row| u64::from(nodes.site[row.index()]) + 1).collect()
}

#[cfg(test)]
mod tests;
