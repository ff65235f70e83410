//! Reads all functions of a running program from the function table that `cargo tickscope` has put into its executable.
//! To keep records small, snapshots contain only functions that have been called.

use std::collections::HashSet;
use std::fs::File;
use std::path::Path;

use object::{Object, ObjectSection, ReadCache};
use tickscope_format::Snapshot;
use tickscope_format::function_choice::{Chooser, Chosen};
use tickscope_format::function_table::{FunctionTable, SECTION};
use tickscope_format::pattern::Pattern;
use tickscope_format::snapshot::{FunctionChoice, Site};

/// All functions of a program, in the order of its function table.
#[derive(Debug, Default)]
pub struct KnownFunctions {
    table: Vec<u8>,
    /// The functions as sites. Each equals the site that appears in snapshots once the function has been called.
    pub sites: Vec<Site>,
}

impl KnownFunctions {
    /// Reads the functions of a process from its executable. Returns `None` if the function table cannot be read or
    /// does not contain exactly `known` functions. A different number means that `pid` denotes another process in this
    /// PID namespace, or that the process has loaded a library with functions of its own.
    pub fn of_process(pid: u32, known: u32) -> Option<Self> {
        // This link leads to the executable that the process was started from, even if a new build has since replaced the file.
        let found = Self::of_file(Path::new(&format!("/proc/{pid}/exe")))?;
        (found.sites.len() == known as usize).then_some(found)
    }

    fn of_file(path: &Path) -> Option<Self> {
        let cache = ReadCache::new(File::open(path).ok()?);
        let file = object::File::parse(&cache).ok()?;
        let table = file.section_by_name(SECTION)?.uncompressed_data().ok()?;
        Self::of_table(table.into_owned())
    }

    /// Parses a function table. Returns `None` if `table` is not valid.
    pub fn of_table(table: Vec<u8>) -> Option<Self> {
        let read = FunctionTable::read(&table).ok()?;
        let functions = (0..read.len()).map_while(|index| read.get(index));
        let sites = functions.map(|function| Site {
            name: function.name.into(),
            module: function.module.into(),
            file: function.file.into(),
            line: function.line,
            ..Site::default()
        });
        let sites = sites.collect();
        Some(Self { table, sites })
    }

    /// Returns for each function whether it is measured under `choice` and, if not, why. Rules set by requests are ignored.
    pub fn chosen(&self, choice: &FunctionChoice) -> Vec<Chosen> {
        let chooser = Chooser::of(choice);
        let Ok(table) = FunctionTable::read(&self.table) else {
            return Vec::new();
        };
        let functions = (0..table.len()).map_while(|index| table.get(index));
        functions.map(|function| chooser.look(&function)).collect()
    }

    /// Counts the functions that match a pattern but are missing from a snapshot.
    pub fn unmet(&self, snapshot: &Snapshot, pattern: &Pattern) -> usize {
        let chosen = self.sites.iter().filter(|site| pattern.matches(site));
        let met: HashSet<&Site> = snapshot.sites.iter().collect();
        chosen.filter(|site| !met.contains(site)).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_without_a_table_has_none() {
        assert!(KnownFunctions::of_process(std::process::id(), 0).is_none());
        assert!(KnownFunctions::of_table(b"TKSFUNCS".to_vec()).is_none());
    }
}
