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
        match self.module.as_str() {
            "" => self.name.clone(),
            module => format!("{module}::{}", self.name),
        }
    }
}

/// The places in the source code that the nodes of a snapshot refer to. Several snapshots may share one `Vec`; a
/// snapshot that modifies it gets its own copy.
#[derive(Clone, Debug, Default, Eq, Encode, Decode)]
pub struct Sites(Arc<Vec<Site>>);

impl Deref for Sites {
    type Target = Vec<Site>;

    fn deref(&self) -> &Vec<Site> {
        &self.0
    }
}

impl DerefMut for Sites {
    fn deref_mut(&mut self) -> &mut Vec<Site> {
        Arc::make_mut(&mut self.0)
    }
}

impl PartialEq for Sites {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl From<Vec<Site>> for Sites {
    fn from(sites: Vec<Site>) -> Self {
        Self(Arc::new(sites))
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
        self.0.iter()
    }
}

impl<'a> IntoIterator for &'a mut Sites {
    type Item = &'a mut Site;
    type IntoIter = std::slice::IterMut<'a, Site>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}
