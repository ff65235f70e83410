//! Encodes a snapshot as bytes and decodes it, with limits on the memory for decoding.
//!
//! A payload is a list of sections, in any order:
//!
//! | bytes | contents |
//! |---|---|
//! | 8 | section id |
//! | 8 | length of the body in bytes |
//! | length | body: bincode, fixed-width little-endian integers |
//!
//! A record of the coarse ring has sites and nodes in more compact sections, and no latencies.
//!
//! Readers skip unknown sections and use defaults for missing ones, so that old and new versions understand each other.
//! New data gets a new section; the body of an existing section never changes. Each subject has a file that writes,
//! reads and checks its data.

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

use self::section::{CONFIG, Coded, Decoded, KnownSites, Out, SMALL, Section};
use crate::addresses::Addresses;
use crate::error::FormatError;
use crate::latency::Latencies;
use crate::snapshot::{CaptureInfo, Lines, Snapshot};

pub(crate) use self::section::sections;

/// All sections, in the order in which they are written and checked, because a check may rely on earlier ones.
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
// Reserved ids of sections that earlier versions wrote: 7 (histograms in a form three times as long), 24 (samples of code by
// function, without rows), 26 (cost of the clock as measured in the program), 27 (muted scopes).
/// Id of the section of addresses. Only recordings have this section; each record contains the addresses that are new
/// to the recording.
const ADDRESSES: u64 = 31;
// Ids from 64 on belong to sections of records in a recording (`recording/stored.rs`).

/// Appends the payload of a snapshot to `out`.
///
/// # Errors
/// [`FormatError::TooLarge`] if a section exceeds the limits of readers.
pub fn encode(snapshot: &Snapshot, out: &mut Vec<u8>) -> Result<(), FormatError> {
    encode_as(snapshot, true, out)
}

/// Appends the payload for a record of the coarse ring: compact, and without latencies.
///
/// # Errors
/// As [`encode`].
pub fn encode_small(snapshot: &Snapshot, out: &mut Vec<u8>) -> Result<(), FormatError> {
    encode_as(snapshot, false, out)
}

fn encode_as(snapshot: &Snapshot, is_fine: bool, out: &mut Vec<u8>) -> Result<(), FormatError> {
    // All fields are named, so that the compiler refuses a new field without a section.
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
        // This field has no section, because only `tickscope-analysis` makes snapshots of values other than time.
        values: _,
    } = snapshot;
    for section in SECTIONS {
        (section.write)(
            snapshot,
            Out {
                bytes: out,
                section,
                is_fine,
            },
        )?;
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

/// Decodes the payloads of one program. Snapshots with equal sites share one copy of them.
#[derive(Debug, Default)]
pub struct Decoder {
    /// The last section of sites, and the sites decoded from it.
    sites: KnownSites,
}

impl Decoder {
    /// Decodes a payload. Every index in the result is valid.
    ///
    /// # Errors
    /// As [`decode`].
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
        // Later code relies on a valid tree, columns that name existing rows, and sums that fit 64 bits.
        SECTIONS
            .iter()
            .try_for_each(|section| (section.check)(&snapshot))?;
        Ok(snapshot)
    }
}

/// Returns a payload in two parts: all sections but the sites, then the section of sites. Concatenated, the parts are a
/// valid payload. Sites rarely change, so payloads in memory can share them.
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
    // `concat` allocates exactly the bytes needed, so a payload that is kept for long holds no spare memory.
    Ok((others.concat(), sites.concat()))
}

/// Decodes only the capture info of a payload.
///
/// # Errors
/// As [`decode`].
pub fn capture(payload: &[u8]) -> Result<CaptureInfo, FormatError> {
    let info: Option<facts::Info> = alone(payload, facts::INFO.id, CONFIG)?;
    Ok(info.map_or_else(CaptureInfo::default, |(_, _, capture, _)| capture))
}

/// Decodes only the names of other copies of the collector in the process.
///
/// # Errors
/// As [`decode`].
pub fn copies(payload: &[u8]) -> Result<Vec<String>, FormatError> {
    Ok(alone(payload, facts::COPIES.id, CONFIG)?.unwrap_or_default())
}

/// Decodes only the samples of the program counter. Does not check whether their rows and modules exist.
///
/// # Errors
/// As [`decode`].
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

/// Decodes one section of a payload, if it is there.
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
