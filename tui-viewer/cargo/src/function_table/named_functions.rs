//! Functions of a program: the name, position and origin of each function address in the compiler's map of sleds.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tickscope_format::function_table::{Function, PollFunction, Sled, SledKind};
use tickscope_symbols::function_name::async_bodies::name_of_body;
use tickscope_symbols::function_name::{self as name, Name, is_std};

use crate::function_table::debug_info::{DebugInfo, Declaration};
use crate::function_table::linked_symbols::{Symbol, Symbols};
use crate::function_table::origins::Sources;
use crate::function_table::poll_function;
use crate::function_table::poll_function::code::Code;

/// Crates of tickscope in a profiled program. A sled in them would make the collector call itself.
const COLLECTOR: [&str; 5] = [
    "tickscope",
    "tickscope_analysis",
    "tickscope_format",
    "tickscope_macros",
    "tickscope_report",
];

/// Crate of functions that the compiler adds, such as the allocator's entry. They get no sleds, because the collector
/// calls them as well.
const COMPILER: &str = "__rustc";

/// Prefixes of unmangled names of functions that the compiler adds.
const COMPILER_PREFIXES: [&str; 3] = ["__rust_", "__rdl_", "__rg_"];

/// Beginning of the path of functions that drop values of a type; the type follows.
const DROP: &str = "core::ptr::drop_in_place::<";

/// What distinguishes functions for the user: module, name, file, line, and where a poll function gets its future.
type Key = (String, String, String, u32, Option<PollFunction>);

/// Poll functions of async bodies, by the body's path.
type Polls = HashMap<String, Vec<(PollFunction, Key)>>;

/// Describes the functions that contain these sleds. The result is sorted by module and name.
pub(super) fn describe(
    sleds: BTreeMap<u64, Vec<Sled>>,
    symbols: &Symbols<'_>,
    debug_info: &DebugInfo<'_>,
    code: &Code<'_>,
    sources: &Sources,
) -> Vec<Function> {
    let mut places = sources.places();
    let mut functions: BTreeMap<Key, Function> = BTreeMap::new();
    let mut polls = Polls::new();
    // Functions that drop a value, to be matched with poll functions later: the value may be a future.
    let mut drops: Vec<(String, u64, Key)> = Vec::new();
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
        let may_be_body = path.as_ref().is_some_and(|path| is_closure(path));
        let poll = may_be_body
            .then(|| poll_function::find(code, symbols, address))
            .flatten();
        if !declaration.body.is_empty()
            && let Some(before) = name.name.strip_suffix("{closure}")
        {
            name.name = format!("{before}{{{}}}", declaration.body);
        }
        name.name = name_of_body(&name.name, poll.is_some());
        let place = places.of(&declaration.file, &name);
        if name.module.is_empty() {
            name.module = place.module();
        }
        let key = (name.module, name.name, place.file, declaration.line, poll);
        match (path, poll) {
            (Some(_), Some(poll)) => {
                // Async bodies with equal code share one function, but each body is a type with its own path.
                for path in here.iter().filter_map(|symbol| name::rust_path(symbol.name)) {
                    polls.entry(as_type(&path)).or_default().push((poll, key.clone()));
                }
            }
            (Some(path), None) if path.starts_with(DROP) => drops.push((path, address, key.clone())),
            (Some(_), None) | (None, _) => {}
        }
        let function = functions
            .entry(key)
            .or_insert_with_key(|(module, name, file, line, poll)| Function {
                name: name.clone(),
                module: module.clone(),
                file: file.clone(),
                line: *line,
                package: place.package,
                size: 0,
                origin: place.origin,
                sleds: Vec::new(),
                poll: *poll,
            });
        function.size = function.size.max(u32::try_from(size).unwrap_or(u32::MAX));
        function.sleds.extend(sleds);
    }
    for (path, address, key) in drops {
        let body = path[DROP.len()..]
            .strip_suffix('>')
            .and_then(|body| polls.get(&as_type(body)));
        let drops = |poll: &PollFunction| poll_function::drops(code, symbols, address, poll.state_offset);
        if let Some((_, body)) = body.and_then(|all| all.iter().find(|(poll, _)| drops(poll))) {
            move_drop(&mut functions, address, &key, body);
        }
    }
    leave_constructors_out(&mut functions);
    functions.into_values().collect()
}

/// Writes the path of a function as the path of a type: `f<u8>` and not `f::<u8>`.
fn as_type(path: &str) -> String {
    path.replace("::<", "<")
}

/// Returns whether a path ends like the path of an async body.
fn is_closure(path: &str) -> bool {
    let last = path.rsplit("::").next().unwrap_or_default();
    last.starts_with("{closure#") || last == "{{closure}}"
}

/// Moves the entry sled of a function that drops a future to the future's poll function, as a sled of kind `Drop`.
fn move_drop(functions: &mut BTreeMap<Key, Function>, address: u64, key: &Key, body: &Key) {
    let Some(glue) = functions.get_mut(key) else {
        return;
    };
    // Several functions may share this key. The sleds of this one are its entry sled and those before the next entry sled.
    let Some(at) = glue.sleds.iter().position(|sled| sled.address == address) else {
        return;
    };
    let length = glue.sleds[at + 1..]
        .iter()
        .take_while(|sled| sled.kind != SledKind::Entry)
        .count();
    glue.sleds.drain(at..=at + length);
    if glue.sleds.is_empty() {
        functions.remove(key);
    }
    if let Some(body) = functions.get_mut(body) {
        body.sleds.push(Sled {
            address,
            kind: SledKind::Drop,
        });
    }
}

/// Removes async functions that only make the future, which would otherwise be listed as well as their bodies.
fn leave_constructors_out(functions: &mut BTreeMap<Key, Function>) {
    let bodies: BTreeSet<(String, String)> = functions
        .values()
        .filter(|function| function.poll.is_some())
        .map(|function| (function.module.clone(), function.name.clone()))
        .collect();
    functions.retain(|(module, name, _, _, poll), _| {
        poll.is_some() || bodies.is_empty() || !bodies.contains(&(module.clone(), name.clone()))
    });
}

/// Chooses the symbol of a function: the one that debug information names too, else the first one. Without symbols,
/// returns the name in debug information.
fn mangled_name<'a>(here: &[Symbol<'a>], declaration: &'a Declaration) -> Option<&'a str> {
    let same = here.iter().find(|symbol| symbol.name == declaration.name);
    match same.or(here.first()) {
        Some(symbol) => Some(symbol.name),
        None => Some(declaration.name.as_str()).filter(|name| !name.is_empty()),
    }
}

/// Returns whether the collector may call the function. Such a function is never measured, because the collector would
/// call itself.
fn is_collectors(symbol: &str, path: Option<&str>) -> bool {
    if COMPILER_PREFIXES.iter().any(|prefix| symbol.starts_with(prefix)) {
        return true;
    }
    let Some(path) = path else {
        return false;
    };
    let crate_name = name::crate_of(path);
    let is_ours = |name: &str| COLLECTOR.contains(&name);
    // Code of std that is instantiated for a type of the collector runs in the collector.
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
            // app::with::<tickscope::Scope>: the program's own function, although its type argument is tickscope's.
            ("_RINvCs3_3app4withNtCs1_9tickscope5ScopeEB2_", false),
            ("_ZN9tickscope5enter17h0123456789abcdefE", true),
            ("main", false),
        ] {
            let path = name::rust_path(symbol);
            assert_eq!(is_collectors(symbol, path.as_deref()), expected, "{symbol}");
        }
    }
}
