//! Rows made from code samples. Below each measured function, rows are added for the uncounted functions that it called.
//!
//! A sample tells which row was open and which code the thread was running. That code may belong to several functions that were
//! inlined into each other. Of those other than the row's own function, the outermost one called all the others, so a single
//! level of rows accounts for all of the sampled time. A sampled row has a time with an error, and no calls. Its time is taken
//! from the row above it, so the total of a row is still its self time plus the totals of its children.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use tickscope_format::addresses::{Addresses, Frame};
use tickscope_format::ids::{NO_PARENT, NodeId, SiteId};
use tickscope_format::snapshot::{
    Estimate, Part, Quantity, RowMap, Sampled, SampledIn, Site, Snapshot, Thread,
};

use crate::code::{Scope, located};
use crate::functions::OTHERS;
use crate::joined::paths;
use crate::sampled_work::{Samples, settled, work_errors};

/// A function with at least this many samples in all threads gets a row directly below its caller. If several functions have
/// fewer, their rows are grouped below a row named [`OTHERS`].
pub const SAMPLES_LEAST: u64 = 3;

/// The samples taken in a row, or in a thread outside any scope.
#[derive(Default)]
struct Below {
    /// All samples, including those in the row's own code.
    all: Sampled,
    /// Samples in called functions, by the site of the function.
    functions: BTreeMap<u32, Sampled>,
    /// CPU time of the row or thread, in ticks.
    working: u64,
    /// Standard error of `working` in ticks.
    error: f64,
    /// The thread's CPU time divided by the CPU time of its samples. It is greater than 1 if the thread ran before its sampling
    /// timer was started.
    missed: f64,
}

/// Takes the place of the site in the key of an [`OTHERS`] row.
const ABOVE_OTHERS: u32 = u32::MAX;

/// Returns the snapshot with additional rows for functions that were sampled but not counted. Functions sampled outside any scope
/// get rows at the top of their thread. A snapshot that already has sampled rows is returned unchanged.
///
/// Time in a row's own code, and in code that was not looked up, stays in the row. Uncertain times off the CPU are corrected with
/// the help of the samples. The samples in [`Snapshot::lines`] change only where they turn out to be in the collector's code.
///
/// If the samples of a row happen to add up to more than its CPU time, they are scaled down to it. If a thread was not sampled
/// from its start, its samples are scaled up to the thread's CPU time, but never beyond the CPU time of their row.
///
/// # Examples
/// ```
/// use tickscope_format::addresses::Addresses;
/// use tickscope_analysis::sampled_rows::with_sampled_rows;
/// use tickscope_format::Snapshot;
///
/// let snapshot = Snapshot::default();
/// assert_eq!(*with_sampled_rows(&snapshot, &Addresses::default()), snapshot);
/// ```
#[must_use]
pub fn with_sampled_rows<'a>(snapshot: &'a Snapshot, addresses: &Addresses) -> Cow<'a, Snapshot> {
    with_rows(snapshot, addresses, true)
}

/// Like [`with_sampled_rows`], but does not scale samples up, because the scale changes from one snapshot to the next. So the
/// difference of two snapshots of a run has no samples from before the first of them.
#[must_use]
pub fn with_unscaled_rows<'a>(snapshot: &'a Snapshot, addresses: &Addresses) -> Cow<'a, Snapshot> {
    with_rows(snapshot, addresses, false)
}

fn with_rows<'a>(snapshot: &'a Snapshot, addresses: &Addresses, scales_up: bool) -> Cow<'a, Snapshot> {
    if snapshot.measures.of(Quantity::Sampled).is_some() {
        return Cow::Borrowed(snapshot);
    }
    let mut out = snapshot.facts();
    let (site_of_sample, in_collector) = sites_of_samples(snapshot, addresses, &mut out);
    let mut below: BTreeMap<SampledIn, Below> = BTreeMap::new();
    for (sample, site) in snapshot.lines.samples.iter().zip(site_of_sample) {
        let below = below.entry(sample.inside).or_default();
        below.all.add(sample.sampled());
        if let Some(site) = site {
            below.functions.entry(site).or_default().add(sample.sampled());
        }
    }
    let is_empty =
        |below: &BTreeMap<SampledIn, Below>| below.values().all(|below| below.functions.is_empty());
    if is_empty(&below) {
        return Cow::Borrowed(snapshot);
    }
    let samples = Samples::of(snapshot);
    let errors = work_errors(snapshot, &samples);
    let settled = settled(snapshot, &samples, scales_up);
    let working = settled.working(snapshot);
    for (&inside, below) in &mut below {
        below.working = working(inside);
        below.missed = match scales_up {
            true => samples.missed(snapshot, inside),
            false => 1.0,
        };
        below.error = match inside {
            SampledIn::Row(row) => errors.get(&NodeId(row)).map_or(0.0, |&error| error as f64),
            SampledIn::Thread(thread) => settled.outside_of_threads.get(&thread).map_or(0.0, |of| of.error),
            SampledIn::Measuring => 0.0,
        };
    }
    below.retain(|_, below| below.working > 0);
    if is_empty(&below) {
        return Cow::Borrowed(snapshot);
    }
    let (map, row_of) = push_rows(snapshot, &below, &mut out);
    let part = Part {
        measures: &settled.measures,
        ..Part::now(snapshot, map)
    };
    out.gather(std::slice::from_ref(&part));
    // Variances of the self time and the total time of each row.
    let mut variances: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for (&row, &ticks) in &settled.outside_of_rows {
        out.nodes.self_ticks[part.map.rows[row as usize] as usize] -= ticks;
        let variance = settled.error_of_moved(snapshot, row, ticks).powi(2);
        let up = std::iter::successors(Some(NodeId(row)), |&row| snapshot.nodes.parent_of(row));
        for above in up {
            let sum = variances.entry(part.map.rows[above.index()]).or_default();
            sum.0 += if above.0 == row { variance } else { 0.0 };
            sum.1 += variance;
        }
    }
    for (&thread, outside) in &settled.outside_of_threads {
        let ticks = &mut out.threads[thread as usize].outside_ticks;
        *ticks = ticks.saturating_add(outside.ticks);
    }
    move_time(&below, &part.map, &row_of, variances, &mut out);
    if !in_collector.is_empty() {
        let mut samples = std::mem::take(&mut out.lines.samples);
        for sample in &mut samples {
            if in_collector.contains(&(sample.module, sample.address)) {
                sample.inside = SampledIn::Measuring;
            }
        }
        out.lines.set(samples);
    }
    Cow::Owned(out)
}

/// Replaces a snapshot with the result of [`with_sampled_rows`].
pub fn add_sampled_rows(snapshot: &mut Snapshot, addresses: &Addresses) {
    if let Cow::Owned(with) = with_sampled_rows(snapshot, addresses) {
        *snapshot = with;
    }
}

/// For each sample, returns the site of the function that its row called, or `None` if the sample stays in the row. Adds sites
/// for functions that have none yet. Also returns the modules and addresses of the collector's code.
fn sites_of_samples(
    snapshot: &Snapshot,
    addresses: &Addresses,
    out: &mut Snapshot,
) -> (Vec<Option<u32>>, HashSet<(u32, u64)>) {
    let mut in_collector = HashSet::new();
    let callees: Vec<Option<Frame>> = located(snapshot, addresses)
        .map(|located| {
            let is_measuring = located.scope == Scope::Measuring;
            if is_measuring && located.sample.inside != SampledIn::Measuring {
                in_collector.insert((located.sample.module, located.sample.address));
            }
            let may_move = located.is_looked_up && !is_measuring;
            may_move.then(|| located.callee()).flatten()
        })
        .collect();
    let mut known: HashMap<(String, String), u32> = HashMap::new();
    for (number, site) in (0..).zip(&snapshot.sites) {
        let key = (site.module.clone(), site.name.clone());
        known.entry(key).or_insert(number);
    }
    let mut site_of = |callee: Frame| {
        *known
            .entry((callee.module, callee.function))
            .or_insert_with_key(|(module, name)| {
                out.sites.push(Site {
                    name: name.clone(),
                    module: module.clone(),
                    file: callee.file,
                    ..Site::default()
                });
                out.sites.len() as u32 - 1
            })
    };
    let sites = callees.into_iter().map(|callee| callee.map(&mut site_of));
    (sites.collect(), in_collector)
}

/// Copies the rows of the snapshot to `out`, and adds the new rows of each thread after its existing ones. Functions with few
/// samples get a common parent row. Returns the new positions of the existing rows, and a map that finds a row of `out` by its
/// parent (in the original snapshot) and its site.
fn push_rows(
    snapshot: &Snapshot,
    below: &BTreeMap<SampledIn, Below>,
    out: &mut Snapshot,
) -> (RowMap, HashMap<(SampledIn, u32), u32>) {
    let mut map = RowMap {
        threads: (0..snapshot.threads.len() as u32).collect(),
        ..RowMap::nowhere(snapshot)
    };
    let mut row_of: HashMap<(SampledIn, u32), u32> = HashMap::new();
    let path_of = paths(&snapshot.nodes, snapshot.nodes.site.iter().copied());
    let place = |inside| match inside {
        SampledIn::Row(row) => Some(path_of[row as usize]),
        SampledIn::Thread(_) | SampledIn::Measuring => None,
    };
    let mut samples: HashMap<(Option<u32>, u32), u64> = HashMap::new();
    for (&inside, below) in below {
        for (&site, part) in &below.functions {
            *samples.entry((place(inside), site)).or_default() += part.samples;
        }
    }
    // How many functions have few samples below each place.
    let mut few_at: HashMap<Option<u32>, usize> = HashMap::new();
    for (&(place, _), _) in samples.iter().filter(|(_, of)| **of < SAMPLES_LEAST) {
        *few_at.entry(place).or_default() += 1;
    }
    let mut others = None;
    for (index, thread) in (0..).zip(&snapshot.threads) {
        let first_row = out.nodes.len() as u32;
        let rows = thread.first_row..thread.first_row + thread.rows;
        for row in rows.clone() {
            let (inside, above) = match snapshot.nodes.parent[row as usize] {
                NO_PARENT => (SampledIn::Thread(index), None),
                parent => (SampledIn::Row(parent), Some(NodeId(map.rows[parent as usize]))),
            };
            let site = snapshot.nodes.site[row as usize];
            let to = out.nodes.push(above, SiteId(site), 0, 0).0;
            map.rows[row as usize] = to;
            // A function with counted and sampled calls has one row for both.
            if snapshot.sum_of(NodeId(row)).is_none() {
                row_of.entry((inside, site)).or_insert(to);
            }
        }
        for inside in std::iter::once(SampledIn::Thread(index)).chain(rows.map(SampledIn::Row)) {
            let above = match inside {
                SampledIn::Row(row) => Some(NodeId(map.rows[row as usize])),
                SampledIn::Thread(_) | SampledIn::Measuring => None,
            };
            let Some(below) = below.get(&inside) else { continue };
            let all = below.functions.iter();
            let new = all.filter(|&(&site, _)| !row_of.contains_key(&(inside, site)));
            let has_few = |&(&site, _): &(&u32, _)| samples[&(place(inside), site)] < SAMPLES_LEAST;
            let (few, many): (Vec<_>, Vec<_>) = new.partition(has_few);
            let are_several = few_at.get(&place(inside)).is_some_and(|&few| few > 1);
            let above_few = (are_several && !few.is_empty()).then(|| {
                let site = *others.get_or_insert_with(|| {
                    out.sites.push(Site {
                        name: OTHERS.into(),
                        ..Site::default()
                    });
                    SiteId(out.sites.len() as u32 - 1)
                });
                out.nodes.push(above, site, 0, 0)
            });
            row_of.extend(above_few.map(|row| ((inside, ABOVE_OTHERS), row.0)));
            let few = few.into_iter().map(|of| (above_few.or(above), of));
            for (above, (&site, _)) in few.chain(many.into_iter().map(|of| (above, of))) {
                row_of.insert((inside, site), out.nodes.push(above, SiteId(site), 0, 0).0);
            }
        }
        out.threads.push(Thread {
            first_row,
            rows: out.nodes.len() as u32 - first_row,
            ..thread.without_counts()
        });
    }
    (map, row_of)
}

/// Moves sampled time from the rows in which the samples were taken to the sampled rows. `variances` holds the known variances of
/// each row's self time and total time.
fn move_time(
    below: &BTreeMap<SampledIn, Below>,
    map: &RowMap,
    row_of: &HashMap<(SampledIn, u32), u32>,
    mut variances: BTreeMap<u32, (f64, f64)>,
    out: &mut Snapshot,
) {
    let of_second = out.clock.ticks_per_second / 1e9;
    let mut sampled: BTreeMap<u32, u64> = BTreeMap::new();
    for (&inside, below) in below {
        let working = below.working;
        let all = below.all.cpu_ns as f64 * of_second;
        let scale = of_second * (working as f64 / all).min(below.missed);
        let variance = |part: Sampled| {
            let (of, from) = (part.samples as f64, below.all.samples as f64);
            // Laplace's rule of succession: add one sample inside the function and one outside. Otherwise the error of a function
            // that has all of the samples would be 0.
            let share = (of + 1.0) / (from + 2.0);
            let of_row = part.cpu_ns as f64 / below.all.cpu_ns as f64 * below.error;
            (part.cpu_ns as f64 * scale / of).powi(2) * from * share * (1.0 - share) + of_row.powi(2)
        };
        let mut left = working;
        let mut elsewhere = Sampled::default();
        for (&site, &part) in &below.functions {
            let row = row_of[&(inside, site)];
            let ticks = ((part.cpu_ns as f64 * scale) as u64).min(left);
            left -= ticks;
            elsewhere.add(part);
            let own = &mut out.nodes.self_ticks[row as usize];
            *own = own.saturating_add(ticks);
            *sampled.entry(row).or_default() += ticks;
            let sum = variances.entry(row).or_default();
            sum.0 += variance(part);
            sum.1 += variance(part);
        }
        if elsewhere.samples == 0 {
            continue;
        }
        if let Some(&above) = row_of.get(&(inside, ABOVE_OTHERS)) {
            // The row `OTHERS` has no calls and no self time, only the sum of its children.
            let mut few = Sampled::default();
            for (&site, &part) in &below.functions {
                if out.nodes.parent[row_of[&(inside, site)] as usize] == above {
                    few.add(part);
                }
            }
            variances.entry(above).or_default().1 += variance(few);
            // One tick marks it as a sampled row.
            sampled.insert(above, 1);
        }
        match inside {
            SampledIn::Row(row) => {
                let row = map.rows[row as usize];
                out.nodes.self_ticks[row as usize] -= working - left;
                variances.entry(row).or_default().0 += variance(elsewhere);
            }
            SampledIn::Thread(thread) => out.threads[thread as usize].outside_ticks -= working - left,
            SampledIn::Measuring => {}
        }
    }
    let mut estimates: BTreeMap<NodeId, Estimate> = BTreeMap::new();
    estimates.extend(out.estimates.iter().map(|estimate| (estimate.node, *estimate)));
    for (row, (own, total)) in variances {
        let estimate = estimates.entry(NodeId(row)).or_insert(Estimate {
            node: NodeId(row),
            timed: out.nodes.calls[row as usize],
            self_error: 0,
            total_error: 0,
        });
        let with = |error: u64, variance: f64| (error as f64).hypot(variance.sqrt()).round() as u64;
        estimate.self_error = with(estimate.self_error, own);
        estimate.total_error = with(estimate.total_error, total);
    }
    out.estimates = estimates.into_values().collect();
    for (row, ticks) in sampled {
        out.measures.push_row(Quantity::Sampled, row, ticks);
    }
}

#[cfg(test)]
mod tests;
