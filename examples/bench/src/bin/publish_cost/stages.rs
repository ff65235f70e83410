//! Measures the steps of making a record, each by itself: capture, encode, write; and decode, which the reader does.

use std::time::Instant;

use tickscope::{Builder, Mode, Session};
use tickscope_format::file::create::OwnRing;
use tickscope_format::file::header::Header;
use tickscope_format::file::places;
use tickscope_format::layout::{FORMAT_MAJOR, FORMAT_MINOR};
use tickscope_format::ring::Stamp;
use tickscope_format::snapshot::CaptureKind;
use tickscope_format::{FormatError, codec};

use crate::tree;

const REPEATS: usize = 50;

/// An interval so long that the publisher does not interfere.
const HOUR: std::time::Duration = std::time::Duration::from_secs(3600);

/// Starts a session whose limits allow for the tree.
pub(crate) fn session(nodes: usize, histograms: bool, interval: std::time::Duration) -> Session {
    Builder::new("publish_cost")
        .mode(Mode::Exact)
        .max_nodes((nodes as u32 + 1).min(1_048_575))
        .ring_bytes(256 << 20)
        .histogram(histograms)
        .interval(interval)
        .start()
}

/// Fills histograms with durations of several octaves.
pub(crate) fn work(round: usize) -> impl Fn(usize) {
    move |node| {
        for _ in 0..(node * 7 + round * 31) % 200 {
            std::hint::spin_loop();
        }
    }
}

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
        coarse_words: (16 << 20) / 8,
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

pub(crate) fn print(nodes: usize, histograms: bool) -> Result<(), String> {
    let _session = session(nodes, histograms, HOUR);
    for round in 0..20 {
        tree::visit(nodes, &work(round));
    }
    for all in [false, true] {
        parts(nodes, histograms, all).map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn parts(nodes: usize, histograms: bool, all: bool) -> Result<(), FormatError> {
    let mut ring = ring()?;
    let mut payload = Vec::new();
    let mut small = Vec::new();
    let mut times: [Vec<f64>; 5] = Default::default();
    // The first rounds fill caches and buffers.
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
        small.clear();
        codec::encode_small(&snapshot, &mut small)?;
        ring.coarse_space(small.len() as u64)?;
        ring.publish_coarse(stamp, &small)?;
        let coarse = Instant::now();
        assert_eq!((back.nodes.len(), snapshot.nodes.len()), (nodes, nodes));
        if round >= 5 {
            let stages = [begin, captured, encoded, written, decoded, coarse];
            for (times, pair) in times.iter_mut().zip(stages.windows(2)) {
                times.push((pair[1] - pair[0]).as_secs_f64() * 1e6);
            }
        }
    }
    let [capture, encode, write, decode, coarse] = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    });
    println!(
        "{nodes:8} {:10} {:>6} {capture:8.0} {encode:8.0} {write:8.0} {:8.0} {decode:8.0} {:9} {coarse:8.0} {:9}",
        if histograms { "on" } else { "off" },
        if all { "all" } else { "still" },
        capture + encode + write,
        payload.len(),
        small.len(),
    );
    Ok(())
}
