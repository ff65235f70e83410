//! The functions of a program: each address of the compiler's map with its name, its place and whose it is.

use std::collections::BTreeMap;

use tickscope_format::function_table::{Function, Sled};

use crate::cargo::function_table::debug_info::{DebugInfo, Declaration};
use crate::cargo::function_table::name::{self, Name, is_std};
use crate::cargo::function_table::sources::Sources;
use crate::cargo::function_table::symbols::{Symbol, Symbols};

/// The crates that a profiled program carries of tickscope: a sled there would enter the collector from within.
const COLLECTOR: [&str; 5] = [
    "tickscope",
    "tickscope_analysis",
    "tickscope_format",
    "tickscope_macros",
    "tickscope_report",
];

/// The compiler's own functions, such as the allocator's entry. The collector calls them as well.
const COMPILER: &str = "__rustc";

/// Names of the compiler's own functions that are not mangled.
const COMPILER_PREFIXES: [&str; 3] = ["__rust_", "__rdl_", "__rg_"];

/// What two functions have in common that a reader cannot tell apart: module, name, file, line.
type Key = (String, String, String, u32);

/// Describes the functions with these sleds, in the order of their names.
pub(super) fn describe(
    sleds: BTreeMap<u64, Vec<Sled>>,
    symbols: &Symbols<'_>,
    debug_info: &DebugInfo<'_>,
    sources: &Sources,
) -> Vec<Function> {
    let mut places = sources.places();
    let mut functions: BTreeMap<Key, Function> = BTreeMap::new();
    for (address, sleds) in sleds {
        let here = symbols.at(address);
        let size = here.iter().map(|symbol| symbol.size).max().unwrap_or_default();
        let declaration = debug_info.declaration(address, size);
        let symbol = mangled_name(here, &declaration);
        let path = symbol.and_then(name::rust_path);
        let is_collectors = |other: &&Symbol<'_>| match &path {
            Some(path) if Some(other.name) == symbol => is_collectors(other.name, Some(path)),
            Some(_) | None => is_collectors(other.name, name::rust_path(other.name).as_deref()),
        };
        if here.iter().any(|symbol| is_collectors(&symbol)) {
            continue;
        }
        let mut name = match symbol {
            Some(symbol) => Name::of(symbol, path.as_deref(), &|path| debug_info.async_body(path)),
            None => Name::of_address(address),
        };
        let place = places.of(&declaration.file, &name);
        if name.module.is_empty() {
            name.module = place.module;
        }
        let key = (name.module, name.name, place.file, declaration.line);
        let function = functions
            .entry(key)
            .or_insert_with_key(|(module, name, file, line)| Function {
                name: name.clone(),
                module: module.clone(),
                file: file.clone(),
                line: *line,
                package: place.package,
                size: 0,
                origin: place.origin,
                sleds: Vec::new(),
            });
        function.size = function.size.max(u32::try_from(size).unwrap_or(u32::MAX));
        function.sleds.extend(sleds);
    }
    functions.into_values().collect()
}

/// Chooses the name of a function: that of the debug information where several functions became one, and its plain name
/// where there is no symbol.
fn mangled_name<'a>(here: &[Symbol<'a>], declaration: &'a Declaration) -> Option<&'a str> {
    let same = here.iter().find(|symbol| symbol.name == declaration.name);
    match same.or(here.first()) {
        Some(symbol) => Some(symbol.name),
        None => Some(declaration.name.as_str()).filter(|name| !name.is_empty()),
    }
}

/// Returns whether the collector may call the function itself. Such functions are never switched on, because the collector
/// would enter itself.
fn is_collectors(symbol: &str, path: Option<&str>) -> bool {
    if COMPILER_PREFIXES.iter().any(|prefix| symbol.starts_with(prefix)) {
        return true;
    }
    let Some(path) = path else {
        return false;
    };
    let crate_name = name::crate_of(path);
    let is_ours = |name: &str| COLLECTOR.contains(&name);
    // Code of std that was made for a type of the collector runs in the collector.
    crate_name == COMPILER || is_ours(crate_name) || is_std(crate_name) && name::crates_in(path).any(is_ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_collector_calls_is_left_out() {
        for (symbol, expected) in [
            ("__rust_alloc", true),
            ("_RNvCsdBezzDwma51_7___rustc12___rust_alloc", true),
            ("_RNvNtCs1_9tickscope5scope5enter", true),
            ("_RNvNtCs1_13tickscope_cli5scope5enter", false),
            ("_RNvNtCs1_14not_tickscope5scope5enter", false),
            // core::ptr::drop_in_place::<tickscope::Scope>
            (
                "_RINvNtCs2_4core3ptr13drop_in_placeNtCs1_9tickscope5ScopeECs3_3app",
                true,
            ),
            // core::ptr::drop_in_place::<app::Scope>
            (
                "_RINvNtCs2_4core3ptr13drop_in_placeNtCs1_3app5ScopeECs3_3app",
                false,
            ),
            // app::with::<tickscope::Scope>: the program's own function, although its type argument is not.
            ("_RINvCs3_3app4withNtCs1_9tickscope5ScopeEB2_", false),
            ("_ZN9tickscope5enter17h0123456789abcdefE", true),
            ("main", false),
        ] {
            let path = name::rust_path(symbol);
            assert_eq!(is_collectors(symbol, path.as_deref()), expected, "{symbol}");
        }
    }
}
