//! Samples of the program counter in a window: those since it began.

use std::collections::HashMap;

use tickscope_format::snapshot::{LineSample, Lines, Module, NO_MODULE, Sampled, SampledIn, Snapshot};

use crate::window::pools::{Pools, take};

/// Takes what was sampled before: in the same path from the same place, and the rest from whatever the path has, because a record
/// tells only the most frequent places apart. A record of the coarse ring has no samples.
pub(super) fn lines(later: &Snapshot, earlier: &Snapshot, pools: &Pools) -> Lines {
    let (mut lines, then) = (later.lines.clone(), &earlier.lines);
    let number = |module: &Module| lines.modules.iter().position(|now| now == module);
    let modules: Vec<Option<usize>> = then.modules.iter().map(number).collect();
    let mut before: HashMap<SampledIn, HashMap<(u32, u64), Sampled>> = HashMap::new();
    for sample in &then.samples {
        let module = match sample.module {
            NO_MODULE => NO_MODULE,
            module => modules[module as usize].map_or(NO_MODULE, |module| module as u32),
        };
        let pool = match sample.inside {
            SampledIn::Row(row) => pools.given_to(row).map(SampledIn::Row),
            SampledIn::Thread(thread) => {
                pools.group_of_earlier[thread as usize].map(|group| SampledIn::Thread(group as u32))
            }
            SampledIn::Measuring => Some(SampledIn::Measuring),
        };
        if let Some(pool) = pool {
            let of_pool = before.entry(pool).or_default();
            let sum = of_pool.entry((module, sample.address)).or_default();
            sum.add(sample.sampled());
        }
    }
    let pool_of = |sample: &LineSample| match sample.inside {
        SampledIn::Row(row) => pools.taken_from(row).map(SampledIn::Row),
        SampledIn::Thread(thread) => Some(SampledIn::Thread(pools.group_of_later[thread as usize] as u32)),
        SampledIn::Measuring => Some(SampledIn::Measuring),
    };
    for sample in &mut lines.samples {
        if let Some(of_pool) = pool_of(sample).and_then(|pool| before.get_mut(&pool))
            && let Some(then) = of_pool.get_mut(&(sample.module, sample.address))
        {
            take_from(sample, then);
        }
    }
    let mut rest: HashMap<SampledIn, Sampled> = HashMap::new();
    for (pool, places) in before {
        let sum = rest.entry(pool).or_default();
        places.into_values().for_each(|place| sum.add(place));
    }
    // What is in no place of its own comes last.
    for sample in lines.samples.iter_mut().rev() {
        if let Some(then) = pool_of(sample).and_then(|pool| rest.get_mut(&pool)) {
            take_from(sample, then);
        }
    }
    lines.samples.retain(|sample| sample.samples > 0);
    lines.lost = lines.lost.without(then.lost);
    lines
}

fn take_from(sample: &mut LineSample, then: &mut Sampled) {
    take(&mut sample.samples, &mut then.samples);
    take(&mut sample.cpu_ns, &mut then.cpu_ns);
}

#[cfg(test)]
mod tests {
    use tickscope_format::ids::SiteId;
    use tickscope_format::snapshot::{Site, Thread};

    use super::*;

    fn sample(inside: SampledIn, module: u32, address: u64, samples: u64) -> LineSample {
        LineSample {
            inside,
            module,
            address,
            samples,
            cpu_ns: samples * 1_000,
        }
    }

    /// A thread with functions one below the other, and its samples.
    fn snapshot(functions: &[&str], modules: &[&str], samples: Vec<LineSample>) -> Snapshot {
        let mut snapshot = Snapshot::default();
        let mut above = None;
        for (number, name) in (0..).zip(functions) {
            snapshot.sites.push(Site {
                name: (*name).into(),
                ..Site::default()
            });
            above = Some(snapshot.nodes.push(above, SiteId(number), 1, 1));
        }
        snapshot.threads.push(Thread {
            name: "main".into(),
            tid: 1,
            rows: functions.len() as u32,
            ..Thread::default()
        });
        let module = |path: &&str| Module {
            path: (*path).into(),
            build_id: Vec::new(),
        };
        snapshot.lines.modules = modules.iter().map(module).collect();
        snapshot.lines.samples = samples;
        snapshot
    }

    #[test]
    fn what_was_sampled_before_is_taken_from_the_same_path() {
        let (first, second, outside) = (SampledIn::Row(0), SampledIn::Row(1), SampledIn::Thread(0));
        let then = snapshot(
            &["parse", "load"],
            &["app"],
            vec![
                sample(first, 0, 0x10, 3),
                sample(first, 0, 0x20, 5),
                sample(second, 0, 0x20, 2),
                sample(second, NO_MODULE, 0, 4),
                sample(outside, 0, 0x10, 1),
            ],
        );
        let now = snapshot(
            &["parse", "load"],
            &["libc", "app"],
            vec![
                sample(first, 0, 0x10, 4),
                sample(first, 1, 0x10, 3),
                sample(first, 1, 0x20, 9),
                // It was among those that were not told apart.
                sample(second, 1, 0x30, 3),
                sample(second, NO_MODULE, 0, 4),
                sample(outside, 1, 0x10, 3),
            ],
        );
        let window = crate::window::between(&now, &then);
        assert_eq!(
            window.lines.samples,
            [
                sample(first, 0, 0x10, 4),
                sample(first, 1, 0x20, 4),
                sample(second, 1, 0x30, 1),
                sample(outside, 1, 0x10, 2),
            ]
        );
    }
}
