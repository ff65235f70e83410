//! What the functions at addresses are called: by the table of symbols of the program or the library that holds them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use cpp_demangle::{DemangleOptions, Symbol};
use object::{Object, ObjectSymbol, SymbolKind};
use tickscope::__private::calls;
use tickscope_format::snapshot::Site;

/// The functions of a file.
#[derive(Debug, Default)]
struct Table {
    /// In the order of their addresses, with the linker's names.
    functions: Vec<(u64, String)>,
}

/// By the path of the file.
static TABLES: Mutex<BTreeMap<PathBuf, Table>> = Mutex::new(BTreeMap::new());

/// Describes the function at an address. It reads the file that holds it, once.
pub(crate) fn of_function(address: u64) -> Site {
    let Some((path, base)) = calls::file_of(address) else {
        return Site {
            name: format!("{address:#x}"),
            ..Site::default()
        };
    };
    let shown = fs::read_link(&path).unwrap_or_else(|_| path.clone());
    let module = shown
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let mut tables = TABLES.lock().unwrap_or_else(PoisonError::into_inner);
    let table = tables.entry(path.clone()).or_insert_with(|| Table::read(&path));
    let at = address.wrapping_sub(base);
    Site {
        name: match table.name(at) {
            Some(name) => plain(name),
            None => format!("{module}+{at:#x}"),
        },
        module,
        ..Site::default()
    }
}

impl Table {
    /// Reads the symbols of a file; none if it cannot be read.
    fn read(path: &Path) -> Self {
        fs::read(path).map_or_else(|_| Self::default(), |bytes| Self::of(&bytes))
    }

    fn of(bytes: &[u8]) -> Self {
        let Ok(file) = object::File::parse(bytes) else {
            return Self::default();
        };
        let all = file.symbols().chain(file.dynamic_symbols());
        let mut functions: Vec<(u64, String)> = all
            .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition())
            .filter_map(|symbol| Some((symbol.address(), symbol.name().ok()?.to_string())))
            .collect();
        functions.sort();
        // Of several names of a function the first one counts.
        functions.dedup_by_key(|function| function.0);
        Self { functions }
    }

    /// The linker's name of the function that begins at an address.
    fn name(&self, at: u64) -> Option<&str> {
        let index = self
            .functions
            .binary_search_by_key(&at, |function| function.0)
            .ok()?;
        Some(&self.functions[index].1)
    }
}

/// Returns a name as it stands in the source, without parameters.
fn plain(name: &str) -> String {
    let options = DemangleOptions::new().no_params().no_return_type();
    let demangled = Symbol::new(name)
        .ok()
        .and_then(|symbol| symbol.demangle_with_options(&options).ok());
    // A clone of a function, as the compiler calls it: `scan.constprop.0`.
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

    #[test]
    fn what_is_no_program_has_no_functions() {
        assert!(Table::of(b"\x7fELF").functions.is_empty());
        assert!(Table::read(Path::new("/nonexistent")).functions.is_empty());
    }
}
