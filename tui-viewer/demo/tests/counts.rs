//! Checks the collector's own snapshot of a frame against the known counts, on one thread and on four. The frame has
//! half as many pixels per side as the reference frame, whose counts are in `workload.rs`.
//!
//! One test covers everything, because a program has only one collector.

use std::collections::BTreeMap;
use std::thread;

use tickscope::Snapshot;
use tickscope_demo::{Image, Plain, Scene, Scoped, render};

/// Returns the number of calls of each function. Calls of the recursive `create` are counted separately for each depth.
fn counts(snapshot: &Snapshot) -> BTreeMap<String, u64> {
    let columns = &snapshot.nodes;
    let mut levels: Vec<usize> = Vec::with_capacity(columns.len());
    let mut counts = BTreeMap::new();
    for row in 0..columns.len() {
        let id = tickscope_format::ids::NodeId(row as u32);
        let parent = columns.parent_of(id);
        let name = &snapshot.site_of(id).name;
        // Parents come first, so the level of the row above is known.
        let above = parent.map_or(0, |parent| levels[parent.index()]);
        let is_create = name == "create";
        levels.push(above + usize::from(is_create));
        let key = if is_create {
            format!("create {above}")
        } else {
            name.to_string()
        };
        *counts.entry(key).or_default() += columns.calls[row];
    }
    counts
}

const SIDE: usize = 512;

/// Renders the frame on `threads` threads. Returns the number of calls of each scope, and the picture.
fn measured(threads: usize) -> (BTreeMap<String, u64>, Image) {
    let closing = tickscope::reset();
    drop(closing);
    let scene = Scene::build::<Scoped>(6);
    let image = render::<Scoped>(&scene, SIDE, SIDE, threads);
    (counts(&tickscope::snapshot()), image)
}

#[test]
fn the_collector_counts_a_frame_exactly() {
    let scene = Scene::build::<Plain>(6);
    let plain = render::<Plain>(&scene, SIDE, SIDE, 2);
    let mut shadow_rays = Vec::new();
    for threads in [1, 4] {
        // Runs on a new thread, where no other scope is open.
        let (mut counts, image) = thread::scope(|scope| scope.spawn(|| measured(threads)).join().unwrap());
        assert_eq!(
            image, plain,
            "{threads} threads: scopes change no bit of the picture"
        );
        shadow_rays.push(counts.remove("intersect_shadow").unwrap());
        let wanted = [
            ("basis", 7_381),
            ("create 0", 1),
            ("create 1", 9),
            ("create 2", 81),
            ("create 3", 729),
            ("create 4", 6_561),
            ("create 5", 59_049),
            ("intersect_primary", 1_048_576),
            ("ray_trace", 1_048_576),
            ("worker", threads as u64),
        ];
        let wanted: BTreeMap<String, u64> = wanted.map(|(name, calls)| (name.to_string(), calls)).into();
        assert_eq!(counts, wanted, "{threads} threads");
        let spheres: u64 = counts
            .iter()
            .filter(|(name, _)| name.starts_with("create"))
            .map(|(_, calls)| calls)
            .sum();
        assert_eq!(spheres, 66_430);
    }
    assert_eq!(
        shadow_rays[0], shadow_rays[1],
        "the same rays on every number of threads"
    );
    // On another platform, the sine may differ in the last bit, which changes some rays at the edges.
    assert!(shadow_rays[0].abs_diff(368_674) < 100, "{shadow_rays:?}");
}
