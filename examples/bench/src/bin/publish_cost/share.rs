//! The publisher's share of a core.

use std::time::{Duration, Instant};

use crate::{stages, tree};

pub(crate) fn print(nodes: usize, histograms: bool) -> Result<(), String> {
    for interval in [Duration::from_millis(100), Duration::from_secs(1)] {
        let session = stages::session(nodes, histograms, interval);
        for round in 0..20 {
            tree::visit(nodes, &stages::work(round));
        }
        let (begin, before) = (Instant::now(), publisher_ns().ok_or("no publisher")?);
        while begin.elapsed() < Duration::from_secs(5) {
            tree::visit(nodes, &|_| {});
        }
        let spent = publisher_ns().ok_or("no publisher")? - before;
        println!(
            "{nodes:8} {:10} {:>4} s {:5.2} %",
            if histograms { "on" } else { "off" },
            interval.as_secs_f64(),
            spent as f64 / begin.elapsed().as_nanos() as f64 * 100.0,
        );
        drop(session);
    }
    Ok(())
}

/// Returns the CPU time of the publisher's thread so far, as the kernel counts it.
fn publisher_ns() -> Option<u64> {
    for task in std::fs::read_dir("/proc/self/task").ok()? {
        let path = task.ok()?.path();
        if std::fs::read_to_string(path.join("comm")).ok()?.trim_end() == "tickscope" {
            let times = std::fs::read_to_string(path.join("schedstat")).ok()?;
            return times.split(' ').next()?.parse().ok();
        }
    }
    None
}
