//! A snapshot as the payload of a record: encoded, and pruned where it is too large.

use tickscope_format::{FormatError, Snapshot};

use crate::enabled::publish::prune;

/// Appends the payload of a snapshot to the bytes.
pub(super) type Encode = fn(&Snapshot, &mut Vec<u8>) -> Result<(), FormatError>;

/// Makes a payload that is longer than `longest` again, of as much of its snapshot as fits.
///
/// # Errors
/// As `encode`.
pub(super) fn shorten(
    snapshot: &Snapshot,
    payload: &mut Vec<u8>,
    longest: u64,
    encode: Encode,
) -> Result<(), FormatError> {
    let mut pruned = None;
    while payload.len() as u64 > longest {
        let cut: &mut Snapshot = pruned.get_or_insert_with(|| snapshot.clone());
        // As many as fit at this size of a row, less a few; what is no row may still be too much.
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
