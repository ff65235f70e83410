//! Snapshots taken with the `mark` tool, kept in memory. A client refers to them by handles.

use std::collections::VecDeque;

use tickscope_format::Snapshot;
use tickscope_format::codec;

/// Maximum number of marks. The oldest one is dropped first.
pub(super) const MARKS_MAX: usize = 16;

/// Maximum total size of the encoded snapshots, in bytes.
const BYTES_MAX: usize = 64 << 20;

/// Marked snapshots.
#[derive(Debug, Default)]
pub(super) struct Marks {
    made: u64,
    /// Handles with their encoded snapshots, oldest first.
    kept: VecDeque<(String, Vec<u8>)>,
}

impl Marks {
    /// Keeps a snapshot. Returns its handle, and how many older marks were dropped to make space.
    ///
    /// # Errors
    /// The snapshot is too large.
    pub(super) fn keep(&mut self, snapshot: &Snapshot) -> Result<(String, usize), String> {
        let mut payload = Vec::new();
        codec::encode(snapshot, &mut payload).map_err(|error| error.to_string())?;
        if payload.len() > BYTES_MAX {
            return Err(format!(
                "this snapshot has {} bytes, but marks have {BYTES_MAX} at most; keep it in a file: tickscope snapshot",
                payload.len()
            ));
        }
        self.made += 1;
        let handle = format!("mark-{}", self.made);
        self.kept.push_back((handle.clone(), payload));
        let before = self.kept.len();
        while self.kept.len() > MARKS_MAX || self.bytes() > BYTES_MAX {
            self.kept.pop_front();
        }
        Ok((handle, before - self.kept.len()))
    }

    fn bytes(&self) -> usize {
        self.kept.iter().map(|(_, payload)| payload.len()).sum()
    }

    /// Returns the snapshot with this handle; `None` if the text does not have the form of a handle.
    ///
    /// # Errors
    /// The handle is unknown, or its snapshot was dropped.
    pub(super) fn get(&self, handle: &str) -> Result<Option<Snapshot>, String> {
        if !is_handle(handle) {
            return Ok(None);
        }
        let Some((_, payload)) = self.kept.iter().find(|(kept, _)| kept == handle) else {
            let there: Vec<&str> = self.kept.iter().map(|(kept, _)| kept.as_str()).collect();
            let there = match there.len() {
                0 => "none".into(),
                _ => there.join(", "),
            };
            return Err(format!(
                "there is no mark {handle}; kept marks: {there}. The tool mark makes a mark; the last {MARKS_MAX} are kept, while this server runs"
            ));
        };
        codec::decode(payload)
            .map(Some)
            .map_err(|error| format!("{handle}: {error}"))
    }
}

/// Returns whether a text has the form of a handle. A program with a name of this form cannot be compared by name, only
/// by its process id.
fn is_handle(text: &str) -> bool {
    let number = text.strip_prefix("mark-");
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orderbook;

    #[test]
    fn the_last_ones_are_kept() {
        let mut marks = Marks::default();
        for at in 0..MARKS_MAX as u64 {
            assert_eq!(marks.keep(&orderbook::snapshot(100 + at)).unwrap().1, 0);
        }
        assert_eq!(marks.get("mark-1").unwrap().unwrap(), orderbook::snapshot(100));
        let (handle, dropped) = marks.keep(&orderbook::snapshot(200)).unwrap();
        assert_eq!((handle.as_str(), dropped), ("mark-17", 1));
        assert!(
            marks
                .get("mark-1")
                .unwrap_err()
                .contains("there is no mark mark-1; kept marks: mark-2")
        );
        assert_eq!(marks.get("order-book"), Ok(None));
        assert_eq!(marks.get("mark-up"), Ok(None));
    }
}
