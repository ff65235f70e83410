//! `tickscope merge`: the sum of several runs is a snapshot file like any other.

use std::fs;

use tickscope_testkit::fixture;

use crate::support::{Place, VIEWER, until};

fn a_sum_of_runs_can_be_reported_and_compared() {
    let place = Place::new();
    let (a, b) = (fixture::two_threads(), fixture::recursion());
    place.keep("a.tks", &a);
    place.keep("b.tks", &b);
    let merge = ["merge", "a.tks", "b.tks", "a.tks", "-o", "all.tks"];
    assert_eq!(place.tickscope(&merge).ok().out, "all.tks\n");
    let report = place.json("./all.tks");
    let nodes = report["nodes"].as_array().unwrap().iter();
    let calls: u64 = nodes.map(|node| node["calls"].as_u64().unwrap()).sum();
    assert_eq!(calls, 2 * a.calls() + b.calls());
    let diff = ["diff", "all.tks", "all.tks", "--fail-if", "calls>0%"];
    place.tickscope(&diff).ok();
}

fn what_cannot_be_added_is_said() {
    let place = Place::new();
    place.keep("a.tks", &fixture::two_threads());
    let work = place.work();
    fs::write(work.join("noise.tks"), "noise").unwrap();
    place.refuses("1 merge a.tks noise.tks -o all.tks => noise.tks… --skip-unreadable");
    place.refuses("1 merge a.tks missing.tks -o all.tks => missing.tks");
    place.answers("1 merge noise.tks -o all.tks --skip-unreadable => none of 1 files can be read");
    assert!(!work.join("all.tks").exists());
    place.answers("0 merge a.tks noise.tks -o all.tks --skip-unreadable => left out: noise.tks");
    place.refuses("1 merge a.tks -o all.tks => all.tks exists already");
    place.refuses("2 merge a.tks -o - => goes to a file");
    place.refuses("2 merge a.tks -o all.json => wanted all.tks");
}

/// Adding up a thousand files with ten thousand nodes each needs a bounded amount of memory.
fn a_thousand_files_need_little_memory() {
    let place = Place::new();
    let work = place.work();
    let large = fixture::programs::large(10_000);
    let bytes = tickscope_format::snapshot_file::bytes(&large).unwrap();
    for host in 0..1000 {
        fs::write(work.join(format!("{host}.tks")), &bytes).unwrap();
    }
    let begin = std::time::Instant::now();
    let mut command = place.command(VIEWER);
    command
        .arg("merge")
        .args((0..1000).map(|host| format!("{host}.tks")))
        .args(["-o", "all.tks"]);
    let mut child = command.stdout(std::process::Stdio::null()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut most_kb = 0;
    let ended = until("the files are added up", || {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let peak = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kb = peak.and_then(|peak| peak.trim_end_matches("kB").trim().parse::<u64>().ok());
        most_kb = kb.unwrap_or(0).max(most_kb);
        child.try_wait().unwrap()
    });
    assert!(ended.success());
    let (nodes, took, mib) = (large.nodes.len(), begin.elapsed(), most_kb >> 10);
    println!("fleet: 1000 files of {nodes} nodes: {took:?}, {mib} MiB");
    assert!(most_kb <= 200 << 10, "{most_kb} kB");
    let sum = tickscope_format::snapshot_file::read(&work.join("all.tks")).unwrap();
    assert_eq!(sum.calls(), 1000 * large.calls());
}

tickscope_testkit::tests![
    a_sum_of_runs_can_be_reported_and_compared,
    what_cannot_be_added_is_said;
    ignored:
    // This test takes minutes, so only `.ci/nightly fleet` runs it.
    a_thousand_files_need_little_memory,
];
