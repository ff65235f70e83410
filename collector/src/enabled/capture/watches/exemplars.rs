//! The slow calls of a watched function that are recorded in full.
//!
//! Each recorded call has its own number and never changes, so it is read only once.

use std::collections::HashMap;

use tickscope_format::ids::NO_PARENT;
use tickscope_format::snapshot::{CaptureInfo, Exemplar, Note, Then, Trace, TraceGap};

use super::path_totals::Paths;
use crate::enabled::capture::site_ids::SiteIds;
use crate::enabled::capture::thread_name;
use crate::enabled::record::journal::{HEAD, Kind, More, Record};
use crate::enabled::record::kept_calls::{Copied, KeptCalls};
use crate::enabled::runtime::config;

/// Maximum total number of trace steps in a periodic snapshot. The first trace is included even if it is longer.
const STEPS_AT_ONCE: usize = 1 << 14;

#[derive(Debug, Default)]
pub(super) struct Exemplars {
    kept: Vec<Exemplar>,
    /// Index of the trace that comes first in the next snapshot.
    turn: usize,
}

impl Exemplars {
    /// Reads the calls that the threads have recorded for the watch with number `watch`.
    pub(super) fn read(
        &mut self,
        calls: &KeptCalls,
        watch: u64,
        capture: &CaptureInfo,
        paths: &mut Paths,
        sites: &mut SiteIds,
    ) {
        let (mut kept, mut new) = (Vec::new(), Vec::new());
        let known = &mut self.kept;
        let was_read = calls.read(watch, |number, is_longest, call| {
            match known.iter().position(|exemplar| exemplar.number == number) {
                Some(at) => {
                    let mut exemplar = known.swap_remove(at);
                    exemplar.is_longest = is_longest;
                    kept.push(exemplar);
                }
                None => new.push((number, is_longest, call.copied())),
            }
        });
        if !was_read {
            return;
        }
        for (number, is_longest, copied) in new {
            kept.push(exemplar(number, is_longest, &copied, capture, paths, sites));
        }
        kept.sort_by_key(|exemplar| (!exemplar.is_longest, u64::MAX - exemplar.ticks));
        self.kept = kept;
    }

    /// Returns the calls for a snapshot that already contains `steps` trace steps. If not all traces fit into a periodic
    /// snapshot, they take turns.
    pub(super) fn shown(&mut self, is_whole: bool, steps: &mut usize) -> Vec<Exemplar> {
        let mut exemplars = self.kept.clone();
        if is_whole {
            return exemplars;
        }
        let count = exemplars.len();
        let first = self.turn.checked_rem(count).unwrap_or(0);
        let mut is_full = false;
        for number in 0..count {
            let exemplar = &mut exemplars[(first + number) % count];
            let own = exemplar.trace.as_ref().map_or(0, Trace::len);
            is_full |= number > 0 && *steps + own > STEPS_AT_ONCE;
            if is_full {
                exemplar.trace = None;
            } else {
                *steps += own;
                self.turn = first + number + 1;
            }
        }
        exemplars
    }
}

fn exemplar(
    number: u64,
    is_longest: bool,
    copied: &Copied,
    capture: &CaptureInfo,
    paths: &mut Paths,
    sites: &mut SiteIds,
) -> Exemplar {
    let facts = copied.facts;
    let ago = capture.tick.saturating_sub(facts.began) as f64 * 1e9 / config::ticks_per_second();
    let paths = paths_of(copied, paths, sites);
    let path = |node: u32| paths.get(&node).copied();
    Exemplar {
        number,
        is_longest,
        began_unix_ns: capture.unix_ns.saturating_sub(ago as u64),
        ticks: facts.ticks,
        thread: thread_name::of_kernel(facts.tid, &facts.name),
        tid: facts.tid,
        cause: facts
            .cause
            .and_then(|(node, kind)| path(node).map(|path| (path, kind))),
        trace: Some(trace(copied, path)),
    }
}

/// Returns the path of each node of a recorded call.
fn paths_of(copied: &Copied, paths: &mut Paths, sites: &mut SiteIds) -> HashMap<u32, u32> {
    let mut nodes = copied.nodes.clone();
    // A node has a higher index than its parent.
    nodes.sort_unstable_by_key(|&(index, ..)| index);
    let mut found: HashMap<u32, u32> = HashMap::with_capacity(nodes.len());
    for (index, parent, site) in nodes {
        let parent = found.get(&parent).copied().unwrap_or(NO_PARENT);
        found.insert(index, paths.id(parent, site, sites));
    }
    found
}

/// Returns the steps of a recorded call.
fn trace(copied: &Copied, path: impl Fn(u32) -> Option<u32>) -> Trace {
    let mut trace = Trace::default();
    let mut off = (0, 0);
    let mut words = (0u32..).zip(copied.words.iter().copied());
    let mut missing = copied.facts.missing;
    let mut is_sum = false;
    while let Some((at, word)) = words.next() {
        if missing > 0 && at >= HEAD {
            leave_out(&mut trace, std::mem::take(&mut missing));
        }
        let (node, ticks, then) = match Record::of(word) {
            Record::Event { node, kind, ticks } => {
                let then = match kind {
                    Kind::Exit => Then::Exit,
                    Kind::Enter => Then::Enter,
                    Kind::GoOn => Then::GoOn,
                };
                is_sum = false;
                (node, ticks, then)
            }
            Record::More { node, what, number } => match what {
                More::Stay if number > 0 && !is_sum => (node, number, Then::Stay),
                More::Stay | More::Allocation | More::Allocations | More::Nodes => continue,
                More::Calls => {
                    // The words that follow are sums, which cannot be turned into steps. Each call would have been two steps.
                    leave_out(&mut trace, number.saturating_mul(2));
                    is_sum = true;
                    continue;
                }
                More::Waiting | More::Ready if is_sum => continue,
                More::Waiting => {
                    off.0 += number;
                    continue;
                }
                More::Ready => {
                    off.1 += number;
                    continue;
                }
                More::Note => {
                    let text: Vec<u64> = words
                        .by_ref()
                        .take(number as usize)
                        .map(|(_, word)| word)
                        .collect();
                    add_note(&mut trace, &text);
                    continue;
                }
            },
        };
        let Some(path) = path(node) else { continue };
        if off != (0, 0) {
            let waiting = off.0.min(ticks);
            let ready = off.1.min(ticks - waiting);
            trace.off_cpu.push((trace.len() as u32, waiting, ready));
            off = (0, 0);
        }
        trace.push(path, ticks, then);
    }
    if let Some(gap) = &mut trace.gap {
        let kept: u64 = trace.ticks.iter().sum();
        gap.ticks = copied.facts.ticks.saturating_sub(kept);
    }
    trace
}

/// Adds `steps` to the number of steps missing in the trace's gap. If the trace has no gap yet, it gets one at the
/// current step.
fn leave_out(trace: &mut Trace, steps: u64) {
    let step = trace.len() as u32;
    let gap = trace.gap.get_or_insert(TraceGap {
        step,
        ..TraceGap::default()
    });
    gap.steps = gap.steps.saturating_add(steps);
}

/// Adds a note to the trace. The first word holds the lengths of the key and the value, and the other words hold the
/// two texts.
fn add_note(trace: &mut Trace, words: &[u64]) {
    let Some((&lengths, words)) = words.split_first() else {
        return;
    };
    let (key, value) = ((lengths & u64::from(u32::MAX)) as usize, (lengths >> 32) as usize);
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let text = |begin: usize, length: usize| {
        let bytes = bytes.get(begin..begin + length).unwrap_or_default();
        String::from_utf8_lossy(bytes).into_owned()
    };
    let (key, value) = (text(0, key), text(key.div_ceil(8) * 8, value));
    let known = trace.keys.iter().position(|known| *known == key);
    let key = known.unwrap_or_else(|| {
        trace.keys.push(key);
        trace.keys.len() - 1
    });
    trace.notes.push(Note {
        step: trace.len() as u32,
        key: key as u32,
        value,
    });
}
