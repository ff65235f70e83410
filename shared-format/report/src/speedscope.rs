//! The file format of speedscope, with one profile for each thread, in the unit of the chosen measure.
//!
//! A snapshot says how long calls took, but not when they ran. So each profile, which is of type *evented*, invents an order: a
//! function opens, and its self value comes first. Then its callees follow one after another, in the order of their first calls.
//! The size of the file depends on the number of nodes, but not on their depth.

use std::io::{self, Write};

use tickscope_analysis::functions::Functions;
use tickscope_analysis::measure::{Dimension, Measure};
use tickscope_format::ids::{NO_PARENT, NodeId, ThreadId};
use tickscope_format::snapshot::{Snapshot, Thread, ThreadState};

use crate::speedscope_file::{self, Event, Profile};

/// Writes one profile for each thread that has entered a scope. Speedscope first shows the thread with the largest total of the
/// measure.
///
/// # Errors
/// Any error from writing to `out`.
pub fn write(snapshot: &Snapshot, by: Measure, out: &mut impl Write) -> io::Result<()> {
    let functions = Functions::of(snapshot);
    let self_values = by.self_values(snapshot);
    let unit = unit(by.dimension());
    let threads = snapshot.threads.iter().enumerate();
    let mut profiles: Vec<Profile> = threads
        .filter(|(_, thread)| thread.rows > 0)
        .map(|(index, thread)| {
            let (end_value, events) = events(snapshot, &functions, &self_values, ThreadId(index as u32));
            Profile::new(name(thread), unit, end_value, events)
        })
        .collect();
    if profiles.is_empty() {
        // Speedscope rejects a file without profiles.
        profiles.push(Profile::new("nothing was measured".into(), unit, 0, vec![]));
    }
    let busiest = profiles.iter().enumerate().rev();
    let busiest = busiest.max_by_key(|(_, profile)| profile.end_value);
    let active = busiest.map_or(0, |(index, _)| index);
    speedscope_file::write(&snapshot.process.name, &functions, &profiles, active, out)
}

/// Returns speedscope's name for a unit.
fn unit(dimension: Dimension) -> &'static str {
    match dimension {
        Dimension::Time => "nanoseconds",
        Dimension::Count => "none",
        Dimension::Bytes => "bytes",
    }
}

/// Returns the name of a profile. Speedscope shows the profile in a view called "Time Order", so the name warns that the order is
/// not chronological.
fn name(thread: &Thread) -> String {
    let who = if thread.state == ThreadState::Finished {
        format!("{} finished", thread.count)
    } else {
        format!("tid {}", thread.tid)
    };
    format!("{} ({who}), summed, not in time order", thread.name)
}

/// Returns the end value of a thread's profile, which is the sum of the thread's self values, and the events that open and close
/// its frames.
fn events(
    snapshot: &Snapshot,
    functions: &Functions,
    self_values: &[u64],
    thread: ThreadId,
) -> (u64, Vec<Event>) {
    let rows = snapshot.rows_of(thread);
    let first = rows.start;
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); rows.len()];
    let mut stack: Vec<(usize, bool)> = Vec::new();
    // Counters have no self value, so their frames would have no width.
    let is_counter = |row: usize| snapshot.sum_of(NodeId(row as u32)).is_some();
    for row in rows.clone().rev().filter(|&row| !is_counter(row)) {
        match snapshot.nodes.parent[row] {
            NO_PARENT => stack.push((row, false)),
            parent => below[parent as usize - first].push(row),
        }
    }
    let mut events = Vec::with_capacity(2 * rows.len());
    let mut at = 0u64;
    while let Some((row, is_closing)) = stack.pop() {
        let frame = functions.of_site[snapshot.nodes.site[row] as usize].0;
        events.push(Event::new(is_closing, frame, at));
        if !is_closing {
            at = at.saturating_add(self_values[row]);
            stack.push((row, true));
            stack.extend(below[row - first].iter().map(|&child| (child, false)));
        }
    }
    (at, events)
}

#[cfg(test)]
mod tests;
