use tickscope_format::file::create::OwnRing;
use tickscope_format::file::header::Header;
use tickscope_format::ring::Stamp;
use tickscope_format::snapshot::{LineSample, NO_MODULE, SampledIn};
use tickscope_testkit::orderbook;
use tickscope_testkit::test_program;

use super::*;
use crate::test_recording;

/// A ring with a coarse record every ten seconds from 100 s to 130 s, and a fine one every second from 125 s to 130 s.
fn ring(dir: &Path) -> RingFile {
    let header = Header {
        coarse_words: (1 << 20) / 8,
        ..tickscope_testkit::ring::header("app")
    };
    let mut own = OwnRing::create(dir, header).unwrap();
    for second in 100..=130 {
        let snapshot = orderbook::snapshot(second * 10);
        let stamp = Stamp::from(&snapshot.capture);
        if second >= 125 {
            own.publish(stamp, &test_program::payload(&snapshot)).unwrap();
        }
        if second % 10 == 0 {
            let mut payload = Vec::new();
            codec::encode_small(&snapshot, &mut payload).unwrap();
            own.coarse_space(payload.len() as u64).unwrap();
            own.publish_coarse(stamp, &payload).unwrap();
        }
    }
    own.link().unwrap();
    RingFile::open(own.path()).unwrap()
}

#[test]
fn a_ring_reaches_back_over_its_coarse_records_and_percentiles_do_not() {
    let dir = tempfile::tempdir().unwrap();
    let timeline = Timeline::of_ring(&ring(dir.path()), Some(0)).unwrap();
    let of = |second: u64| orderbook::snapshot(second * 10);
    let at = |text: &str| timeline.find(text.parse().unwrap()).unwrap();
    let seconds: Vec<usize> = [
        "0s", "9.9s", "10s", "24s", "25s", "26.5s", "-0s", "-5.1s", "30.9s",
    ]
    .map(at)
    .to_vec();
    assert_eq!(seconds, [0, 0, 1, 2, 3, 4, 8, 2, 8]);
    assert!(timeline.find("32s".parse().unwrap()).is_err());
    assert!(timeline.find("-31s".parse().unwrap()).is_err());
    assert_eq!(timeline.snapshot(5).unwrap(), of(127));

    let ends = |text: &str| {
        let when: When = text.parse().unwrap();
        let (from, to) = (timeline.find_from(when), timeline.find_to(when));
        (from.ok(), to.ok())
    };
    // The nearest moment is taken. A start before the first moment and an end after the last one are clamped.
    assert_eq!(ends("24s"), (Some(3), Some(3)));
    assert_eq!(ends("26.4s"), (Some(4), Some(4)));
    assert_eq!(ends("26.6s"), (Some(5), Some(5)));
    assert_eq!(ends("1h"), (None, Some(8)));
    assert_eq!(ends("-1h"), (Some(0), None));
    assert_eq!(ends("00:10"), (None, None), "a day before");

    let fine = timeline.between(at("26s"), at("29s")).unwrap();
    assert_eq!(fine.snapshot.calls(), of(129).calls() - of(126).calls());
    assert!(!fine.snapshot.latencies.row.is_empty());
    let begin = timeline.begin_of(8, Duration::from_secs(20));
    let coarse = timeline.between(begin, 8).unwrap();
    assert_eq!(coarse.snapshot.calls(), of(130).calls() - of(110).calls());
    assert!(coarse.snapshot.latencies.row.is_empty());
    assert!(coarse.words.starts_with("20.0 s, from "), "{}", coarse.words);
    assert_eq!(timeline.begin_of(8, Duration::from_secs(3_600)), 0);
    assert!(timeline.between(8, 8).is_err());
}

/// Writes a recording of these snapshots and opens it.
fn recorded(dir: &Path, snapshots: &[Snapshot]) -> Timeline {
    let path = dir.join("run.tks");
    test_recording::recorded(&path, snapshots.iter().cloned());
    Timeline::of(&Found::Kept(path), Some(0)).unwrap()
}

#[test]
fn what_threads_did_is_told_of_any_stretch() {
    let dir = tempfile::tempdir().unwrap();
    let snapshots: Vec<Snapshot> = (100..110).map(|second| orderbook::waiting(second * 10)).collect();
    let timeline = recorded(dir.path(), &snapshots);
    let nowhere = Addresses::default();
    let of = |ends| timeline.slots(ends, &nowhere, |snapshot| snapshot).unwrap();
    assert_ne!(of((0, 9)), of((2, 5)));
    assert_ne!(of((2, 5)), Slots::default());
    let none = timeline.slots((0, 9), &nowhere, |_| Snapshot::default()).unwrap();
    assert_ne!(none, of((0, 9)), "what is changed counts");
    let counted = of((0, 9));
    let sampled = (1..).zip(snapshots).map(|(times, mut snapshot)| {
        let rows = 0..snapshot.nodes.len() as u32;
        snapshot.lines.set(rows.map(|row| LineSample {
            inside: SampledIn::Row(row),
            module: NO_MODULE,
            address: 9,
            samples: 10 * times,
            cpu_ns: 1_000_000 * times,
        }));
        snapshot
    });
    let timeline = recorded(dir.path(), &sampled.collect::<Vec<_>>());
    let sampled = timeline.slots((0, 9), &nowhere, |snapshot| snapshot).unwrap();
    assert_ne!(sampled, counted, "functions that are not counted are told");
}

#[test]
fn what_a_stretch_does_not_hold_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let of = |second: u64, reset_epoch: u64| {
        let mut snapshot = orderbook::snapshot(second * 10);
        snapshot.capture.reset_epoch = reset_epoch;
        snapshot
    };
    let reset = recorded(dir.path(), &[of(100, 2), of(101, 3)]);
    assert_eq!(
        reset.between(0, 1).unwrap().doubts,
        ["counts just before a reset are in no record, so they are missing here"]
    );
    let mut undone = of(101, 3);
    undone.capture.withdraws = Some(1);
    let undone = recorded(dir.path(), &[of(100, 2), undone]);
    assert_eq!(
        undone.between(0, 1).unwrap().doubts,
        ["an undo brought back counts from before the first record, which are included here"]
    );
    let mut other = of(101, 2);
    other.process.pid += 1;
    let two = recorded(dir.path(), &[of(100, 2), other]);
    let why = two.between(0, 1).unwrap_err().to_string();
    assert!(
        why.ends_with(
            "run.tks: found records of two processes, wanted one process, as `tickscope record` writes"
        ),
        "{why}"
    );
}
