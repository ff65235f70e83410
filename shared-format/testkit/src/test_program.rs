//! A program for tests of readers. It has its own ring, and publishes the records that a test asks for.

use std::path::Path;

use tickscope_format::file::create::OwnRing;
use tickscope_format::file::header::Header;
use tickscope_format::ring::Stamp;
use tickscope_format::snapshot::CaptureKind;
use tickscope_format::{Snapshot, os};

pub use crate::fixture::payload;
use crate::fixture::programs;

/// A run of a program in which `main` calls `work`.
#[derive(Debug)]
pub struct TestProgram {
    /// The ring.
    pub ring: OwnRing,
    /// Number of the newest record.
    pub seq: u64,
    /// Number of resets so far.
    pub epoch: u64,
    /// If the current reset epoch began with an undo: the earlier epoch whose counts it continues. Otherwise `None`.
    pub withdraws: Option<u64>,
    /// Number of calls to `main` in each record.
    pub main_calls: u64,
    pid: u32,
    started_unix_ns: u64,
}

impl TestProgram {
    /// Starts a program with this name and start time; `nonce` distinguishes the rings of programs with the same name.
    pub fn named(dir: &Path, name: &str, started_unix_ns: u64, nonce: u64) -> Self {
        let header = Header {
            started_unix_ns,
            nonce,
            ..crate::ring::header(name)
        };
        Self::start(dir, header)
    }

    /// Starts a program with this header, except that the boot id is the machine's own. Readers find the ring only
    /// after the first record has been published.
    pub fn start(dir: &Path, header: Header) -> Self {
        let (pid, started_unix_ns) = (header.pid, header.started_unix_ns);
        let header = Header {
            boot_id: os::boot_id(),
            ..header
        };
        Self {
            ring: OwnRing::create(dir, header).unwrap(),
            seq: 0,
            epoch: 0,
            withdraws: None,
            main_calls: 1,
            pid,
            started_unix_ns,
        }
    }

    /// Publishes a record with this number of calls to `work`. Each record is one second later than the previous one.
    pub fn shows(&mut self, calls: u64, kind: CaptureKind) {
        let mut snapshot =
            programs::run(&[(0, "main", self.main_calls, 5), (1, "work", calls, 1000 * calls)]);
        snapshot.capture.kind = kind;
        snapshot.capture.unix_ns = 1_000_000_000 * (self.seq + 1);
        snapshot.capture.since_reset_ns = 500_000_000;
        snapshot.capture.interval_ns = 100_000_000;
        self.publish(&mut snapshot);
    }

    /// Publishes a snapshot as the program's next record.
    pub fn publish(&mut self, snapshot: &mut Snapshot) {
        self.seq += 1;
        snapshot.process.pid = self.pid;
        snapshot.process.started_unix_ns = self.started_unix_ns;
        let capture = &mut snapshot.capture;
        (capture.seq, capture.reset_epoch, capture.withdraws) = (self.seq, self.epoch, self.withdraws);
        self.ring
            .publish(Stamp::from(&snapshot.capture), &payload(snapshot))
            .unwrap();
        self.ring.beat(os::monotonic_ns(), 3_600_000_000_000);
        if self.seq == 1 {
            self.ring.link().unwrap();
        }
    }

    /// Ends the current epoch with a closing record, in which `work` has this number of calls, and begins the next
    /// epoch.
    pub fn reset(&mut self, calls: u64) {
        self.shows(calls, CaptureKind::Closing);
        self.epoch += 1;
        self.withdraws = None;
    }
}
