//! Compares the results of the modes: the sphereflake in each mode, in one process, in turns; and the time of the whole
//! against runs without scopes.
//!
//! `accuracy [SECONDS]`: the time in each mode, 10 by default.
#![allow(clippy::print_stdout, reason = "a program that speaks to its user")]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::{Duration, Instant};

use tickscope::Mode;
use tickscope_bench::{Plain, Scene, Scoped, render};
use tickscope_format::Snapshot;
use tickscope_format::ids::NodeId;

/// Width and height of the picture in pixels: about 20 ms a frame.
const SIZE: usize = 128;

/// What a mode reports of a function.
#[derive(Debug, Default)]
struct Told {
    calls: u64,
    self_ns: f64,
    error_ns: f64,
}

/// Renders for so long, and returns nanoseconds a frame.
fn frames(scene: &Scene, time: Duration, scoped: bool) -> f64 {
    let begin = Instant::now();
    let mut frames = 0;
    while begin.elapsed() < time {
        black_box(if scoped {
            render::<Scoped>(scene, SIZE, SIZE, 1)
        } else {
            render::<Plain>(scene, SIZE, SIZE, 1)
        });
        frames += 1;
    }
    begin.elapsed().as_nanos() as f64 / f64::from(frames)
}

/// Returns the self time by function, and the time of all functions.
fn told(snapshot: &Snapshot) -> (BTreeMap<&str, Told>, f64) {
    let mut functions: BTreeMap<&str, Told> = BTreeMap::new();
    let mut all = 0.0;
    for (row, self_ns) in snapshot.self_nanos().into_iter().enumerate() {
        let node = NodeId(row as u32);
        let function = functions.entry(&snapshot.site_of(node).name).or_default();
        function.calls += snapshot.nodes.calls[row];
        function.self_ns += self_ns as f64;
        let error = snapshot
            .estimate_of(node)
            .map_or(0, |estimate| estimate.self_error);
        function.error_ns = function.error_ns.hypot(snapshot.nanos(error) as f64);
        all += self_ns as f64;
    }
    (functions, all)
}

fn main() -> Result<(), String> {
    let seconds = match std::env::args().nth(1).map(|word| (word.parse(), word)) {
        None => 10.0,
        Some((Ok(seconds), _)) if (0.1..=3600.0).contains(&seconds) => seconds,
        Some((_, word)) => return Err(format!("{word}: wanted 0.1 to 3600 seconds a mode")),
    };
    let scene = Scene::build::<Plain>(6);
    let _session = tickscope::start("accuracy");
    let modes = [Mode::Exact, Mode::Adaptive, Mode::Sampled];
    println!(
        "{:<10} {:<20} {:>10} {:>9} {:>9} {:>9} {:>9}",
        "mode", "function", "calls", "self ms", "+- ms", "ns/call", "share"
    );
    for mode in modes {
        let whole = Duration::from_secs_f64(seconds);
        // What adaptive mode measures in its first second, while it learns, is dropped.
        tickscope::set_mode(mode);
        frames(&scene, whole / 10, true);
        let plain_before = frames(&scene, whole / 10, false);
        tickscope::reset();
        let scoped = frames(&scene, whole, true);
        let snapshot = tickscope::reset();
        let plain = (plain_before + frames(&scene, whole / 10, false)) / 2.0;
        let (functions, all) = told(&snapshot);
        for (name, told) in &functions {
            let mode = snapshot.capture.mode.as_str();
            println!(
                "{mode:<10} {name:<20} {:>10} {:>9.1} {:>9.2} {:>9.1} {:>8.2}%",
                told.calls,
                told.self_ns / 1e6,
                told.error_ns / 1e6,
                told.self_ns / told.calls.max(1) as f64,
                100.0 * told.self_ns / all,
            );
        }
        let frames = functions.get("worker").map_or(1, |worker| worker.calls.max(1));
        println!(
            "{:<10} {:<20} frame with scopes {:.3} ms, by its own account {:.3} ms, plain {:.3} ms: {:+.1} %\n",
            snapshot.capture.mode.as_str(),
            "(whole)",
            scoped / 1e6,
            all / frames as f64 / 1e6,
            plain / 1e6,
            100.0 * (all / frames as f64 / plain - 1.0),
        );
    }
    Ok(())
}
