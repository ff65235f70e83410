//! The watched functions: sums of their calls by path, over all threads.
//!
//! Typical and slow calls are both added up, and typical is not "all less slow". Both together are therefore all watched calls to
//! the tick. An open call counts to neither, a reset needs no baseline, and a watch may begin at any time. A watch that begins
//! anew has a new number. A thread empties its own sums when it meets the new number, so no thread writes another thread's sums.

mod threshold;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tickscope_format::Snapshot;
use tickscope_format::ids::{NO_PARENT, SiteId};
use tickscope_format::latency::Histogram;
use tickscope_format::pattern::Pattern;
use tickscope_format::snapshot::{
    CaptureInfo, CauseKind, CauseSum, Exemplar, Note, Over, PathSums, Then, Trace, TraceGap, WATCHES_MAX,
    Watch, WatchState, WatchedPath,
};

use self::threshold::Threshold;
use crate::enabled::capture::site_ids::SiteIds;
use crate::enabled::capture::thread_name;
use crate::enabled::platform::os;
use crate::enabled::platform::sync::{Ordering, fence};
use crate::enabled::record::carried_calls;
use crate::enabled::record::journal::{Kind, More, Record};
use crate::enabled::record::kept_calls::Copied;
use crate::enabled::record::path_sums::{COUNTS, PathSums as NodeSums};
use crate::enabled::record::registry::Block;
use crate::enabled::record::site::Site;
use crate::enabled::record::site_table;
use crate::enabled::record::tree::Tree;
use crate::enabled::record::typical_paths::{self, Means, TypicalPaths};
use crate::enabled::record::watch;
use crate::enabled::runtime::config;

/// Maximum number of steps of all traces together in a periodic snapshot, which has at least one trace.
const STEPS_AT_ONCE: usize = 1 << 14;

/// Path of a node that is in no watched call.
const NOWHERE: u32 = u32::MAX;

/// Path of a node that was not looked at yet.
const UNKNOWN: u32 = u32::MAX - 1;

/// The watched functions.
#[derive(Debug)]
pub(crate) struct Watches {
    watched: [Option<Watched>; WATCHES_MAX],
    /// The number of the newest watch.
    number: u64,
    /// The newest site that was looked at. All older sites were looked at as well.
    looked_at: Option<&'static Site>,
    /// Addresses of sites that have asked to be watched. Each site is heard once, so that a viewer can end its watch.
    heard: BTreeSet<usize>,
}

/// A watched function.
#[derive(Debug)]
struct Watched {
    pattern: Pattern,
    over: Over,
    number: u64,
    began_unix_ns: u64,
    threshold: Threshold,
    paths: Paths,
    /// Sums of ended threads, by path.
    finished: Vec<Counted>,
    /// Sums of all threads, by path.
    all: Vec<Counted>,
    /// Path of each node, by the address of the block.
    paths_of: HashMap<usize, Vec<u32>>,
    kept: Vec<Exemplar>,
    /// Number of the trace that is shown first in the next snapshot.
    turn: usize,
}

/// Paths of sites, from the watched function on.
#[derive(Debug, Default)]
struct Paths {
    rows: Vec<PathRow>,
    known: HashMap<(u32, SiteId), u32>,
}

#[derive(Debug)]
struct PathRow {
    parent: u32,
    id: SiteId,
    site: &'static Site,
}

/// Sums of a path.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    typical: [u64; COUNTS],
    slow: [u64; COUNTS],
    /// For each kind of cause: calls, ticks, and calls of the path.
    causes: [[u64; 3]; CauseKind::ALL.len()],
}

impl Paths {
    fn id(&mut self, parent: u32, site: &'static Site, sites: &mut SiteIds) -> u32 {
        let id = sites.id(site);
        *self.known.entry((parent, id)).or_insert_with(|| {
            self.rows.push(PathRow { parent, id, site });
            self.rows.len() as u32 - 1
        })
    }
}

impl Counted {
    /// Returns the sums of a node, or `None` if they are zero.
    fn of(node: &NodeSums) -> Option<Self> {
        let mut counted = Self {
            typical: node.typical.read(),
            slow: node.slow.read(),
            ..Self::default()
        };
        for (to, cause) in counted.causes.iter_mut().zip(&node.causes) {
            *to = [&cause.calls, &cause.excess_ticks, &cause.path_calls]
                .map(|count| count.load(Ordering::Relaxed));
        }
        let is_empty = |counts: &[u64]| counts.iter().all(|&count| count == 0);
        (!is_empty(&counted.typical) || !is_empty(&counted.slow)).then_some(counted)
    }

    fn add(&mut self, other: &Self) {
        let counts = [(&mut self.typical, &other.typical), (&mut self.slow, &other.slow)];
        let counts = counts.into_iter().flat_map(|(to, from)| to.iter_mut().zip(from));
        let causes = self.causes.iter_mut().flatten();
        for (to, from) in counts.chain(causes.zip(other.causes.iter().flatten())) {
            *to = to.saturating_add(*from);
        }
    }
}

/// Returns the sums as snapshots show them. A thread may have counted between two of the reads.
fn shown([calls, ticks, waiting, ready, allocations, allocated_bytes]: [u64; COUNTS]) -> PathSums {
    let waiting = waiting.min(ticks);
    PathSums {
        calls,
        ticks,
        waiting,
        ready: ready.min(ticks - waiting),
        allocations,
        allocated_bytes,
    }
}

impl Watched {
    fn new(pattern: Pattern, over: Over, number: u64) -> Self {
        Self {
            pattern,
            over,
            number,
            began_unix_ns: os::unix_ns(),
            threshold: Threshold::of(over, config::ticks_per_second()),
            paths: Paths::default(),
            finished: Vec::new(),
            all: Vec::new(),
            paths_of: HashMap::new(),
            kept: Vec::new(),
            turn: 0,
        }
    }

    /// Adds the sums of a thread to the sums of all threads, or of the finished ones.
    fn read(&mut self, slot: usize, block: &'static Block, sites: &mut SiteIds, is_finished: bool) {
        let tree = &block.tree;
        let Some(sums) = tree
            .watching
            .sums_of(slot)
            .filter(|sums| sums.number() == self.number)
        else {
            return;
        };
        let address = block.address();
        let paths_of = self.paths_of.entry(address).or_default();
        let mut read = Vec::new();
        for index in 0..tree.nodes.len() {
            if let Some(counted) = sums.nodes.get(index).and_then(Counted::of)
                && let Some(path) = path_of(&mut self.paths, paths_of, tree, slot, index, sites)
            {
                read.push((path, counted));
            }
        }
        // SYNC POINT: the sums are read before their number, so sums that were emptied meanwhile are not shown.
        fence(Ordering::Acquire);
        if sums.number() != self.number {
            return;
        }
        let to = if is_finished {
            &mut self.finished
        } else {
            &mut self.all
        };
        to.resize(self.paths.rows.len(), Counted::default());
        for (path, counted) in read {
            to[path as usize].add(&counted);
        }
    }

    /// Reads the calls that are kept whole.
    fn read_kept(&mut self, slot: usize, capture: &CaptureInfo, sites: &mut SiteIds) {
        let Some(of_slot) = watch::get(slot as u32) else {
            return;
        };
        let mut kept = Vec::new();
        let known = std::mem::take(&mut self.kept);
        let mut known: BTreeMap<u64, Exemplar> = known
            .into_iter()
            .map(|exemplar| (exemplar.number, exemplar))
            .collect();
        let mut new = Vec::new();
        let was_read = of_slot
            .kept
            .read(|number, is_longest, call| match known.remove(&number) {
                Some(exemplar) => kept.push(Exemplar {
                    is_longest,
                    ..exemplar
                }),
                None => new.push((number, is_longest, call.copied())),
            });
        if !was_read {
            self.kept = known.into_values().collect();
            return;
        }
        let rate = config::ticks_per_second();
        for (number, is_longest, copied) in new {
            let facts = copied.facts;
            let ago = capture.tick.saturating_sub(facts.began) as f64 * 1e9 / rate;
            let paths = self.paths_of_copy(&copied, sites);
            let path = |node: u32| paths.get(&node).copied();
            kept.push(Exemplar {
                number,
                is_longest,
                began_unix_ns: capture.unix_ns.saturating_sub(ago as u64),
                ticks: facts.ticks,
                thread: thread_name::of_kernel(facts.tid, &facts.name),
                tid: facts.tid,
                cause: facts
                    .cause
                    .and_then(|(node, kind)| path(node).map(|path| (path, kind))),
                trace: Some(trace(&copied, path)),
            });
        }
        kept.sort_by_key(|exemplar| (!exemplar.is_longest, u64::MAX - exemplar.ticks));
        self.kept = kept;
    }

    /// Returns the path of each node of a kept call.
    fn paths_of_copy(&mut self, copied: &Copied, sites: &mut SiteIds) -> HashMap<u32, u32> {
        let mut nodes = copied.nodes.clone();
        // A node has a higher index than its parent.
        nodes.sort_unstable_by_key(|&(index, ..)| index);
        let mut paths: HashMap<u32, u32> = HashMap::with_capacity(nodes.len());
        for (index, parent, site) in nodes {
            let parent = paths.get(&parent).copied().unwrap_or(NO_PARENT);
            paths.insert(index, self.paths.id(parent, site, sites));
        }
        paths
    }

    /// Returns a watched function's part of a snapshot.
    fn shown(&mut self, slot: usize, state: WatchState) -> Watch {
        self.all.resize(self.paths.rows.len(), Counted::default());
        let mut causes = Vec::new();
        let mut paths = Vec::with_capacity(self.all.len());
        for (path, (row, counted)) in (0..).zip(self.paths.rows.iter().zip(&self.all)) {
            paths.push(WatchedPath {
                parent: row.parent,
                site: row.id,
                typical: shown(counted.typical),
                slow: shown(counted.slow),
            });
            for (kind, [calls, excess_ticks, path_calls]) in CauseKind::ALL.into_iter().zip(counted.causes) {
                if calls > 0 {
                    causes.push(CauseSum {
                        path,
                        kind,
                        calls,
                        excess_ticks,
                        path_calls,
                    });
                }
            }
        }
        Watch {
            function: self.pattern.as_str().into(),
            over: self.over,
            number: self.number,
            began_unix_ns: self.began_unix_ns,
            state,
            threshold_ticks: self.threshold.ticks(),
            lost: watch::get(slot as u32)
                .map(watch::Watch::lost)
                .unwrap_or_default(),
            paths,
            causes,
            exemplars: self.kept.clone(),
        }
    }

    /// Removes the traces that do not fit into a periodic snapshot. Traces take turns.
    fn thin_out(&mut self, exemplars: &mut [Exemplar], steps: &mut usize) {
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
    }
}

/// Returns the path of a node, or `None` if it is in no call of the watched function.
fn path_of(
    paths: &mut Paths,
    known: &mut Vec<u32>,
    tree: &Tree,
    slot: usize,
    index: u32,
    sites: &mut SiteIds,
) -> Option<u32> {
    known.resize(known.len().max(tree.nodes.len() as usize), UNKNOWN);
    // The loop goes up to a node whose path is known, and down again.
    let mut chain = Vec::new();
    let mut at = tree.nodes.get(index);
    let mut path = NOWHERE;
    while let Some(node) = at {
        match known.get(node.index() as usize) {
            None | Some(&UNKNOWN) => chain.push(node),
            Some(&of_node) => {
                path = of_node;
                break;
            }
        }
        at = node.parent.get();
    }
    for node in chain.into_iter().rev() {
        let Some(site) = node.site.get() else {
            known[node.index() as usize] = NOWHERE;
            continue;
        };
        path = match path {
            NOWHERE if site.watch() != Some(slot as u32) => NOWHERE,
            NOWHERE => paths.id(NO_PARENT, site, sites),
            parent => paths.id(parent, site, sites),
        };
        known[node.index() as usize] = path;
    }
    Some(path).filter(|&path| path != NOWHERE)
}

/// Returns the steps of a kept call.
fn trace(copied: &Copied, path: impl Fn(u32) -> Option<u32>) -> Trace {
    let mut trace = Trace::default();
    let mut off = (0, 0);
    let mut words = (0u32..).zip(copied.words.iter().copied());
    let mut gap = copied.facts.gap;
    let mut is_sum = false;
    while let Some((at, word)) = words.next() {
        if let Some((_, missing)) = gap.take_if(|gap| at >= gap.0) {
            leave_out(&mut trace, missing);
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
                    // The following words give durations without times. Each call was two steps.
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

/// Counts `steps` as missing here, or at the first gap.
fn leave_out(trace: &mut Trace, steps: u64) {
    let step = trace.len() as u32;
    let gap = trace.gap.get_or_insert(TraceGap {
        step,
        ..TraceGap::default()
    });
    gap.steps = gap.steps.saturating_add(steps);
}

/// Adds a note: a word with the lengths of its key and its value, and words with both texts.
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

impl Watches {
    pub(crate) const fn new() -> Self {
        Self {
            watched: [const { None }; WATCHES_MAX],
            number: 0,
            looked_at: None,
            heard: BTreeSet::new(),
        }
    }

    fn places(&mut self) -> impl Iterator<Item = (usize, &mut Watched)> {
        let places = self.watched.iter_mut().enumerate();
        places.filter_map(|(slot, watched)| Some((slot, watched.as_mut()?)))
    }

    /// Watches the functions that a pattern matches, or changes their threshold. Returns false if the maximum number of patterns
    /// is watched.
    pub(crate) fn add(&mut self, pattern: Pattern, over: Over) -> bool {
        let same = |watched: &Option<Watched>| watched.as_ref().is_some_and(|known| known.pattern == pattern);
        let slot = self
            .watched
            .iter()
            .position(same)
            .or_else(|| self.watched.iter().position(Option::is_none));
        let Some(slot) = slot else { return false };
        if self.watched[slot]
            .as_ref()
            .is_some_and(|watched| watched.over == over)
        {
            return true;
        }
        self.number += 1;
        let watched = self.watched[slot].insert(Watched::new(pattern, over, self.number));
        if let Some(of_slot) = watch::get(slot as u32) {
            of_slot.begin(0);
            of_slot.set_threshold(watched.threshold.ticks());
            of_slot.begin(self.number);
        }
        self.tell();
        self.looked_at = None;
        for site in site_table::unmet_functions() {
            self.look_at(site);
        }
        self.look();
        true
    }

    /// Stops watching the functions of a pattern; `*` stands for all patterns.
    pub(crate) fn remove(&mut self, pattern: Pattern) {
        for slot in 0..WATCHES_MAX {
            let is_it = |watched: &Watched| watched.pattern == pattern || pattern.as_str() == "*";
            if !self.watched[slot].as_ref().is_some_and(is_it) {
                continue;
            }
            self.watched[slot] = None;
            self.tell();
            if let Some(of_slot) = watch::get(slot as u32) {
                of_slot.begin(0);
            }
            for site in site_table::met().chain(site_table::unmet_functions()) {
                if site.watch() == Some(slot as u32) {
                    site.set_watch(None);
                    site_table::update_if_met(site);
                }
            }
        }
        // A site that another pattern also matches is watched by that pattern from now on.
        self.looked_at = None;
        self.look();
    }

    /// Makes threads watch the sites that they meet. The first place whose pattern matches a site watches it.
    fn tell(&self) {
        let places = self.watched.iter().enumerate().rev();
        site_table::WATCHED
            .set(places.filter_map(|(slot, watched)| Some((watched.as_ref()?.pattern, slot as u64))));
    }

    /// Returns the patterns of watched sites that a rule or the budget has switched off.
    pub(crate) fn switched_off(&self) -> Vec<Pattern> {
        let watched = self.watched.iter().flatten();
        let is_off = |watched: &&Watched| {
            site_table::met()
                .chain(site_table::unmet_functions())
                .any(|site| site.is_ruled_off() && watched.pattern.matches(&site.describe()))
        };
        watched.filter(is_off).map(|watched| watched.pattern).collect()
    }

    /// Checks which of the sites met since the last call are watched.
    pub(crate) fn look(&mut self) {
        let newest = site_table::met().next();
        let looked_at = self.looked_at;
        let is_known = |site: &&Site| looked_at.is_some_and(|known| std::ptr::eq(known, *site));
        if newest.is_none_or(|newest| is_known(&newest)) {
            return;
        }
        self.looked_at = newest;
        for site in site_table::met().take_while(|site| !is_known(site)) {
            if site.wants_watch() && self.heard.insert(std::ptr::from_ref(site).addr()) {
                self.watch_site(site);
            }
            self.look_at(site);
        }
    }

    /// Watches a site that asks for it, if a place is free.
    fn watch_site(&mut self, site: &'static Site) {
        let described = site.describe();
        let path = format!("{}::{}", described.module, described.name);
        if let Ok(pattern) = Pattern::new(path.trim_start_matches("::")) {
            self.add(pattern, Over::Tail);
        }
    }

    fn look_at(&self, site: &'static Site) {
        if site.is_counter() || site.watch().is_some() {
            return;
        }
        let described = site.describe();
        let slot = self.watched.iter().position(|watched| {
            watched
                .as_ref()
                .is_some_and(|watched| watched.pattern.matches(&described))
        });
        if let Some(slot) = slot {
            site.set_watch(Some(slot as u32));
            site_table::update_if_met(site);
        }
    }

    /// Begins to read the threads of a snapshot.
    pub(crate) fn begin_reading(&mut self) {
        for (_, watched) in self.places() {
            watched.all.clone_from(&watched.finished);
        }
    }

    /// Reads the sums of a thread.
    pub(crate) fn read(&mut self, block: &'static Block, sites: &mut SiteIds) {
        for (slot, watched) in self.places() {
            watched.read(slot, block, sites, false);
        }
    }

    /// Reads the sums of a thread that has ended.
    pub(crate) fn finish(&mut self, block: &'static Block, sites: &mut SiteIds) {
        let address = block.address();
        for (slot, watched) in self.places() {
            watched.read(slot, block, sites, true);
            watched.paths_of.remove(&address);
        }
    }

    /// Puts the watched functions into a snapshot whose other parts are complete, and tells the threads which calls are slow.
    pub(crate) fn show(&mut self, snapshot: &mut Snapshot, is_whole: bool, sites: &mut SiteIds) {
        self.look();
        carried_calls::give_lost_back();
        let mut steps = 0;
        for (slot, watched) in self.places() {
            let durations = durations(snapshot, slot, sites);
            watched.read_kept(slot, &snapshot.capture, sites);
            watched.tell_typical(slot);
            let calls = watched.calls();
            let state = watched.threshold.update(
                watched.over,
                durations.as_ref().unwrap_or(&Histogram::default()),
                calls,
                (snapshot.capture.mode, snapshot.measuring.histograms),
                snapshot.clock.ticks_per_second,
            );
            if let Some(of_slot) = watch::get(slot as u32) {
                of_slot.set_threshold(watched.threshold.ticks());
            }
            let state = durations.map_or(WatchState::NoFunction, |_| state);
            let mut shown = watched.shown(slot, state);
            if !is_whole {
                watched.thin_out(&mut shown.exemplars, &mut steps);
            }
            snapshot.watches.push(shown);
        }
    }

    /// Empties all sums, because counts were reset.
    pub(crate) fn reset(&mut self) {
        let mut number = self.number;
        for (slot, watched) in self.places() {
            number += 1;
            let threshold = watched.threshold;
            *watched = Watched {
                threshold: threshold.after_reset(),
                ..Watched::new(watched.pattern, watched.over, number)
            };
            if let Some(of_slot) = watch::get(slot as u32) {
                of_slot.begin(number);
            }
        }
        self.number = number;
    }
}

impl Watched {
    /// Passes the sums of typical calls to threads, if a thread has asked for them.
    fn tell_typical(&self, slot: usize) {
        if !typical_paths::are_wanted(slot, self.number) {
            return;
        }
        let mut typical = TypicalPaths::default();
        // By path: number of calls of the watched function at the beginning of the path.
        let mut of_function: Vec<u64> = Vec::with_capacity(self.all.len());
        for (row, counted) in self.paths.rows.iter().zip(&self.all) {
            let parent = (row.parent != NO_PARENT).then_some(row.parent);
            let calls = parent.map_or(counted.typical[0], |parent| of_function[parent as usize]);
            of_function.push(calls);
            typical.add(parent, row.site, Means::of(counted.typical, calls));
        }
        typical_paths::set(slot, self.number, typical);
    }

    /// Returns the number of typical calls and of slow calls.
    fn calls(&self) -> (u64, u64) {
        let roots = self.paths.rows.iter().zip(&self.all);
        roots
            .filter(|(row, _)| row.parent == NO_PARENT)
            .fold((0, 0), |(typical, slow), (_, counted)| {
                (typical + counted.typical[0], slow + counted.slow[0])
            })
    }
}

/// Returns the durations of a watched function's finished calls; `None` if no function that was called matches.
fn durations(snapshot: &Snapshot, slot: usize, sites: &mut SiteIds) -> Option<Histogram> {
    let mut watched: Vec<(u32, bool)> = Vec::new();
    for site in site_table::met().filter(|site| site.watch() == Some(slot as u32)) {
        watched.push((sites.id(site).0, site.is_future()));
    }
    if watched.is_empty() {
        return None;
    }
    let mut all = Histogram::default();
    // Whether each row is in a call of the function.
    let mut is_inside = vec![false; snapshot.nodes.len()];
    for row in 0..snapshot.nodes.len() {
        let parent = snapshot.nodes.parent[row];
        let above = parent != NO_PARENT && is_inside[parent as usize];
        let site = snapshot.nodes.site[row];
        let it = watched.iter().find(|(watched, _)| *watched == site);
        is_inside[row] = above || it.is_some();
        if let Some((_, is_future)) = it
            && !above
        {
            let latencies = if *is_future {
                &snapshot.async_latencies
            } else {
                &snapshot.latencies
            };
            all.add(&latencies.of(row as u32));
        }
    }
    Some(all)
}
