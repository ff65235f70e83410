//! Makes the payload of a record from a snapshot, pruned if it is too large.

use tickscope_format::{FormatError, Snapshot};

use crate::enabled::publish::prune;

/// Appends the payload of a snapshot to the bytes.
pub(super) type Encode = fn(&Snapshot, &mut Vec<u8>) -> Result<(), FormatError>;

/// Makes a payload that is longer than `longest` again, with as much of its snapshot as fits.
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
        // This many rows of this size fit, less a few. Data other than rows may still be too large.
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
