//! The sites of a snapshot. They rarely change, so snapshots of one program share them.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use bincode::{Decode, Encode};

/// A place in the source code that opens scopes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Encode, Decode)]
pub struct Site {
    /// Plain name of the function or scope, such as `fib`, `Sq::area` or `tokenize`.
    pub name: String,
    /// Path of the module that contains the function or scope.
    pub module: String,
    /// Path of the source file.
    pub file: String,
    /// Line in the source file, starting with 1.
    pub line: u32,
    /// Group of the site; empty if it has none.
    pub group: String,
}

impl Site {
    /// Returns the path: `module::name`.
    pub fn path(&self) -> String {
        path(&self.module, &self.name)
    }
}

/// Returns the path `module::name`, or only the name if the module is empty.
pub fn path(module: &str, name: &str) -> String {
    match module {
        "" => name.into(),
        module => format!("{module}::{name}"),
    }
}

/// The places in the source code that the nodes of a snapshot refer to. Several snapshots may share one `Vec`; a
/// snapshot that modifies it gets its own copy.
// An empty list does not allocate: a forked child, in which no lock may be taken, gets an empty snapshot.
#[derive(Clone, Debug, Default, Eq)]
pub struct Sites(Option<Arc<Vec<Site>>>);

static NONE: Vec<Site> = Vec::new();

impl Deref for Sites {
    type Target = Vec<Site>;

    fn deref(&self) -> &Vec<Site> {
        self.0.as_deref().unwrap_or(&NONE)
    }
}

impl DerefMut for Sites {
    fn deref_mut(&mut self) -> &mut Vec<Site> {
        Arc::make_mut(self.0.get_or_insert_default())
    }
}

impl PartialEq for Sites {
    fn eq(&self, other: &Self) -> bool {
        let shared = self.0.as_ref().zip(other.0.as_ref());
        shared.is_some_and(|(one, other)| Arc::ptr_eq(one, other)) || **self == **other
    }
}

impl From<Vec<Site>> for Sites {
    fn from(sites: Vec<Site>) -> Self {
        Self(Some(Arc::new(sites)))
    }
}

impl<const N: usize> From<[Site; N]> for Sites {
    fn from(sites: [Site; N]) -> Self {
        Self::from(Vec::from(sites))
    }
}

impl FromIterator<Site> for Sites {
    fn from_iter<I: IntoIterator<Item = Site>>(sites: I) -> Self {
        Self::from(Vec::from_iter(sites))
    }
}

impl<'a> IntoIterator for &'a Sites {
    type Item = &'a Site;
    type IntoIter = std::slice::Iter<'a, Site>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a> IntoIterator for &'a mut Sites {
    type Item = &'a mut Site;
    type IntoIter = std::slice::IterMut<'a, Site>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}
