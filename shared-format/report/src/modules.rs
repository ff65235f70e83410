//! The modules of functions, each with a colour. Colours stay the same as long as the functions do, and usually from run to run.
//! The viewer and the page use the same colours.

use std::collections::HashMap;

use tickscope_analysis::functions::{Function, Functions};

/// If there are at least this many crates, each crate counts as one module. Otherwise, the modules are those directly below the
/// crate roots.
const MANY_CRATES: usize = 4;

/// Number of colours. If there are more modules than colours, some share a colour.
pub const HUES: usize = 7;

/// The colours, each with a second, darker tone to tell neighbours apart. Tests of the viewer's palette check that the colours
/// can be distinguished with every kind of colour vision.
pub const COLOURS: [[u32; 2]; HUES] = [
    [0xe9_9c_57, 0xcb_82_3e],
    [0x71_a4_d0, 0x56_89_b5],
    [0xee_73_76, 0xcf_58_5d],
    [0xa4_e5_c6, 0x89_c9_ab],
    [0x8e_98_ec, 0x72_7f_d0],
    [0xee_cf_93, 0xd1_b3_79],
    [0x6c_d7_db, 0x4d_bb_bf],
];

/// A module or a whole crate, with its colour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Last part of the module's path.
    pub name: String,
    /// Index of its colour in [`COLOURS`].
    pub hue: u8,
}

/// The module of each function, indexed by function.
#[derive(Clone, Debug, Default)]
pub struct Modules(Vec<Module>);

impl Modules {
    /// Returns the modules of these functions.
    pub fn of(functions: &Functions) -> Self {
        let mut crates: Vec<&str> = functions.list.iter().map(|f| part(&f.module, 1)).collect();
        crates.sort_unstable();
        crates.dedup();
        let parts = if crates.len() >= MANY_CRATES { 1 } else { 2 };
        let mut known: HashMap<&str, Module> = HashMap::new();
        let mut taken = [false; HUES];
        let modules = functions.list.iter().map(|function| {
            let path = path_of(function, parts);
            let module = known.entry(path).or_insert_with(|| {
                let hue = free(taken, hash(path) as usize % HUES);
                taken[hue] = true;
                Module {
                    name: path.rsplit("::").next().unwrap_or_default().to_string(),
                    hue: hue as u8,
                }
            });
            module.clone()
        });
        Self(modules.collect())
    }

    /// Returns the module of the function with this index.
    pub fn get(&self, function: usize) -> Option<&Module> {
        self.0.get(function)
    }
}

/// Returns the path of a function's module. Each group counts as a module of its own. All locks together count as one module, and
/// so do all condition variables.
fn path_of(function: &Function, parts: usize) -> &str {
    if function.is_group {
        return &function.name;
    }
    if function.module.is_empty() {
        let kind = function.name.split_inclusive("] ").next();
        return kind.map_or(&function.name, str::trim_end);
    }
    part(&function.module, parts)
}

/// Returns the first `parts` segments of a path.
fn part(path: &str, parts: usize) -> &str {
    let end = path
        .match_indices("::")
        .nth(parts - 1)
        .map_or(path.len(), |(at, _)| at);
    &path[..end]
}

/// Returns the index `wanted` if that colour is free, or else the index of the next free colour. If none is free, returns
/// `wanted`.
fn free(taken: [bool; HUES], wanted: usize) -> usize {
    let mut round = (0..HUES).map(|step| (wanted + step) % HUES);
    round.find(|&hue| !taken[hue]).unwrap_or(wanted)
}

/// Returns the 32-bit FNV-1a hash, which does not change between builds.
fn hash(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

#[cfg(test)]
mod tests {
    use tickscope_format::snapshot::{Site, Snapshot};

    use super::*;

    /// Returns the modules of some functions. Each function is given as its module's path and its name.
    fn modules_of(functions: &[(&str, String)]) -> Vec<Module> {
        let site = |(module, name): &(&str, String)| Site {
            module: (*module).into(),
            name: name.clone(),
            ..Site::default()
        };
        let snapshot = Snapshot {
            sites: functions.iter().map(site).collect(),
            ..Snapshot::default()
        };
        let modules = Modules::of(&Functions::of(&snapshot));
        let all = 0..functions.len();
        all.filter_map(|at| modules.get(at).cloned()).collect()
    }

    fn modules(paths: &[&str]) -> Vec<Module> {
        let functions = paths
            .iter()
            .enumerate()
            .map(|(at, &path)| (path, format!("f{at}")));
        modules_of(&functions.collect::<Vec<_>>())
    }

    #[test]
    fn locks_look_alike() {
        let names = [
            "[lock] a.rs:1 (read)",
            "[lock] b.rs:2",
            "[condvar] a.rs:3",
            "main",
        ];
        let all = modules_of(&names.map(|name| ("", name.to_string())));
        let named: Vec<&str> = all.iter().map(|module| module.name.as_str()).collect();
        assert_eq!(named, ["[lock]", "[lock]", "[condvar]", "main"]);
        assert_eq!(all[0], all[1]);
    }

    #[test]
    fn modules_differ_in_colour_as_long_as_there_are_enough() {
        let all = modules(&["app::db", "app::db::pool", "app::web", "app::json", "app"]);
        assert_eq!(all[0], all[1], "parts of a module look like the module");
        let mut hues: Vec<u8> = all[1..].iter().map(|module| module.hue).collect();
        hues.sort_unstable();
        hues.dedup();
        assert_eq!(hues.len(), 4);
        assert_eq!(all[2].name, "web");
        // Adding a function does not change the colours of the others.
        let more = [
            "app::db",
            "app::db::pool",
            "app::web",
            "app::json",
            "app",
            "app::x",
        ];
        let more = modules(&more);
        assert_eq!(more[..5], all[..]);
        let many: Vec<String> = (0..9).map(|at| format!("a::m{at}")).collect();
        let many = modules(&many.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(many.len() == 9 && many.iter().all(|module| usize::from(module.hue) < HUES));
    }

    #[test]
    fn of_many_crates_each_is_one_thing() {
        let all = modules(&["a::x", "a::y", "b::x", "c", "d"]);
        assert_eq!(all[0], all[1]);
        assert_eq!(all[0].name, "a");
    }
}
