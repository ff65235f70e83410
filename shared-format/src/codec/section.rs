//! Sections are the parts of a payload. This module writes and reads them, and limits the memory for reading one.

use std::fmt;

use bincode::config::{Config, Configuration, Fixint, Limit, LittleEndian};
use bincode::de::read::Reader;
use bincode::de::{Decoder as _, DecoderImpl};
use bincode::error::DecodeError;
use bincode::{Decode, Encode};

use crate::error::FormatError;

/// A section may claim at most this much memory while it is decoded: some 4 million nodes.
pub(super) const DECODE_LIMIT: usize = 256 << 20;

/// Bytes of memory that a shorter section may claim for each byte, because a number may take eight times the bytes that it is
/// written in. bincode reserves memory for a length before it reads the bytes behind it.
pub(super) const CLAIM_PER_BYTE: usize = 8;

/// Bytes that even the shortest section may claim, because a few short texts take more than eight times their bytes.
pub(super) const LEAST_CLAIM: usize = 64 << 10;

/// Encoding of bodies: fixed-width numbers, or numbers in as few bytes as they need.
pub(super) type Coded<Numbers> = Configuration<LittleEndian, Numbers, Limit<DECODE_LIMIT>>;

pub(super) const CONFIG: Coded<Fixint> = bincode::config::standard()
    .with_fixed_int_encoding()
    .with_limit::<DECODE_LIMIT>();

pub(super) fn section<T: Encode>(out: &mut Vec<u8>, id: u64, body: &T) -> Result<(), FormatError> {
    section_as(out, id, body, CONFIG)
}

pub(super) fn section_as<T: Encode>(
    out: &mut Vec<u8>,
    id: u64,
    body: &T,
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

/// Returns the id and body of the section that begins at a byte.
pub(crate) fn section_at(bytes: &[u8], at: usize) -> Result<(u64, &[u8]), FormatError> {
    let (id, length) = (word(bytes, at)?, word(bytes, at + 8)?);
    let body_at = at + 16;
    let end = usize::try_from(length)
        .ok()
        .and_then(|length| body_at.checked_add(length));
    match end.and_then(|end| bytes.get(body_at..end)) {
        Some(body) => Ok((id, body)),
        None => Err(FormatError::Truncated {
            found: bytes.len() as u64,
            wanted: (body_at as u64).saturating_add(length),
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

pub(super) fn damaged(
    what: &'static str,
    at: usize,
    found: impl fmt::Display,
    wanted: impl fmt::Display,
) -> FormatError {
    FormatError::Damaged {
        what,
        offset: at as u64,
        found: found.to_string(),
        wanted: wanted.to_string(),
    }
}

pub(super) fn read<T: Decode<()>>(body: &[u8], at: usize) -> Result<T, FormatError> {
    read_as(body, at, CONFIG)
}

pub(super) fn read_as<T: Decode<()>, I>(body: &[u8], at: usize, config: Coded<I>) -> Result<T, FormatError>
where
    Coded<I>: Config,
{
    let damaged = |found: String| damaged("section", at, found, "a body of its type");
    let claim = body.len().saturating_mul(CLAIM_PER_BYTE);
    let limit = claim.clamp(LEAST_CLAIM, DECODE_LIMIT);
    let mut decoder = DecoderImpl::new(Body(body), config, ());
    // The limit of a configuration is a constant, so the part that this section may not claim is claimed first.
    let decoded = decoder
        .claim_bytes_read(DECODE_LIMIT - limit)
        .and_then(|()| T::decode(&mut decoder));
    let value = decoded.map_err(|e| damaged(e.to_string()))?;
    let Body(rest) = decoder.reader();
    if !rest.is_empty() {
        return Err(damaged(format!("{} bytes left over", rest.len())));
    }
    Ok(value)
}

/// Bytes of a section that are not decoded yet.
struct Body<'a>(&'a [u8]);

impl Reader for Body<'_> {
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
