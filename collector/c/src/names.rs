//! Finds the name of the function at an address, in the symbol table of the executable or library that contains it.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use cpp_demangle::{DemangleOptions, Symbol};
use tickscope::__private::calls::File;
use tickscope_format::snapshot::Site;

/// The addresses and symbol names of the functions in a file, sorted by address.
type Functions = Vec<(u64, String)>;

/// The functions of each file that has been read, keyed by the file's path.
static KNOWN: Mutex<BTreeMap<PathBuf, Functions>> = Mutex::new(BTreeMap::new());

/// Describes the function at an address. Each file is read only once, at the first call for one of its functions.
pub(crate) fn of_function(address: u64) -> Site {
    let Some(file) = File::holding(address) else {
        return Site {
            name: format!("{address:#x}"),
            ..Site::default()
        };
    };
    let path = file.path();
    let shown = fs::read_link(path).unwrap_or_else(|_| path.to_path_buf());
    let module = shown
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let functions = known
        .entry(path.to_path_buf())
        .or_insert_with(|| file.functions());
    let at = address.wrapping_sub(file.base());
    let found = functions.binary_search_by_key(&at, |function| function.0);
    Site {
        name: match found.ok().and_then(|index| functions.get(index)) {
            Some((_, name)) => plain(name),
            None => format!("{module}+{at:#x}"),
        },
        module,
        ..Site::default()
    }
}

/// Demangles a linker symbol to the name as written in the source, without parameters.
fn plain(name: &str) -> String {
    let options = DemangleOptions::new().no_params().no_return_type();
    let demangled = Symbol::new(name)
        .ok()
        .and_then(|symbol| symbol.demangle_with_options(&options).ok());
    // C names are not mangled, but the compiler adds a suffix when it clones a function: `scan.constprop.0`.
    demangled.unwrap_or_else(|| {
        name.split('.')
            .next()
            .filter(|name| !name.is_empty())
            .unwrap_or(name)
            .to_string()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    fn here() {}

    #[test]
    fn a_function_of_this_program_is_found() {
        let site = of_function(here as *const () as usize as u64);
        assert!(site.name.contains("here"), "{site:?}");
        assert!(site.module.starts_with("tickscope-"), "{site:?}");
        let site = of_function(here as *const () as usize as u64 + 1);
        assert!(site.name.starts_with(&format!("{}+0x", site.module)), "{site:?}");
        assert_eq!(of_function(16).name, "0x10");
    }

    #[test]
    fn names_are_those_of_the_source() {
        for (name, plain_name) in [
            ("scan", "scan"),
            ("scan.constprop.0", "scan"),
            ("_ZN6shapes6SquareIdE4areaEi", "shapes::Square<double>::area"),
            ("_Z4pickIiET_S0_", "pick<int>"),
            ("_ZL6hiddenv", "hidden"),
            ("_Z", "_Z"),
        ] {
            assert_eq!(plain(name), plain_name);
        }
    }
}
