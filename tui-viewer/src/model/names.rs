//! Names of functions, made once and kept as long as the functions stay the same.

use std::rc::Rc;

use tickscope_format::profile::functions::{Function, Functions};
use tickscope_format::render::label;

use crate::cells::safe;

/// The names of all functions of a snapshot, by function id.
#[derive(Debug, Default)]
pub(crate) struct Names {
    keys: Vec<u64>,
    /// The last parts of the path, as many as are needed.
    pub(crate) short: Vec<String>,
    /// The whole path, printable.
    pub(crate) full: Vec<String>,
    /// The whole path in small letters, for searching.
    pub(crate) small: Vec<String>,
}

// === impl Names ===

impl Names {
    /// The names of these functions; the former ones if nothing has changed.
    pub(crate) fn of(functions: &Functions, former: Option<&Rc<Self>>, ascii: bool) -> Rc<Self> {
        let same = |names: &&Rc<Self>| {
            names
                .keys
                .iter()
                .copied()
                .eq(functions.list.iter().map(|f| f.key))
        };
        if let Some(names) = former.filter(same) {
            return Rc::clone(names);
        }
        let full: Vec<String> = functions.list.iter().map(Function::full_name).collect();
        Rc::new(Self {
            keys: functions.list.iter().map(|f| f.key).collect(),
            short: label::labels(functions, ascii)
                .iter()
                .map(|text| safe(text, ascii).into_owned())
                .collect(),
            small: full.iter().map(|text| text.to_lowercase()).collect(),
            full: full.iter().map(|text| safe(text, ascii).into_owned()).collect(),
        })
    }
}
