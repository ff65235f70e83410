//! A record in a recording: a first section that can be read without unpacking, then the packed payload.
//!
//! | section | body |
//! |---|---|
//! | 64 | four words: capture number, reset epoch, resumed epoch (`u64::MAX` if none), position of the record with the sites |
//! | 67 | raw deflate of the [`Addresses`] that no earlier record contains; missing if there are none |
//! | 65 | raw deflate of all sections of the payload except the sites |
//! | 66 | raw deflate of the section with the sites; missing if the record uses the sites of an earlier record |

use crate::addresses::Addresses;
use crate::codec;
use crate::error::{FormatError, damaged};
use crate::snapshot::CaptureInfo;
use crate::words;

const INFO: u64 = 64;
pub(super) const PACKED: u64 = 65;
pub(super) const PACKED_SITES: u64 = 66;
const PACKED_ADDRESSES: u64 = 67;

/// Length of the first section in bytes. It can be read without unpacking the other sections.
pub(super) const INFO_BYTES: usize = 48;

/// Number of bytes at the beginning of a record that show whether it contains [`Addresses`], whose section is the
/// second one.
pub(super) const HEAD_BYTES: usize = INFO_BYTES + 8;

/// Name of a record in messages.
const WHAT: &str = "packed record";

/// Value that stands for a missing epoch.
const NONE: u64 = u64::MAX;

/// Returns the capture number and the epochs of a stored record, and the position of the record that contains its
/// sites. Returns `None` if the payload is not packed.
pub(super) fn info(stored: &[u8]) -> Option<(CaptureInfo, u64)> {
    let head: Vec<u64> = words::from_bytes(stored.get(..INFO_BYTES)?).collect();
    let &[INFO, 32, seq, reset_epoch, withdraws, sites_at] = &head[..] else {
        return None;
    };
    let capture = CaptureInfo {
        seq,
        reset_epoch,
        withdraws: (withdraws != NONE).then_some(withdraws),
        ..CaptureInfo::default()
    };
    Some((capture, sites_at))
}

/// Returns whether the stored record that begins with these bytes has [`Addresses`].
pub(super) fn has_addresses(stored: &[u8]) -> bool {
    stored.get(INFO_BYTES..HEAD_BYTES) == Some(&PACKED_ADDRESSES.to_le_bytes()[..])
}

/// Maximum size of a record's unpacked [`Addresses`], in bytes.
const ADDRESSES_BYTES_MAX: u64 = 64 << 20;

/// Returns the [`Addresses`] of a stored record, which must contain their section.
pub(super) fn unpacked_addresses(stored: &[u8]) -> Result<Addresses, FormatError> {
    codec::addresses(&unpacked(stored, PACKED_ADDRESSES, ADDRESSES_BYTES_MAX)?)
}

/// Packs a record: info, new addresses, payload without sites, and its sites if no earlier record has them.
#[cfg(feature = "deflate")]
pub(super) fn packed(
    capture: &CaptureInfo,
    sites_at: u64,
    addresses: &Addresses,
    others: &[u8],
    sites: Option<&[u8]>,
) -> std::io::Result<Vec<u8>> {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::DeflateEncoder;

    let addresses = match addresses.is_empty() {
        true => None,
        false => Some(codec::of_addresses(addresses).map_err(std::io::Error::other)?),
    };
    let withdraws = capture.withdraws.unwrap_or(NONE);
    let info = [INFO, 32, capture.seq, capture.reset_epoch, withdraws, sites_at];
    let mut stored = words::to_bytes(info);
    for (id, bytes) in [
        (PACKED_ADDRESSES, addresses.as_deref()),
        (PACKED, Some(others)),
        (PACKED_SITES, sites),
    ] {
        let Some(bytes) = bytes else { continue };
        stored.extend_from_slice(&id.to_le_bytes());
        let length_at = stored.len();
        stored.extend_from_slice(&[0; 8]);
        let mut encoder = DeflateEncoder::new(stored, Compression::fast());
        encoder.write_all(bytes)?;
        stored = encoder.finish()?;
        let length = (stored.len() - length_at - 8) as u64;
        stored[length_at..length_at + 8].copy_from_slice(&length.to_le_bytes());
    }
    Ok(stored)
}

/// Returns the unpacked content of a section. Fails if the stored record lacks the section, or if the content is longer
/// than `longest` bytes.
pub(super) fn unpacked(stored: &[u8], wanted: u64, longest: u64) -> Result<Vec<u8>, FormatError> {
    for section in codec::sections(stored) {
        let (id, body) = section?;
        if id == wanted {
            return inflate(body.bytes, body.at, longest);
        }
    }
    let (end, found) = (stored.len() as u64, format!("no section {wanted}"));
    Err(damaged(WHAT, end, found, "this section"))
}

#[cfg(feature = "deflate")]
fn inflate(body: &[u8], at: usize, longest: u64) -> Result<Vec<u8>, FormatError> {
    use std::io::Read;

    let mut out = Vec::new();
    let mut decoder = flate2::read::DeflateDecoder::new(body).take(longest + 1);
    let wrong = |found: String, wanted: &str| Err(damaged(WHAT, at as u64, found, wanted));
    match decoder.read_to_end(&mut out) {
        Ok(_) if out.len() as u64 <= longest => Ok(out),
        Ok(_) => wrong(format!("more than {longest} bytes"), "a payload"),
        Err(error) => wrong(error.to_string(), "packed sections"),
    }
}

/// Always fails. It is not called for a valid file: without `deflate`, a build rejects a file with packed records as
/// soon as it checks the file's features, before it reads any record.
#[cfg(not(feature = "deflate"))]
fn inflate(_body: &[u8], at: usize, longest: u64) -> Result<Vec<u8>, FormatError> {
    let found = format!("compressed bytes, at most {longest}");
    Err(damaged(WHAT, at as u64, found, "a build that can decompress"))
}

#[cfg(test)]
#[cfg(feature = "deflate")]
mod tests {
    use super::*;

    /// Returns `bytes` zeros, packed to about a thousandth of their size and followed by bytes that are not valid
    /// deflate.
    fn bomb(bytes: usize) -> Vec<u8> {
        use std::io::Write;

        let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(&vec![0; bytes]).unwrap();
        // The flush ends a block but not the stream.
        encoder.flush().unwrap();
        let mut packed = encoder.get_ref().clone();
        packed.extend_from_slice(&[0xff; 8]);
        packed
    }

    #[test]
    fn what_unpacks_to_more_than_a_payload_is_not_unpacked_to_its_end() {
        let said = |longest| inflate(&bomb(1 << 20), 7, longest).unwrap_err().to_string();
        // With a higher limit, the invalid bytes at the end are reached.
        assert!(said(1 << 21).contains("deflate"), "{}", said(1 << 21));
        let why = said(1 << 16);
        assert!(why.contains("at byte 7: found more than 65536 bytes"), "{why}");
    }
}
