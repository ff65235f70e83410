//! Checks how much time a coarse ring of the default size covers, by writing realistic snapshots and reading them back.

use std::collections::VecDeque;

use tickscope_format::file::create::OwnRing;
use tickscope_format::file::header::Header;
use tickscope_format::file::open::RingFile;
use tickscope_format::ids::{NodeId, SiteId};
use tickscope_format::ring::Stamp;
use tickscope_format::snapshot::{Site, Thread};
use tickscope_format::{Snapshot, codec};
use tickscope_testkit::fixture;

/// Number of records in an hour.
const HOUR: u64 = 360;

/// Returns a snapshot of a program with `rows` nodes, `sites` sites and eight threads, and with paths and names of
/// typical length. `second` is its age in seconds.
fn program(rows: usize, sites: usize, second: u64) -> Snapshot {
    let mut s = Snapshot::default();
    s.process.name = "order-book".into();
    s.capture.seq = second;
    s.sites = (0..sites)
        .map(|site| Site {
            name: format!("Book::insert_{site}"),
            module: format!("order_book::engine::part_{}", site / 20),
            file: format!("crates/order-book/src/engine/part_{}.rs", site / 20),
            line: 10 + site as u32 % 900,
            group: String::new(),
        })
        .collect();
    let each = rows / 8;
    for thread in 0..8 {
        let first = thread * each;
        for row in 0..each {
            let parent = row.checked_sub(1).map(|last| NodeId((first + last / 3) as u32));
            let site = SiteId(((first + row) % sites) as u32);
            let calls = (second * 99_991) >> (row % 25);
            s.nodes.push(
                parent,
                site,
                calls,
                second * 2_400_000_000 / (row as u64 % 50 + 1),
            );
        }
        s.threads.push(Thread {
            name: format!("worker-{thread}"),
            tid: 41_873 + thread as u32,
            count: 1,
            cpu_ns: Some(second * 1_000_000_000),
            first_row: first as u32,
            rows: each as u32,
            open: vec![fixture::open(first as u32, second)],
            ..Thread::default()
        });
    }
    s
}

/// Writes one hour of records of [`program`], beginning a day after its start. Returns the size of the last record's
/// payload in bytes, and the number of records that can be read back.
fn hour_of(rows: usize, sites: usize) -> (usize, usize) {
    let dir = tempfile::tempdir().unwrap();
    let header = Header {
        ring_words: (16 << 20) / 8,
        coarse_words: (16 << 20) / 8,
        ..crate::support::header("app")
    };
    let mut ring = OwnRing::create(dir.path(), header).unwrap();
    ring.publish(stamp(0), &[]).unwrap();
    ring.link().unwrap();
    let mut payload = Vec::new();
    let mut written = VecDeque::new();
    for number in 1..=HOUR {
        let snapshot = program(rows, sites, 86_400 + number * 10);
        payload.clear();
        codec::encode_small(&snapshot, &mut payload).unwrap();
        assert!(ring.coarse_space(payload.len() as u64).unwrap() >= payload.len() as u64);
        ring.publish_coarse(stamp(number), &payload).unwrap();
        written.push_front(snapshot);
    }
    let seen = RingFile::open(ring.path()).unwrap();
    let newest = seen.coarse_newest().unwrap();
    let found = std::iter::successors(newest, |record| seen.coarse_before(record).unwrap());
    let same = found.zip(&written).inspect(|(record, written)| {
        assert_eq!(&codec::decode(&record.payload).unwrap(), *written);
    });
    (payload.len(), same.count())
}

fn stamp(number: u64) -> Stamp {
    fixture::stamp_at(number, number * 10_000_000_000)
}

fn an_hour_of_a_thousand_nodes_fits() {
    let (bytes, records) = hour_of(1000, 300);
    assert_eq!(records as u64, HOUR, "{bytes} bytes each");
    assert!((24_000..28_000).contains(&bytes), "{bytes}");
    // An hour also fits if hardly any function is called from more than one place.
    let (bytes, records) = hour_of(1000, 800);
    assert_eq!(records as u64, HOUR, "{bytes} bytes each");
}

fn of_ten_thousand_nodes_it_keeps_what_fits() {
    let (bytes, records) = hour_of(10_000, 500);
    let minutes = records / 6;
    assert!(
        (12..20).contains(&minutes),
        "{minutes} minutes of {bytes} bytes each"
    );
}

tickscope_testkit::tests![
    an_hour_of_a_thousand_nodes_fits,
    of_ten_thousand_nodes_it_keeps_what_fits,
];
