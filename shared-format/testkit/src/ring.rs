//! Made-up programs that write rings as real programs do, with any number of nodes and threads, and at any rate.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tickscope_format::FormatError;
use tickscope_format::Snapshot;
use tickscope_format::file::create::{OwnRing, Way};
use tickscope_format::file::header::Header;
use tickscope_format::ids::{NodeId, SiteId};
use tickscope_format::layout::{FORMAT_MAJOR, FORMAT_MINOR};
use tickscope_format::os;
use tickscope_format::ring::Stamp;
use tickscope_format::snapshot::{Site, Thread, ThreadState};

use crate::fixture::payload;
use crate::orderbook;
use crate::suite::skip;

/// Returns the header of a 1 MiB ring without a coarse ring. It contains the id of this process but of another boot, so
/// the ring seems to belong to a program that ran before a reboot.
pub fn header(name: &str) -> Header {
    Header {
        name: name.into(),
        pid: std::process::id(),
        start_time: 1,
        boot_id: [1, 2],
        uid: os::user_id(),
        nonce: 1,
        run_token: 0,
        started_unix_ns: 1,
        ring_words: (1 << 20) / 8,
        coarse_words: 0,
        control: true,
        library: String::new(),
        version: (FORMAT_MAJOR, FORMAT_MINOR),
    }
}

/// Returns whether the kernel lets a process copy memory within itself with `process_vm_writev`, which some containers
/// forbid.
///
/// # Panics
///
/// If no ring can be created.
pub fn kernel_copies() -> bool {
    let dir = tempfile::tempdir().unwrap();
    let ring = OwnRing::create_by(dir.path(), header("copies"), Way::Copied).unwrap();
    ring.way() == Way::Copied
}

/// Skips the test if `process_vm_writev` cannot be used (see [`kernel_copies`]).
///
/// # Panics
///
/// If the test is skipped, or if no ring can be created.
pub fn wants_kernel_copies() {
    if !kernel_copies() {
        skip("no process_vm_writev here");
    }
}

/// A ring, and the thread that writes to it until the `Program` is dropped.
#[derive(Debug)]
pub struct Program {
    path: PathBuf,
    /// When each record was published.
    times: Arc<Mutex<Vec<Instant>>>,
    stop: Arc<AtomicBool>,
    writer: Option<JoinHandle<()>>,
}

/// Returns a snapshot of a program that has run for `tenths` tenths of a second. It has `threads` threads, and `nodes`
/// nodes in total, which belong to at most `functions` functions.
pub fn snapshot(nodes: u32, threads: u32, functions: u32, tenths: u64) -> Snapshot {
    let mut s = orderbook::snapshot(tenths);
    s = Snapshot {
        process: s.process,
        clock: s.clock,
        capture: s.capture,
        measuring: s.measuring,
        ..Snapshot::default()
    };
    for n in 0..functions.min(nodes) {
        s.sites.push(Site {
            name: format!("work_{n}"),
            module: format!("generated::part_{}", n % 17),
            file: format!("src/part_{}.rs", n % 17),
            line: n + 1,
            group: String::new(),
        });
    }
    let mut random = 7u64;
    for t in 0..threads {
        let first_row = s.nodes.len() as u32;
        let rows = nodes / threads + u32::from(t < nodes % threads);
        for row in 0..rows {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            // The trees are broad rather than deep, as real ones are.
            let parent = (row > 0).then(|| NodeId(first_row + (random >> 33) as u32 % row));
            let site = SiteId((first_row + row) % s.sites.len() as u32);
            let calls = 1 + random % 1_000 * tenths;
            s.nodes
                .push(parent, site, calls, calls * (random >> 40) % 100_000);
        }
        s.threads.push(Thread {
            name: format!("worker-{t}"),
            tid: 50_000 + t,
            state: ThreadState::Running,
            count: 1,
            cpu_ns: None,
            outside_ticks: 0,
            first_row,
            rows,
            open: Vec::new(),
        });
    }
    s
}

impl Program {
    /// Creates a ring in `dir`, and publishes these snapshots in turn, one per interval, starting over after the last.
    ///
    /// # Errors
    /// The ring cannot be created.
    pub fn start(dir: &Path, snapshots: &[Snapshot], interval: Duration) -> Result<Self, FormatError> {
        let mut records = Vec::new();
        for snapshot in snapshots {
            let mut snapshot = snapshot.clone();
            snapshot.capture.interval_ns = interval.as_nanos() as u64;
            records.push((Stamp::from(&snapshot.capture), payload(&snapshot)));
        }
        let lengths = records.iter().map(|(_, payload)| payload.len());
        let longest = lengths.max().unwrap_or(0) as u64;
        let header = Header {
            started_unix_ns: orderbook::STARTED_UNIX_NS,
            ring_words: (longest * 4).next_power_of_two().max(1 << 20) / 8,
            ..header("orderbook-sim")
        };
        let mut ring = OwnRing::create(dir, header)?;
        let times = Arc::new(Mutex::new(vec![Instant::now()]));
        let publish = move |ring: &mut OwnRing, count: usize| {
            let (stamp, payload) = &records[count % records.len()];
            ring.publish(*stamp, payload)
        };
        publish(&mut ring, 0)?;
        ring.beat(os::monotonic_ns(), interval.as_nanos() as u64);
        ring.link()?;
        let path = ring.path().to_path_buf();
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let log = Arc::clone(&times);
        let writer = std::thread::spawn(move || {
            let mut next = Instant::now() + interval;
            let mut count = 0;
            while !told.load(Ordering::Relaxed) {
                // Send a heartbeat at least every 50 ms. Otherwise the ring of an idle program would look as if the
                // program hung.
                let now = Instant::now();
                std::thread::sleep(next.saturating_duration_since(now).min(Duration::from_millis(50)));
                ring.beat(os::monotonic_ns(), interval.as_nanos() as u64);
                if Instant::now() >= next {
                    next += interval;
                    count += 1;
                    let now = Instant::now();
                    if publish(&mut ring, count).is_err() {
                        return;
                    }
                    log.lock().unwrap_or_else(PoisonError::into_inner).push(now);
                }
            }
        });
        Ok(Self {
            path,
            times,
            stop,
            writer: Some(writer),
        })
    }

    /// Returns the path of the ring's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the times at which records have been published so far.
    pub fn times(&self) -> Vec<Instant> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(writer) = self.writer.take() {
            // The thread returns nothing.
            let _ = writer.join();
        }
    }
}
