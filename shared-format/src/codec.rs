//! Encodes snapshots as bytes and decodes them again, with limits on the memory used for decoding.
//!
//! A payload is a list of sections, in any order:
//!
//! | bytes | contents |
//! |---|---|
//! | 8 | section id |
//! | 8 | length of the body in bytes |
//! | length | body: bincode, little-endian integers of fixed or variable width, depending on the section |
//!
//! Records of the coarse ring use more compact sections for sites and nodes, and leave out some data, such as
//! latencies.
//!
//! Readers skip unknown sections and use defaults for missing ones, so that old and new versions understand each other.
//! New data gets a new section; the body of an existing section never changes. Each submodule writes, reads and checks
//! the sections of one subject.

mod facts;
mod functions;
mod latencies;
mod lines;
mod measures;
mod rows;
mod section;
mod tallies;
mod tasks;
#[cfg(test)]
mod tests;
mod tree;
mod waits_in;
mod watches;

use bincode::Decode;
use bincode::config::Config;

use self::section::{CONFIG, Coded, Decoded, KnownSites, Out, SMALL, Section, Write};
use crate::addresses::Addresses;
use crate::error::FormatError;
use crate::latency::Latencies;
use crate::snapshot::{CaptureInfo, Lines, Snapshot};

pub(crate) use self::section::sections;

/// All sections, in the order in which they are written and checked. A check may rely on the checks of earlier
/// sections.
const SECTIONS: [&Section; 26] = [
    &facts::INFO,
    &facts::COPIES,
    &tree::THREADS,
    &tree::SITES,
    &tree::NODES,
    &tree::SMALL_SITES,
    &tree::SMALL_NODES,
    &rows::ERRORS,
    &facts::MEASURING,
    &latencies::LATENCIES,
    &latencies::ASYNC_LATENCIES,
    &tasks::TASKS,
    &lines::LINES,
    &rows::ESTIMATES,
    &tallies::COUNTS,
    &tallies::VALUES,
    &tallies::GAUGES,
    &measures::MEASURES,
    &facts::WAITS,
    &facts::DRAINS,
    &facts::SEEN_COST,
    &waits_in::WAITS_IN,
    &functions::FUNCTIONS,
    &facts::WAS_OFF,
    &watches::WATCHES,
    &facts::WINDOW,
];
// Ids of sections that only earlier versions wrote, and that must not be reused: 7 (histograms in an encoding three
// times as long), 24 (samples of code by function, without rows), 26 (cost of the clock as measured in the program),
// 27 (muted scopes).
/// Id of the section of addresses. Only recordings have this section. Each record of a recording adds only the
/// addresses that no earlier record contains.
const ADDRESSES: u64 = 31;
// Ids from 64 on are used for sections of the records in a recording (`recording/stored.rs`).

/// The id of each section, and the function that writes it. [`encode`] refers to nothing else, so a program that only writes
/// snapshots does not contain the code that reads them, which takes some 180 kB.
const WRITERS: [(u64, Write); SECTIONS.len()] = {
    let mut writers = [(0, facts::INFO.write); SECTIONS.len()];
    let mut at = 0;
    while at < SECTIONS.len() {
        writers[at] = (SECTIONS[at].id, SECTIONS[at].write);
        at += 1;
    }
    writers
};

/// Appends the payload of a snapshot to `out`.
///
/// # Errors
/// [`FormatError::TooLarge`] if a section is larger than readers accept.
pub fn encode(snapshot: &Snapshot, out: &mut Vec<u8>) -> Result<(), FormatError> {
    encode_as(snapshot, true, out)
}

/// Appends the payload of a snapshot in the compact form used in the coarse ring. It has no histograms, futures in
/// flight, samples of the program counter or exemplars.
///
/// # Errors
/// Same as [`encode`].
pub fn encode_small(snapshot: &Snapshot, out: &mut Vec<u8>) -> Result<(), FormatError> {
    encode_as(snapshot, false, out)
}

fn encode_as(snapshot: &Snapshot, is_fine: bool, out: &mut Vec<u8>) -> Result<(), FormatError> {
    // All fields are listed, so that adding a field without a section is a compile error.
    let Snapshot {
        process: _,
        clock: _,
        capture: _,
        lifetime: _,
        threads: _,
        sites: _,
        nodes: _,
        errors: _,
        measuring: _,
        latencies: _,
        async_latencies: _,
        tasks: _,
        estimates: _,
        counts: _,
        value_rows: _,
        gauge_rows: _,
        measures: _,
        waits: _,
        waits_in: _,
        functions: _,
        was_off: _,
        watches: _,
        lines: _,
        drains_ns: _,
        seen_cost: _,
        window: _,
        // This field has no section, because only `tickscope-analysis` creates snapshots with values other than time.
        values: _,
    } = snapshot;
    for (id, write) in WRITERS {
        let bytes = &mut *out;
        write(snapshot, Out { bytes, id, is_fine })?;
    }
    Ok(())
}

/// Decodes a payload. Every index in the result is valid.
///
/// # Errors
/// [`FormatError::Truncated`] or [`FormatError::Damaged`], with the offset of the fault if it is known.
pub fn decode(bytes: &[u8]) -> Result<Snapshot, FormatError> {
    Decoder::default().decode(bytes)
}

/// Decodes the payloads of one program. Consecutive snapshots with the same sites share one copy of them.
#[derive(Debug, Default)]
pub struct Decoder {
    /// The last section of sites that was read, and the sites decoded from it.
    sites: KnownSites,
}

impl Decoder {
    /// Decodes a payload. Every index in the result is valid.
    ///
    /// # Errors
    /// Same as [`decode`].
    pub fn decode(&mut self, bytes: &[u8]) -> Result<Snapshot, FormatError> {
        let mut to = Decoded {
            snapshot: Snapshot::default(),
            of_values: Latencies::default(),
            known_sites: &mut self.sites,
        };
        for section in sections(bytes) {
            let (id, body) = section?;
            if let Some(section) = SECTIONS.iter().find(|section| section.id == id) {
                (section.read)(&mut to, body)?;
            }
        }
        let mut snapshot = to.snapshot;
        functions::leave_out_unknown(&mut snapshot);
        latencies::put_in(&mut snapshot, &to.of_values)?;
        // Later code relies on a valid tree, on columns that refer to existing rows, and on sums that fit into 64 bits.
        SECTIONS
            .iter()
            .try_for_each(|section| (section.check)(&snapshot))?;
        Ok(snapshot)
    }
}

/// Splits a payload into two parts: all sections except the sites, and the section of sites. The two parts joined
/// together are again a valid payload. Since sites rarely change, payloads that are kept in memory can share the second
/// part.
///
/// # Errors
/// [`FormatError::Truncated`], with the offset of the fault.
pub fn split_sites(payload: &[u8]) -> Result<(Vec<u8>, Vec<u8>), FormatError> {
    let (mut others, mut sites): (Vec<&[u8]>, Vec<&[u8]>) = (Vec::new(), Vec::new());
    for section in sections(payload) {
        let (id, body) = section?;
        let to = match id == tree::SITES.id {
            true => &mut sites,
            false => &mut others,
        };
        to.push(&payload[body.at - section::HEAD..body.end()]);
    }
    // `concat` allocates exactly as much as needed, so a payload that is kept for a long time wastes no memory.
    Ok((others.concat(), sites.concat()))
}

/// Decodes only the capture info of a payload.
///
/// # Errors
/// Same as [`decode`].
pub fn capture(payload: &[u8]) -> Result<CaptureInfo, FormatError> {
    let info: Option<facts::Info> = alone(payload, facts::INFO.id, CONFIG)?;
    Ok(info.map_or_else(CaptureInfo::default, |(_, _, capture, _)| capture))
}

/// Decodes only the names of the other copies of the collector in the process.
///
/// # Errors
/// Same as [`decode`].
pub fn copies(payload: &[u8]) -> Result<Vec<String>, FormatError> {
    Ok(alone(payload, facts::COPIES.id, CONFIG)?.unwrap_or_default())
}

/// Decodes only the samples of the program counter, without checking that their rows and modules exist.
///
/// # Errors
/// Same as [`decode`].
pub fn lines(payload: &[u8]) -> Result<Lines, FormatError> {
    Ok(alone(payload, lines::LINES.id, SMALL)?.unwrap_or_default())
}

/// Encodes addresses as a section.
#[cfg(feature = "deflate")]
pub(crate) fn of_addresses(addresses: &Addresses) -> Result<Vec<u8>, FormatError> {
    let mut out = Vec::new();
    section::append(&mut out, ADDRESSES, addresses, CONFIG)?;
    Ok(out)
}

/// Decodes a section of addresses.
pub(crate) fn addresses(encoded: &[u8]) -> Result<Addresses, FormatError> {
    Ok(alone(encoded, ADDRESSES, CONFIG)?.unwrap_or_default())
}

/// Decodes a single section of a payload. Returns `None` if the payload does not have it.
fn alone<T: Decode<()>, I>(payload: &[u8], wanted: u64, config: Coded<I>) -> Result<Option<T>, FormatError>
where
    Coded<I>: Config,
{
    for section in sections(payload) {
        let (id, body) = section?;
        if id == wanted {
            return section::read(body.bytes, body.at, config).map(Some);
        }
    }
    Ok(None)
}
