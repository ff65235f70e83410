//! A program as those of the crate `puffin` are: its rows with the feature `enable`, and nothing without.

use puffin::{GlobalProfiler, are_scopes_on, set_scopes_on};

// What the macros of that crate take.
fn frame(number: u32) {
    puffin::profile_function!();
    for part in 0..3 {
        puffin::profile_scope!("part");
        puffin::profile_scope_if!(part == 1, "with data", format!("part {part}"));
        work(part);
    }
    let held = puffin::profile_scope_custom!("held");
    drop(held);
    drop(puffin::profile_scope_custom_if!(number == 0, "first", "data"));
    GlobalProfiler::lock().new_frame();
}

fn work(part: u32) {
    puffin::profile_function_if!(part != 0, "not recorded");
    puffin::profile_function!(format!("{part}"));
}

#[test]
fn rows_are_those_that_the_macros_name() {
    assert!(are_scopes_on());
    (0..2).for_each(frame);
    set_scopes_on(false);
    assert!(!are_scopes_on());
    frame(0);
    set_scopes_on(true);
    check();
}

#[cfg(feature = "enable")]
fn check() {
    use tickscope_format::ids::NodeId;
    let snapshot = tickscope::snapshot();
    let name = |row: usize| snapshot.site_of(NodeId(row as u32)).name.as_str();
    let mut found: Vec<(&str, u64)> = (0..snapshot.nodes.len())
        .map(|row| (name(row), snapshot.nodes.calls[row]))
        .collect();
    found.sort_unstable();
    // The two scopes of `work` are two places, below a part with data and below one without.
    let wanted = [
        ("first", 1),
        ("frame", 2),
        ("frames", 2),
        ("held", 2),
        ("part", 6),
        ("with data", 2),
        ("work", 2),
        ("work", 2),
        ("work", 2),
        ("work", 2),
        ("work", 2),
    ];
    assert_eq!(found, wanted);
}

#[cfg(not(feature = "enable"))]
fn check() {
    let _ = tickscope::snapshot();
}
