//! A recording (`.tks`): its index, its records and their compressed payloads. The input decides what the records contain. The
//! content is then compressed and gets a valid checksum, so that the reader does not reject it right away.

use std::io::Write;

use flate2::Compression;
use flate2::write::DeflateEncoder;
use tickscope_format::codec;
use tickscope_format::layout::{SNAPSHOT_FILE_MAGIC, record};
use tickscope_format::recording::{Piece, Recording, Stream};
use tickscope_report::archive;

use super::derive::snapshot;
use super::input::Input;
use super::open::checksum;
use super::scratch;

/// Builds a recording as the input directs, and reads all of it.
pub(crate) fn run(input: &[u8]) {
    let mut input = Input(input);
    let mut file = bytes_of([SNAPSHOT_FILE_MAGIC, 1 << 32 | 1, 1, 0, 0, 0, 0, 0]);
    let mut position = 0;
    while !input.is_empty() {
        match input.byte() % 8 {
            0 => file.extend_from_slice(input.piece()),
            1 => {
                let at = input.below(file.len());
                file[at] = input.byte();
            }
            2 => file.truncate(input.below(file.len()).max(64)),
            kind => {
                let stored = stored(kind, &mut input, position);
                let record = record(&mut input, position, &stored);
                position += (record.len() / 8) as u64;
                file.extend_from_slice(&record);
            }
        }
        if file.len() > 1 << 20 {
            break;
        }
    }
    stream(&file);
    scratch::with(|scratch| {
        scratch.hold(&file);
        let _ = archive::is_archive(scratch.path());
        let _ = archive::read(scratch.path());
        let Ok(series) = Recording::open(scratch.path()) else {
            return;
        };
        // There are no more records than fit into the file.
        assert!(series.moments().len() * (record::WORDS * 8) <= file.len());
        assert!(series.torn_bytes() <= file.len() as u64);
        // The records are read in both orders, because the reader keeps sites from one read to the next.
        let moments = series.moments();
        for moment in moments.iter().chain(moments.iter().rev()) {
            if let Ok(payload) = series.payload(moment) {
                assert_eq!(codec::decode(&payload).is_ok(), series.snapshot(moment).is_ok());
            }
        }
        let _ = series.newest();
    });
}

/// Reads the same bytes as a stream, as if they came through a pipe.
fn stream(bytes: &[u8]) {
    let mut stream = Stream::new(bytes, 1 << 22);
    let mut pieces = 0;
    while let Ok(piece) = stream.next_piece() {
        match piece {
            Piece::Begin => {}
            Piece::Record(record) => drop(codec::decode(&record.payload)),
            Piece::End { torn } => {
                assert!(torn <= bytes.len() as u64);
                return;
            }
        }
        pieces += 1;
        // Each piece consumes at least as many bytes as the head of a record.
        assert!(pieces * (record::WORDS * 8) <= bytes.len());
    }
}

fn bytes_of(words: impl IntoIterator<Item = u64>) -> Vec<u8> {
    words.into_iter().flat_map(u64::to_le_bytes).collect()
}

/// Returns the part of a record that follows its head.
fn stored(kind: u8, input: &mut Input, position: u64) -> Vec<u8> {
    let mut payload = Vec::new();
    match input.byte() % 3 {
        0 => payload.extend_from_slice(input.piece()),
        _ => {
            let _ = codec::encode(&snapshot(input), &mut payload);
        }
    }
    if kind == 3 {
        return payload;
    }
    let sites_at = match input.byte() {
        0..=99 => position,
        100..=199 => 0,
        _ => input.number(),
    };
    let mut stored = bytes_of([
        64,
        32,
        input.number(),
        u64::from(input.byte()),
        input.number(),
        sites_at,
    ]);
    let (others, sites) = codec::split_sites(&payload).unwrap_or((payload, Vec::new()));
    section(&mut stored, 65, &others, input);
    if kind & 1 == 0 {
        section(&mut stored, 66, &sites, input);
    }
    stored
}

fn section(out: &mut Vec<u8>, id: u64, body: &[u8], input: &mut Input) {
    let body = match input.byte() {
        0..=199 => {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(body).unwrap();
            encoder.finish().unwrap()
        }
        // The section claims that these bytes are deflated, but they are not.
        _ => input.piece().to_vec(),
    };
    let length = match input.byte() {
        0..=239 => body.len() as u64,
        _ => input.number(),
    };
    out.extend_from_slice(&bytes_of([id, length]));
    out.extend_from_slice(&body);
}

/// Returns a record: a head and `stored`, padded to whole words.
fn record(input: &mut Input, position: u64, stored: &[u8]) -> Vec<u8> {
    let magic = u64::from(record::MAGIC_VALUE) | u64::from(input.byte() % 4) << 32;
    let mut head = [
        magic,
        stored.len() as u64,
        position,
        u64::MAX,
        1,
        input.number(),
        input.number(),
        0,
    ];
    if input.byte() > 240 {
        head[input.below(7)] = input.number();
    }
    head[record::CRC] = checksum(&head[..record::CRC], stored);
    let mut bytes = bytes_of(head);
    bytes.extend_from_slice(stored);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes
}
