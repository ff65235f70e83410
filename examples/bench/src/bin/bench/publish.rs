//! Measures what a record costs: the publisher captures, encodes and writes it, and the reader decodes it. Each
//! measurement has its own process, because a process can have only one collector.

mod tree;

use std::time::{Duration, Instant};

use tickscope::{Builder, Mode};
use tickscope_bench::child;
use tickscope_bench::statistics::{median, sorted};
use tickscope_format::file::create::OwnRing;
use tickscope_format::file::header::Header;
use tickscope_format::file::places;
use tickscope_format::layout::{FORMAT_MAJOR, FORMAT_MINOR};
use tickscope_format::ring::Stamp;
use tickscope_format::snapshot::CaptureKind;
use tickscope_format::{FormatError, codec};

const REPEATS: usize = 50;

fn ring() -> Result<OwnRing, FormatError> {
    let header = Header {
        name: "publish_cost".into(),
        pid: std::process::id(),
        start_time: 0,
        boot_id: [0; 2],
        uid: 0,
        nonce: 1,
        run_token: 0,
        started_unix_ns: 0,
        ring_words: (64 << 20) / 8,
        coarse_words: 0,
        control: false,
        library: String::new(),
        version: (FORMAT_MAJOR, FORMAT_MINOR),
    };
    let mut failed = FormatError::NoRecord;
    for place in places::places(None) {
        match OwnRing::create(&place, header.clone()) {
            Ok(ring) => return Ok(ring),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

/// Prints the measurements for a tree with this many nodes, or for trees of three sizes.
pub(crate) fn print(nodes: Option<usize>) -> Result<(), String> {
    println!(
        "Medians of {REPEATS}, in microseconds; \"still\": nothing was called since the capture before, \"all\": every node was."
    );
    println!("   nodes histograms  since  capture   encode    write   decode     bytes");
    for nodes in nodes.map_or(vec![1_000, 10_000, 100_000], |nodes| vec![nodes]) {
        for (histograms, word) in [("false", "off"), ("true", "on")] {
            let told: [f64; 10] = child::numbers(&["stages", &nodes.to_string(), histograms])?;
            for (since, row) in ["still", "all"].iter().zip(told.chunks(5)) {
                let row: String = row.iter().map(|number| format!(" {number:8.0}")).collect();
                println!("{nodes:8} {word:10} {since:>6}{row}");
            }
        }
    }
    Ok(())
}

/// Runs as a child process that prints the measurements for a tree, first when nothing is called between two records,
/// and then when every node is called.
pub(crate) fn stages(nodes: usize, histograms: bool) -> Result<(), FormatError> {
    let _session = Builder::new("publish")
        .mode(Mode::Exact)
        .max_nodes((nodes as u32 + 1).min(1_048_575))
        .ring_bytes(256 << 20)
        .histogram(histograms)
        // The interval is so long that the publisher does not interfere.
        .interval(Duration::from_secs(3600))
        .start();
    // Fills the histograms with durations that span several octaves.
    for round in 0..20 {
        tree::visit(nodes, &|node| {
            (0..(node * 7 + round * 31) % 200).for_each(|_| std::hint::spin_loop())
        });
    }
    parts(nodes, false)?;
    parts(nodes, true)
}

/// Prints the median time of each step in microseconds, and the bytes of a record. `all` says whether every node is
/// called before each record.
fn parts(nodes: usize, all: bool) -> Result<(), FormatError> {
    let mut ring = ring()?;
    let mut payload = Vec::new();
    let mut times: [Vec<f64>; 4] = Default::default();
    // The first rounds fill caches and buffers, and do not count.
    for round in 0..REPEATS + 5 {
        if all {
            tree::visit(nodes, &|_| {});
        }
        let begin = Instant::now();
        let snapshot = tickscope::snapshot();
        let captured = Instant::now();
        payload.clear();
        codec::encode(&snapshot, &mut payload)?;
        let encoded = Instant::now();
        let stamp = Stamp {
            kind: CaptureKind::Periodic,
            tick: 0,
            unix_ns: 0,
        };
        ring.publish(stamp, &payload)?;
        let written = Instant::now();
        let back = codec::decode(&payload)?;
        let decoded = Instant::now();
        assert_eq!((back.nodes.len(), snapshot.nodes.len()), (nodes, nodes));
        if round >= 5 {
            let stages = [begin, captured, encoded, written, decoded];
            for (times, pair) in times.iter_mut().zip(stages.windows(2)) {
                times.push((pair[1] - pair[0]).as_secs_f64() * 1e6);
            }
        }
    }
    let [capture, encode, write, decode] = times.map(|times| median(&sorted(times)));
    println!("{capture} {encode} {write} {decode} {}", payload.len());
    Ok(())
}
