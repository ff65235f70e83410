//! The callgrind format, for KCachegrind and `callgrind_annotate`: functions, and the calls between them.
//!
//! The events are `Ns` (nanoseconds), `Calls`, and one event for each other measure of the snapshot. The chosen measure comes
//! first, because tools sort by the first event. Tools compute a function's inclusive cost from the calls to it. All functions
//! are therefore placed below one function that stands for the program; otherwise, a function at the top of a thread would have
//! no caller. As in Valgrind's own files, recursive calls are counted but cost nothing, so that inclusive costs equal the totals
//! in other reports.
//!
//! A call that was already open at a reset has a cost, but is not counted. If a function made only such calls to another one, a
//! single call is written, because in this format a cost without a call would be the caller's own cost.
//!
//! If the functions and lines of sampled code are known, there is one more event, `Sampled`: the CPU time of the samples in
//! nanoseconds, by line. An unmeasured function that was called by a measured one is listed as a function of its own, and its
//! number of samples is written as its number of calls. Samples do not show who called the measured function, so its sampled time
//! is not included in the time of its callers.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::io::{self, Write};

use tickscope_analysis::call_tree::CallTree;
use tickscope_analysis::code::{Scope, located};
use tickscope_analysis::functions::FunctionId;
use tickscope_analysis::measure::Measure;
use tickscope_format::addresses::{Addresses, Frame};
use tickscope_format::snapshot::{Sampled, Snapshot};

use crate::names::{full_names, in_one_line};

/// Stands for an unknown file or function in this format.
const UNKNOWN: &str = "???";

/// A measure, with its values for each row of the tree.
struct Event {
    name: String,
    long_name: String,
    own: Vec<u64>,
    totals: Vec<u64>,
}

/// One cost for each event.
#[derive(Clone)]
struct Costs(Vec<u64>);

/// A function, or the program, which is the caller of functions at the top of threads.
struct Entry {
    name: String,
    file: String,
    line: u32,
    /// Self costs of all events.
    costs: Costs,
    /// Sampled time in nanoseconds, by line.
    sampled: BTreeMap<u32, u64>,
    /// Calls to other entries, by the index of the callee's entry.
    callees: BTreeMap<usize, Arc>,
}

/// All calls of one function by another.
#[derive(Clone)]
struct Arc {
    count: u64,
    costs: Costs,
}

/// Writes the program, then its functions in the order of their first sites. The first event is the measure `by`. `addresses`
/// provides the known functions and lines of sampled code.
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn write(
    snapshot: &Snapshot,
    by: Measure,
    addresses: &Addresses,
    out: &mut impl Write,
) -> io::Result<()> {
    let tree = CallTree::build(snapshot, |_| true);
    let mut measures: Vec<Measure> = [Measure::Time, Measure::Calls].into();
    measures.extend(Measure::measured(snapshot).filter(|of| ![Measure::Time, Measure::Calls].contains(of)));
    measures.sort_by_key(|&measure| measure != by);
    let mut events: Vec<Event> = measures
        .into_iter()
        .map(|measure| Event::of(snapshot, &tree, measure))
        .collect();
    let is_sampled = !addresses.is_empty() && !snapshot.lines.samples.is_empty();
    if is_sampled {
        events.push(Event {
            name: "Sampled".into(),
            long_name: "CPU time by samples, in nanoseconds".into(),
            own: vec![0; tree.rows.len()],
            totals: vec![0; tree.rows.len()],
        });
    }
    let name = in_one_line(&snapshot.process.name, UNKNOWN);
    let mut graph = Graph::of(&tree, &events, format!("[{name}]"));
    if is_sampled {
        graph.sample(snapshot, &tree, addresses);
    }
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
    writeln!(out, "summary: {}", graph.summary())?;
    let mut writer = Writer::new(&graph.entries);
    for (index, entry) in graph.entries.iter().enumerate() {
        if index > 0 && entry.is_nothing() {
            continue;
        }
        writer.block(out, index)?;
    }
    Ok(())
}

impl Event {
    fn of(snapshot: &Snapshot, tree: &CallTree, measure: Measure) -> Self {
        let own: Vec<u64> = if measure == Measure::Calls {
            // The numbers come from the tree itself, because the measure `Calls` leaves out counters.
            tree.rows.iter().map(|row| row.calls).collect()
        } else {
            // The tree for another measure has the same rows in the same order.
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

    /// Adds nanoseconds to the last event, which is `Sampled`.
    fn add_sampled(&mut self, ns: u64) {
        if let Some(sampled) = self.0.last_mut() {
            add(sampled, ns);
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

impl Entry {
    fn new(name: String, file: String, line: u32, nothing: &Costs) -> Self {
        Self {
            name,
            file,
            line,
            costs: nothing.clone(),
            sampled: BTreeMap::new(),
            callees: BTreeMap::new(),
        }
    }

    fn is_nothing(&self) -> bool {
        self.costs.is_nothing() && self.callees.is_empty() && self.sampled.is_empty()
    }
}

/// Functions, and the calls between them, as they are written to the file.
struct Graph {
    /// The program, then the functions by id, then the unmeasured functions.
    entries: Vec<Entry>,
    nothing: Costs,
}

/// Index of the program's entry.
const PROGRAM: usize = 0;

fn entry_of(function: FunctionId) -> usize {
    function.index() + 1
}

impl Graph {
    fn of(tree: &CallTree, events: &[Event], program: String) -> Self {
        let nothing = Costs::none(events);
        let functions = &tree.functions;
        let names = full_names(functions, str::to_string);
        let named = functions.list.iter().zip(names);
        let mut entries = vec![Entry::new(program, String::new(), 0, &nothing)];
        entries.extend(
            named.map(|(function, name)| Entry::new(name, function.file.clone(), function.line, &nothing)),
        );
        tree.visit(|index, outermost| {
            let row = &tree.rows[index as usize];
            let function = entry_of(row.function);
            entries[function]
                .costs
                .add(events.iter().map(|event| event.own[index as usize]));
            let caller = match row.parent {
                Some(parent) => entry_of(tree.rows[parent as usize].function),
                None => PROGRAM,
            };
            let arc = entries[caller].callees.entry(function).or_insert_with(|| Arc {
                count: 0,
                costs: nothing.clone(),
            });
            arc.count = arc.count.saturating_add(row.calls);
            if outermost {
                arc.costs
                    .add(events.iter().map(|event| event.totals[index as usize]));
            }
        });
        Self { entries, nothing }
    }

    /// Adds the CPU time of samples to the last event, which is `Sampled`.
    fn sample(&mut self, snapshot: &Snapshot, tree: &CallTree, addresses: &Addresses) {
        let functions = self.entries.iter().enumerate().skip(1);
        let known: HashMap<String, usize> = functions
            .map(|(index, entry)| (entry.name.clone(), index))
            .collect();
        let mut others: HashMap<(String, String), usize> = HashMap::new();
        for located in located(snapshot, addresses) {
            let Sampled { samples, cpu_ns } = located.sample.sampled();
            let function = match located.scope {
                Scope::Site(site) => entry_of(tree.functions.of_site[site as usize]),
                Scope::Outside | Scope::Measuring => PROGRAM,
            };
            if let Some(own) = located.own {
                let entry = &mut self.entries[function];
                // Tools look for the source file at this path, and only the debug information has the full path.
                if own.line > 0 {
                    entry.file.clone_from(&own.file);
                }
                add(entry.sampled.entry(own.line).or_default(), cpu_ns);
                continue;
            }
            let callee = located.callee().unwrap_or_default();
            let name = in_one_line(&callee.full_name(), UNKNOWN);
            let Frame { file, line, .. } = callee;
            let next = self.entries.len();
            let other = match known.get(&name) {
                Some(&known) => known,
                None => *others.entry((name.clone(), file.clone())).or_insert(next),
            };
            if other == next {
                self.entries.push(Entry::new(name, file, line, &self.nothing));
            }
            add(self.entries[other].sampled.entry(line).or_default(), cpu_ns);
            let arcs = &mut self.entries[function].callees;
            let arc = arcs.entry(other).or_insert_with(|| Arc {
                count: 0,
                costs: self.nothing.clone(),
            });
            arc.count = arc.count.saturating_add(samples);
            arc.costs.add_sampled(cpu_ns);
        }
    }

    /// Returns the sum of the costs of all entries.
    fn summary(&self) -> Costs {
        let mut sums = self.nothing.clone();
        for entry in &self.entries {
            sums.add(entry.costs.0.iter().copied());
            entry.sampled.values().for_each(|&ns| sums.add_sampled(ns));
        }
        sums
    }
}

fn add(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}

/// Returns the value of each row, including all rows below it.
fn totals(tree: &CallTree, own: &[u64]) -> Vec<u64> {
    let mut totals = own.to_vec();
    for index in (0..totals.len()).rev() {
        if let Some(parent) = tree.rows[index].parent {
            totals[parent as usize] = totals[parent as usize].saturating_add(totals[index]);
        }
    }
    totals
}

/// Writes entries and files as numbers. Where a number is used for the first time, the name follows it.
struct Writer<'a> {
    entries: &'a [Entry],
    /// Number of each file, by its path.
    files: HashMap<&'a str, usize>,
    named: HashSet<usize>,
    named_files: HashSet<usize>,
}

impl<'a> Writer<'a> {
    fn new(entries: &'a [Entry]) -> Self {
        let mut files = HashMap::new();
        for (index, entry) in entries.iter().enumerate() {
            // The program's file has an empty name, but also gets a number.
            let next = files.len() + 1;
            if index == PROGRAM || !entry.file.is_empty() {
                files.entry(entry.file.as_str()).or_insert(next);
            }
        }
        Self {
            entries,
            files,
            named: HashSet::new(),
            named_files: HashSet::new(),
        }
    }

    fn block(&mut self, out: &mut impl Write, index: usize) -> io::Result<()> {
        let entry = &self.entries[index];
        let line = entry.line;
        writeln!(out)?;
        self.position(out, "", index)?;
        if !entry.costs.is_nothing() || entry.sampled.is_empty() {
            writeln!(out, "{line} {}", entry.costs)?;
        }
        for (line, &ns) in &entry.sampled {
            let mut costs = Costs(vec![0; entry.costs.0.len()]);
            costs.add_sampled(ns);
            writeln!(out, "{line} {costs}")?;
        }
        for (&callee, arc) in &entry.callees {
            if arc.count == 0 && arc.costs.is_nothing() {
                continue;
            }
            self.position(out, "c", callee)?;
            writeln!(out, "calls={} {}", arc.count.max(1), self.entries[callee].line)?;
            writeln!(out, "{line} {}", arc.costs)?;
        }
        Ok(())
    }

    /// Writes the lines `fl=` and `fn=` for an entry. If `prefix` is `c`, the entry is a callee, and the lines are `cfl=` and
    /// `cfn=`.
    fn position(&mut self, out: &mut impl Write, prefix: &str, index: usize) -> io::Result<()> {
        let entry = &self.entries[index];
        let file = self.files.get(entry.file.as_str()).copied().unwrap_or(1);
        write!(out, "{prefix}fl=({file})")?;
        if self.named_files.insert(file) {
            write!(out, " {}", in_one_line(&entry.file, UNKNOWN))?;
        }
        write!(out, "\n{prefix}fn=({})", index + 1)?;
        if self.named.insert(index) {
            write!(out, " {}", entry.name)?;
        }
        writeln!(out)
    }
}

#[cfg(test)]
mod tests;
