//! The call graph as gprof prints it: a block for each function with its callers above and its callees below, and an
//! index at the end.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt::{self, Write};

use tickscope_analysis::call_graph::{Amount, CallGraph, Edge, Entry, Subject};
use tickscope_analysis::functions::FunctionId;
use tickscope_analysis::measure::Dimension;
use tickscope_analysis::uncertainty::Uncertainty;
use tickscope_format::snapshot::Tally;

use super::page::Page;
use super::scale::Time;
use crate::{number, tally};

/// Cells of the column of what is below a function.
const CHILDREN: usize = "CHILDREN".len();

/// How many names of the index stand in a line at most.
const INDEX_COLUMNS: usize = 3;

/// The entries in the order in which they are printed, and their numbers.
struct Printed<'a> {
    page: &'a Page<'a>,
    /// The largest first; those below the least share are not among them.
    order: Vec<&'a Entry>,
    /// By function: `book::insert <cycle 1> [4]`.
    names: Vec<String>,
    /// By function, how far its times are estimates.
    uncertainties: Vec<Option<Uncertainty>>,
    sums: Sums,
}

/// What counters, values and gauges show: each of them, and for each of its callers.
struct Sums {
    of: HashMap<FunctionId, Tally>,
    by_caller: HashMap<(Option<FunctionId>, FunctionId), Tally>,
}

/// Writes the blocks and the index; tells whether a row is marked as doubtful.
pub(super) fn write(out: &mut String, page: &Page<'_>) -> Result<bool, fmt::Error> {
    let graph = CallGraph::of(&page.tree);
    let printed = Printed::of(page, &graph);
    let is_function = |entry: &&Entry| matches!(entry.subject, Subject::Function(_));
    let all = graph.entries.iter().filter(is_function).count();
    let shown = printed
        .order
        .iter()
        .copied()
        .filter(|entry| is_function(entry))
        .count();
    let by = page.options.by.name();
    writeln!(
        out,
        "Call graph: functions by total {by} ({shown} of {all}); above each its callers and their parts of its {by},\n\
         below it what it calls; CALLED from here/in all; n+m: m of its calls inside of another call of it;\n\
         100% = {} in scopes\n",
        page.time(page.measured()),
    )?;
    let (width, _) = page.time_cells();
    let titles = [
        "INDEX",
        if page.dimension() == Dimension::Time {
            "%TIME"
        } else {
            "%TOT"
        },
        &page.title("SELF", width),
        &page.title("CHILDREN", CHILDREN),
        "CALLED",
    ];
    page.write_signs(out)?;
    cells(out, page, titles)?;
    writeln!(out, "NAME")?;
    let mut doubtful_shown = false;
    for (at, entry) in (1..).zip(&printed.order) {
        doubtful_shown |= printed.block(out, at, entry)?;
    }
    printed.index(out)?;
    if shown < all {
        writeln!(
            out,
            "\n{} functions below {} are not shown (--all-rows shows them)",
            all - shown,
            number::percent(page.options.min_share),
        )?;
    }
    Ok(doubtful_shown)
}

fn cells(out: &mut String, page: &Page<'_>, [index, share, own, below, called]: [&str; 5]) -> fmt::Result {
    let (width, gap) = page.time_cells();
    write!(
        out,
        "{index:<6}{gap}{share:>width$}{gap}{own:>width$}{gap}{below:>CHILDREN$}  {called:>11}  "
    )
}

impl<'a> Printed<'a> {
    fn of(page: &'a Page<'a>, graph: &'a CallGraph) -> Self {
        let sums = Sums::of(page);
        let is_counter =
            |entry: &Entry| matches!(entry.subject, Subject::Function(id) if sums.is_counter(id));
        // A counter has no time: it is not small for that.
        let is_shown =
            |entry: &&Entry| is_counter(entry) || page.share(entry.total.ns) >= page.options.min_share;
        let mut order: Vec<&Entry> = graph.entries.iter().filter(is_shown).collect();
        // A cycle comes before its members, which cannot have more than it.
        order.sort_by_key(|entry| {
            let (behind, function, name) = match entry.subject {
                Subject::Cycle(number) => (false, number, ""),
                Subject::Function(id) => (true, id.0, page.labels[id.index()].as_str()),
            };
            (
                Reverse(entry.total.ns),
                behind,
                Reverse(entry.own.ns),
                name,
                function,
            )
        });
        let mut names = page.labels.clone();
        for (name, &cycle) in names.iter_mut().zip(&graph.cycle_of) {
            if cycle > 0 {
                *name += &format!(" <cycle {cycle}>");
            }
        }
        for (at, entry) in (1..).zip(&order) {
            if let Subject::Function(id) = entry.subject {
                names[id.index()] += &format!(" [{at}]");
            }
        }
        let mut uncertainties = vec![None; names.len()];
        for entry in &graph.entries {
            if let Subject::Function(id) = entry.subject {
                uncertainties[id.index()] = entry.uncertainty;
            }
        }
        Self {
            page,
            order,
            names,
            uncertainties,
            sums,
        }
    }

    fn name(&self, function: Option<FunctionId>) -> &str {
        function.map_or("(top of a thread)", |function| &self.names[function.index()])
    }

    fn block(&self, out: &mut String, at: usize, entry: &Entry) -> Result<bool, fmt::Error> {
        let page = self.page;
        let mut callers: Vec<&Edge> = entry.callers.iter().collect();
        let mut callees: Vec<&Edge> = entry.callees.iter().collect();
        let key = |line: &Edge| (line.total.ns, line.calls);
        // Those that matter most stand nearest.
        let name = |line: &Edge| self.name(line.function);
        callers.sort_by(|a, b| key(a).cmp(&key(b)).then_with(|| name(b).cmp(name(a))));
        callees.sort_by(|a, b| key(b).cmp(&key(a)).then_with(|| name(a).cmp(name(b))));
        let function = match entry.subject {
            Subject::Function(id) => Some(id),
            Subject::Cycle(_) => None,
        };
        for line in callers {
            self.line(
                out,
                line,
                entry.uncertainty,
                function.map(|id| (line.function, id)),
            )?;
        }
        let called = match entry.recursive_calls {
            0 => page.count(entry.outermost_calls),
            inner => format!("{}+{}", page.count(entry.outermost_calls), page.count(inner)),
        };
        let total = Time::total(entry.total.ns, entry.total.ticks, entry.uncertainty);
        let sum = function.and_then(|id| self.sums.of.get(&id));
        let (share, [own, below]) = match sum {
            Some(&tally) => (page.sign_of(tally).to_string(), self.counted(tally)),
            None => (
                page.share_of(total),
                self.times(entry.own, entry.total, entry.uncertainty),
            ),
        };
        cells(out, page, [&format!("[{at}]"), &share, &own, &below, &called])?;
        let calls = entry.outermost_calls.saturating_add(entry.recursive_calls);
        let (name, is_doubtful) = match entry.subject {
            Subject::Cycle(number) => (format!("<cycle {number} as a whole> [{at}]"), false),
            Subject::Function(id) => (
                self.name(Some(id)).to_string(),
                sum.is_none() && page.snapshot.is_doubtful(entry.total.ns, calls),
            ),
        };
        if is_doubtful {
            writeln!(out, "{name} {}", page.glyphs.doubtful)?;
        } else {
            writeln!(out, "{name}")?;
        }
        for line in callees {
            let uncertainty = line.function.and_then(|id| self.uncertainties[id.index()]);
            let link = line.function.zip(function).map(|(callee, id)| (Some(id), callee));
            self.line(out, line, uncertainty, link)?;
        }
        writeln!(out, "{}", "-".repeat(72))?;
        Ok(is_doubtful)
    }

    fn line(
        &self,
        out: &mut String,
        line: &Edge,
        uncertainty: Option<Uncertainty>,
        link: Option<(Option<FunctionId>, FunctionId)>,
    ) -> fmt::Result {
        let page = self.page;
        let (share, [own, below]) = match link.and_then(|link| self.sums.by_caller.get(&link)) {
            Some(&tally) => (page.sign_of(tally), self.counted(tally)),
            None => ("", self.times(line.own, line.total, uncertainty)),
        };
        let called = format!("{}/{}", page.count(line.calls), page.count(line.of_calls));
        cells(out, page, ["", share, &own, &below, &called])?;
        writeln!(out, "    {}", self.name(line.function))
    }

    /// What a counter has in place of times.
    fn counted(&self, of: Tally) -> [String; 2] {
        let (width, _) = self.page.time_cells();
        let main = tally::main(of, |sum| self.page.count(sum));
        [
            self.page.no_time(main.as_deref().unwrap_or("-"), width),
            self.page.no_time("-", CHILDREN),
        ]
    }

    /// Time in itself, and in what is below.
    fn times(&self, own: Amount, total: Amount, uncertainty: Option<Uncertainty>) -> [String; 2] {
        let (width, _) = self.page.time_cells();
        let uncertainty = uncertainty.unwrap_or_default().rough(own.ticks, total.ticks);
        let below = total.without(own);
        // Who calls nothing is known to have nothing there.
        let is_estimate = below.ticks > 0 && (uncertainty.self_estimated || uncertainty.total_estimated);
        [
            self.page.cell(Time::of(own, uncertainty.self_estimated), width),
            self.page.cell(Time::of(below, is_estimate), CHILDREN),
        ]
    }

    /// All names with their numbers, in their order.
    fn index(&self, out: &mut String) -> fmt::Result {
        let mut names: Vec<(String, usize)> = Vec::new();
        for (at, entry) in self.order.iter().enumerate() {
            let name = match entry.subject {
                Subject::Cycle(number) => format!("<cycle {number}>"),
                Subject::Function(id) => self.page.labels[id.index()].clone(),
            };
            names.push((name, at + 1));
        }
        names.sort();
        let widest = names.iter().map(|(name, _)| name.chars().count()).max();
        let width = widest.unwrap_or(0);
        // A number, a name, and two cells to the next.
        let columns = (self.page.options.width / (width + 9)).clamp(1, INDEX_COLUMNS);
        writeln!(out, "\nIndex by name\n")?;
        // Read downwards.
        let lines = names.len().div_ceil(columns);
        for line in 0..lines {
            let in_line: Vec<String> = names
                .iter()
                .skip(line)
                .step_by(lines.max(1))
                .map(|(name, number)| format!("{:>7} {name:<width$}", format!("[{number}]")))
                .collect();
            writeln!(out, "{}", in_line.join(" ").trim_end())?;
        }
        Ok(())
    }
}

impl Sums {
    fn of(page: &Page<'_>) -> Self {
        let rows = &page.tree.rows;
        let (mut of, mut by_caller) = (HashMap::new(), HashMap::new());
        for row in rows {
            let Some(tally) = row.tally else { continue };
            let caller = row.parent.map(|parent| rows[parent as usize].function);
            for all in [
                of.entry(row.function).or_insert(Tally::Nothing),
                by_caller.entry((caller, row.function)).or_insert(Tally::Nothing),
            ] {
                *all = all.and(tally);
            }
        }
        Self { of, by_caller }
    }

    fn is_counter(&self, function: FunctionId) -> bool {
        self.of.contains_key(&function)
    }
}
