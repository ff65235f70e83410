//! Rows of the tree that are open.

use tickscope_analysis::call_tree::PathId;

use crate::app::keyhash::KeySet;

/// A set of rows that counts its changes.
#[derive(Debug, Default)]
pub(crate) struct Expanded {
    paths: KeySet<PathId>,
    revision: u64,
}

impl Expanded {
    pub(crate) fn paths(&self) -> &KeySet<PathId> {
        &self.paths
    }

    /// Returns a number that changes with the set.
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    /// Whether a row is open.
    pub(crate) fn contains(&self, path: PathId) -> bool {
        self.paths.contains(&path)
    }

    /// Opens a row; returns whether it was closed.
    pub(crate) fn insert(&mut self, path: PathId) -> bool {
        let changed = self.paths.insert(path);
        self.revision += u64::from(changed);
        changed
    }

    /// Closes a row.
    pub(crate) fn remove(&mut self, path: PathId) {
        self.revision += u64::from(self.paths.remove(&path));
    }

    pub(crate) fn set(&mut self, path: PathId, open: bool) {
        match open {
            true => drop(self.insert(path)),
            false => self.remove(path),
        }
    }

    pub(crate) fn extend(&mut self, paths: impl IntoIterator<Item = PathId>) {
        for path in paths {
            self.insert(path);
        }
    }

    /// Closes all rows.
    pub(crate) fn clear(&mut self) {
        self.revision += u64::from(!self.paths.is_empty());
        self.paths.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changes_count() {
        let mut expanded = Expanded::default();
        let path = PathId(7);
        assert!(expanded.insert(path) && !expanded.insert(path));
        assert_eq!(expanded.revision(), 1);
        expanded.remove(path);
        expanded.remove(path);
        expanded.clear();
        assert_eq!(expanded.revision(), 2);
        assert!(!expanded.contains(path));
    }
}
