//! Makes the payload of a record from a snapshot, pruned if it is too large.

use tickscope_format::{FormatError, Snapshot};

use crate::enabled::publish::prune;

/// Appends the payload of a snapshot to the bytes.
pub(super) type Encode = fn(&Snapshot, &mut Vec<u8>) -> Result<(), FormatError>;

/// Encodes the snapshot again with fewer rows if its payload is longer than `longest` bytes, until it fits.
///
/// # Errors
/// The errors of `encode`.
pub(super) fn shorten(
    snapshot: &Snapshot,
    payload: &mut Vec<u8>,
    longest: u64,
    encode: Encode,
) -> Result<(), FormatError> {
    let mut pruned = None;
    while payload.len() as u64 > longest {
        let cut: &mut Snapshot = pruned.get_or_insert_with(|| snapshot.clone());
        // Number of rows that fit if all are equally large, less 1/16. The payload may still be too large because of
        // data other than rows.
        let rows = (cut.nodes.len() as u64 * longest / payload.len() as u64 * 15 / 16) as usize;
        let gone = prune::prune(cut, rows);
        if gone == 0 {
            break;
        }
        cut.capture.pruned += gone as u64;
        payload.clear();
        encode(cut, payload)?;
    }
    Ok(())
}
