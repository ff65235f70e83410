//! What can be found out about a program or shared library, after it has been linked or before it runs.

use std::fs::File;
use std::path::Path;

use object::{Object, ObjectSection, ObjectSymbol, ReadCache};

use crate::function_table::MAP;
use crate::invocation::Invocation;

/// Part of the mangled name of a function that every test program contains. It is the same in both mangling schemes.
const TEST_MAIN: &str = "16test_main_static";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Executable {
    /// Whether the file contains the compiler's map of sleds.
    pub(crate) has_map: bool,
    /// Whether the file contains the names of functions.
    pub(crate) has_symbols: bool,
    /// Whether the file is a test program that can list its tests.
    pub(crate) lists_tests: bool,
}

impl Executable {
    /// Reads a file. Returns `None` if it is not an object file.
    pub(crate) fn read(path: &Path) -> Option<Self> {
        let cache = ReadCache::new(File::open(path).ok()?);
        let file = object::File::parse(&cache).ok()?;
        let is_test_main = |name: &str| name.contains(TEST_MAIN);
        Some(Self {
            has_map: file.section_by_name(MAP).is_some_and(|map| map.size() > 0),
            has_symbols: file.symbols().next().is_some(),
            lists_tests: file.symbols().any(|symbol| symbol.name().is_ok_and(is_test_main)),
        })
    }
}

/// Returns what the user should know about a linked file.
pub(crate) fn notes(call: &Invocation, path: &Path) -> Vec<String> {
    let Some(found) = Executable::read(path) else {
        return Vec::new();
    };
    let name = &call.crate_name;
    let mut notes = Vec::new();
    if !found.has_map {
        let linker = linker_options(call).find(|option| option.contains("gold"));
        notes.push(match linker {
            Some(option) => format!(
                "{name}: no function can be switched on: the linker gold ({option}) drops the map of sleds\n  link with rust-lld \
                 (the default), ld.bfd or mold"
            ),
            None => format!(
                "{name}: no function can be switched on: the linked file has no section {MAP}\n  a linker script or an option \
                 for the linker drops it; rust-lld, ld.bfd and mold keep it"
            ),
        });
    }
    if !found.has_symbols {
        let option = linker_options(call).find(|option| is_stripping(option));
        notes.push(format!(
            "{name}: functions have no names: the linker takes the symbols away ({})\n  leave that option out of RUSTFLAGS, of \
             cargo's configuration and of build scripts",
            option.unwrap_or("by an option that is not on rustc's command line")
        ));
    }
    notes
}

/// Returns the options for the linker, and the linker that was chosen.
fn linker_options(call: &Invocation) -> impl Iterator<Item = &str> {
    let options = call
        .codegen
        .iter()
        .filter(|(name, _)| matches!(&**name, "link-arg" | "link-args" | "linker"));
    options.map(|(_, value)| &**value)
}

fn is_stripping(option: &str) -> bool {
    option
        .split([' ', ','])
        .any(|word| matches!(word, "-s" | "--strip-all"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_test_lists_tests_and_has_no_sleds() {
        let found = Executable::read(&std::env::current_exe().unwrap()).unwrap();
        let wanted = Executable {
            has_map: false,
            has_symbols: true,
            lists_tests: true,
        };
        assert_eq!(found, wanted);
        assert_eq!(Executable::read(Path::new("/proc/self/status")), None);
    }

    #[test]
    fn the_option_that_is_to_blame_is_named() {
        let mut call = Invocation {
            crate_name: "app".into(),
            ..Invocation::default()
        };
        let exe = std::env::current_exe().unwrap();
        assert!(notes(&call, &exe)[0].contains("no section xray_instr_map"));
        call.codegen.push(("link-arg".into(), "-fuse-ld=gold".into()));
        assert!(notes(&call, &exe)[0].contains("gold (-fuse-ld=gold)"));
        assert!(is_stripping("-Wl,-s") && is_stripping("-Wl,--strip-all") && !is_stripping("-Wl,-soname"));
    }
}
