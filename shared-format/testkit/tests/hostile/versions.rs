//! Golden files of the format, and files of other versions. A file of another major version is refused, and the error
//! names both versions. A file of a newer minor version is read without its new data.
//!
//! These tests fail if the format changes. If the change is intended, raise `FORMAT_MINOR` if older readers may ignore
//! it, or `FORMAT_MAJOR` if they may not. Keep the existing golden files, because files of this major version must
//! always open. Write the golden files of the new version with `GOLDEN=write`.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use tickscope_format::file::create::OwnRing;
use tickscope_format::file::header::Header;
use tickscope_format::file::open::RingFile;
use tickscope_format::ids::{NO_PARENT, NodeId, SiteId};
use tickscope_format::latency::{Histogram, Latencies};
use tickscope_format::layout::{FORMAT_MAJOR, FORMAT_MINOR, header as at};
use tickscope_format::recording::{Recording, Writer};
use tickscope_format::snapshot::{
    CaptureInfo, CaptureKind, ClockInfo, ClockSource, Column, Cost, Count, Extremes, GaugeRow, Level,
    Lifetime, Losses, Measures, Measuring, Mode, NodeErrors, Now, Process, Quantity, Rule, Site, Snapshot,
    TaskPath, Tasks, Thread, ThreadState, ValueRow, WaitsIn,
};
use tickscope_format::{codec, os, snapshot_file};
use tickscope_testkit::fixture::{estimate, open, payload, small_payload, stamp};

/// Returns a snapshot with data in every field that this version of the format has. The golden files of the version
/// contain the same snapshot.
fn snapshot_of(version: &str) -> Snapshot {
    let mut s = snapshot();
    match version {
        "1.1" => {
            without_what_1_4_brought(&mut s);
            s.measures = Measures::default();
            s.waits = false;
        }
        "1.2" => {
            without(
                &mut s,
                &[Quantity::Waiting, Quantity::Ready, Quantity::UnplacedWaiting],
            );
            without_what_1_4_brought(&mut s);
            s.waits = false;
        }
        "1.3" => without_what_1_4_brought(&mut s),
        "1.4" => without(&mut s, &[Quantity::Sampled, Quantity::FutureVanished]),
        "1.5" => without(&mut s, &[Quantity::FutureVanished]),
        _ => {}
    }
    s
}

fn without(s: &mut Snapshot, quantities: &[Quantity]) {
    for &quantity in quantities {
        s.measures.set(quantity, Column::default());
    }
}

fn without_what_1_4_brought(s: &mut Snapshot) {
    s.nodes.parent.truncate(3);
    s.nodes.site.truncate(3);
    s.nodes.calls.truncate(3);
    s.nodes.self_ticks.truncate(3);
    s.threads[0].rows = 3;
    s.counts.truncate(1);
    s.value_rows.clear();
    s.gauge_rows.clear();
    s.waits_in = WaitsIn::default();
    s.async_latencies = Latencies::default();
    s.tasks = Tasks::default();
    without(s, &Quantity::ALL[Quantity::MadeOthersWait as usize..]);
}

/// Returns a snapshot with data in every field.
fn snapshot() -> Snapshot {
    let site = |name: &str, line| Site {
        name: name.into(),
        module: "app::book".into(),
        file: "src/book.rs".into(),
        line,
        group: "orders".into(),
    };
    let mut s = Snapshot {
        process: Process {
            name: "golden".into(),
            pid: 4711,
            started_unix_ns: 1_700_000_000_000_000_000,
            uptime_ns: 5_000_000_000,
            warnings: vec!["a warning".into()],
            copies: vec![],
        },
        clock: ClockInfo {
            source: ClockSource::Tsc,
            ticks_per_second: 2.5e9,
            reason: "a reason".into(),
            errors: 1,
            epoch: 2,
        },
        capture: CaptureInfo {
            mode: Mode::Adaptive,
            kind: CaptureKind::Periodic,
            seq: 9,
            tick: 12_500_000_000,
            unix_ns: 1_700_000_005_000_000_000,
            interval_ns: 100_000_000,
            reset_epoch: 3,
            since_reset_ns: 4_000_000_000,
            withdraws: Some(1),
            pruned: 4,
            losses: Losses {
                dropped: 5,
                unbalanced: 6,
            },
            cost: Cost {
                lower_ns: 12.5,
                upper_ns: 25.0,
                publisher_cpu_ns: 1_000_000,
                publisher_share: 0.001,
            },
            viewers: 2,
        },
        lifetime: Lifetime {
            calls: 100,
            ticks: 1_000_000,
        },
        sites: [site("insert", 10), site("cancel", 20), site("orders", 30)].into(),
        errors: vec![NodeErrors {
            node: NodeId(1),
            count: 2,
        }],
        measuring: Measuring {
            histograms: true,
            sampling_hz: 0.0,
            samples: 7,
            rules: vec![Rule {
                pattern: "alloc::*".into(),
                off: true,
            }],
            off_sites: vec![SiteId(1)],
        },
        estimates: vec![estimate(1, 3, 40, 50)],
        counts: vec![
            Count {
                node: NodeId(2),
                sum: 77,
            },
            Count {
                node: NodeId(3),
                sum: 0,
            },
        ],
        value_rows: vec![ValueRow {
            node: NodeId(2),
            range: Some(Extremes {
                min: 1,
                max: 9,
                min_exact: true,
                max_exact: false,
            }),
        }],
        gauge_rows: vec![GaugeRow {
            node: NodeId(3),
            level: Some(Level {
                last: -4,
                set_tick: 12_000_000_001,
                range: Extremes {
                    min: -7,
                    max: 12,
                    min_exact: false,
                    max_exact: true,
                },
            }),
        }],
        waits_in: WaitsIn::new([(1, "futex", 71), (1, "read (pipe)", 9)], [(0, Now::In("futex"))]),
        waits: true,
        ..Snapshot::default()
    };
    let top = s.nodes.push(None, SiteId(0), 10, 500_000);
    s.nodes.push(Some(top), SiteId(1), 20, 250_000);
    s.nodes.push(Some(top), SiteId(2), 30, 0);
    s.nodes.push(Some(top), SiteId(1), 40, 0);
    let mut histogram = Histogram::default();
    [1_000, 2_000, 40_000]
        .into_iter()
        .for_each(|ticks| histogram.insert(ticks));
    s.latencies.push(1, &histogram);
    s.async_latencies.push(1, &histogram);
    s.tasks.paths = vec![TaskPath {
        parent: NO_PARENT,
        site: SiteId(1),
        names_await: true,
        in_flight: 3,
        polled: 1,
        innermost: 2,
        oldest_ns: 5_000,
        innermost_oldest_ns: 4_000,
    }];
    s.tasks.ages.push(0, &histogram);
    s.tasks.beyond = 6;
    s.threads.push(Thread {
        name: "main".into(),
        tid: 4711,
        state: ThreadState::Running,
        count: 1,
        cpu_ns: Some(3_000_000),
        outside_ticks: 1_000,
        first_row: 0,
        rows: 4,
        open: vec![open(0, 12_000_000_000)],
    });
    for (quantity, value) in Quantity::ALL.into_iter().zip(10..) {
        s.measures.push_row(quantity, 1, value);
        s.measures.push_row(quantity, 2, value << 40);
        s.measures.push_outside(quantity, 0, value + 100);
    }
    s
}

/// Returns the ring file of a program that has written `snapshot()` three times to each of its two rings.
fn ring(dir: &Path) -> Vec<u8> {
    let header = Header {
        pid: 4711,
        nonce: 7,
        run_token: 3,
        started_unix_ns: 1_700_000_000_000_000_000,
        ring_words: 8192,
        coarse_words: 8192,
        ..tickscope_testkit::ring::header("golden")
    };
    let mut ring = OwnRing::create(dir, header).unwrap();
    for number in 1..=3 {
        let small = small_payload(&snapshot());
        ring.publish(stamp(number), &payload(&snapshot())).unwrap();
        ring.coarse_space(small.len() as u64).unwrap();
        ring.publish_coarse(stamp(number), &small).unwrap();
    }
    ring.beat(5, 100_000_000);
    ring.exit(1_700_000_006_000_000_000);
    ring.link().unwrap();
    owned(fs::read(ring.path()).unwrap(), 0)
}

fn word(file: &[u8], index: usize) -> u64 {
    u64::from_le_bytes(file[index * 8..][..8].try_into().unwrap())
}

fn with_word(mut file: Vec<u8>, index: usize, value: u64) -> Vec<u8> {
    file[index * 8..][..8].copy_from_slice(&value.to_le_bytes());
    file
}

/// Recomputes the checksum of a header that was changed.
fn signed(file: Vec<u8>) -> Vec<u8> {
    let sum = u64::from(crc32fast::hash(&file[..at::CRC * 8]));
    with_word(file, at::CRC, sum)
}

/// Sets the user id in the header. Readers accept a ring only if the user in its header owns the file.
fn owned(file: Vec<u8>, uid: u32) -> Vec<u8> {
    signed(with_word(file, at::UID, uid.into()))
}

fn series(dir: &Path) -> Vec<u8> {
    let path = dir.join("series.tks");
    let mut writer = Writer::create(&path, false).unwrap();
    for number in 1..=3 {
        writer.append(stamp(number), &payload(&snapshot())).unwrap();
    }
    writer.finish().unwrap();
    fs::read(path).unwrap()
}

fn golden_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile/golden")
}

/// Reads a golden file. Golden files are deflated, because a ring is mostly zeros.
fn golden(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let packed =
        fs::read(path).unwrap_or_else(|error| panic!("{}: {error}; GOLDEN=write writes it", path.display()));
    DeflateDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
    bytes
}

/// Returns all golden files of one kind, with the version of each.
fn all_golden(kind: &str) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(golden_dir()).unwrap();
    let mut all: Vec<_> = entries
        .filter_map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name()?.to_str()?.to_owned();
            let version = name.strip_prefix(kind)?.strip_prefix('-')?.to_owned();
            Some((version, golden(&path)))
        })
        .collect();
    all.sort();
    assert!(!all.is_empty(), "no golden files of {kind}");
    all
}

fn check(kind: &str, made: Vec<u8>) {
    let path = golden_dir().join(format!("{kind}-{FORMAT_MAJOR}.{FORMAT_MINOR}"));
    if std::env::var_os("GOLDEN").is_some_and(|value| value == "write") {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&made).unwrap();
        fs::create_dir_all(golden_dir()).unwrap();
        fs::write(&path, encoder.finish().unwrap()).unwrap();
    }
    let golden = golden(&path);
    let differs = (0..made.len().max(golden.len())).find(|&at| made.get(at) != golden.get(at));
    assert_eq!(
        differs, None,
        "{kind}: the format has changed at this byte, and its version is still {FORMAT_MAJOR}.{FORMAT_MINOR}; the head of \
         this test's file says what to do"
    );
}

#[test]
fn the_format_changes_with_its_version_only() {
    let dir = tempfile::tempdir().unwrap();
    check("payload", payload(&snapshot()));
    check("small", small_payload(&snapshot()));
    check("ring", ring(dir.path()));
    check("kept", snapshot_file::bytes(&snapshot()).unwrap());
    // The bytes of a compressed recording depend on the deflate library, so its golden file is not compared. It only
    // has to be readable, which another test checks.
    let path = golden_dir().join(format!("series-{FORMAT_MAJOR}.{FORMAT_MINOR}"));
    if std::env::var_os("GOLDEN").is_some_and(|value| value == "write") {
        check("series", series(dir.path()));
    }
    assert!(path.exists(), "{}; GOLDEN=write writes it", path.display());
}

#[test]
fn files_of_all_versions_so_far_open() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    let less = |version: &str| Snapshot {
        latencies: Latencies::default(),
        async_latencies: Latencies::default(),
        tasks: Tasks::default(),
        ..snapshot_of(version)
    };
    for (version, bytes) in all_golden("payload") {
        assert_eq!(codec::decode(&bytes).unwrap(), snapshot_of(&version), "{version}");
    }
    for (version, bytes) in all_golden("small") {
        assert_eq!(codec::decode(&bytes).unwrap(), less(&version), "{version}");
    }
    for (version, bytes) in all_golden("ring") {
        fs::write(&path, owned(bytes, os::user_id())).unwrap();
        let ring = RingFile::open(&path).unwrap();
        assert_eq!(ring.header().name.as_str(), "golden", "{version}");
        assert_eq!(ring.header().pid, 4711, "{version}");
        let (record, newest) = ring.newest_snapshot().unwrap();
        assert_eq!((record.sequence, newest), (3, snapshot_of(&version)), "{version}");
        assert_eq!(ring.between(0, &record).count(), 2, "{version}");
        let coarse = ring.coarse_newest().unwrap().unwrap();
        assert_eq!(
            codec::decode(&coarse.payload).unwrap(),
            less(&version),
            "{version}"
        );
    }
    for kind in ["kept", "series"] {
        for (version, bytes) in all_golden(kind) {
            fs::write(&path, bytes).unwrap();
            let series = Recording::open(&path).unwrap();
            assert_eq!(series.moments().len(), if kind == "kept" { 1 } else { 3 });
            for moment in series.moments() {
                assert_eq!(
                    series.snapshot(moment).unwrap(),
                    snapshot_of(&version),
                    "{kind} {version}"
                );
            }
        }
    }
}

/// Returns the word that encodes a version in a file.
fn version(major: u32, minor: u32) -> u64 {
    u64::from(major) << 32 | u64::from(minor)
}

#[test]
fn a_ring_of_another_version_is_refused_or_read_without_what_is_new() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ring");
    let today = owned(ring(dir.path()), os::user_id());
    let open = |bytes: Vec<u8>| {
        fs::write(&path, bytes).unwrap();
        RingFile::open(&path)
    };
    for (major, minor) in [(0, 9), (FORMAT_MAJOR + 1, 0), (u32::MAX, u32::MAX)] {
        // In a file of another major version, nothing but the version is known, not even where the checksum is. So the
        // checksum is not recomputed here.
        let why = open(with_word(today.clone(), at::VERSION, version(major, minor)))
            .unwrap_err()
            .to_string();
        check_names_both(&why, major, minor);
    }
    let newer = signed(with_word(
        today.clone(),
        at::VERSION,
        version(FORMAT_MAJOR, FORMAT_MINOR + 8),
    ));
    let ring = open(newer).unwrap();
    assert_eq!(ring.header().version, (FORMAT_MAJOR, FORMAT_MINOR + 8));
    assert_eq!(ring.newest_snapshot().unwrap().1, snapshot());
    // Files that were written before coarse rings existed have zeros in the words that describe the coarse ring.
    let mut older = with_word(today.clone(), at::VERSION, version(FORMAT_MAJOR, 0));
    older = with_word(with_word(older, at::COARSE_FIRST, 0), at::COARSE_WORDS, 0);
    let ring = open(signed(older)).unwrap();
    assert_eq!(ring.newest_snapshot().unwrap().1, snapshot());
    assert_eq!(ring.coarse_newest().unwrap(), None);
    let features = word(&today, at::FEATURES) | 0x40;
    let why = open(signed(with_word(today, at::FEATURES, features)))
        .unwrap_err()
        .to_string();
    assert!(why.contains("0x40") && why.contains("update tickscope"), "{why}");
}

/// Asserts that the error names the version found, the version wanted, and what to do next.
fn check_names_both(why: &str, major: u32, minor: u32) {
    let names = [
        format!("{major}.{minor}"),
        format!("{FORMAT_MAJOR}.x"),
        "update".into(),
    ];
    assert!(names.iter().all(|name| why.contains(name)), "{why}");
}

#[test]
fn a_kept_file_of_another_version_is_refused_or_read_without_what_is_new() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("kept.tks");
    for bytes in [snapshot_file::bytes(&snapshot()).unwrap(), series(dir.path())] {
        let open = |bytes: Vec<u8>| {
            fs::write(&path, bytes).unwrap();
            Recording::open(&path)
        };
        for (major, minor) in [(0, 9), (FORMAT_MAJOR + 1, 3)] {
            let why = open(with_word(bytes.clone(), 1, version(major, minor)))
                .unwrap_err()
                .to_string();
            check_names_both(&why, major, minor);
        }
        let newer = open(with_word(
            bytes.clone(),
            1,
            version(FORMAT_MAJOR, FORMAT_MINOR + 8),
        ))
        .unwrap();
        assert_eq!(newer.newest().unwrap().1, snapshot());
        let features = word(&bytes, 2) | 0x40;
        let why = open(with_word(bytes, 2, features)).unwrap_err().to_string();
        assert!(why.contains("0x40") && why.contains("update tickscope"), "{why}");
    }
}

#[test]
fn a_payload_with_an_unknown_section_or_without_one_is_the_rest_of_it() {
    let payload = payload(&snapshot());
    let mut newer = [40u64, 16, 1, 2].map(u64::to_le_bytes).concat();
    newer.extend_from_slice(&payload);
    assert_eq!(codec::decode(&newer).unwrap(), snapshot());
    // Remove each section in turn, as if an older writer had not known it.
    let mut at = 0;
    let mut left_out = 0;
    while at < payload.len() {
        let end = at + 16 + word(&payload[at..], 1) as usize;
        let (id, mut older) = (word(&payload[at..], 0), payload[..at].to_vec());
        older.extend_from_slice(&payload[end..]);
        match id {
            // Without these sections, a payload is refused: rows and threads need each other, rows refer to sites, and
            // rows of values and gauges refer to counters.
            2..=4 | 12 => assert!(codec::decode(&older).is_err(), "section {id}"),
            _ => assert_ne!(codec::decode(&older).unwrap(), snapshot(), "section {id}"),
        }
        left_out += 1;
        at = end;
    }
    assert_eq!(
        left_out, 16,
        "a new section has a default, and is left out here as well"
    );
}
