//! Names of functions, made once and kept as long as the functions stay the same.

use std::rc::Rc;

use tickscope_analysis::functions::{Function, Functions};
use tickscope_report::label;
use tickscope_report::modules::Modules;

use crate::app::keyhash::KeyMap;
use crate::text::cells::safe;

/// The names of all functions of a snapshot, by function id.
#[derive(Debug, Default)]
pub(crate) struct Names {
    keys: Vec<u64>,
    by_key: KeyMap<u64, u32>,
    /// The last parts of each path, as many as are needed to tell the names apart.
    pub(crate) short: Vec<String>,
    /// The whole paths, printable.
    pub(crate) full: Vec<String>,
    /// Modules of the functions.
    pub(crate) modules: Modules,
    small_short: Vec<String>,
    small_full: Vec<String>,
}

impl Names {
    /// Returns the names of these functions. If `former` has the names of the same functions, returns it unchanged.
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
        let printable = |names: &[String]| names.iter().map(|name| safe(name, ascii).into_owned()).collect();
        let small = |names: &[String]| names.iter().map(|name| name.to_lowercase()).collect();
        let short: Vec<String> = printable(&label::labels(functions, ascii));
        Rc::new(Self {
            by_key: (0..).zip(&functions.list).map(|(at, f)| (f.key, at)).collect(),
            keys: functions.list.iter().map(|f| f.key).collect(),
            modules: Modules::of(functions),
            small_short: small(&short),
            small_full: small(&full),
            full: printable(&full),
            short,
        })
    }

    /// Returns the index of the function with this key.
    pub(crate) fn place_of(&self, key: u64) -> Option<usize> {
        self.by_key.get(&key).map(|&at| at as usize)
    }

    /// Returns for each function whether its short name contains the text. If no short name does, the full names are
    /// searched instead. Case matters only if the text contains a capital letter.
    pub(crate) fn matching(&self, text: &str) -> Vec<bool> {
        let places = if is_exact(text) {
            [&self.short, &self.full]
        } else {
            [&self.small_short, &self.small_full]
        };
        let mut found = Vec::new();
        for names in places {
            found = names.iter().map(|name| name.contains(text)).collect();
            if found.contains(&true) {
                break;
            }
        }
        found
    }
}

/// Whether case matters in a search for this text: only if the text contains a capital letter.
pub(crate) fn is_exact(text: &str) -> bool {
    text.contains(char::is_uppercase)
}

/// Whether a name contains the text, by the rule of [`is_exact`].
pub(crate) fn contains(name: &str, text: &str) -> bool {
    if is_exact(text) {
        name.contains(text)
    } else {
        name.to_lowercase().contains(text)
    }
}
