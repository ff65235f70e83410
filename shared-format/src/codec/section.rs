//! Writes and reads the sections of a payload, and limits the memory used for reading one.

use std::fmt;

use bincode::config::{Config, Configuration, Fixint, Limit, LittleEndian, Varint};
use bincode::de::read::Reader;
use bincode::de::{Decoder as _, DecoderImpl};
use bincode::error::DecodeError;
use bincode::{Decode, Encode};

use crate::error::{FormatError, damaged};
use crate::latency::Latencies;
use crate::snapshot::{Sites, Snapshot};

/// Maximum memory in bytes that a section may claim while it is decoded. This is enough for about 4 million nodes.
pub(super) const DECODE_LIMIT: usize = 256 << 20;

/// Memory that a section may claim for each of its bytes, because a decoded number takes up to eight times as much
/// space as an encoded one. The limit matters because bincode reads a length and allocates memory for it before it
/// checks that the bytes exist.
const CLAIM_PER_BYTE: usize = 8;

/// Memory in bytes that even the shortest section may claim. A few short texts take up more than eight times their
/// encoded size.
const LEAST_CLAIM: usize = 64 << 10;

/// Encoding of section bodies, with integers of fixed or variable width.
pub(super) type Coded<Numbers> = Configuration<LittleEndian, Numbers, Limit<DECODE_LIMIT>>;

pub(super) const CONFIG: Coded<Fixint> = bincode::config::standard()
    .with_fixed_int_encoding()
    .with_limit::<DECODE_LIMIT>();

/// Little-endian, with integers of variable width.
pub(super) const SMALL: Coded<Varint> = bincode::config::standard().with_limit::<DECODE_LIMIT>();

/// A kind of section: its id, and the functions that write, read and check the part of a snapshot stored in it.
pub(super) struct Section {
    pub(super) id: u64,
    /// Writes the section if there is data for it.
    pub(super) write: Write,
    /// Reads the data of the section.
    pub(super) read: fn(&mut Decoded<'_>, Body<'_>) -> Result<(), FormatError>,
    /// Checks the data on its own and against the data of earlier sections.
    pub(super) check: fn(&Snapshot) -> Result<(), FormatError>,
}

pub(super) type Write = fn(&Snapshot, Out<'_>) -> Result<(), FormatError>;

/// The payload that a section is written to.
pub(super) struct Out<'a> {
    pub(super) bytes: &'a mut Vec<u8>,
    /// The id of the section.
    pub(super) id: u64,
    /// Whether to write everything, as for the fine ring and for files. Records of the coarse ring contain less.
    pub(super) is_fine: bool,
}

impl Out<'_> {
    pub(super) fn put(self, body: impl Encode) -> Result<(), FormatError> {
        append(self.bytes, self.id, body, CONFIG)
    }

    pub(super) fn put_small(self, body: impl Encode) -> Result<(), FormatError> {
        append(self.bytes, self.id, body, SMALL)
    }

    /// Writes the section if `is_there` is true.
    pub(super) fn put_if(self, is_there: bool, body: impl Encode) -> Result<(), FormatError> {
        if is_there { self.put(body) } else { Ok(()) }
    }

    /// Writes the section with integers of variable width if `is_there` is true.
    pub(super) fn put_small_if(self, is_there: bool, body: impl Encode) -> Result<(), FormatError> {
        match is_there {
            true => self.put_small(body),
            false => Ok(()),
        }
    }
}

/// Data decoded so far.
pub(super) struct Decoded<'a> {
    pub(super) snapshot: Snapshot,
    /// Histograms of values. They are added to the histograms of durations once all sections have been read.
    pub(super) of_values: Latencies,
    /// Sites of the last payload.
    pub(super) known_sites: &'a mut KnownSites,
}

/// The bytes of the last section of sites that was read, and the sites decoded from it.
pub(super) type KnownSites = Option<(Box<[u8]>, Sites)>;

/// Length in bytes of a section's header, which consists of its id and its length.
pub(super) const HEAD: usize = 16;

/// The body of a section, and the offset at which it begins.
#[derive(Clone, Copy)]
pub(crate) struct Body<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) at: usize,
}

impl Body<'_> {
    pub(super) fn end(self) -> usize {
        self.at + self.bytes.len()
    }

    pub(super) fn read<T: Decode<()>>(self) -> Result<T, FormatError> {
        read(self.bytes, self.at, CONFIG)
    }

    pub(super) fn read_small<T: Decode<()>>(self) -> Result<T, FormatError> {
        read(self.bytes, self.at, SMALL)
    }
}

/// Accepts any data. Used for sections that need no check.
pub(super) fn anything(_: &Snapshot) -> Result<(), FormatError> {
    Ok(())
}

/// Checks that the rows of a column exist and are in strictly ascending order.
pub(super) fn check_rows(
    what: &'static str,
    mut of_column: impl DoubleEndedIterator<Item = u32> + Clone,
    rows: usize,
) -> Result<(), FormatError> {
    let rises = of_column.clone().is_sorted_by(|a, b| a < b);
    let fits = rises && of_column.next_back().is_none_or(|last| (last as usize) < rows);
    refuse(
        what,
        (!fits).then_some("rows out of order or out of range"),
        format_args!("rows that rise and are below {rows}"),
    )
}

/// Returns the sum of numbers. It is an error if the sum does not fit into 64 bits, because readers add the numbers up
/// and the file may be malicious.
pub(super) fn check_sum(what: &'static str, numbers: impl Iterator<Item = u64>) -> Result<u64, FormatError> {
    sum(numbers).ok_or_else(|| damaged(what, None, "a sum beyond 64 bits", "a sum of at most 64 bits"))
}

/// Returns the sum of numbers, or `None` if it does not fit into 64 bits.
pub(super) fn sum(mut numbers: impl Iterator<Item = u64>) -> Option<u64> {
    numbers.try_fold(0, u64::checked_add)
}

pub(super) fn append(
    out: &mut Vec<u8>,
    id: u64,
    body: impl Encode,
    config: impl Config,
) -> Result<(), FormatError> {
    let start = out.len();
    out.extend_from_slice(&id.to_le_bytes());
    out.extend_from_slice(&[0; 8]);
    let written = bincode::encode_into_std_write(body, out, config);
    let length = (out.len() - start - 16) as u64;
    if written.is_err() || length > DECODE_LIMIT as u64 {
        return Err(FormatError::TooLarge {
            found: length,
            wanted: DECODE_LIMIT as u64,
        });
    }
    out[start + 8..start + 16].copy_from_slice(&length.to_le_bytes());
    Ok(())
}

/// Returns the id and the body of each section. The iterator ends after the first error.
pub(crate) fn sections(bytes: &[u8]) -> impl Iterator<Item = Result<(u64, Body<'_>), FormatError>> {
    let mut next = 0;
    std::iter::from_fn(move || {
        let section = (next < bytes.len()).then(|| section_at(bytes, next))?;
        next = section.as_ref().map_or(bytes.len(), |(_, body)| body.end());
        Some(section)
    })
}

fn section_at(bytes: &[u8], begin: usize) -> Result<(u64, Body<'_>), FormatError> {
    let (id, length) = (word(bytes, begin)?, word(bytes, begin + 8)?);
    let at = begin + HEAD;
    let end = usize::try_from(length)
        .ok()
        .and_then(|length| at.checked_add(length));
    match end.and_then(|end| bytes.get(at..end)) {
        Some(bytes) => Ok((id, Body { bytes, at })),
        None => Err(FormatError::Truncated {
            found: bytes.len() as u64,
            wanted: (at as u64).saturating_add(length),
        }),
    }
}

pub(super) fn word(bytes: &[u8], at: usize) -> Result<u64, FormatError> {
    let end = at.saturating_add(8);
    match bytes.get(at..end).and_then(|b| b.try_into().ok()) {
        Some(b) => Ok(u64::from_le_bytes(b)),
        None => Err(FormatError::Truncated {
            found: bytes.len() as u64,
            wanted: end as u64,
        }),
    }
}

/// Returns an error if a check has found something wrong, which is passed as `found`.
pub(super) fn refuse(
    what: &'static str,
    found: Option<impl fmt::Display>,
    wanted: impl fmt::Display,
) -> Result<(), FormatError> {
    found.map_or(Ok(()), |found| Err(damaged(what, None, found, wanted)))
}

pub(super) fn read<T: Decode<()>, I>(body: &[u8], at: usize, config: Coded<I>) -> Result<T, FormatError>
where
    Coded<I>: Config,
{
    let damaged = |found: String| damaged("section", at as u64, found, "a body of its type");
    let claim = body.len().saturating_mul(CLAIM_PER_BYTE);
    let limit = claim.clamp(LEAST_CLAIM, DECODE_LIMIT);
    let mut decoder = DecoderImpl::new(Left(body), config, ());
    // The limit of a bincode configuration is a compile-time constant. To enforce a lower limit for this section, the
    // difference is claimed in advance.
    let decoded = decoder
        .claim_bytes_read(DECODE_LIMIT - limit)
        .and_then(|()| T::decode(&mut decoder));
    let value = decoded.map_err(|e| damaged(e.to_string()))?;
    let Left(rest) = decoder.reader();
    if !rest.is_empty() {
        return Err(damaged(format!("{} bytes left over", rest.len())));
    }
    Ok(value)
}

/// The bytes of a section that have not been decoded yet.
struct Left<'a>(&'a [u8]);

impl Reader for Left<'_> {
    #[inline]
    fn read(&mut self, out: &mut [u8]) -> Result<(), DecodeError> {
        let Some((bytes, rest)) = self.0.split_at_checked(out.len()) else {
            return Err(DecodeError::UnexpectedEnd {
                additional: out.len() - self.0.len(),
            });
        };
        out.copy_from_slice(bytes);
        self.0 = rest;
        Ok(())
    }

    #[inline]
    fn peek_read(&mut self, n: usize) -> Option<&[u8]> {
        self.0.get(..n)
    }

    #[inline]
    fn consume(&mut self, n: usize) {
        self.0 = self.0.get(n..).unwrap_or_default();
    }
}
