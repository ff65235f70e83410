use proptest::prelude::*;
use serde_json::Value;
use tickscope_analysis::call_tree::CallTree;
use tickscope_analysis::hotspots::hot;
use tickscope_testkit::fixture;
use tickscope_testkit::fixture::programs as fixtures;

use super::*;
use crate::speedscope_file::tests::own_values;

fn text(snapshot: &Snapshot, by: Measure) -> String {
    let mut out = Vec::new();
    write(snapshot, by, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn written(snapshot: &Snapshot) -> Value {
    serde_json::from_str(&text(snapshot, Measure::Time)).unwrap()
}

#[test]
fn golden() {
    // Split the text, so that each event is on one line.
    let text = text(&fixture::two_threads(), Measure::Time)
        .replace("{\"type\"", "\n{\"type\"")
        .replace("{\"name\"", "\n{\"name\"");
    insta::assert_snapshot!(text.replace(env!("CARGO_PKG_VERSION"), "VERSION"));
}

/// Checks the structure of the file, its names and its sums.
fn check(snapshot: &Snapshot) {
    let file = written(snapshot);
    let self_ns = own_values(&file);
    let frames = &file["shared"]["frames"];
    let tree = CallTree::build(snapshot, |_| true);
    for row in hot(&tree) {
        assert_eq!(self_ns[row.function.index()], row.self_ns);
        let name = &frames[row.function.index()]["name"];
        assert_eq!(*name, tree.functions.get(row.function).full_name());
    }
    assert_eq!(self_ns.iter().sum::<u64>(), tree.measured_ns());
}

#[test]
fn any_name_and_none() {
    check(&fixtures::stumbling());
    check(&fixtures::empty());
}

#[test]
fn the_busiest_thread_is_shown_first() {
    let file = written(&fixtures::order_sim());
    let name = |profile: usize| &file["profiles"][profile]["name"];
    assert_eq!(name(0), "match-0 (tid 41874), summed, not in time order");
    assert_eq!(name(4), "helper (17 finished), summed, not in time order");
    assert_eq!(file["activeProfileIndex"], 0);
}

proptest! {
    #[test]
    fn frames_nest_and_sums_hold(snapshot in fixtures::any_snapshot()) {
        check(&snapshot);
    }
}

#[test]
fn by_bytes_widths_are_bytes() {
    let text = text(&fixture::allocating(), Measure::Bytes);
    let file: Value = serde_json::from_str(&text).unwrap();
    let ends = [0, 1].map(|at| file["profiles"][at]["endValue"].as_u64());
    assert_eq!(ends, [Some(4_300), Some(700)]);
    assert_eq!(file["profiles"][0]["unit"], "bytes");
}
