//! The functions to which the sites of a snapshot belong. Line numbers change between builds, so a function is identified by its
//! path.

use std::collections::HashMap;

use tickscope_format::snapshot::{Snapshot, path};

/// Name of the row that groups functions that have too few samples for a reliable time.
pub const OTHERS: &str = "(others)";

/// Index into the [`Functions::list`] of one snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionId(pub u32);

/// A function, a named scope, or a group that replaces its members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Name without the module; `[group]` for a group.
    pub name: String,
    /// Path of the module; empty for a group or if unknown.
    pub module: String,
    /// Source file of the function's first site; empty for a group.
    pub file: String,
    /// Line of the function's first site; 0 for a group.
    pub line: u32,
    /// Group of the first site that has a group; empty if no site has one.
    pub group: String,
    /// Whether this is a group that replaces its members.
    pub is_group: bool,
    /// Hash of module and name. The same function has the same key in all snapshots and runs.
    pub key: u64,
}

/// The functions of a snapshot, in the order of their first site.
#[derive(Clone, Debug, Default)]
pub struct Functions {
    /// The functions by [`FunctionId`].
    pub list: Vec<Function>,
    /// By site: its function.
    pub of_site: Vec<FunctionId>,
}

/// Returns the 64-bit FNV-1a hash (Fowler, Noll, Vo) of some bytes. Unlike `std`'s hasher, it gives the same keys in every build.
pub(crate) fn fnv1a(seed: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(seed, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Initial seed for [`fnv1a`].
pub(crate) const FNV_SEED: u64 = 0xcbf2_9ce4_8422_2325;

impl FunctionId {
    /// Returns the id as an index into [`Functions::list`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl Function {
    /// Returns the module and the name, such as `orderbook::book::insert`.
    pub fn full_name(&self) -> String {
        path(&self.module, &self.name)
    }
}

impl Functions {
    /// Returns the functions to which the sites of a snapshot belong.
    pub fn of(snapshot: &Snapshot) -> Self {
        Self::build(snapshot, false)
    }

    /// Returns functions like [`of`](Self::of). If `grouped` is true, each group replaces its members. Calls between members are
    /// then recursive calls of the group, so only the outermost member adds to its total time.
    pub fn build(snapshot: &Snapshot, grouped: bool) -> Self {
        let mut known: HashMap<u64, FunctionId> = HashMap::with_capacity(snapshot.sites.len());
        let mut functions = Self::default();
        for site in &snapshot.sites {
            let is_group = grouped && !site.group.is_empty();
            let (module, name) = match is_group {
                true => ("", site.group.as_str()),
                false => (site.module.as_str(), site.name.as_str()),
            };
            // No module is called `[group]`, so groups and functions have different keys. Module and name are hashed as one
            // path, because not all sources of names split a path into the two at the same place.
            let above = if is_group { "[group]" } else { module };
            let key = fnv1a(fnv1a(fnv1a(FNV_SEED, above.as_bytes()), b"::"), name.as_bytes());
            let id = *known.entry(key).or_insert_with(|| {
                // The members of a group are on different lines.
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

    /// Returns the function with this id.
    ///
    /// # Panics
    /// If the id belongs to another snapshot.
    pub fn get(&self, id: FunctionId) -> &Function {
        &self.list[id.index()]
    }
}
