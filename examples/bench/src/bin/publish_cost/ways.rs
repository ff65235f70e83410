//! Compares the ways in which a record can reach its file: what a record costs, how long the worst ones take, and how
//! many programs die when another process truncates the file.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use tickscope_format::file::create::{OwnRing, Way};
use tickscope_format::file::header::Header;
use tickscope_format::layout::{FORMAT_MAJOR, FORMAT_MINOR, WORD, slot};
use tickscope_format::ring::Stamp;
use tickscope_format::snapshot::CaptureKind;
use tickscope_format::{FormatError, codec, os};

use crate::{ROLE, stages, tree};

const WAYS: [Way; 2] = [Way::Copied, Way::Mapped];

const STAMP: Stamp = Stamp {
    kind: CaptureKind::Periodic,
    tick: 0,
    unix_ns: 0,
};

/// The number of truncations for each way and rate.
const CUTS: u32 = 100;

fn text(error: impl ToString) -> String {
    error.to_string()
}

fn ring(dir: &Path, way: Way) -> Result<OwnRing, FormatError> {
    let header = Header {
        name: "ways".into(),
        pid: std::process::id(),
        start_time: 0,
        boot_id: [0; 2],
        uid: os::user_id(),
        nonce: os::random(),
        run_token: 0,
        started_unix_ns: 0,
        ring_words: (16 << 20) / 8,
        coarse_words: 0,
        control: false,
        library: String::new(),
        version: (FORMAT_MAJOR, FORMAT_MINOR),
    };
    let mut ring = OwnRing::create_by(dir, header, way)?;
    ring.link()?;
    Ok(ring)
}

fn start(role: &str) -> Result<Child, String> {
    let program = std::env::current_exe().map_err(text)?;
    Command::new(program).env(ROLE, role).spawn().map_err(text)
}

/// Prints all tables, for files in memory and on disk.
pub(crate) fn print() -> Result<(), String> {
    let _session = stages::session(1_000, true, Duration::from_secs(3600));
    (0..20).for_each(|round| tree::visit(1_000, &stages::work(round)));
    let mut thousand = Vec::new();
    codec::encode(&tickscope::snapshot(), &mut thousand).map_err(text)?;
    let payloads = [
        ("1000 nodes", thousand),
        ("100 kB", vec![7; 100_000]),
        ("4 MB", vec![7; 4_000_000]),
    ];
    let own = format!("tickscope-ways-{}", std::process::id());
    let places = [
        ("tmpfs", Path::new("/dev/shm").join(&own)),
        ("disk", std::env::temp_dir().join(&own)),
    ];
    println!(
        "Publishing a record, in microseconds; \"sync\": another process writes to the file and syncs it all the time."
    );
    println!("place  record         bytes  other  way        median     p99.9       max");
    for (place, dir) in &places {
        fs::create_dir_all(dir).map_err(text)?;
        for (name, payload) in &payloads {
            for sync in [false, true] {
                costs(
                    dir,
                    payload,
                    sync,
                    &format!("{place:6} {name:10} {:9}", payload.len()),
                )?;
            }
        }
    }
    println!("\nOf {CUTS} programs whose file was cut while they published 4 MB records, so many died:");
    println!("place  records     copied  mapped");
    for (place, dir) in &places {
        for hz in [10, 100, 0] {
            let mut dead = [0; WAYS.len()];
            for (way, dead) in WAYS.iter().zip(&mut dead) {
                *dead = storm(dir, *way, hz)?;
            }
            let rate = if hz == 0 {
                "flat out".into()
            } else {
                format!("{hz} Hz")
            };
            println!("{place:6} {rate:10} {:7} {:7}", dead[0], dead[1]);
        }
        fs::remove_dir_all(dir).map_err(text)?;
    }
    Ok(())
}

fn costs(dir: &Path, payload: &[u8], sync: bool, row: &str) -> Result<(), String> {
    let mut rings = Vec::new();
    for way in WAYS {
        let ring = ring(dir, way).map_err(text)?;
        if ring.way() != way {
            return Err(format!("{way:?} is not to be had here"));
        }
        rings.push((ring, Vec::new()));
    }
    let mut others = Vec::new();
    for (ring, _) in rings.iter().filter(|_| sync) {
        others.push(start(&format!("sync {}", ring.path().display()))?);
    }
    let rounds = if payload.len() > 1_000_000 { 200 } else { 4_000 };
    for _ in 0..rounds {
        for (ring, times) in &mut rings {
            let begin = Instant::now();
            ring.publish(STAMP, payload).map_err(text)?;
            times.push(begin.elapsed().as_secs_f64() * 1e6);
        }
    }
    for mut other in others {
        other.kill().and_then(|()| other.wait()).map_err(text)?;
    }
    for (ring, mut times) in rings {
        times.sort_by(f64::total_cmp);
        println!(
            "{row}  {:5}  {:6} {:10.1} {:9.1} {:9.1}",
            if sync { "sync" } else { "none" },
            format!("{:?}", ring.way()).to_lowercase(),
            times[times.len() / 2],
            times[times.len() * 999 / 1000],
            times[times.len() - 1],
        );
        fs::remove_file(ring.path()).map_err(text)?;
    }
    Ok(())
}

/// Runs the other process, which acts as a viewer that sends requests and as a backup.
pub(crate) fn sync(path: &str) -> Result<(), String> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(path)
        .map_err(text)?;
    loop {
        file.write_all_at(&[0; WORD], (slot::FIRST * WORD) as u64)
            .map_err(text)?;
        file.sync_all().map_err(text)?;
    }
}

/// Publishes at a rate until it is killed, into a new ring whenever one was lost.
pub(crate) fn publish(dir: &str, way: &str, hz: u32) -> Result<(), String> {
    let way = WAYS
        .into_iter()
        .find(|one| format!("{one:?}") == way)
        .ok_or("no such way")?;
    let payload = vec![7; 4_000_000];
    loop {
        let mut ring = ring(Path::new(dir), way).map_err(text)?;
        while ring.publish(STAMP, &payload).is_ok() {
            if hz > 0 {
                std::thread::sleep(Duration::from_secs(1) / hz);
            }
        }
        fs::remove_file(ring.path()).map_err(text)?;
    }
}

fn rings(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// Truncates the files of a program, and returns how often the program died.
fn storm(dir: &Path, way: Way, hz: u32) -> Result<u32, String> {
    let role = format!("publish {} {way:?} {hz}", dir.display());
    let mut program = start(&role)?;
    let mut dead = 0;
    for _ in 0..CUTS {
        let path = loop {
            if let Some(path) = rings(dir).pop() {
                break path;
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        // The moment is anywhere between two records, or in the middle of one.
        let longest_us = if hz == 0 {
            20_000
        } else {
            1_000_000 / u64::from(hz)
        };
        std::thread::sleep(Duration::from_micros(os::random() % longest_us));
        let file: File = OpenOptions::new().write(true).open(&path).map_err(text)?;
        let length = file.metadata().map_err(text)?.len().max(1);
        file.set_len(os::random() % length).map_err(text)?;
        while path.exists() {
            if let Some(status) = program.try_wait().map_err(text)? {
                if status.signal() != Some(7) {
                    return Err(format!("{role}: {status}"));
                }
                dead += 1;
                fs::remove_file(&path).map_err(text)?;
                program = start(&role)?;
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    program.kill().and_then(|()| program.wait()).map_err(text)?;
    for path in rings(dir) {
        fs::remove_file(path).map_err(text)?;
    }
    Ok(dead)
}
