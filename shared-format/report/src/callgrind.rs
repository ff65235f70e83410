//! The callgrind format, for KCachegrind and `callgrind_annotate`: functions, and which calls which.
//!
//! There are at least two events: `Ns` (nanoseconds) and `Calls`, and one for each other measure of the snapshot. The
//! chosen measure is the first, by which readers sort. All functions are below one function that stands for the
//! program, because readers compute a function's inclusive cost from the calls to it, and a function at the top of a
//! thread would otherwise have no caller. As valgrind does, calls of a function from within itself are counted but cost
//! nothing, so that inclusive costs equal the totals of other reports.
//!
//! A call that was open at a reset began before it and is not counted. An arc that has only such calls is written with
//! one call, because the format takes a cost without a call for the caller's own.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::io::{self, Write};

use tickscope_analysis::call_tree::CallTree;
use tickscope_analysis::functions::Functions;
use tickscope_analysis::measure::Measure;
use tickscope_format::snapshot::Snapshot;

use crate::names::{full_names, in_one_line};

/// What is not known, in the format's own words.
const UNKNOWN: &str = "???";

/// A measure, with its values by row of the tree.
struct Event {
    name: String,
    long_name: String,
    own: Vec<u64>,
    totals: Vec<u64>,
}

/// A cost of each event.
#[derive(Clone)]
struct Costs(Vec<u64>);

/// What one function costs itself.
#[derive(Clone)]
struct Own {
    costs: Costs,
    callees: BTreeMap<usize, Arc>,
}

/// All calls of one function by another.
#[derive(Clone)]
struct Arc {
    count: u64,
    costs: Costs,
}

/// Writes the program, then its functions in the order of their first site. The first event is that of the measure `by`.
///
/// # Errors
/// The error of writing to `out`.
pub fn write(snapshot: &Snapshot, by: Measure, out: &mut impl Write) -> io::Result<()> {
    let tree = CallTree::build(snapshot, |_| true);
    let mut measures: Vec<Measure> = [Measure::Time, Measure::Calls].into();
    measures.extend(Measure::measured(snapshot).filter(|of| ![Measure::Time, Measure::Calls].contains(of)));
    measures.sort_by_key(|&measure| measure != by);
    let events: Vec<Event> = measures
        .into_iter()
        .map(|measure| Event::of(snapshot, &tree, measure))
        .collect();
    let (program, functions) = graph(&tree, &events);
    let name = in_one_line(&snapshot.process.name, UNKNOWN);
    write!(
        out,
        "# callgrind format\nversion: 1\ncreator: tickscope {}\npid: {}\ncmd: {name}\n",
        env!("CARGO_PKG_VERSION"),
        snapshot.process.pid,
    )?;
    writeln!(out, "positions: line")?;
    for event in &events {
        writeln!(out, "event: {} : {}", event.name, event.long_name)?;
    }
    let names: Vec<&str> = events.iter().map(|event| event.name.as_str()).collect();
    writeln!(out, "events: {}", names.join(" "))?;
    let mut sums = Costs::none(&events);
    functions
        .iter()
        .for_each(|own| sums.add(own.costs.0.iter().copied()));
    writeln!(out, "summary: {sums}")?;
    let mut lines = Lines::new(&tree.functions, format!("[{name}]"));
    lines.block(out, Who::Program, &program)?;
    for (id, own) in functions.iter().enumerate() {
        if own.costs.is_nothing() && own.callees.is_empty() {
            continue;
        }
        lines.block(out, Who::Function(id), own)?;
    }
    Ok(())
}

impl Event {
    fn of(snapshot: &Snapshot, tree: &CallTree, measure: Measure) -> Self {
        let own: Vec<u64> = if measure == Measure::Calls {
            // Those of counters too.
            tree.rows.iter().map(|row| row.calls).collect()
        } else {
            // The same rows, as the tree has them.
            let by = CallTree::build(&measure.of(snapshot), |_| true);
            by.rows.iter().map(|row| row.self_ns).collect()
        };
        let (name, long_name) = if measure == Measure::Time {
            ("ns", "nanoseconds")
        } else {
            (measure.name(), measure.name())
        };
        let capital = |name: &str| name[..1].to_uppercase() + &name[1..];
        Self {
            name: capital(name),
            long_name: capital(long_name),
            totals: totals(tree, &own),
            own,
        }
    }
}

impl Costs {
    fn none(events: &[Event]) -> Self {
        Self(vec![0; events.len()])
    }

    fn add(&mut self, costs: impl Iterator<Item = u64>) {
        for (sum, cost) in self.0.iter_mut().zip(costs) {
            *sum = sum.saturating_add(cost);
        }
    }

    fn is_nothing(&self) -> bool {
        self.0.iter().all(|&cost| cost == 0)
    }
}

impl fmt::Display for Costs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let costs: Vec<String> = self.0.iter().map(u64::to_string).collect();
        f.write_str(&costs.join(" "))
    }
}

/// The program and, by their ids, the functions.
fn graph(tree: &CallTree, events: &[Event]) -> (Own, Vec<Own>) {
    let nothing = Own {
        costs: Costs::none(events),
        callees: BTreeMap::new(),
    };
    let mut functions = vec![nothing.clone(); tree.functions.list.len()];
    let mut program = nothing;
    tree.visit(|index, outermost| {
        let row = &tree.rows[index as usize];
        let function = row.function.index();
        let own = &mut functions[function];
        own.costs
            .add(events.iter().map(|event| event.own[index as usize]));
        let caller = match row.parent {
            Some(parent) => &mut functions[tree.rows[parent as usize].function.index()],
            None => &mut program,
        };
        let arc = caller.callees.entry(function).or_insert_with(|| Arc {
            count: 0,
            costs: Costs::none(events),
        });
        arc.count = arc.count.saturating_add(row.calls);
        if outermost {
            arc.costs
                .add(events.iter().map(|event| event.totals[index as usize]));
        }
    });
    (program, functions)
}

/// The values of each row and of all below.
fn totals(tree: &CallTree, own: &[u64]) -> Vec<u64> {
    let mut totals = own.to_vec();
    for index in (0..totals.len()).rev() {
        if let Some(parent) = tree.rows[index].parent {
            totals[parent as usize] = totals[parent as usize].saturating_add(totals[index]);
        }
    }
    totals
}

/// Who a line is about.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Who {
    Program,
    Function(usize),
}

/// Writes functions and files by their numbers, and with their names where they come first.
struct Lines<'a> {
    functions: &'a Functions,
    program: String,
    names: Vec<String>,
    /// The number of each file.
    files: HashMap<&'a str, usize>,
    named: HashSet<Who>,
    named_files: HashSet<usize>,
}

impl<'a> Lines<'a> {
    fn new(functions: &'a Functions, program: String) -> Self {
        let mut files = HashMap::new();
        for function in &functions.list {
            // The program has the first.
            let next = files.len() + 2;
            files.entry(function.file.as_str()).or_insert(next);
        }
        Self {
            functions,
            program,
            names: full_names(functions, str::to_string),
            files,
            named: HashSet::new(),
            named_files: HashSet::new(),
        }
    }

    fn block(&mut self, out: &mut impl Write, who: Who, own: &Own) -> io::Result<()> {
        writeln!(out)?;
        self.position(out, "", who)?;
        let line = self.line(who);
        writeln!(out, "{line} {}", own.costs)?;
        for (&callee, arc) in &own.callees {
            let callee = Who::Function(callee);
            if arc.count == 0 && arc.costs.is_nothing() {
                continue;
            }
            self.position(out, "c", callee)?;
            writeln!(out, "calls={} {}", arc.count.max(1), self.line(callee))?;
            writeln!(out, "{line} {}", arc.costs)?;
        }
        Ok(())
    }

    /// `fl=` and `fn=`, with a `c` before them for what is called.
    fn position(&mut self, out: &mut impl Write, prefix: &str, who: Who) -> io::Result<()> {
        let (file, number) = match who {
            Who::Program => (None, 1),
            Who::Function(id) => (Some(self.functions.list[id].file.as_str()), id + 2),
        };
        let file_number = file.and_then(|file| self.files.get(file)).copied().unwrap_or(1);
        write!(out, "{prefix}fl=({file_number})")?;
        if self.named_files.insert(file_number) {
            write!(out, " {}", in_one_line(file.unwrap_or_default(), UNKNOWN))?;
        }
        write!(out, "\n{prefix}fn=({number})")?;
        if self.named.insert(who) {
            let name = match who {
                Who::Program => &self.program,
                Who::Function(id) => &self.names[id],
            };
            write!(out, " {name}")?;
        }
        writeln!(out)
    }

    fn line(&self, who: Who) -> u32 {
        match who {
            Who::Program => 0,
            Who::Function(id) => self.functions.list[id].line,
        }
    }
}

#[cfg(test)]
mod tests;
