//! All operations that readers perform on a decoded snapshot: every analysis and every report.

use std::time::Duration;

use tickscope_analysis::call_tree::CallTree;
use tickscope_analysis::callers::Neighbours;
use tickscope_analysis::code::Scope;
use tickscope_analysis::compare::diff::Diff;
use tickscope_analysis::focus::{Focus, in_focus};
use tickscope_analysis::functions::Functions;
use tickscope_analysis::hotspots::hot;
use tickscope_analysis::intervals::{Choice, Intervals};
use tickscope_analysis::measure::Measure;
use tickscope_analysis::per_call::PerCall;
use tickscope_analysis::waterfall::Waterfall;
use tickscope_analysis::{
    align, filter, groups, merge, series, sites as sites_of, transform, uncertainty, window,
};
use tickscope_format::Snapshot;
use tickscope_format::addresses::{Addresses, Frame};
use tickscope_format::ids::ThreadId;
use tickscope_format::pattern::Pattern;
use tickscope_report::brief::{self, BYTES_MAX, Length, Next, Subject};
use tickscope_report::diff::{self, Comparison, Run, Tables};
use tickscope_report::exemplar::ExemplarForm;
use tickscope_report::form::FormOptions;
use tickscope_report::html;
use tickscope_report::log::{self, LogOptions};
use tickscope_report::slow::{self, Answer, SlowOptions};
use tickscope_report::text::{self, TextOptions, View};
use tickscope_report::unit::Unit;
use tickscope_report::{
    Extent, ProcessState, SourceCode, callgrind, folded, json, pprof, sites, speedscope, stacks, tasks,
};

/// Writes the brief reports for scripts and agents, and checks their length, which is limited for any snapshot.
fn briefly(snapshot: &Snapshot) {
    let subject = Subject {
        snapshot,
        state: ProcessState::Running,
        when: None,
        notes: &[],
        next: &Next::Tools {
            target: "target".into(),
            is_live: true,
            may_watch: true,
        },
    };
    for measure in Measure::measured(snapshot) {
        assert!(brief::top::json(&subject, measure, Length::Brief).len() <= BYTES_MAX);
    }
    assert!(brief::sites::json(&subject, None, Length::Brief).len() <= BYTES_MAX);
}

/// Reports why slow calls are slow; exports the kept calls and draws them as waterfalls.
fn slow_calls(snapshot: &Snapshot) {
    for watch in &snapshot.watches {
        let answer = Answer::of(snapshot, watch, SlowOptions::default());
        let next = Next::Shell {
            target: "target".into(),
            is_live: true,
        };
        drop((
            slow::text(&answer),
            slow::json(&answer, &next),
            slow::markdown(&answer),
        ));
        assert!(slow::brief(&answer, &next).len() <= BYTES_MAX);
        for exemplar in &watch.exemplars {
            let Some(trace) = &exemplar.trace else { continue };
            for form in [
                ExemplarForm::Chrome,
                ExemplarForm::Firefox,
                ExemplarForm::Speedscope,
            ] {
                form.write(snapshot, watch, exemplar, &mut Vec::new()).unwrap();
            }
            let waterfall = Waterfall::of(trace, watch);
            waterfall.blocks(&(0..u64::MAX), 80, 2);
            waterfall.blocks(&(3..9), 7, 1);
        }
    }
}

/// Runs operation `which` on `one`, or on `one` and `other`, two snapshots of the same program.
pub(crate) fn follow(one: &Snapshot, other: &Snapshot, which: usize) {
    let mut out = Vec::new();
    match which % 16 {
        0 => texts(one, which / 16),
        1 => {
            trees(one);
            slow_calls(one);
            briefly(one);
        }
        2 => {
            let (extent, code) = (Extent::default(), code_of(one));
            drop(json::of_part(one, None, ProcessState::Crashed, &extent, &code));
        }
        3 => drop(html::page(one, &FormOptions::default())),
        // The corpus refers to these operations by number. Number 4 is not used.
        5 => folded::write(&measure(one, which / 16).of(one), &mut out).unwrap(),
        6 => callgrind::write(one, measure(one, which / 16), &code_of(one), &mut out).unwrap(),
        7 => speedscope::write(one, measure(one, which / 16), &mut out).unwrap(),
        8 => pprof::write(one, measure(one, which / 16), &code_of(one), &mut out).unwrap(),
        9 => {
            drop(stacks::stacks(one, ProcessState::Running, false));
            drop(tasks::tasks(one, ProcessState::Running, false));
            drop((
                sites::sites(one, ProcessState::Stale, true),
                json::sites(one, ProcessState::Stale),
            ));
        }
        10 => whole(&merge::sum(&[one, other])),
        11 if window::same_epoch(one, other) => whole(&window::between(other, one)),
        11 | 12 => whole(&series::counts(&[other, one], &[one])),
        13 => {
            let (later, earlier) = align::align(one, other);
            whole(&later);
            whole(&earlier);
        }
        14 => differences(one, other),
        _ => intervals(one, other),
    }
}

/// Returns made-up frames for the samples of a snapshot. The address of a sample decides whether its code is in the file of its
/// site, in a function of another file that was inlined there, only in another file, or unknown.
fn code_of(snapshot: &Snapshot) -> Addresses {
    let lines = &snapshot.lines;
    let mut addresses = Addresses::default();
    for sample in &lines.samples {
        let Some(module) = lines.modules.get(sample.module as usize) else {
            continue;
        };
        let file = match Scope::of(snapshot, sample) {
            Scope::Site(site) => &*snapshot.sites[site as usize].file,
            Scope::Outside | Scope::Measuring => "",
        };
        let frame = |file: &str| Frame {
            function: module.path.clone(),
            module: String::new(),
            file: file.into(),
            line: sample.address as u32,
        };
        let frames = match sample.address % 4 {
            0 => vec![frame(file)],
            1 => vec![frame("other"), frame(file)],
            2 => vec![frame("other")],
            _ => Vec::new(),
        };
        addresses.insert(module, sample.address, frames);
    }
    addresses
}

/// Returns one of the measures of a snapshot. `which` may be any number.
fn measure(snapshot: &Snapshot, which: usize) -> Measure {
    let measured: Vec<Measure> = Measure::measured(snapshot).collect();
    measured[which % measured.len()]
}

/// Checks that `made`, a snapshot computed from other snapshots, is valid.
fn whole(made: &Snapshot) {
    trees(made);
    texts(made, 0);
    drop(tasks::tasks(made, ProcessState::Running, false));
}

fn texts(snapshot: &Snapshot, which: usize) {
    let views = [
        View::Both,
        View::Tree,
        View::Hot,
        View::Flat,
        View::Threads,
        View::Source,
    ];
    let site = snapshot.sites.first();
    let function = site.and_then(|site| PerCall::of(snapshot, &site.name).ok());
    let options = TextOptions {
        view: views[which % views.len()],
        ascii: which & 1 != 0,
        unit: if which & 4 != 0 { Unit::Ns } else { Unit::Both },
        by: measure(snapshot, which),
        per: function.filter(|_| which & 8 != 0),
        thread: (!snapshot.threads.is_empty() && which & 16 != 0).then_some(ThreadId(0)),
        code: SourceCode {
            addresses: code_of(snapshot),
            ..SourceCode::default()
        },
        ..TextOptions::default()
    };
    drop(text::report(snapshot, &options));
}

fn trees(snapshot: &Snapshot) {
    let tree = CallTree::build(snapshot, |_| true);
    let top = tree.top().iter();
    let total: u64 = top.map(|&row| tree.rows[row as usize].total_ticks).sum();
    // The totals of the top rows add up to the measured ticks of the snapshot.
    assert_eq!(total, snapshot.measured_ticks());
    let _ = (
        hot(&tree),
        tree.measured_ns(),
        uncertainty::uncertainties(snapshot),
    );
    let _ = transform::fold_recursion(&tree);
    let _ = transform::bottom_up(&tree, 100_000, |_| true);
    for (id, _) in tree
        .functions
        .list
        .iter()
        .zip(0u32..)
        .map(|(f, id)| (id, f))
        .take(3)
    {
        let id = tickscope_analysis::functions::FunctionId(id);
        let _ = (Neighbours::of(&tree, id), transform::focus_function(&tree, id));
    }
    if let Some(row) = tree.rows.last() {
        let _ = transform::focus_subtree(&tree, row.path);
        let _ = in_focus(snapshot, &[Focus::Subtree(row.path)], false);
    }
    let _ = Functions::build(snapshot, true);
    let _ = (groups::groups(snapshot, |_| true), sites_of::sites(snapshot));
    let _ = (
        filter::of_threads(snapshot, |thread| thread.0 % 2 == 0),
        filter::above(snapshot, Measure::Time, 0.1),
    );
    for measure in Measure::measured(snapshot) {
        let seen = measure.of(snapshot);
        let tree = CallTree::build(&seen, |_| true);
        let tops = tree.top().iter().map(|&row| tree.rows[row as usize].total_ticks);
        let all = seen.nodes.self_ticks.iter().copied();
        assert_eq!(
            tops.fold(0, u64::saturating_add),
            all.fold(0, u64::saturating_add),
            "totals at the top are all {measure:?}"
        );
        let _ = (hot(&tree), filter::above(snapshot, measure, 0.1));
    }
}

fn differences(one: &Snapshot, other: &Snapshot) {
    let name = one.sites.first().map(|site| site.name.clone());
    for per in [None, name.as_deref()] {
        let (before, after) = ([one.clone(), other.clone()], [other.clone(), one.clone()]);
        let Ok(found) = Diff::of(&before, &after, per) else {
            continue;
        };
        let runs = [Run::of("a", one), Run::of("b", other)];
        let comparison = Comparison {
            diff: &found,
            measures: &[],
            runs: (&runs, &runs),
            per,
            verdicts: &[],
            doubts: &diff::doubts(&before, &after),
            tables: Tables::Both,
            min_share: 0.0,
            ascii: false,
            width: 100,
        };
        drop((diff::text::report(&comparison), diff::json::report(&comparison)));
        drop((
            diff::markdown::report(&comparison),
            diff::page::report(&comparison),
        ));
    }
}

fn intervals(one: &Snapshot, other: &Snapshot) {
    let functions: Vec<Pattern> = Pattern::new("*").into_iter().collect();
    let mut intervals = Intervals::new(
        Duration::from_millis(10),
        Choice {
            groups: Vec::new(),
            functions,
        },
    );
    for interval in [intervals.take(one), intervals.take(other), intervals.finish()]
        .into_iter()
        .flatten()
    {
        drop((
            log::lines(&interval, &LogOptions::default()),
            log::json_lines(&interval),
        ));
    }
}
