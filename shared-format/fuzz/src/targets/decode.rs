//! The target `decode`: decodes payloads. A payload is the content of a record in a ring, a file or an HTML page.

use tickscope_format::codec::{self, Decoder};

use super::derive::snapshot;
use super::input::Input;

/// Decodes the input itself, or a valid payload in which the input has changed some bytes.
pub(crate) fn run(input: &[u8]) {
    let mut input = Input(input);
    let encode = match input.byte() % 4 {
        0 => codec::encode,
        1 => codec::encode_small,
        _ => return read(input.0),
    };
    let changes: Vec<(usize, u8)> = (0..input.below(6))
        .map(|_| (input.below(4096), input.byte()))
        .collect();
    let snapshot = snapshot(&mut input);
    let mut payload = Vec::new();
    if encode(&snapshot, &mut payload).is_err() {
        return;
    }
    for (at, byte) in changes {
        let at = at % payload.len();
        payload[at] = byte;
    }
    read(&payload);
}

/// Decodes a payload in every way. A valid payload is encoded and decoded a second time, when the decoder already knows its
/// sites.
fn read(payload: &[u8]) {
    let _ = codec::capture(payload);
    if let Ok((others, sites)) = codec::split_sites(payload) {
        // Splitting neither adds nor loses bytes.
        assert_eq!(others.len() + sites.len(), payload.len());
    }
    let mut decoder = Decoder::default();
    let Ok(snapshot) = decoder.decode(payload) else {
        return;
    };
    let mut again = Vec::new();
    codec::encode(&snapshot, &mut again).unwrap();
    let twice = decoder.decode(&again).unwrap();
    assert_eq!(snapshot.nodes, twice.nodes);
    assert_eq!(snapshot.threads, twice.threads);
    assert_eq!(snapshot.latencies, twice.latencies);
    assert_eq!(snapshot.counts, twice.counts);
    assert_eq!(snapshot.value_rows, twice.value_rows);
    assert_eq!(snapshot.gauge_rows, twice.gauge_rows);
    assert_eq!(snapshot.measures, twice.measures);
    let got = (snapshot.waits, &snapshot.waits_in);
    assert_eq!(got, (twice.waits, &twice.waits_in));
    assert_eq!(snapshot.async_latencies, twice.async_latencies);
    assert_eq!(snapshot.tasks, twice.tasks);
    assert_eq!(snapshot.sites, twice.sites);
}
