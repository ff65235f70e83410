//! Self times of functions as tickscope shows them.

use std::collections::BTreeMap;

use tickscope_analysis::measure::Measure;
use tickscope_format::Snapshot;
use tickscope_format::ids::NodeId;

/// Self time of a function in a snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Function {
    /// Self time in nanoseconds.
    pub self_ns: f64,
    /// Standard error of the self time in nanoseconds; 0 if the time is exact.
    pub error_ns: f64,
}

/// Self times of all functions in a snapshot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shown {
    /// Functions by their names.
    pub functions: BTreeMap<String, Function>,
}

impl Shown {
    /// Reads self times as wall time, that is, including waits.
    pub fn of(snapshot: &Snapshot) -> Self {
        Self::with(snapshot, &snapshot.self_nanos())
    }

    /// Reads self times without waits. If the snapshot does not distinguish waits, they are included.
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

    /// Returns the self time of all functions together, in nanoseconds.
    pub fn all_ns(&self) -> f64 {
        self.functions.values().map(|function| function.self_ns).sum()
    }

    /// Returns a function's share of all self time, and the standard error of that share, both from 0 to 1.
    pub fn share(&self, name: &str) -> (f64, f64) {
        let all = self.all_ns().max(1.0);
        let function = self.functions.get(name);
        function.map_or((0.0, 0.0), |function| {
            (function.self_ns / all, function.error_ns / all)
        })
    }
}
