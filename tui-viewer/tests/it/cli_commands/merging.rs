//! Runs that are added up: the sum is a file like any other.

use std::fs;

use crate::cli_commands::support::Place;

fn frames(place: &Place, count: &str, file: &str) {
    let mut program = place.role("counted", count);
    assert!(program.output().unwrap().status.success());
    let ring = fs::read_dir(place.rings())
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let ring = ring
        .max_by_key(|path| path.metadata().unwrap().modified().unwrap())
        .unwrap();
    place
        .tickscope(&["snapshot", ring.to_str().unwrap(), "-o", file])
        .ok();
    fs::remove_file(ring).unwrap();
}

fn a_sum_of_runs_can_be_reported_and_compared() {
    let place = Place::new();
    frames(&place, "10 5", "a.tks");
    frames(&place, "20 5", "b.tks");
    let done = place
        .tickscope(&["merge", "a.tks", "b.tks", "a.tks", "-o", "all.tks"])
        .ok();
    assert_eq!(done.out, "all.tks\n");
    let report = place.json("./all.tks");
    let calls = |name: &str| -> u64 {
        let nodes = report["nodes"].as_array().unwrap();
        let named = nodes.iter().filter(|node| node["name"] == name);
        named.map(|node| node["calls"].as_u64().unwrap()).sum()
    };
    assert_eq!((calls("whole"), calls("frame"), calls("leaf")), (3, 40, 200));
    assert_eq!(report["process"]["name"], "counted");
    let other = place
        .tickscope(&["merge", "b.tks", "b.tks", "-o", "other.tks"])
        .ok()
        .quiet();
    assert_eq!(other.out, "other.tks\n");
    let diff = place
        .tickscope(&["diff", "all.tks", "other.tks", "-f", "json", "--per", "frame"])
        .ok();
    assert!(diff.out.contains("\"leaf\""), "{}", diff.out);
    place
        .tickscope(&["diff", "all.tks", "all.tks", "--fail-if", "calls>0%"])
        .ok();
}

fn what_cannot_be_added_is_said() {
    let place = Place::new();
    frames(&place, "3 2", "a.tks");
    let work = place.work();
    fs::write(work.join("noise.tks"), "noise").unwrap();
    let merge = |args: &[&str]| place.tickscope(&[&["merge"], args].concat());
    merge(&["a.tks", "noise.tks", "-o", "all.tks"]).failed(1, &["noise.tks", "--skip-unreadable"]);
    merge(&["a.tks", "missing.tks", "-o", "all.tks"]).failed(1, &["missing.tks"]);
    merge(&["noise.tks", "-o", "all.tks", "--skip-unreadable"])
        .with_code(1)
        .says(&["none of 1 files can be read"]);
    assert!(!work.join("all.tks").exists());
    merge(&["a.tks", "noise.tks", "-o", "all.tks", "--skip-unreadable"])
        .ok()
        .says(&["left out: noise.tks"]);
    merge(&["a.tks", "-o", "all.tks"]).failed(1, &["all.tks exists already"]);
    merge(&["a.tks", "-o", "-"]).failed(2, &["goes to a file"]);
    merge(&["a.tks", "-o", "all.json"]).failed(2, &["wanted all.tks"]);
}

/// A thousand hosts, ten thousand nodes each, in bounded memory.
fn a_thousand_files_need_little_memory() {
    let place = Place::new();
    let work = place.work();
    let large = tickscope_testkit::fixture::programs::large(10_000);
    let bytes = tickscope_format::snapshot_file::bytes(&large).unwrap();
    for host in 0..1000 {
        fs::write(work.join(format!("{host}.tks")), &bytes).unwrap();
    }
    let begin = std::time::Instant::now();
    let mut command = place.command(crate::cli_commands::support::VIEWER);
    command
        .arg("merge")
        .args((0..1000).map(|host| format!("{host}.tks")))
        .args(["-o", "all.tks"]);
    let mut child = command.stdout(std::process::Stdio::null()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut most_kb = 0;
    let ended = crate::cli_commands::support::until("the files are added up", || {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let peak = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kb = peak.and_then(|peak| peak.trim_end_matches("kB").trim().parse::<u64>().ok());
        most_kb = kb.unwrap_or(0).max(most_kb);
        child.try_wait().unwrap()
    });
    assert!(ended.success());
    println!(
        "fleet: 1000 files of {} nodes: {:?}, {} MiB",
        large.nodes.len(),
        begin.elapsed(),
        most_kb >> 10
    );
    assert!(most_kb <= 200 << 10, "{most_kb} kB");
    let sum = tickscope_format::snapshot_file::read(&work.join("all.tks")).unwrap();
    assert_eq!(sum.calls(), 1000 * large.calls());
}

tickscope_testkit::tests![
    a_sum_of_runs_can_be_reported_and_compared,
    what_cannot_be_added_is_said;
    ignored:
    // Takes minutes: .ci/nightly fleet.
    a_thousand_files_need_little_memory,
];
