//! The watched functions: sums of their calls by path, over all threads.
//!
//! Typical and slow calls are summed separately. Every finished watched call is in one of the two sums, so together they account
//! for every tick.
//!
//! A watch gets a new number whenever it starts over, and a thread clears its own sums when it finds the new number. So no thread
//! writes to another thread's sums, a reset needs no baseline, and a watch may begin at any time.

mod exemplars;
mod path_totals;
mod threshold;

use std::collections::BTreeSet;

use tickscope_format::Snapshot;
use tickscope_format::ids::NO_PARENT;
use tickscope_format::latency::Histogram;
use tickscope_format::pattern::Pattern;
use tickscope_format::snapshot::{Over, WATCHES_MAX, Watch, WatchState};

use self::exemplars::Exemplars;
use self::path_totals::PathTotals;
use self::threshold::Threshold;
use crate::enabled::capture::site_ids::SiteIds;
use crate::enabled::platform::os;
use crate::enabled::record::carried_calls;
use crate::enabled::record::registry::Block;
use crate::enabled::record::site::Site;
use crate::enabled::record::site_table;
use crate::enabled::record::typical_paths;
use crate::enabled::record::watch;
use crate::enabled::runtime::config;

#[derive(Debug, Default)]
pub(crate) struct Watches {
    /// The watched functions by slot. A site stores the slot of the watch that counts its calls.
    watched: [Option<Watched>; WATCHES_MAX],
    /// The number of the newest watch.
    number: u64,
    /// The newest site that was compared with the patterns. All older sites were compared as well.
    looked_at: Option<&'static Site>,
    /// Addresses of sites that have requested a watch. Each request is granted only once, so that a viewer can end the watch.
    heard: BTreeSet<usize>,
}

#[derive(Debug)]
struct Watched {
    pattern: Pattern,
    over: Over,
    slot: u32,
    /// The watch as threads see it.
    of_threads: &'static watch::Watch,
    began_unix_ns: u64,
    threshold: Threshold,
    totals: PathTotals,
    exemplars: Exemplars,
}

impl Watches {
    fn all(&mut self) -> impl Iterator<Item = &mut Watched> {
        self.watched.iter_mut().flatten()
    }

    /// Watches the functions that match a pattern, or changes their threshold. Returns false if the maximum number of
    /// patterns is already watched.
    pub(crate) fn add(&mut self, pattern: Pattern, over: Over) -> bool {
        let is_it =
            |watched: &Option<Watched>| watched.as_ref().is_some_and(|known| known.pattern == pattern);
        let known = self.watched.iter().position(is_it);
        let Some(slot) = known.or_else(|| self.watched.iter().position(Option::is_none)) else {
            return false;
        };
        if self.watched[slot]
            .as_ref()
            .is_some_and(|known| known.over == over)
        {
            return true;
        }
        let Some(of_threads) = watch::get(slot as u32) else {
            return false;
        };
        self.number += 1;
        let threshold = Threshold::of(over, config::ticks_per_second());
        of_threads.begin(0);
        of_threads.set_threshold(threshold.ticks());
        of_threads.begin(self.number);
        self.watched[slot] = Some(Watched {
            pattern,
            over,
            slot: slot as u32,
            of_threads,
            began_unix_ns: os::unix_ns(),
            threshold,
            totals: PathTotals::default(),
            exemplars: Exemplars::default(),
        });
        self.tell();
        self.looked_at = None;
        for site in site_table::unmet_functions() {
            self.look_at(site);
        }
        self.look();
        true
    }

    /// Stops watching the functions that match a pattern; `*` stands for all patterns.
    pub(crate) fn remove(&mut self, pattern: Pattern) {
        for slot in 0..WATCHES_MAX {
            let is_it = |watched: &&Watched| watched.pattern == pattern || pattern.as_str() == "*";
            let Some(watched) = self.watched[slot].as_ref().filter(is_it) else {
                continue;
            };
            let of_threads = watched.of_threads;
            self.watched[slot] = None;
            self.tell();
            of_threads.begin(0);
            for site in site_table::met().chain(site_table::unmet_functions()) {
                if site.watch() == Some(slot as u32) {
                    site.set_watch(None);
                    site_table::update_if_met(site);
                }
            }
        }
        // A site whose watch was removed may match another watched pattern.
        self.looked_at = None;
        self.look();
    }

    /// Publishes the watched patterns, so that threads can choose the watch for a site that they reach for the first
    /// time. If several patterns match a site, the pattern in the first slot wins.
    fn tell(&self) {
        let watched = self.watched.iter().flatten().rev();
        site_table::WATCHED.set(watched.map(|watched| (watched.pattern, watched.slot.into())));
    }

    /// Returns the watched patterns that match at least one site switched off by a rule or by the budget.
    pub(crate) fn switched_off(&self) -> Vec<Pattern> {
        let watched = self.watched.iter().flatten();
        let is_off = |watched: &&Watched| {
            site_table::met()
                .chain(site_table::unmet_functions())
                .any(|site| site.is_ruled_off() && watched.pattern.matches(&site.describe()))
        };
        watched.filter(is_off).map(|watched| watched.pattern).collect()
    }

    /// Looks for sites to watch among those that were first reached since the last call.
    pub(crate) fn look(&mut self) {
        let newest = site_table::met().next();
        let looked_at = self.looked_at;
        let is_known = |site: &&Site| looked_at.is_some_and(|known| std::ptr::eq(known, *site));
        if newest.is_none_or(|newest| is_known(&newest)) {
            return;
        }
        self.looked_at = newest;
        for site in site_table::met().take_while(|site| !is_known(site)) {
            if site.wants_watch && self.heard.insert(std::ptr::from_ref(site).addr()) {
                self.watch_site(site);
            }
            self.look_at(site);
        }
    }

    /// Watches a site that requests it, if a slot is free.
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
        let mut watched = self.watched.iter().flatten();
        if let Some(watched) = watched.find(|watched| watched.pattern.matches(&described)) {
            site.set_watch(Some(watched.slot));
            site_table::update_if_met(site);
        }
    }

    /// Begins a reading of all threads for a snapshot.
    pub(crate) fn begin_reading(&mut self) {
        self.all().for_each(|watched| watched.totals.begin_reading());
    }

    /// Reads the sums of a thread.
    pub(crate) fn read(&mut self, block: &'static Block, sites: &mut SiteIds, has_ended: bool) {
        for watched in self.all() {
            let (slot, number) = (watched.slot, watched.of_threads.number());
            watched.totals.read(slot, number, block, sites, has_ended);
        }
    }

    /// Adds the watched functions to a snapshot whose nodes and latencies are complete, and updates the thresholds that
    /// threads use.
    pub(crate) fn show(&mut self, snapshot: &mut Snapshot, is_whole: bool, sites: &mut SiteIds) {
        self.look();
        carried_calls::give_lost_back();
        let mut steps = 0;
        for watched in self.all() {
            let shown = watched.show(snapshot, is_whole, &mut steps, sites);
            snapshot.watches.push(shown);
        }
    }

    /// Clears all sums, because the counts were reset.
    pub(crate) fn reset(&mut self) {
        let mut number = self.number;
        for watched in self.all() {
            number += 1;
            watched.began_unix_ns = os::unix_ns();
            watched.threshold = watched.threshold.after_reset();
            watched.totals = PathTotals::default();
            watched.exemplars = Exemplars::default();
            watched.of_threads.begin(number);
        }
        self.number = number;
    }
}

impl Watched {
    /// Returns the watched function's entry for a snapshot, and updates the threshold that threads use. `steps` is the
    /// number of trace steps that the snapshot contains so far.
    fn show(&mut self, snapshot: &Snapshot, is_whole: bool, steps: &mut usize, sites: &mut SiteIds) -> Watch {
        let (calls, number) = (&self.of_threads.kept, self.of_threads.number());
        self.exemplars
            .read(calls, number, &snapshot.capture, &mut self.totals.paths, sites);
        if typical_paths::are_wanted(self.slot as usize, number) {
            typical_paths::set(self.slot as usize, number, self.totals.typical());
        }
        let durations = durations(snapshot, self.slot, sites);
        let state = self.threshold.update(
            self.over,
            durations.as_ref().unwrap_or(&Histogram::default()),
            self.totals.calls(),
            (snapshot.capture.mode, snapshot.measuring.histograms),
            snapshot.clock.ticks_per_second,
        );
        self.of_threads.set_threshold(self.threshold.ticks());
        let (paths, causes) = self.totals.shown();
        Watch {
            function: self.pattern.as_str().into(),
            over: self.over,
            number,
            began_unix_ns: self.began_unix_ns,
            state: durations.map_or(WatchState::NoFunction, |_| state),
            threshold_ticks: self.threshold.ticks(),
            lost: self.of_threads.lost(),
            paths,
            causes,
            exemplars: self.exemplars.shown(is_whole, steps),
        }
    }
}

/// Returns the durations of the finished calls that a watch covers. Of nested recursive calls, only the outermost is included.
/// Returns `None` if no site of the watch has been reached yet.
fn durations(snapshot: &Snapshot, slot: u32, sites: &mut SiteIds) -> Option<Histogram> {
    let mut watched: Vec<(u32, bool)> = Vec::new();
    for site in site_table::met().filter(|site| site.watch() == Some(slot)) {
        watched.push((sites.id(site).0, site.is_future()));
    }
    if watched.is_empty() {
        return None;
    }
    let mut all = Histogram::default();
    // For each row, whether it is inside a call of the function.
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
