//! Functions that the sites of a snapshot name. A function is identified by its path, because lines change between builds.

use std::collections::HashMap;

use tickscope_format::snapshot::Snapshot;

/// Name of the row above functions that each have too few samples to be reliable.
pub const OTHERS: &str = "(others)";

/// An index into the function table of one snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionId(pub u32);

/// A function or a named scope, or a group in place of its members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The plain name; `[group]` for a group.
    pub name: String,
    /// The path of its module.
    pub module: String,
    /// The source file of the first site that has this name; a group has none.
    pub file: String,
    /// The line of that site; 0 for a group.
    pub line: u32,
    /// The group of the first of its sites that has a group; empty for none.
    pub group: String,
    /// Whether this is a group in place of its members.
    pub is_group: bool,
    /// A hash of module and name, which is equal in all snapshots of all runs.
    pub key: u64,
}

/// The functions of a snapshot, in the order of their first site.
#[derive(Clone, Debug, Default)]
pub struct Functions {
    /// The functions; the index is the [`FunctionId`].
    pub list: Vec<Function>,
    /// The function of each site.
    pub of_site: Vec<FunctionId>,
}

/// Hashes with FNV-1a, 64 bits (Fowler, Noll, Vo): keys stay the same in every build, which `std`'s hasher does not promise.
pub(crate) fn fnv1a(seed: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(seed, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Initial value of [`fnv1a`].
pub(crate) const FNV_SEED: u64 = 0xcbf2_9ce4_8422_2325;

impl FunctionId {
    /// Returns the function as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl Function {
    /// Returns module and name: `orderbook::book::insert`.
    pub fn full_name(&self) -> String {
        match self.module.is_empty() {
            true => self.name.clone(),
            false => format!("{}::{}", self.module, self.name),
        }
    }
}

impl Functions {
    /// Returns the functions of all sites of a snapshot.
    pub fn of(snapshot: &Snapshot) -> Self {
        Self::build(snapshot, false)
    }

    /// Returns functions like [`of`](Self::of). If `grouped`, each group stands in place of its members. Calls between
    /// members are then recursion, so that time counts once, in the outermost member.
    pub fn build(snapshot: &Snapshot, grouped: bool) -> Self {
        let mut known: HashMap<u64, FunctionId> = HashMap::with_capacity(snapshot.sites.len());
        let mut functions = Self::default();
        for site in &snapshot.sites {
            let is_group = grouped && !site.group.is_empty();
            let (module, name) = match is_group {
                true => ("", site.group.as_str()),
                false => (site.module.as_str(), site.name.as_str()),
            };
            // No module is called `[group]`. Module and name are hashed as one path, because readers split a path differently.
            let above = if is_group { "[group]" } else { module };
            let key = fnv1a(fnv1a(fnv1a(FNV_SEED, above.as_bytes()), b"::"), name.as_bytes());
            let id = *known.entry(key).or_insert_with(|| {
                // A group has no single place in the source.
                let (file, line) = match is_group {
                    true => ("", 0),
                    false => (site.file.as_str(), site.line),
                };
                functions.list.push(Function {
                    name: match is_group {
                        true => format!("[{name}]"),
                        false => name.to_owned(),
                    },
                    module: module.to_owned(),
                    file: file.to_owned(),
                    line,
                    group: site.group.clone(),
                    is_group,
                    key,
                });
                FunctionId(functions.list.len() as u32 - 1)
            });
            let function = &mut functions.list[id.index()];
            if function.group.is_empty() {
                function.group.clone_from(&site.group);
            }
            functions.of_site.push(id);
        }
        functions
    }

    /// Returns a function.
    ///
    /// # Panics
    /// If the id is of another snapshot.
    pub fn get(&self, id: FunctionId) -> &Function {
        &self.list[id.index()]
    }
}
