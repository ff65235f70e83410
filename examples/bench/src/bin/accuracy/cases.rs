//! What is measured: workloads, each in units that repeat.

use tickscope_bench::share;
use tickscope_bench::truth::Function;
use tickscope_bench::workloads::memory::{gathers, linked_list, look_ups, memory};
use tickscope_bench::workloads::{
    SPHEREFLAKE_SIZE, body1us, cold5000, empty, nested8, recursion, sites8, sphereflake, work20ns,
};
use tickscope_bench::{Counted, Plain, Probe, Scoped, probe};

/// The name of the scope around a unit.
const UNIT: &str = "unit";

/// A workload of which units are repeated.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// Runs a unit without scopes.
    pub(crate) plain: fn(),
    /// Runs it with scopes.
    pub(crate) scoped: fn(),
    counted: fn(),
    /// The functions with scopes; none where shares are not compared.
    functions: &'static [Function],
}

impl Case {
    /// Returns the number of scopes in a unit.
    pub(crate) fn scopes(&self) -> u64 {
        Counted::scopes_in(self.counted)
    }

    /// Returns the case as one whose shares are compared, if they are.
    pub(crate) fn share(&self) -> Option<share::Case> {
        (!self.functions.is_empty()).then_some(share::Case {
            name: self.name,
            functions: self.functions,
            scoped: self.scoped,
        })
    }
}

/// Runs a unit: so much of a workload, in a scope.
#[inline(never)]
fn unit<P: Probe>(workload: fn(u64), amount: u64) {
    probe!(P, "unit");
    workload(amount);
}

macro_rules! cases {
    ($($name:ident $amount:expr, [$($function:expr),*];)*) => {
        /// All cases.
        pub(crate) const CASES: &[Case] = &[$(Case {
            name: stringify!($name),
            plain: || unit::<Plain>($name::<Plain>, $amount),
            scoped: || unit::<Scoped>($name::<Scoped>, $amount),
            counted: || unit::<Counted>($name::<Counted>, $amount),
            functions: &[$($function),*],
        }),*];
    };
}

// With scopes, a unit takes 0.5 to 5 ms.
cases! {
    empty 50_000, [];
    work20ns 50_000, [];
    sites8 50_000, [];
    nested8 50_000, [];
    recursion 50_000, [];
    body1us 1_000, [];
    cold5000 30_000, [];
    sphereflake SPHEREFLAKE_SIZE / 2, [
        Function { name: "worker", symbol: "work" },
        Function::new("ray_trace"),
        Function::new("intersect_primary"),
        Function::new("intersect_shadow"),
        Function::new(UNIT)
    ];
    memory 8_000, [
        Function::new("look_up"),
        Function::new("follow"),
        Function::new("gather"),
        Function::new("mix"),
        Function::new(UNIT)
    ];
    look_ups 8_000, [];
    linked_list 4_000, [];
    gathers 8_000, [];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_open_scopes() {
        for case in CASES {
            assert!(case.scopes() > 1_000, "{}: {}", case.name, case.scopes());
        }
    }
}
