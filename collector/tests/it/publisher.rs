//! Tests of the publisher: it writes records on time, answers requests in order, and does not disturb the program.

use std::os::unix::fs::FileExt;
use std::time::Duration;

use crate::support::{self, ask, calls_of, check, newest, pin, ring_of, started, wait_for, wait_until};
use tickscope::{Builder, Session};
use tickscope_format::file::open::RingFile;
use tickscope_format::layout::{WORD, state};
use tickscope_format::slots::{Op, Outcome};
use tickscope_format::snapshot::CaptureKind;
use tickscope_format::{Snapshot, codec};

fn publishing() -> (Session, RingFile) {
    let session = Builder::new("publishes").try_start().unwrap();
    let ring = ring_of(&session);
    (session, ring)
}

/// Waits for more records, and returns the median of the `gaps` intervals between them in ns, according to the
/// wall-clock times in their stamps.
fn usual_gap(ring: &RingFile, gaps: u64) -> u64 {
    let first = ring.newest().unwrap().sequence;
    wait_until("records", || ring.newest().unwrap().sequence > first + gaps);
    let records = support::records(ring);
    let stamps: Vec<u64> = records
        .iter()
        .filter(|(record, _)| record.sequence > first)
        .map(|(record, _)| record.stamp.unix_ns)
        .collect();
    let mut gaps: Vec<u64> = stamps.windows(2).map(|pair| pair[1] - pair[0]).collect();
    gaps.sort_unstable();
    gaps[gaps.len() / 2]
}

fn records_come_slowly_until_a_viewer_watches() {
    // The mode is exact, in which records may use the most CPU time. In other modes, an expensive record is more likely
    // to lengthen the interval.
    let (_session, ring) = publishing();
    let comes_every = |ns| wait_until("the interval", || newest(&ring).capture.interval_ns == ns);
    let alone = usual_gap(&ring, 2);
    assert!(alone > 900_000_000, "{alone}");
    let interval = newest(&ring).capture.interval_ns;
    assert!((1_000_000_000..=10_000_000_000).contains(&interval), "{interval}");
    let mut slot = ring.take_slot().unwrap().unwrap();
    wait_until("a record that knows us", || newest(&ring).capture.viewers == 1);
    comes_every(100_000_000);
    let watched = usual_gap(&ring, 5);
    assert!((90_000_000..alone).contains(&watched), "{watched}");

    assert_eq!(ask(&mut slot, Op::Interval(20_000_000)).outcome, Outcome::Done);
    comes_every(20_000_000);
    wait_until("records that often", || {
        let wished = usual_gap(&ring, 10);
        assert!(wished >= 18_000_000, "{wished}");
        wished < watched
    });

    // If two viewers request different intervals, the shorter one applies, clamped to the range from 10 ms to 1 s.
    let mut second = ring.take_slot().unwrap().unwrap();
    ask(&mut second, Op::Interval(u64::MAX));
    comes_every(20_000_000);
    ask(&mut slot, Op::Interval(0));
    wait_until("the shortest interval", || {
        let interval = newest(&ring).capture.interval_ns;
        assert!(interval >= 10_000_000, "{interval}");
        interval < 20_000_000
    });
    assert_eq!(newest(&ring).capture.viewers, 2);
    drop(slot);
    comes_every(1_000_000_000);
    drop(second);
    wait_until("nobody", || newest(&ring).capture.viewers == 0);
}

fn the_heart_beats_while_nothing_is_recorded() {
    let session = started(Builder::new("slow").interval(Duration::from_secs(3600)));
    let ring = ring_of(&session);
    let file = std::fs::File::open(ring.path()).unwrap();
    let beat = || {
        let mut word = [0; WORD];
        file.read_exact_at(&mut word, (state::HEARTBEAT * WORD) as u64)
            .unwrap();
        u64::from_le_bytes(word)
    };
    let first = beat();
    assert!(first > 0, "the first record comes with a beat");
    for _ in 0..3 {
        let last = beat();
        wait_until("a beat", || beat() > last);
    }
    assert!(beat() > first);
    assert_eq!(ring.newest().unwrap().sequence, 1);
}

fn an_answer_comes_after_the_record_that_shows_it() {
    let (_session, ring) = publishing();
    let mut slot = ring.take_slot().unwrap().unwrap();
    for round in 1..=20 {
        tickscope::time!("work", ());
        let reply = ask(&mut slot, Op::PublishNow);
        let (record, snapshot) = ring.newest_snapshot().unwrap();
        assert_eq!(reply.outcome, Outcome::Done);
        assert!(record.sequence >= reply.record && reply.record > 0);
        assert_eq!(calls_of(&snapshot, "work"), round);
    }
    let reply = ask(&mut slot, Op::Reset);
    assert_eq!((reply.outcome, reply.reset_epoch), (Outcome::Done, 1));
    let records = support::records(&ring);
    let (_, shows) = records
        .iter()
        .find(|(record, _)| record.sequence == reply.record)
        .unwrap();
    assert_eq!((shows.capture.reset_epoch, shows.calls()), (1, 0));
    let (_, closing) = records
        .iter()
        .find(|(record, _)| record.sequence == reply.record - 1)
        .unwrap();
    assert_eq!(closing.capture.kind, CaptureKind::Closing);
    assert_eq!(calls_of(closing, "work"), 20);
}

/// Returns the value of a line in the `status` file that the kernel provides for a thread.
fn status_line(tid: u32, name: &str) -> String {
    support::status_line(&format!("self/task/{tid}"), name)
}

fn the_publisher_is_a_good_guest() {
    let before = status_line(std::process::id(), "Cpus_allowed");
    let blocked_before = status_line(std::process::id(), "SigBlk");
    // SAFETY: the call takes no argument.
    pin(unsafe { libc::sched_getcpu() } as usize);
    let pinned = status_line(std::process::id(), "Cpus_allowed");
    assert!(support::schedule(libc::SCHED_BATCH, 0));

    let (_session, ring) = publishing();
    let _slot = ring.take_slot().unwrap();
    let tids = || {
        let tasks = std::fs::read_dir("/proc/self/task").unwrap();
        tasks.map(|task| {
            task.unwrap()
                .file_name()
                .to_str()
                .unwrap()
                .parse::<u32>()
                .unwrap()
        })
    };
    let publisher = wait_for("the thread", || {
        tids().find(|&tid| status_line(tid, "Name") == "tickscope")
    });
    assert_ne!(publisher, std::process::id());
    assert_eq!(tids().count(), 2);
    let blocked = u64::from_str_radix(&status_line(publisher, "SigBlk"), 16).unwrap();
    // All signals must be blocked, except SIGKILL, SIGSTOP and the signals that the C library reserves.
    let cannot = [libc::SIGKILL, libc::SIGSTOP]
        .into_iter()
        .chain(32..libc::SIGRTMIN());
    let cannot: u64 = cannot.map(|signal| 1 << (signal - 1)).sum();
    assert_eq!(blocked | cannot, u64::MAX, "{blocked:x}");
    assert_eq!(status_line(publisher, "Cpus_allowed"), before);
    assert_eq!(support::policy_of(publisher), libc::SCHED_OTHER);
    // The settings of the thread that created the publisher have not changed.
    assert_eq!(status_line(std::process::id(), "SigBlk"), blocked_before);
    assert_eq!(status_line(std::process::id(), "Cpus_allowed"), pinned);
    assert_eq!(support::policy_of(0), libc::SCHED_BATCH);
    // The publisher's own work is not counted, and its thread is not in the snapshot.
    tickscope::time!("work", ());
    wait_until("the work", || calls_of(&newest(&ring), "work") == 1);
    assert_eq!(newest(&ring).threads.len(), 1);
    assert!(newest(&ring).capture.cost.publisher_cpu_ns > 0);
}

/// Returns the records of the coarse ring, oldest first.
fn history(ring: &RingFile) -> Vec<Snapshot> {
    let newest = ring.coarse_newest().unwrap();
    let records = std::iter::successors(newest, |record| ring.coarse_before(record).unwrap());
    let mut snapshots: Vec<Snapshot> = records
        .map(|record| {
            let snapshot = codec::decode(&record.payload).unwrap();
            assert_eq!(record.stamp.kind, snapshot.capture.kind);
            assert_eq!(record.stamp.unix_ns, snapshot.capture.unix_ns);
            check(&snapshot);
            snapshot
        })
        .collect();
    snapshots.reverse();
    snapshots
}

fn what_a_reset_closes_is_history_at_once_and_without_latencies() {
    let session = Builder::new("history").histogram(true).try_start().unwrap();
    let ring = ring_of(&session);
    assert_eq!(history(&ring), []);
    for round in 1..=3 {
        tickscope::time!("work", ());
        drop(tickscope::reset());
        wait_until("the closing record", || history(&ring).len() == round);
    }
    for (epoch, snapshot) in history(&ring).iter().enumerate() {
        assert_eq!(snapshot.capture.reset_epoch, epoch as u64);
        assert_eq!(snapshot.capture.kind, CaptureKind::Closing);
        assert_eq!((calls_of(snapshot, "work"), snapshot.calls()), (1, 1));
        assert!(snapshot.latencies.row.is_empty() && snapshot.measuring.histograms);
    }
    // The fine ring has the same record, including its latencies.
    let fine = support::records(&ring);
    let closing = fine
        .iter()
        .find(|(record, _)| record.stamp.kind == CaptureKind::Closing);
    assert!(!closing.unwrap().1.latencies.row.is_empty());
    drop(session);
    assert_eq!(history(&ring).last().unwrap().capture.kind, CaptureKind::Final);
}

fn a_program_without_history_ends_without_a_coarse_ring() {
    let (session, ring) = publishing();
    tickscope::time!("work", ());
    drop(session);
    assert_eq!(newest(&ring).capture.kind, CaptureKind::Final);
    assert_eq!(history(&ring), []);
    let length = std::fs::metadata(ring.path()).unwrap().len();
    assert_eq!(length, ring.header().file_bytes());
    assert_eq!(ring.header().coarse_words, ring.header().ring_words);
}

fn a_coarse_record_comes_after_ten_seconds() {
    let (_session, ring) = publishing();
    let first = ring.newest().unwrap().stamp.unix_ns;
    wait_until("history", || !history(&ring).is_empty());
    let snapshot = history(&ring).remove(0);
    assert_eq!(snapshot.capture.kind, CaptureKind::Periodic);
    let age = snapshot.capture.unix_ns - first;
    assert!(age > 9_900_000_000, "{age}");
}

crate::support::tests![
    isolated: records_come_slowly_until_a_viewer_watches;
    as_usual:
    a_coarse_record_comes_after_ten_seconds,
    the_heart_beats_while_nothing_is_recorded,
    an_answer_comes_after_the_record_that_shows_it,
    the_publisher_is_a_good_guest,
    what_a_reset_closes_is_history_at_once_and_without_latencies,
    a_program_without_history_ends_without_a_coarse_ring;
];
