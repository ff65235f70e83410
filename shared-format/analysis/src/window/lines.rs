//! Code samples in a window.

use std::collections::HashMap;

use tickscope_format::snapshot::{LineSample, Lines, Module, NO_MODULE, Sampled, SampledIn};

use crate::window::pools::take as take_part;

/// Subtracts earlier samples, which are stored by pool and thread group. Samples at the same address are subtracted
/// first. A record lists only the most frequent addresses, so the remaining samples are then subtracted from other
/// addresses on the same path.
pub(super) fn take(lines: &mut Lines, then: &Lines, pool_of: &[u32], group_of: &[u32]) {
    let now: HashMap<&Module, u32> = lines.modules.iter().zip(0..).collect();
    let number = |module| now.get(module).copied().unwrap_or(NO_MODULE);
    let modules: Vec<u32> = then.modules.iter().map(number).collect();
    let mut before: HashMap<SampledIn, HashMap<(u32, u64), Sampled>> = HashMap::new();
    for sample in &then.samples {
        let module = modules.get(sample.module as usize).copied();
        let place = (module.unwrap_or(NO_MODULE), sample.address);
        let of_pool = before.entry(sample.inside).or_default();
        of_pool.entry(place).or_default().add(sample.sampled());
    }
    let pool = |inside| match inside {
        SampledIn::Row(row) => SampledIn::Row(pool_of[row as usize]),
        SampledIn::Thread(thread) => SampledIn::Thread(group_of[thread as usize]),
        SampledIn::Measuring => SampledIn::Measuring,
    };
    for sample in &mut lines.samples {
        if let Some(of_pool) = before.get_mut(&pool(sample.inside))
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
    // Samples without a listed address come last, so the reverse order subtracts from them first.
    for sample in lines.samples.iter_mut().rev() {
        if let Some(then) = rest.get_mut(&pool(sample.inside)) {
            take_from(sample, then);
        }
    }
    lines.samples.retain(|sample| sample.samples > 0);
    lines.lost = lines.lost.without(then.lost);
}

fn take_from(sample: &mut LineSample, then: &mut Sampled) {
    take_part(&mut sample.samples, &mut then.samples);
    take_part(&mut sample.cpu_ns, &mut then.cpu_ns);
}

#[cfg(test)]
mod tests {
    use tickscope_format::ids::SiteId;
    use tickscope_format::snapshot::{Snapshot, Thread};
    use tickscope_testkit::fixture::{calls_of, site};

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

    /// Returns a snapshot of one thread in which each function calls the next one, with the given samples.
    fn snapshot(functions: &[&str], modules: &[&str], samples: Vec<LineSample>) -> Snapshot {
        let mut snapshot = Snapshot::default();
        let mut above = None;
        for (number, name) in (0..).zip(functions) {
            snapshot.sites.push(site("", name, 0));
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
                // The earlier record did not list this address.
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
        // If neither record has latencies, the earlier one is no coarse record, so all samples are new.
        let without = snapshot(&["parse", "load"], &[], Vec::new());
        let window = crate::window::between(&now, &without);
        assert_eq!(window.lines.samples, now.lines.samples);
        // The samples before a coarse record are unknown.
        let mut now = now;
        now.latencies.push(0, &calls_of(5, 1));
        assert_eq!(crate::window::between(&now, &without).lines.samples, []);
    }
}
