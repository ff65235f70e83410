//! The functions in one of tickscope's JSON reports.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;

use crate::names::key;
use crate::seen::Symbols;

/// Each of perf's hottest functions must be among this many of tickscope's hottest: as many as a tall screen shows.
const SHOWN: usize = 40;

/// What a report says about a function.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Shown {
    pub(crate) cpu_ns: f64,
    /// Standard error of the CPU time.
    pub(crate) error_ns: f64,
}

/// The functions of a report by their keys, and the totals of the report.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) functions: BTreeMap<String, Shown>,
    /// CPU time of the whole program, whether inside or outside functions, in nanoseconds.
    pub(crate) all_ns: f64,
    pub(crate) samples: u64,
    /// Functions that were switched off to stay within the budget.
    pub(crate) off: BTreeSet<String>,
}

fn number(of: &Value, member: &str) -> f64 {
    of[member].as_f64().unwrap_or(0.0)
}

fn text<'a>(of: &'a Value, member: &str) -> &'a str {
    of[member].as_str().unwrap_or_default()
}

fn array<'a>(of: &'a Value, member: &str) -> &'a [Value] {
    of[member].as_array().map_or(&[], Vec::as_slice)
}

/// Rows of a report, with the functions in which their samples lie.
struct Rows<'a> {
    nodes: BTreeMap<u64, &'a Value>,
    /// Names of the libraries that the program has loaded.
    libraries: BTreeSet<&'a str>,
    /// For each row, the functions in the program's binary that the row's samples hit.
    called: HashMap<u64, BTreeSet<&'a str>>,
}

impl<'a> Rows<'a> {
    fn of(report: &'a Value, binary: &str, symbols: &'a Symbols) -> Self {
        let nodes = array(report, "nodes").iter();
        let nodes = nodes
            .filter_map(|node| Some((node["id"].as_u64()?, node)))
            .collect();
        let modules = array(report, "modules").iter();
        let paths: Vec<&str> = modules.map(|module| text(module, "path")).collect();
        let library = |path: &&'a str| Some(path.rsplit('/').next()?.split_once(".so")?.0);
        let mut called: HashMap<u64, BTreeSet<&str>> = HashMap::new();
        for sample in array(report, "line_samples") {
            let module = sample["module"].as_u64();
            let module = module.and_then(|module| paths.get(module as usize));
            let (Some(node), Some(address)) = (sample["node"].as_u64(), sample["address"].as_u64()) else {
                continue;
            };
            if module == Some(&binary) {
                let keys = symbols.at(address).into_iter().flatten().map(String::as_str);
                called.entry(node).or_default().extend(keys);
            }
        }
        Self {
            nodes,
            libraries: paths.iter().filter_map(library).collect(),
            called,
        }
    }

    /// Returns the key of a row's function. C functions have no module.
    fn key(&self, node: &Value) -> String {
        match (text(node, "module"), text(node, "name")) {
            ("", name) => key(name),
            (module, name) if self.libraries.contains(module) => key(name),
            (module, name) => key(&format!("{module}::{name}")),
        }
    }

    /// Returns the key of the function whose machine code a row belongs to. A sampled row counts as inlined into its
    /// parent if the parent has samples, but none of them lies in a function with the row's name.
    fn function(&self, node: &Value) -> String {
        let key = self.key(node);
        let is_elsewhere = self.libraries.contains(text(node, "module")) || key.starts_with('(');
        if node["sampled"] != true || is_elsewhere {
            return key;
        }
        let above = |node: &Value| self.nodes.get(&node["parent"].as_u64()?).copied();
        let caller = above(node).and_then(|caller| match text(caller, "name") {
            "(others)" => above(caller),
            _ => Some(caller),
        });
        let called = caller.and_then(|caller| self.called.get(&caller["id"].as_u64()?));
        match (caller, called) {
            (Some(caller), Some(called)) if !called.contains(key.as_str()) => self.key(caller),
            _ => key,
        }
    }
}

impl Report {
    /// Adds up a report's rows per function. `binary` is the path of the program that ran.
    pub(crate) fn of(report: &Value, binary: &str, symbols: &Symbols) -> Self {
        let rows = Rows::of(report, binary, symbols);
        let mut out = Self::default();
        let samples = array(report, "line_samples").iter();
        let of_program = samples.filter(|sample| text(sample, "scope") != "measuring");
        out.samples = of_program.filter_map(|sample| sample["samples"].as_u64()).sum();
        let off = array(&report["functions"], "over_budget").iter();
        out.off = off.map(|function| rows.key(function)).collect();
        for node in rows.nodes.values() {
            let cpu_ns = number(node, "self_ns") - number(node, "waiting_ns") - number(node, "ready_ns");
            out.all_ns += cpu_ns;
            let function = out.functions.entry(rows.function(node)).or_default();
            function.cpu_ns += cpu_ns;
            let error_ns = match node.get("working_error_ns") {
                Some(_) => number(node, "working_error_ns"),
                None => number(node, "self_error_ns"),
            };
            function.error_ns = function.error_ns.hypot(error_ns);
        }
        let outside = |thread, of: &str| number(thread, &format!("outside{of}_ns"));
        let of_thread =
            |thread| outside(thread, "") - outside(thread, "_waiting") - outside(thread, "_ready");
        out.all_ns += array(report, "threads").iter().map(of_thread).sum::<f64>();
        out
    }

    /// Returns the share of the function that has these keys, and the stated error of that share, both from 0 to 1.
    pub(crate) fn share(&self, keys: &BTreeSet<String>) -> (f64, f64) {
        let of = keys.iter().filter_map(|key| self.functions.get(key));
        let (cpu_ns, error_ns) = of.fold((0.0, 0.0_f64), |(cpu_ns, error_ns), of| {
            (cpu_ns + of.cpu_ns, error_ns.hypot(of.error_ns))
        });
        (cpu_ns / self.all_ns, error_ns / self.all_ns)
    }

    /// Returns the binomial standard error of a share, given the number of samples in this report. Assumes one extra
    /// sample inside the function and one outside, so that the error is never 0.
    pub(crate) fn binomial(&self, share: f64) -> f64 {
        let samples = self.samples as f64;
        let share = (share * samples + 1.0) / (samples + 2.0);
        (share * (1.0 - share) / samples.max(1.0)).sqrt()
    }

    /// Returns the hottest function, with its share and the stated error of the share.
    pub(crate) fn top(&self) -> Option<(&str, f64, f64)> {
        let (key, shown) = *self.hottest_first().first()?;
        Some((key, shown.cpu_ns / self.all_ns, shown.error_ns / self.all_ns))
    }

    /// Returns the [`SHOWN`] hottest functions.
    pub(crate) fn hottest(&self) -> BTreeSet<&str> {
        let shown = self.hottest_first().into_iter().take(SHOWN);
        shown.map(|(key, _)| key).collect()
    }

    /// Returns the functions that used any CPU time, hottest first.
    fn hottest_first(&self) -> Vec<(&str, &Shown)> {
        let all = self.functions.iter().map(|(key, shown)| (key.as_str(), shown));
        let mut all: Vec<_> = all.filter(|(_, shown)| shown.cpu_ns > 0.0).collect();
        all.sort_by(|a, b| b.1.cpu_ns.total_cmp(&a.1.cpu_ns));
        all
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rows_of_inlined_functions_count_to_the_function_above() {
        let row = |id: u64, parent: Option<u64>, name: &str, self_ns: u64, sampled: bool| {
            json!({"id": id, "parent": parent, "module": if name == "read" { "libc" } else { "app" }, "name": name,
                "self_ns": self_ns, "waiting_ns": 10, "ready_ns": 5, "self_error_ns": 30, "sampled": sampled})
        };
        let others = json!({"id": 5, "parent": 1, "module": "", "name": "(others)", "self_ns": 0});
        let sample = |address: u64, module: u64, samples: u64| json!({"scope": "site", "node": 1, "module": module, "address": address, "samples": samples});
        let report = json!({
            "nodes": [
                row(1, None, "run", 1015, false), row(2, Some(1), "push", 115, true), row(3, Some(1), "eq", 215, true),
                row(4, Some(1), "read", 315, true), others, row(6, Some(5), "small", 55, true),
            ],
            "modules": [{"path": "/app"}, {"path": "/lib/libc.so.6"}],
            "line_samples": [sample(0x10, 0, 60), sample(0x20, 0, 30), sample(9, 1, 9), {"scope": "measuring", "samples": 5}],
            "threads": [{"outside_ns": 120, "outside_waiting_ns": 15, "outside_ready_ns": 5}],
            "functions": {"over_budget": [{"module": "app", "name": "eq"}]},
        });
        let mut symbols = Symbols::default();
        symbols.add("_ZN3app3run17h0123456789abcdefE", 0x10, 16);
        symbols.add("_ZN3app2eq17h0123456789abcdefE", 0x20, 16);
        // `small` exists as a function, but here it is inlined.
        symbols.add("_ZN3app5small17h0123456789abcdefE", 0x40, 16);
        let report = Report::of(&report, "/app", &symbols);
        assert_eq!(report.samples, 99);
        assert_eq!(report.all_ns, 1740.0);
        let cpu = |name: &str| report.functions[name].cpu_ns;
        assert_eq!(cpu("app::run"), 1140.0);
        assert_eq!(cpu("app::eq"), 200.0);
        assert_eq!(cpu("read"), 300.0);
        assert!((report.functions["app::run"].error_ns - 30.0 * 3.0_f64.sqrt()).abs() < 1e-9);
        assert_eq!(
            report.functions.keys().collect::<Vec<_>>(),
            ["(others)", "app::eq", "app::run", "read"]
        );
        assert_eq!(report.hottest().len(), 3);
        assert_eq!(report.off, BTreeSet::from(["app::eq".to_owned()]));
        assert_eq!(report.top().map(|(key, ..)| key), Some("app::run"));
    }
}
