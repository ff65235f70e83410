//! Compares the results of the modes: the sphereflake in each mode, in one process, in turns; and the time of the whole
//! against runs without scopes.

use std::hint::black_box;
use std::time::{Duration, Instant};

use tickscope::Mode;
use tickscope_bench::shown::Shown;
use tickscope_bench::{Plain, Scene, Scoped, render};

/// Width and height of the picture in pixels: about 20 ms a frame.
const SIZE: usize = 128;

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

/// Prints the table. Each mode has so long.
pub(crate) fn print(whole: Duration) {
    let scene = Scene::build::<Plain>(6);
    let modes = [Mode::Exact, Mode::Adaptive, Mode::Sampled];
    println!(
        "{:<10} {:<20} {:>10} {:>9} {:>9} {:>9} {:>9}",
        "mode", "function", "calls", "self ms", "+- ms", "ns/call", "share"
    );
    for mode in modes {
        // What adaptive mode measures in its first second, while it learns, is dropped.
        tickscope::set_mode(mode);
        frames(&scene, whole / 10, true);
        let plain_before = frames(&scene, whole / 10, false);
        tickscope::reset();
        let scoped = frames(&scene, whole, true);
        let snapshot = tickscope::reset();
        let plain = (plain_before + frames(&scene, whole / 10, false)) / 2.0;
        let shown = Shown::of(&snapshot);
        let (functions, all) = (&shown.functions, shown.all_ns());
        for (name, told) in functions {
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
}
