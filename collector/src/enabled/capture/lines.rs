//! Samples of the program counter: the threads' timers, and their samples, summed by node and code address.
//!
//! A sample stands for all CPU time that its thread has used since its previous sample, because timers fire less often
//! than requested. Here, where the loader can be queried, addresses in memory become addresses in files; readers
//! convert those to source lines.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use tickscope_format::Snapshot;
use tickscope_format::snapshot::{
    LineSample, Lines as Shown, LinesState, Module, NO_MODULE, Sampled, SampledIn,
};

use crate::enabled::platform::cpu_timer::{self, CpuTimer};
use crate::enabled::platform::modules::{self, Loaded};
use crate::enabled::platform::sync::Ordering;
use crate::enabled::platform::{os, threads};
use crate::enabled::record::owner::Owner;
use crate::enabled::record::pc_ring::{PcRing, PcSample};
use crate::enabled::record::registry::{self, Block};
use crate::enabled::record::tree::Tree;

/// Maximum number of distinct places in the code. Samples at any further place are kept without their address.
const PLACES_MOST: usize = 1 << 16;

/// Maximum number of places in a periodic snapshot. The places with the most samples are shown.
const PLACES_SHOWN: usize = 1 << 12;
/// Maximum number of places in any other snapshot.
const PLACES_SHOWN_WHOLE: usize = 1 << 14;

/// Highest sampling rate that can be requested, in samples a second.
const HZ_MOST: u32 = 10_000;

/// A place in the code: the innermost open node, the number of the module, and the address in the module. Outside of all
/// scopes, the node is the root; in the collector's own code, it is `None`.
type Place = (Option<Owner>, u32, u64);

type Found = BTreeMap<Place, Sampled>;

/// A thread with a sampling timer.
#[derive(Debug)]
struct Timed {
    tid: u32,
    _timer: CpuTimer,
}

#[derive(Debug, Default)]
pub(crate) struct Lines {
    /// Requested samples a second; 0 while sampling is off.
    hz: u32,
    /// The last requested rate above 0. The samples in `found` were taken at this rate.
    asked_hz: u32,
    state: LinesState,
    /// Threads with a timer, by the address of their block.
    timed: BTreeMap<usize, Timed>,
    found: Found,
    lost: Sampled,
    /// Samples from before the last reset, so that it can be undone.
    before: (Found, Sampled),
    /// What the rings had lost when they were last read.
    lost_in_rings: Sampled,
    /// Loaded files. A file gets a module number once it contains a sample.
    loaded: Vec<(Loaded, Option<u32>)>,
    /// The value of [`modules::changes`] when `loaded` was read; `None` before.
    changes: Option<u64>,
    modules: Vec<Module>,
}

/// Records the calling thread's program counter, from the signal handler. `block` is the address of the thread's block.
fn sample(block: usize, pc: usize) {
    let is_it = |known: &&'static Block| known.address() == block;
    let Some(block) = registry::all().find(is_it) else {
        return;
    };
    // The signal may arrive after its thread has ended, when the block already belongs to another thread.
    if block.tid.load(Ordering::Relaxed) != threads::thread_id() {
        return;
    }
    if let Some(ring) = block.pcs.get() {
        let node = block.tree.outside_events();
        let inside = node.map(|node| Owner::node(&block.tree, node.index()));
        ring.push(inside, pc as u64, os::own_cpu_ns());
    }
}

/// Returns the range of all places in these nodes or rows.
fn places_of(owners: RangeInclusive<Owner>) -> RangeInclusive<Place> {
    let (first, last) = owners.into_inner();
    (Some(first), 0, 0)..=(Some(last), u32::MAX, u64::MAX)
}

/// Returns the samples at a place, as samples of the collector's own code. The caller replaces that with the row, if
/// there is one.
fn shown((&(_, module, address), found): (&Place, &Sampled)) -> LineSample {
    LineSample {
        inside: SampledIn::Measuring,
        module,
        address,
        samples: found.samples,
        cpu_ns: found.cpu_ns,
    }
}

impl Lines {
    /// Requests `hz` samples per second of each thread's CPU time; 0 stops the sampling. Samples taken so far are kept.
    pub(crate) fn ask_for(&mut self, hz: u32) {
        self.drain();
        self.timed.clear();
        self.hz = hz.min(HZ_MOST);
        if hz > 0 {
            self.asked_hz = self.hz;
        }
        self.state = LinesState::Off;
        self.look();
    }

    /// Gives each new thread a timer, and collects the samples.
    pub(crate) fn look(&mut self) {
        if self.hz == 0 {
            return;
        }
        if !cpu_timer::SUPPORTED {
            self.state = LinesState::Unsupported;
            return;
        }
        let Some(signal) = self.signal() else {
            return;
        };
        self.drain();
        self.look_what_is_loaded();
        let living: BTreeMap<usize, (&'static Block, u32)> = registry::living()
            .map(|block| {
                let tid = block.tid.load(Ordering::Relaxed);
                (block.address(), (block, tid))
            })
            .collect();
        self.timed
            .retain(|address, timed| living.get(address).is_some_and(|&(_, tid)| tid == timed.tid));
        for (&address, &(block, tid)) in &living {
            if tid == 0 || self.timed.contains_key(&address) {
                continue;
            }
            match self.start(block, tid, signal, address) {
                Ok(Some(timed)) => {
                    self.timed.insert(address, timed);
                }
                // The thread has ended, or there is no memory for its ring.
                Ok(None) => {}
                // No more timers can be created. Threads that already have one keep it.
                Err(_) if !self.timed.is_empty() => return,
                Err(error) => {
                    self.hz = 0;
                    self.state = LinesState::NoTimers(error.raw_os_error().unwrap_or(0));
                    return;
                }
            }
        }
    }

    /// Returns the signal that sampling uses: a new signal if the program now uses the previous signal itself.
    fn signal(&mut self) -> Option<i32> {
        if let LinesState::On(signal) = self.state
            && cpu_timer::is_taken(signal.cast_signed())
        {
            return Some(signal.cast_signed());
        }
        self.timed.clear();
        let signal = cpu_timer::take_signal(sample);
        self.state = signal.map_or(LinesState::NoSignal, |signal| {
            LinesState::On(signal.cast_unsigned())
        });
        signal
    }

    fn start(
        &self,
        block: &'static Block,
        tid: u32,
        signal: i32,
        address: usize,
    ) -> std::io::Result<Option<Timed>> {
        let Some(ring) = block.pcs.get().or_else(|| {
            let made = PcRing::make();
            block.pcs.set(made);
            made
        }) else {
            return Ok(None);
        };
        let Some(cpu_ns) = os::cpu_ns_of(tid) else {
            return Ok(None);
        };
        ring.begin(cpu_ns);
        let period = Duration::from_secs(1) / self.hz;
        match CpuTimer::start(tid, signal, address, period) {
            Ok(_timer) => Ok(Some(Timed { tid, _timer })),
            Err(error) if os::cpu_ns_of(tid).is_some() => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// Collects the samples from the rings of the threads.
    pub(crate) fn drain(&mut self) {
        // Most programs never request samples, so their threads have no ring.
        if self.asked_hz == 0 {
            return;
        }
        let mut lost_in_rings = Sampled::default();
        for ring in registry::all().filter_map(|block| block.pcs.get()) {
            ring.take(|sample| self.add(sample));
            let (samples, cpu_ns) = ring.lost();
            lost_in_rings.add(Sampled { samples, cpu_ns });
        }
        self.lost.add(lost_in_rings.without(self.lost_in_rings));
        self.lost_in_rings = lost_in_rings;
    }

    fn add(&mut self, sample: PcSample) {
        let (module, address) = self.place(sample.pc);
        let place = (sample.inside, module, address);
        let is_told = self.found.len() < PLACES_MOST || self.found.contains_key(&place);
        let place = if is_told {
            place
        } else {
            (sample.inside, NO_MODULE, 0)
        };
        self.found.entry(place).or_default().add(Sampled {
            samples: 1,
            cpu_ns: sample.cpu_ns,
        });
    }

    /// Returns the module that contains an address, and the address within the module's file. If no known file contains the
    /// address, looks for newly loaded files.
    fn place(&mut self, pc: u64) -> (u32, u64) {
        let address = pc as usize;
        let is_known =
            |loaded: &[(Loaded, Option<u32>)]| loaded.iter().position(|(loaded, _)| loaded.holds(address));
        let mut at = is_known(&self.loaded);
        if at.is_none() {
            self.look_what_is_loaded();
            at = is_known(&self.loaded);
        }
        let Some((loaded, number)) = at.map(|at| &mut self.loaded[at]) else {
            return (NO_MODULE, pc);
        };
        let modules = &mut self.modules;
        let module = *number.get_or_insert_with(|| {
            let module = Module {
                path: loaded.path().to_string_lossy().into_owned(),
                build_id: loaded.build_id.clone(),
            };
            // The file may have been loaded before, at another address.
            let known = modules.iter().position(|known| *known == module);
            known.unwrap_or_else(|| {
                modules.push(module);
                modules.len() - 1
            }) as u32
        });
        (module, address.wrapping_sub(loaded.base) as u64)
    }

    /// Looks again what is loaded if that has changed. An address may then belong to another file than before.
    fn look_what_is_loaded(&mut self) {
        let changes = Some(modules::changes());
        if self.changes == changes {
            return;
        }
        self.changes = changes;
        let before = std::mem::take(&mut self.loaded);
        for loaded in modules::loaded() {
            let number = before
                .iter()
                .find(|(known, _)| *known == loaded)
                .and_then(|(_, number)| *number);
            self.loaded.push((loaded, number));
        }
    }

    /// Returns the samples in these nodes or rows, each with the index of its node or row.
    pub(crate) fn of(&self, owners: RangeInclusive<Owner>) -> Vec<(u32, LineSample)> {
        let found = self.found.range(places_of(owners));
        found
            .map(|found| (found.0.0.map_or(0, Owner::index), shown(found)))
            .collect()
    }

    /// Moves the samples of an ended thread from its nodes to the rows of the finished threads. `heir` returns the row
    /// that replaces a node.
    pub(crate) fn hand_over(&mut self, tree: &'static Tree, heir: impl Fn(u32) -> Owner) {
        self.drain();
        for found in [&mut self.found, &mut self.before.0] {
            let of_tree = found.range(places_of(Owner::of_tree(tree)));
            // Only the thread's own range is visited, because most ended threads have few samples, while `found` has
            // many.
            let of_tree: Vec<(Place, Sampled)> = of_tree.map(|(&place, &sampled)| (place, sampled)).collect();
            for (place, sampled) in of_tree {
                found.remove(&place);
                let (inside, module, address) = place;
                let heir = inside.map(|node| heir(node.index()));
                found.entry((heir, module, address)).or_default().add(sampled);
            }
        }
    }

    /// Adds the samples of the collector's own code to a snapshot. The other samples were already added with their
    /// rows.
    pub(crate) fn show(&self, snapshot: &mut Snapshot, is_whole: bool) {
        let measuring = self.found.range(..(Some(Owner::FIRST), 0, 0));
        let mut samples = std::mem::take(&mut snapshot.lines.samples);
        samples.extend(measuring.map(shown));
        snapshot.lines = Shown {
            state: self.state,
            asked_hz: self.asked_hz,
            modules: self.modules.clone(),
            samples: Vec::new(),
            lost: self.lost,
        };
        snapshot.lines.set(samples);
        snapshot.lines.keep_most(match is_whole {
            true => PLACES_SHOWN_WHOLE,
            false => PLACES_SHOWN,
        });
    }

    /// Begins a new epoch without samples.
    pub(crate) fn reset(&mut self) {
        self.drain();
        self.before = (std::mem::take(&mut self.found), std::mem::take(&mut self.lost));
    }

    pub(crate) fn undo(&mut self) {
        let (found, lost) = std::mem::take(&mut self.before);
        for (place, before) in found {
            self.found.entry(place).or_default().add(before);
        }
        self.lost.add(lost);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_in_the_file_that_is_loaded_there_now() {
        let mut lines = Lines::default();
        let code = (shown as *const ()).addr() as u64;
        let place = lines.place(code);
        // As if another file had been loaded at the same address before.
        for (loaded, number) in &mut lines.loaded {
            loaded.base += 1;
            *number = number.map(|number| number + 1);
        }
        lines.changes = lines.changes.map(|changes| changes + 1);
        lines.look_what_is_loaded();
        assert_eq!(lines.place(code), place);
        assert_eq!(
            lines.modules.len(),
            1,
            "a file that is loaded again keeps its number"
        );
    }
}
