//! Measures the viewer's speed from outside: from its process, its pseudo terminal, and the bytes that it writes there.
//!
//! ```text
//! cargo run --profile dist -p tickscope-cli --example viewer_bench [-- PART OF A NAME]
//! ```
//!
//! Prints a Markdown table with the wanted and the measured values. The argument selects measurements by name: `first`,
//! `key`, `event`, `idle`, `live` or `memory`.

#![allow(clippy::print_stdout, reason = "it prints a table")]

mod terminal;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;
use tickscope_format::Snapshot;
use tickscope_testkit::ring::{Program, snapshot};

use crate::terminal::Viewer;

/// Interval between records that is longer than any measurement, so that the program publishes no second record.
const STILL: Duration = Duration::from_secs(3_600);

/// Number of functions in a large program.
const FUNCTIONS: u32 = 5_000;

/// Keys in the order in which they are pressed, with what they do. Each changes the screen.
const KEYS: [(&str, &str); 10] = [
    ("j", "a row down"),
    ("\x1b[6~", "a page down"),
    ("G", "the last row"),
    ("k", "a row up"),
    ("g", "the first row"),
    (">", "another order"),
    ("<", "the former order"),
    ("2", "another view"),
    ("j", "a row down there"),
    ("1", "back to the tree"),
];

fn main() -> Result<()> {
    let wanted = std::env::args().nth(1).unwrap_or_default();
    let viewer = build()?;
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!(
        "Load before: {}\n",
        load.split(' ').take(3).collect::<Vec<_>>().join(" ")
    );
    println!("| what | wanted | reached |");
    println!("| --- | --- | --- |");
    type Measure = fn(&Path) -> Result<Vec<[String; 3]>>;
    let all: [(&str, Measure); 6] = [
        ("first", first_frame),
        ("key", keys),
        ("event", event_to_screen),
        ("idle", idle),
        ("live", live),
        ("memory", memory),
    ];
    for (_, measure) in all.iter().filter(|(name, _)| name.contains(&wanted)) {
        for [what, wanted, reached] in measure(&viewer)? {
            println!("| {what} | {wanted} | {reached} |");
        }
    }
    Ok(())
}

/// Builds the viewer with the same profile and target directory as this program.
fn build() -> Result<PathBuf> {
    let this = std::env::current_exe()?;
    let profile = this
        .parent()
        .and_then(Path::parent)
        .context("it lies in PROFILE/examples")?;
    let mut build = Command::new(env!("CARGO"));
    build.current_dir(env!("CARGO_MANIFEST_DIR"));
    build.args(["build", "--quiet", "--package=tickscope-cli", "--bin=tickscope"]);
    if let Some(target) = profile.parent() {
        build.arg("--target-dir").arg(target);
    }
    if !profile.ends_with("dist") {
        println!("Not the profile `dist`, which the README installs: these figures say little.\n");
    }
    let name = profile.file_name().context("a profile's folder has a name")?;
    let is_dev = name == "debug";
    build
        .arg("--profile")
        .arg(if is_dev { OsStr::new("dev") } else { name });
    ensure!(build.status()?.success(), "the viewer cannot be built");
    Ok(profile.join("tickscope"))
}

/// Wall time of each measured step, and the CPU time that the viewer used for it. On a busy machine, wall time includes
/// waiting for a CPU.
#[derive(Default)]
struct Times {
    wall: Vec<Duration>,
    cpu: Vec<Duration>,
}

impl Times {
    fn push(&mut self, wall: Duration, cpu: Duration) {
        self.wall.push(wall);
        self.cpu.push(cpu);
    }

    fn uncertainty(&self) -> String {
        format!(
            "{}; at work {}",
            uncertainty(self.wall.clone()),
            uncertainty(self.cpu.clone())
        )
    }
}

/// Formats the median and the 99th percentile of the times, in milliseconds.
fn uncertainty(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at = |share: f64| {
        let index = ((times.len() - 1) as f64 * share).round() as usize;
        times[index].as_secs_f64() * 1e3
    };
    format!("p50 {:.1} ms, p99 {:.1} ms", at(0.5), at(0.99))
}

fn row(what: impl Into<String>, wanted: &str, reached: String) -> [String; 3] {
    [what.into(), wanted.to_string(), reached]
}

fn first_frame(viewer: &Path) -> Result<Vec<[String; 3]>> {
    let mut rows = Vec::new();
    for nodes in [Some(10_000), None] {
        let dir = tempfile::tempdir()?;
        let start = |nodes| Program::start(dir.path(), &[snapshot(nodes, 4, FUNCTIONS, 1_340)], STILL);
        let program = nodes.map(start).transpose()?;
        let target = program.as_ref().map_or("nobody-is-called-so".into(), |program| {
            program.path().to_string_lossy()
        });
        let mut times = Times::default();
        for _ in 0..50 {
            let began = Instant::now();
            let mut viewer = Viewer::start(viewer, &target, dir.path())?;
            let frame = viewer.frame()?;
            times.push(frame - began, viewer.cpu()?);
            viewer.quit()?;
        }
        let there = nodes.map_or("nobody there".to_string(), |nodes| format!("{nodes} nodes"));
        let what = format!("first frame after exec, {there}");
        rows.push(row(what, "<= 50 ms", times.uncertainty()));
    }
    Ok(rows)
}

/// Starts a program that publishes these records, and a viewer that watches the program. Waits for the first frame.
fn started(viewer: &Path, records: &[Snapshot], interval: Duration) -> Result<(TempDir, Program, Viewer)> {
    let dir = tempfile::tempdir()?;
    let program = Program::start(dir.path(), records, interval)?;
    let mut viewer = Viewer::start(viewer, &program.path().to_string_lossy(), dir.path())?;
    viewer.frame()?;
    Ok((dir, program, viewer))
}

fn keys(viewer: &Path) -> Result<Vec<[String; 3]>> {
    let mut rows = Vec::new();
    for (nodes, wanted) in [(10_000, "p99 <= 8 ms"), (100_000, "p99 <= 33 ms")] {
        let records = [snapshot(nodes, 1, FUNCTIONS, 1_340)];
        let (_dir, _program, mut viewer) = started(viewer, &records, STILL)?;
        // At first, the root is the only row, so this key opens all rows.
        viewer.send("E")?;
        viewer.frame()?;
        viewer.quiet(Duration::from_millis(200));
        let mut all = Times::default();
        let mut each: Vec<Times> = KEYS.iter().map(|_| Times::default()).collect();
        for _ in 0..30 {
            for ((key, what), each) in KEYS.iter().zip(&mut each) {
                let (began, before) = (Instant::now(), viewer.cpu()?);
                viewer.send(key)?;
                let frame = viewer.frame().with_context(|| (*what).to_string())?;
                let (wall, cpu) = (frame - began, viewer.cpu()?.saturating_sub(before));
                all.push(wall, cpu);
                each.push(wall, cpu);
                viewer.quiet(Duration::from_millis(5));
            }
        }
        rows.push(row(
            format!("key to last byte of the frame, {nodes} nodes open, {FUNCTIONS} functions"),
            wanted,
            all.uncertainty(),
        ));
        for ((_, what), times) in KEYS.iter().zip(each) {
            rows.push(row(format!("... {what}"), "", times.uncertainty()));
        }
        viewer.quit()?;
    }
    Ok(rows)
}

/// Returns a hundred snapshots of a thousand nodes. Each differs from the one before.
fn moving(functions: u32) -> Vec<Snapshot> {
    let at = |n: u64| snapshot(1_000, 4, functions, 1_340 + n);
    (0..100).map(at).collect()
}

fn event_to_screen(viewer: &Path) -> Result<Vec<[String; 3]>> {
    let (_dir, program, mut viewer) = started(viewer, &moving(250), Duration::from_millis(100))?;
    viewer.quiet(Duration::from_secs(8));
    let frames = &viewer.frames;
    let (first, last) = (frames[0], frames[frames.len() - 1]);
    let published = program.times();
    let seen = published.iter().filter(|&&time| time > first && time < last);
    let times: Vec<Duration> = seen
        .filter_map(|&time| Some(*frames.iter().find(|&&frame| frame > time)? - time))
        .collect();
    ensure!(times.len() > 50, "most records are shown");
    viewer.quit()?;
    Ok(vec![row(
        "record published to last byte of the frame, 10 Hz",
        "<= 120 ms (interval + 20 ms)",
        uncertainty(times),
    )])
}

fn idle(viewer: &Path) -> Result<Vec<[String; 3]>> {
    let (_dir, _program, mut viewer) = started(viewer, &[snapshot(1_000, 4, 1_000, 1_340)], STILL)?;
    // Long enough for the viewer to finish drawing after its start.
    viewer.quiet(Duration::from_secs(4));
    let (bytes, cpu) = (viewer.bytes, viewer.cpu()?);
    viewer.quiet(Duration::from_secs(10));
    let share = (viewer.cpu()? - cpu).as_secs_f64() / 10.0;
    let written = viewer.bytes - bytes;
    viewer.quit()?;
    Ok(vec![
        row("idle for 10 s: written", "0 bytes", format!("{written} bytes")),
        row(
            "idle for 10 s: of one core",
            "<= 0.1 %",
            format!("{:.2} %", share * 100.0),
        ),
    ])
}

fn live(viewer: &Path) -> Result<Vec<[String; 3]>> {
    let mut rows = Vec::new();
    // A tree of 1000 nodes usually has 250 functions, and at most 1000.
    let views = [
        (250, "E", ""),
        (1_000, "E", ""),
        (250, "9", ", the time line shown"),
        (250, "4", ", the threads shown"),
    ];
    for (functions, keys, shown) in views {
        let (_dir, _program, mut viewer) = started(viewer, &moving(functions), Duration::from_millis(100))?;
        viewer.send(keys)?;
        viewer.quiet(Duration::from_secs(2));
        let (frames, bytes, cpu) = (viewer.frames.len(), viewer.bytes, viewer.cpu()?);
        viewer.quiet(Duration::from_secs(20));
        let share = (viewer.cpu()? - cpu).as_secs_f64() / 20.0;
        let frames = viewer.frames.len() - frames;
        let bytes = (viewer.bytes - bytes) / frames.max(1);
        viewer.quit()?;
        rows.push(row(
            format!("live at 10 Hz, 1 k nodes, {functions} functions{shown}: of one core"),
            "<= 1 %",
            format!(
                "{:.2} % ({frames} frames in 20 s, {bytes} bytes each)",
                share * 100.0
            ),
        ));
    }
    Ok(rows)
}

/// Measures the memory after ten minutes of records: one per second, and ten per second in the last thirty seconds.
fn memory(viewer: &Path) -> Result<Vec<[String; 3]>> {
    let seconds = (0..570u64).map(|n| n * 10);
    let tenths = seconds.chain(5_700..6_000);
    let records = Vec::from_iter(tenths.map(|n| snapshot(1_000, 4, 1_000, 1_340 + n)));
    let (_dir, program, mut viewer) = started(viewer, &records, Duration::from_millis(20))?;
    while program.times().len() < records.len() {
        viewer.quiet(Duration::from_millis(100));
    }
    let resident = viewer.resident_kib()?;
    viewer.quit()?;
    Ok(vec![row(
        "memory after 10 minutes of 1 k nodes",
        "<= 64 MiB",
        format!("{:.1} MiB", resident as f64 / 1024.0),
    )])
}
