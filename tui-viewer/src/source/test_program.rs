//! A program as tests of readers need one: its ring, and what it publishes there.

use std::path::Path;

use tickscope_format::file::create::OwnRing;
use tickscope_format::file::header::Header;
use tickscope_format::recording::Writer;
use tickscope_format::ring::Stamp;
use tickscope_format::snapshot::CaptureKind;
use tickscope_format::{Snapshot, codec, os};
use tickscope_testkit::fixture::programs;

use crate::source::events::Past;

/// What a ring or a recording holds of a snapshot.
pub(crate) fn payload(snapshot: &Snapshot) -> Vec<u8> {
    let mut payload = Vec::new();
    codec::encode(snapshot, &mut payload).unwrap();
    payload
}

/// The same as a feed hands it over.
pub(crate) fn past(snapshot: &Snapshot) -> Past {
    Past {
        unix_ns: snapshot.capture.unix_ns,
        kind: snapshot.capture.kind,
        payload: payload(snapshot).into(),
    }
}

/// A recording of these snapshots.
pub(crate) fn recorded(path: &Path, snapshots: impl IntoIterator<Item = Snapshot>) {
    let mut writer = Writer::create(path, true).unwrap();
    for snapshot in snapshots {
        writer
            .append(Stamp::from(&snapshot.capture), &payload(&snapshot))
            .unwrap();
    }
    writer.finish().unwrap();
}

/// A run of a program whose `main` calls `work`.
pub(crate) struct TestProgram {
    pub(crate) ring: OwnRing,
    pub(crate) seq: u64,
    pub(crate) epoch: u64,
    pub(crate) withdraws: Option<u64>,
    /// Calls of `main` in each record.
    pub(crate) main_calls: u64,
    pid: u32,
    started_unix_ns: u64,
}

impl TestProgram {
    /// One of this name and start; the nonce tells its rings apart.
    pub(crate) fn named(dir: &Path, name: &str, started_unix_ns: u64, nonce: u64) -> Self {
        let header = Header {
            started_unix_ns,
            nonce,
            ..tickscope_testkit::ring::header(name)
        };
        Self::start(dir, header)
    }

    /// Starts one with this header, on this machine since its last start. Its ring is found once something is in it.
    pub(crate) fn start(dir: &Path, header: Header) -> Self {
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

    /// Publishes so many calls of `work`; each record is a second behind the one before.
    pub(crate) fn shows(&mut self, calls: u64, kind: CaptureKind) {
        let mut snapshot =
            programs::run(&[(0, "main", self.main_calls, 5), (1, "work", calls, 1000 * calls)]);
        snapshot.capture.kind = kind;
        snapshot.capture.unix_ns = 1_000_000_000 * (self.seq + 1);
        snapshot.capture.since_reset_ns = 500_000_000;
        snapshot.capture.interval_ns = 100_000_000;
        self.publish(&mut snapshot);
    }

    /// Publishes a record of its own.
    pub(crate) fn publish(&mut self, snapshot: &mut Snapshot) {
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

    /// Ends an epoch, in which it had so many calls.
    pub(crate) fn reset(&mut self, calls: u64) {
        self.shows(calls, CaptureKind::Closing);
        self.epoch += 1;
        self.withdraws = None;
    }
}
