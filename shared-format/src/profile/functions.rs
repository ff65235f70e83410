//! Functions: what the sites of a snapshot name. A function is module + name; lines change between builds.

use std::collections::HashMap;

use crate::snapshot::Snapshot;

/// An index into the function table of one snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionId(pub u32);

/// A function or a named scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The plain name.
    pub name: String,
    /// The path of its module.
    pub module: String,
    /// The source file of the first site that has this name.
    pub file: String,
    /// The line in it.
    pub line: u32,
    /// The same for this function in every snapshot of every run: a hash of module and name.
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

/// FNV-1a, 64 bits (Fowler, Noll, Vo): keys stay the same in every build, as `std`'s hasher promises not to.
pub(crate) fn fnv1a(seed: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(seed, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Where [`fnv1a`] starts.
pub(crate) const FNV_SEED: u64 = 0xcbf2_9ce4_8422_2325;

// === impl FunctionId ===

impl FunctionId {
    /// The function as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

// === impl Function ===

impl Function {
    /// Module and name: `orderbook::book::insert`.
    pub fn full_name(&self) -> String {
        if self.module.is_empty() {
            self.name.clone()
        } else {
            format!("{}::{}", self.module, self.name)
        }
    }
}

// === impl Functions ===

impl Functions {
    /// The functions of all sites of a snapshot.
    pub fn of(snapshot: &Snapshot) -> Self {
        let mut known: HashMap<(&str, &str), FunctionId> = HashMap::with_capacity(snapshot.sites.len());
        let mut functions = Self::default();
        for site in &snapshot.sites {
            let id = *known.entry((&site.module, &site.name)).or_insert_with(|| {
                let key = fnv1a(
                    fnv1a(fnv1a(FNV_SEED, site.module.as_bytes()), b"::"),
                    site.name.as_bytes(),
                );
                functions.list.push(Function {
                    name: site.name.clone(),
                    module: site.module.clone(),
                    file: site.file.clone(),
                    line: site.line,
                    key,
                });
                FunctionId(functions.list.len() as u32 - 1)
            });
            functions.of_site.push(id);
        }
        functions
    }

    /// One function.
    ///
    /// # Panics
    /// Where the id is of another snapshot.
    pub fn get(&self, id: FunctionId) -> &Function {
        &self.list[id.index()]
    }
}
