//! The callgrind format, for KCachegrind and `callgrind_annotate`: functions, and which calls which.
//!
//! There are two events: `Ns` (nanoseconds) and `Calls`. All functions are below one function that stands for the
//! program, because readers compute a function's inclusive cost from the calls to it, and a function at the top of a
//! thread would otherwise have no caller. As valgrind does, calls of a function from within itself are counted but cost
//! nothing, so that inclusive costs equal the totals of other reports.
//!
//! A call that was open at a reset began before it and is not counted. An arc that has only such calls is written with
//! one call, because the format takes a cost without a call for the caller's own.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, Write};

use tickscope_analysis::call_tree::CallTree;
use tickscope_analysis::functions::Functions;
use tickscope_format::snapshot::Snapshot;

use crate::names::{full_names, in_one_line};

/// What is not known, in the format's own words.
const UNKNOWN: &str = "???";

/// What one function costs itself.
#[derive(Clone, Default)]
struct Own {
    ns: u64,
    calls: u64,
    callees: BTreeMap<usize, Arc>,
}

/// All calls of one function by another.
#[derive(Clone, Default)]
struct Arc {
    count: u64,
    ns: u64,
    calls: u64,
}

/// Writes the program, then its functions in the order of their first site.
///
/// # Errors
/// The error of writing to `out`.
pub fn write(snapshot: &Snapshot, out: &mut impl Write) -> io::Result<()> {
    let tree = CallTree::build(snapshot, |_| true);
    let (program, functions) = graph(&tree);
    let name = in_one_line(&snapshot.process.name, UNKNOWN);
    write!(
        out,
        "# callgrind format\nversion: 1\ncreator: tickscope {}\npid: {}\ncmd: {name}\n",
        env!("CARGO_PKG_VERSION"),
        snapshot.process.pid,
    )?;
    write!(
        out,
        "positions: line\nevent: Ns : Nanoseconds\nevent: Calls : Calls\nevents: Ns Calls\n"
    )?;
    let calls = functions
        .iter()
        .fold(0u64, |sum, own| sum.saturating_add(own.calls));
    writeln!(out, "summary: {} {calls}", tree.measured_ns())?;
    let mut lines = Lines::new(&tree.functions, format!("[{name}]"));
    lines.block(out, Who::Program, &program)?;
    for (id, own) in functions.iter().enumerate() {
        if own.ns == 0 && own.calls == 0 && own.callees.is_empty() {
            continue;
        }
        lines.block(out, Who::Function(id), own)?;
    }
    Ok(())
}

/// The program and, by their ids, the functions.
fn graph(tree: &CallTree) -> (Own, Vec<Own>) {
    let mut program = Own::default();
    let mut functions = vec![Own::default(); tree.functions.list.len()];
    let total_calls = total_calls(tree);
    tree.visit(|index, outermost| {
        let row = &tree.rows[index as usize];
        let function = row.function.index();
        let own = &mut functions[function];
        own.ns = own.ns.saturating_add(row.self_ns);
        own.calls = own.calls.saturating_add(row.calls);
        let caller = match row.parent {
            Some(parent) => &mut functions[tree.rows[parent as usize].function.index()],
            None => &mut program,
        };
        let arc = caller.callees.entry(function).or_default();
        arc.count = arc.count.saturating_add(row.calls);
        if outermost {
            arc.ns = arc.ns.saturating_add(row.total_ns);
            arc.calls = arc.calls.saturating_add(total_calls[index as usize]);
        }
    });
    (program, functions)
}

/// The calls of each row and of all below.
fn total_calls(tree: &CallTree) -> Vec<u64> {
    let mut calls: Vec<u64> = tree.rows.iter().map(|row| row.calls).collect();
    for index in (0..calls.len()).rev() {
        if let Some(parent) = tree.rows[index].parent {
            calls[parent as usize] = calls[parent as usize].saturating_add(calls[index]);
        }
    }
    calls
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
        writeln!(out, "{line} {} {}", own.ns, own.calls)?;
        for (&callee, arc) in &own.callees {
            let callee = Who::Function(callee);
            if arc.count == 0 && arc.ns == 0 {
                continue;
            }
            self.position(out, "c", callee)?;
            writeln!(out, "calls={} {}", arc.count.max(1), self.line(callee))?;
            writeln!(out, "{line} {} {}", arc.ns, arc.calls)?;
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
