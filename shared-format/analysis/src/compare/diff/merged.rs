//! Merges the runs of both sides into one list of functions and one list of paths.

use std::collections::HashMap;

use tickscope_format::latency::Histogram;
use tickscope_format::snapshot::{Snapshot, Tally};

use crate::call_tree::{CallTree, Figures};
use crate::compare::change::{Change, PathRow, Presence, Quantity, Values, median};
use crate::functions::{FunctionId, Functions};
use crate::hotspots::hot;
use crate::names::named;
use crate::uncertainty::Uncertainty;

/// The values of a row in one run.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    values: Values,
    is_counter: bool,
    is_gauge: bool,
    self_estimated: bool,
    total_estimated: bool,
    /// Whether the self time and the total time are rough estimates.
    is_rough: [bool; 2],
    is_p99_rough: bool,
    is_max_least: bool,
    is_max_most: bool,
    /// Whether some calls of the row were not counted.
    is_off: bool,
}

/// Lower and upper bounds of a function's latencies in one run, in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Ranges {
    p99_ns: (f64, f64),
    max_ns: (f64, f64),
}

/// A run. It has cells only for those rows that were known when the run was added.
#[derive(Clone, Debug)]
struct Run {
    is_after: bool,
    functions: Vec<Cell>,
    /// By function; `None` if it has no latencies.
    latencies: Vec<Option<Ranges>>,
    paths: Vec<Cell>,
    whole: Cell,
}

/// A path: the index of its parent path, and its last function.
#[derive(Clone, Copy, Debug)]
struct Path {
    parent: Option<u32>,
    depth: u32,
    function: FunctionId,
}

/// Which numbers of a row stay per run, while the others are divided by the number of calls of the scope.
#[derive(Clone, Copy, Debug, Default)]
struct Basis {
    calls_per_run: bool,
    times_per_run: bool,
    around_scope: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Merged {
    pub(super) functions: Functions,
    known_functions: HashMap<u64, FunctionId>,
    paths: Vec<Path>,
    known_paths: HashMap<(Option<u32>, FunctionId), u32>,
    runs: Vec<Run>,
    function_basis: Vec<Basis>,
    path_basis: Vec<Basis>,
    whole_basis: Basis,
}

impl Cell {
    fn of(snapshot: &Snapshot, row: &Figures, uncertainty: Option<Uncertainty>, latency: &Histogram) -> Self {
        let of = uncertainty.unwrap_or_default();
        let rough = of.rough(row.self_ticks, row.total_ticks);
        let ns_per_tick = 1e9 / snapshot.clock.ticks_per_second;
        let mut cell = Self {
            values: Values {
                calls: row.calls as f64,
                self_ns: row.self_ns as f64,
                total_ns: row.total_ns as f64,
                errors_ns: [of.self_error, of.total_error].map(|error| error * ns_per_tick),
                sum: row.tally.map_or(0, Tally::sum) as f64,
                ..Values::default()
            },
            is_counter: row.tally.is_some(),
            is_gauge: row.tally.is_some_and(Tally::is_gauge),
            self_estimated: of.self_estimated,
            total_estimated: of.total_estimated,
            is_rough: [rough.self_estimated, rough.total_estimated],
            ..Self::default()
        };
        let latencies = latency.quantile(0.99).zip(latency.max());
        // The histogram of a value contains the numbers that were recorded for it, which are not latencies.
        if let Some((p99, (max, is_exact))) = latencies.filter(|_| !cell.is_counter) {
            let uncertainty = uncertainty.unwrap_or(Uncertainty {
                timed: row.calls,
                ..Uncertainty::default()
            });
            let ns = |ticks: u64| Some(snapshot.nanos(ticks) as f64);
            (cell.values.p99_ns, cell.values.max_ns) = (ns(p99), ns(max));
            cell.is_p99_rough = uncertainty.has_rough_percentiles(row.calls);
            cell.is_max_least = uncertainty.is_timed_in_part(row.calls);
            cell.is_max_most = !is_exact;
        }
        cell
    }
}

impl Ranges {
    fn of(snapshot: &Snapshot, latency: &Histogram) -> Option<Self> {
        let ns = |(least, most): (u64, u64)| (snapshot.nanos(least) as f64, snapshot.nanos(most) as f64);
        let max = match latency.max()? {
            (max, true) => (max, max),
            (_, false) => latency.quantile_range(1.0)?,
        };
        Some(Self {
            p99_ns: ns(latency.quantile_range(0.99)?),
            max_ns: ns(max),
        })
    }
}

impl Merged {
    pub(super) fn add(&mut self, snapshot: &Snapshot, is_after: bool) {
        let tree = CallTree::build(snapshot, |_| true);
        let ids: Vec<FunctionId> = self.ids_of(&tree.functions);
        let mut run = Run {
            is_after,
            functions: vec![Cell::default(); self.functions.list.len()],
            latencies: vec![None; self.functions.list.len()],
            paths: vec![Cell::default(); self.paths.len()],
            whole: Cell::default(),
        };
        for row in hot(&tree) {
            let function = ids[row.function.index()].index();
            run.functions[function] = Cell::of(snapshot, &row, row.uncertainty, &row.latency);
            if row.tally.is_none() {
                run.latencies[function] = Ranges::of(snapshot, &row.latency);
            }
        }
        for site in snapshot.counted_in_part() {
            let function = ids[tree.functions.of_site[site.index()].index()];
            run.functions[function.index()].is_off = true;
        }
        let mut path_of: Vec<u32> = Vec::with_capacity(tree.rows.len());
        for (index, row) in (0..).zip(&tree.rows) {
            let parent = row.parent.map(|parent| path_of[parent as usize]);
            let path = self.path(parent, ids[row.function.index()]);
            path_of.push(path);
            run.paths.resize(self.paths.len(), Cell::default());
            run.paths[path as usize] = Cell {
                is_off: run.functions[ids[row.function.index()].index()].is_off,
                ..Cell::of(snapshot, row, tree.uncertainty(index), tree.latency(index))
            };
        }
        let measured = tree.measured_ns() as f64;
        let whole = tree.sum_of(tree.top());
        let estimated = whole.is_some();
        let each = tree.rows.iter().map(|row| row.self_ticks);
        let measured_ticks = each.fold(0, u64::saturating_add);
        let rough = whole.unwrap_or_default().rough(measured_ticks, measured_ticks);
        run.whole = Cell {
            values: Values {
                // The updates of a counter are not calls. Reports leave them out as well.
                calls: (run.functions.iter())
                    .filter(|cell| !cell.is_counter)
                    .map(|cell| cell.values.calls)
                    .sum(),
                self_ns: measured,
                total_ns: measured,
                ..Values::default()
            },
            self_estimated: estimated,
            total_estimated: estimated,
            // The total is the sum of all self times, so both are equally rough.
            is_rough: [rough.total_estimated; 2],
            ..Cell::default()
        };
        self.runs.push(run);
    }

    fn ids_of(&mut self, functions: &Functions) -> Vec<FunctionId> {
        let all = &mut self.functions.list;
        let ids = functions.list.iter().map(|function| {
            *self.known_functions.entry(function.key).or_insert_with(|| {
                all.push(function.clone());
                FunctionId(all.len() as u32 - 1)
            })
        });
        ids.collect()
    }

    fn path(&mut self, parent: Option<u32>, function: FunctionId) -> u32 {
        let paths = &mut self.paths;
        *self.known_paths.entry((parent, function)).or_insert_with(|| {
            let depth = parent.map_or(0, |parent| paths[parent as usize].depth + 1);
            paths.push(Path {
                parent,
                depth,
                function,
            });
            paths.len() as u32 - 1
        })
    }

    /// Divides the numbers of each run by the number of times that the run called the scope `name`. Numbers that do not depend
    /// on the scope stay per run.
    pub(super) fn divide(&mut self, per_calls: &(Vec<u64>, Vec<u64>), name: &str) {
        let each = per_calls.0.iter().chain(&per_calls.1);
        let per: Vec<f64> = each.map(|&n| n as f64).collect();
        let lengths_differ = per.iter().any(|&calls| calls != per[0]);
        let scope = named(&self.functions, name);
        let (inside, around) = self.inside_and_around(&scope);
        let basis = |inside: bool, around: bool, as_often: bool| {
            let per_run = lengths_differ && !inside && as_often;
            Basis {
                calls_per_run: per_run,
                times_per_run: per_run && !around,
                around_scope: lengths_differ && around,
            }
        };

        let all = self.functions.list.len();
        let (mut function_inside, mut function_around) = (vec![false; all], vec![false; all]);
        for (index, path) in self.paths.iter().enumerate() {
            function_inside[path.function.index()] |= inside[index];
            function_around[path.function.index()] |= around[index];
        }
        let of_function = |index: usize| {
            let runs = self.runs.iter();
            let calls = runs.map(|run| cell(&run.functions, index).values.calls);
            basis(function_inside[index], function_around[index], all_equal(calls))
        };
        let of_path = |index: usize| {
            let calls = self.runs.iter().map(|run| cell(&run.paths, index).values.calls);
            basis(inside[index], around[index], all_equal(calls))
        };
        self.function_basis = (0..all).map(of_function).collect();
        self.path_basis = (0..self.paths.len()).map(of_path).collect();
        self.whole_basis = basis(false, true, false);
        for (run, &per) in self.runs.iter_mut().zip(&per) {
            let (functions, paths) = (&mut run.functions, &mut run.paths);
            let whole = [(&mut run.whole, &self.whole_basis)];
            let cells = functions.iter_mut().zip(&self.function_basis);
            for (cell, basis) in cells.chain(paths.iter_mut().zip(&self.path_basis)).chain(whole) {
                cell.divide(per, basis);
            }
        }
    }

    /// Returns two flags for each path: whether it goes through the scope, and whether it is outside the scope but leads to it.
    fn inside_and_around(&self, scope: &[FunctionId]) -> (Vec<bool>, Vec<bool>) {
        let mut inside: Vec<bool> = Vec::with_capacity(self.paths.len());
        let mut around = vec![false; self.paths.len()];
        for path in &self.paths {
            let above = path.parent.is_some_and(|parent| inside[parent as usize]);
            inside.push(above || scope.contains(&path.function));
        }
        for (index, path) in self.paths.iter().enumerate().rev() {
            if let Some(parent) = path.parent
                && (inside[index] || around[index])
                && !inside[parent as usize]
            {
                around[parent as usize] = true;
            }
        }
        (inside, around)
    }

    pub(super) fn function_changes(&self) -> Vec<Change> {
        let basis = |index: usize| self.function_basis.get(index).copied().unwrap_or_default();
        let all = 0..self.functions.list.len();
        all.map(|index| self.change(basis(index), |run| cell(&run.functions, index)))
            .collect()
    }

    pub(super) fn path_changes(&self) -> Vec<PathRow> {
        let rows = self.paths.iter().enumerate().map(|(index, path)| PathRow {
            parent: path.parent,
            depth: path.depth,
            function: path.function,
            change: self.change(self.path_basis.get(index).copied().unwrap_or_default(), |run| {
                cell(&run.paths, index)
            }),
        });
        rows.collect()
    }

    pub(super) fn whole_change(&self) -> Change {
        self.change(self.whole_basis, |run| run.whole)
    }

    fn change(&self, basis: Basis, cell_of: impl Fn(&Run) -> Cell) -> Change {
        let side = |is_after: bool| self.runs.iter().filter(move |run| run.is_after == is_after);
        let values = |is_after: bool| {
            let of = |what: Quantity| median(side(is_after).map(|run| cell_of(run).values.get(what)));
            let latency = |what: Quantity| {
                let known: Vec<f64> = side(is_after)
                    .filter_map(|run| cell_of(run).values.latency(what))
                    .collect();
                (!known.is_empty()).then(|| median(known))
            };
            Values {
                calls: of(Quantity::Calls),
                self_ns: of(Quantity::SelfTime),
                total_ns: of(Quantity::Total),
                errors_ns: [0, 1]
                    .map(|at| median(side(is_after).map(|run| cell_of(run).values.errors_ns[at]))),
                sum: of(Quantity::Sum),
                p99_ns: latency(Quantity::P99),
                max_ns: latency(Quantity::Max),
            }
        };
        let counts = self.runs.iter().any(|run| cell_of(run).is_counter);
        let is_other = |cell: Cell| !cell.is_counter && cell.values.is_something();
        let is_counter = counts && !self.runs.iter().any(|run| is_other(cell_of(run)));
        let there = |is_after: bool| side(is_after).any(|run| cell_of(run).values.is_something());
        let agree = |is_after: bool| all_equal(side(is_after).map(|run| cell_of(run).values.calls));
        let off = [false, true].map(|is_after| side(is_after).any(|run| cell_of(run).is_off));
        Change {
            before: values(false),
            after: values(true),
            presence: match (there(false), there(true)) {
                (false, true) => Presence::New,
                (true, false) => Presence::Gone,
                (true, true) | (false, false) => Presence::Both,
            },
            is_counter,
            is_gauge: is_counter && self.runs.iter().any(|run| cell_of(run).is_gauge),
            calls_exact: agree(false) && agree(true) && off == [false; 2],
            off,
            self_estimated: self.runs.iter().any(|run| cell_of(run).self_estimated),
            total_estimated: self.runs.iter().any(|run| cell_of(run).total_estimated),
            is_rough: [0, 1].map(|at| self.runs.iter().any(|run| cell_of(run).is_rough[at])),
            is_p99_rough: self.runs.iter().any(|run| cell_of(run).is_p99_rough),
            is_max_least: self.runs.iter().any(|run| cell_of(run).is_max_least),
            is_max_most: self.runs.iter().any(|run| cell_of(run).is_max_most),
            calls_per_run: basis.calls_per_run,
            times_per_run: basis.times_per_run,
            around_scope: basis.around_scope,
        }
    }

    pub(super) fn in_runs(&self, function: usize, what: Quantity) -> (Vec<f64>, Vec<f64>) {
        self.sides(|run| Some(cell(&run.functions, function).values.get(what)))
    }

    pub(super) fn latency_bounds(&self, function: usize, what: Quantity) -> (Vec<f64>, Vec<f64>) {
        self.sides(|run| {
            let ranges = run.latencies.get(function).copied().flatten()?;
            let (least, most) = match what == Quantity::P99 {
                true => ranges.p99_ns,
                false => ranges.max_ns,
            };
            Some(if run.is_after { least } else { most })
        })
    }

    pub(super) fn path_in_runs(&self, path: usize, what: Quantity) -> (Vec<f64>, Vec<f64>) {
        self.sides(|run| Some(cell(&run.paths, path).values.get(what)))
    }

    pub(super) fn whole_in_runs(&self, what: Quantity) -> (Vec<f64>, Vec<f64>) {
        self.sides(|run| Some(run.whole.values.get(what)))
    }

    fn sides(&self, value: impl Fn(&Run) -> Option<f64>) -> (Vec<f64>, Vec<f64>) {
        let side = |is_after: bool| {
            let runs = self.runs.iter().filter(|run| run.is_after == is_after);
            runs.filter_map(&value).collect()
        };
        (side(false), side(true))
    }
}

impl Cell {
    fn divide(&mut self, per: f64, basis: &Basis) {
        if !basis.calls_per_run {
            self.values.calls /= per;
            self.values.sum /= per;
        }
        if !basis.times_per_run {
            self.values.self_ns /= per;
            self.values.total_ns /= per;
            self.values.errors_ns = self.values.errors_ns.map(|error| error / per);
        }
    }
}

fn all_equal(mut values: impl Iterator<Item = f64>) -> bool {
    let first = values.next();
    values.all(|value| Some(value) == first)
}

/// Returns the cell of a row. The cell is empty if the row was not known yet when the run was added.
fn cell(cells: &[Cell], index: usize) -> Cell {
    cells.get(index).copied().unwrap_or_default()
}
