//! Functions, source files and lines for code addresses of a program, taken from its debug information.

use std::collections::BTreeMap;

use bincode::{Decode, Encode};

use crate::snapshot::{Module, path};

/// A function at an address, and where its source is. An unknown name is empty, and an unknown line is 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Frame {
    /// Name of the function, without its module.
    pub function: String,
    /// Path of the module in the source, such as `app::parser`.
    pub module: String,
    /// Path of the source file.
    pub file: String,
    /// Line number, starting at 1.
    pub line: u32,
}

impl Frame {
    /// Returns the module and the name, such as `app::parser::parse`.
    pub fn full_name(&self) -> String {
        path(&self.module, &self.function)
    }
}

/// Maximum number of addresses that a recording keeps.
pub const ADDRESSES_MAX: usize = 100_000;

/// The frames found at each address that was looked up.
///
/// # Examples
/// ```
/// use tickscope_format::addresses::{Addresses, Frame};
/// use tickscope_format::snapshot::Module;
///
/// let program = Module { path: "/bin/app".into(), ..Module::default() };
/// let main = Frame { function: "main".into(), ..Frame::default() };
/// let mut addresses = Addresses::default();
/// addresses.insert(&program, 0x1040, vec![main.clone()]);
/// assert_eq!(addresses.frames(&program, 0x1040), [main]);
/// assert_eq!(addresses.looked_up(&program, 0x2000), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Addresses {
    of_modules: BTreeMap<Module, BTreeMap<u64, Vec<Frame>>>,
}

impl Addresses {
    /// Returns whether no address was looked up.
    pub fn is_empty(&self) -> bool {
        self.of_modules.is_empty()
    }

    /// Returns the number of addresses that were looked up.
    pub fn len(&self) -> usize {
        self.of_modules.values().map(BTreeMap::len).sum()
    }

    /// Returns the frames of an address, innermost first. There are none if the address was not looked up or no
    /// function is known for it.
    pub fn frames(&self, module: &Module, address: u64) -> &[Frame] {
        self.looked_up(module, address).unwrap_or_default()
    }

    /// Returns the frames found for an address, or `None` if the address was not looked up.
    pub fn looked_up(&self, module: &Module, address: u64) -> Option<&[Frame]> {
        self.of_modules.get(module)?.get(&address).map(Vec::as_slice)
    }

    /// Inserts the frames of an address, innermost first.
    pub fn insert(&mut self, module: &Module, address: u64, frames: Vec<Frame>) {
        if !self.of_modules.contains_key(module) {
            self.of_modules.insert(module.clone(), BTreeMap::new());
        }
        if let Some(of_module) = self.of_modules.get_mut(module) {
            of_module.insert(address, frames);
        }
    }

    /// Adds the frames of `others` until there are [`ADDRESSES_MAX`] addresses, and drops the rest.
    pub fn extend(&mut self, others: Self) {
        let mut room = ADDRESSES_MAX.saturating_sub(self.len());
        for (module, addresses) in others.of_modules {
            let known = self.of_modules.entry(module).or_default();
            let before = known.len();
            known.extend(addresses.into_iter().take(room));
            room -= known.len() - before;
        }
    }
}
