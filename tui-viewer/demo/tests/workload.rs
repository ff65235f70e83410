#![allow(clippy::expect_used, reason = "tests")]
//! Checks that the reference workload gives the known results with every probe and on any number of threads.

use std::sync::atomic::{AtomicU64, Ordering};

use tickscope_demo::{Image, Plain, Probe, Scene, render, run};

/// Probe that only counts calls, which gives the workload's counts without a profiler.
struct Counted;

const NAMES: [&str; 6] = [
    "create",
    "basis",
    "ray_trace",
    "intersect_primary",
    "intersect_shadow",
    "worker",
];

static CALLS: [AtomicU64; NAMES.len()] = [const { AtomicU64::new(0) }; NAMES.len()];

impl Probe for Counted {
    type Guard = ();

    fn begin(name: &'static str, _: impl FnOnce() -> tickscope::Scope) {
        let index = NAMES
            .iter()
            .position(|known| *known == name)
            .expect("a known name");
        CALLS[index].fetch_add(1, Ordering::Relaxed);
    }
}

/// Returns the name and the number of calls of each function that was called since the last `take_counts`.
fn take_counts() -> Vec<(&'static str, u64)> {
    let counts = NAMES
        .into_iter()
        .zip(&CALLS)
        .map(|(name, calls)| (name, calls.swap(0, Ordering::Relaxed)));
    counts.filter(|&(_, calls)| calls > 0).collect()
}

/// One test covers all counts, because there is only one set of counters.
#[test]
fn the_counts_of_the_reference_frame() {
    let scene = Scene::build::<Counted>(6);
    assert_eq!(take_counts(), [("create", 66_430), ("basis", 7_381)]);

    render::<Counted>(&scene, 1024, 1024, 2);
    let [rays @ .., (shadow, shadow_rays), workers] = &take_counts()[..] else {
        panic!("something was called")
    };
    assert_eq!(rays, [("ray_trace", 4_194_304), ("intersect_primary", 4_194_304)]);
    assert_eq!(*workers, ("worker", 2));
    assert_eq!(*shadow, "intersect_shadow");
    // On another platform, `sin` may differ in the last bit, which changes some rays at the edges.
    assert!(shadow_rays.abs_diff(1_474_804) < 100, "{shadow_rays} shadow rays");
}

#[test]
fn a_picture_of_more_threads_than_rows() {
    let scene = Scene::build::<Plain>(2);
    assert_eq!(render::<Plain>(&scene, 3, 2, 8), render::<Plain>(&scene, 3, 2, 1));
    assert_eq!(render::<Plain>(&scene, 3, 2, 0), render::<Plain>(&scene, 3, 2, 1));
}

#[test]
fn a_pgm_has_a_header_and_a_byte_a_pixel() {
    let mut image = Image::new(3, 2);
    image.set_row(1, &[0.0, 0.5, 1.0]);
    let mut file = Vec::new();
    image.write_pgm(&mut file).unwrap();
    assert_eq!(file, b"P5\n3 2\n255\n\0\0\0\0\x80\xff");
}

#[test]
fn the_demo_ends_after_the_frames_asked_for() {
    let mut asked = Vec::new();
    run(&mut |done| {
        asked.push(done);
        done < 9
    });
    assert_eq!(asked, Vec::from_iter(0..=9));
}
