//! What tickscope shows of functions.

use std::collections::BTreeMap;

use tickscope_analysis::measure::Measure;
use tickscope_format::Snapshot;
use tickscope_format::ids::NodeId;

/// What a snapshot says of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Function {
    /// Its self time in nanoseconds.
    pub self_ns: f64,
    /// The standard error of that; 0 where it is no estimate.
    pub error_ns: f64,
}

/// What a snapshot says of all functions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shown {
    /// By their names.
    pub functions: BTreeMap<String, Function>,
}

impl Shown {
    /// Reads self times by the clock, waits included.
    pub fn of(snapshot: &Snapshot) -> Self {
        Self::with(snapshot, &snapshot.self_nanos())
    }

    /// Reads the self times in which threads worked, where the snapshot has waits, or else all.
    pub fn of_work(snapshot: &Snapshot) -> Self {
        let measure = if Measure::Working.check(snapshot).is_ok() {
            Measure::Working
        } else {
            Measure::Time
        };
        Self::with(snapshot, &measure.self_values(snapshot))
    }

    fn with(snapshot: &Snapshot, self_ns: &[u64]) -> Self {
        let mut functions: BTreeMap<String, Function> = BTreeMap::new();
        for (row, &self_ns) in self_ns.iter().enumerate() {
            let node = NodeId(row as u32);
            let name = &snapshot.site_of(node).name;
            let function = functions.entry(name.to_string()).or_default();
            function.self_ns += self_ns as f64;
            let estimate = snapshot.estimate_of(node);
            let error = estimate.map_or(0, |estimate| estimate.self_error);
            function.error_ns = function.error_ns.hypot(snapshot.nanos(error) as f64);
        }
        Self { functions }
    }

    /// Returns the time of all functions, in nanoseconds.
    pub fn all_ns(&self) -> f64 {
        self.functions.values().map(|function| function.self_ns).sum()
    }

    /// Returns the share of a function and its standard error, 0 to 1.
    pub fn share(&self, name: &str) -> (f64, f64) {
        let all = self.all_ns().max(1.0);
        let function = self.functions.get(name);
        function.map_or((0.0, 0.0), |function| {
            (function.self_ns / all, function.error_ns / all)
        })
    }
}
