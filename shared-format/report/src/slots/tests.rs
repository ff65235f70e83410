use std::convert::Infallible;

use tickscope_format::ids::SiteId;
use tickscope_format::snapshot::{CaptureKind, Quantity, Site, Thread, ThreadState};

use super::*;

const S: u64 = 1_000_000_000;

/// A record: when it was made, its reset epoch, the time since the reset, its kind, and the functions of each thread.
struct Record {
    at: u64,
    epoch: u64,
    since_reset: u64,
    kind: CaptureKind,
    threads: Vec<Row>,
}

/// A thread with its name, id and functions. A function has a name, self ticks, and the number of these ticks that were off the
/// CPU.
type Row = (&'static str, u32, Vec<Function>);

type Function = (&'static str, u64, u64);

fn main(functions: &[Function]) -> Row {
    ("main", 1, functions.to_vec())
}

fn pool(tid: u32, functions: &[Function]) -> Row {
    ("pool", tid, functions.to_vec())
}

fn record(at: u64, threads: Vec<Row>) -> Record {
    Record {
        at,
        epoch: 1,
        since_reset: at,
        kind: CaptureKind::Periodic,
        threads,
    }
}

fn snapshot(record: &Record) -> Snapshot {
    let mut s = Snapshot {
        waits: true,
        ..Snapshot::default()
    };
    s.clock.ticks_per_second = 1e9;
    s.capture.unix_ns = 1_000 * S + record.at;
    s.capture.since_reset_ns = record.since_reset;
    s.capture.reset_epoch = record.epoch;
    s.capture.kind = record.kind;
    for (thread, tid, functions) in &record.threads {
        let first_row = s.nodes.len() as u32;
        for &(function, ticks, off) in functions {
            let site = match s.sites.iter().position(|site| site.name == function) {
                Some(known) => SiteId(known as u32),
                None => {
                    s.sites.push(Site {
                        name: function.into(),
                        module: "app".into(),
                        ..Site::default()
                    });
                    SiteId(s.sites.len() as u32 - 1)
                }
            };
            let row = s.nodes.push(None, site, 1, ticks);
            s.measures.push_row(Quantity::Waiting, row.0, off);
        }
        s.threads.push(Thread {
            name: (*thread).into(),
            tid: *tid,
            state: if *tid == 0 {
                ThreadState::Finished
            } else {
                ThreadState::Running
            },
            count: 1,
            first_row,
            rows: s.nodes.len() as u32 - first_row,
            ..Thread::default()
        });
    }
    s
}

fn slots_of(records: &[Record]) -> Slots {
    let epochs: Vec<RecordEpoch> = records
        .iter()
        .map(|record| RecordEpoch {
            reset_epoch: record.epoch,
            withdraws: None,
            kind: record.kind,
        })
        .collect();
    let unix_ns: Vec<u64> = records.iter().map(|record| 1_000 * S + record.at).collect();
    let mut reads = vec![0; records.len()];
    let slots = Slots::of(&epochs, &unix_ns, (0, records.len() - 1), |at| {
        reads[at] += 1;
        Ok::<_, Infallible>(snapshot(&records[at]))
    });
    assert!(
        reads.iter().all(|&reads| reads <= 1),
        "each record is read once: {reads:?}"
    );
    slots.unwrap()
}

/// Returns one line for each thread, with function names in place of keys.
fn told(slots: &Slots) -> Vec<String> {
    let names = ["parse", "draw", "wait"];
    let mut s = snapshot(&record(0, vec![("", 1, names.map(|name| (name, 0, 0)).into())]));
    s.sites.truncate(names.len());
    let functions = tickscope_analysis::functions::Functions::of(&s);
    let name = |key: u64| {
        let found = functions.list.iter().find(|function| function.key == key);
        found.map_or("?", |function| function.name.as_str()).to_owned()
    };
    let load = |load: &Load| {
        let functions = load
            .functions
            .iter()
            .map(|&(key, share)| format!(" {} {share}", name(key)));
        let waits_in = load
            .waits_in
            .map_or(String::new(), |key| format!(" in {}", name(key)));
        format!(
            "{}/{}{waits_in}{}",
            load.working,
            load.waiting,
            functions.collect::<String>()
        )
    };
    let rows = slots.rows.iter().map(|row| {
        let loads: Vec<String> = row.loads.iter().map(load).collect();
        format!(
            "{} {}: {} = {}",
            row.name,
            row.tid,
            loads.join(", "),
            load(&row.all)
        )
    });
    rows.collect()
}

#[test]
fn slots_have_what_happened_between_two_records() {
    let parse = |more| ("parse", 500 + S / 2 + more, S / 10);
    let draw = ("draw", S / 4, 0);
    let slots = slots_of(&[
        record(S, vec![main(&[("parse", 500, 0)])]),
        record(2 * S, vec![main(&[parse(0), draw]), pool(2, &[("wait", S, S)])]),
        record(
            4 * S,
            vec![main(&[parse(S / 100), draw]), pool(2, &[("wait", 3 * S, 3 * S)])],
        ),
    ]);
    assert_eq!(
        told(&slots),
        [
            "main 1: 65/10 in parse parse 40 draw 25, 1/0 parse 1 = 22/3 in parse parse 14 draw 8",
            "pool 2: 0/100 in wait, 0/100 in wait = 0/100 in wait",
        ]
    );
    assert_eq!(slots.times, [(0, S), (S, 3 * S)]);
    assert_eq!((slots.began_unix_ns, slots.length_ns), (1_001 * S, 3 * S));
    assert!(slots.waits);
    assert_eq!(slots.functions.len(), 3);
}

#[test]
fn what_is_hardly_anything_is_told_and_nothing_is_not() {
    let at = |second, ticks| record(second * S, vec![main(&[("parse", ticks, 0)])]);
    let end = S / 300 + S / 5_000;
    let slots = slots_of(&[at(1, 0), at(2, S / 300), at(3, end), at(4, end)]);
    assert_eq!(told(&slots), ["main 1: 0/0 parse 0, 0/0, 0/0 = 0/0"]);
}

#[test]
fn a_thread_that_ends_is_counted_once_and_in_its_own_line() {
    let parse = |ticks| main(&[("parse", ticks, 0)]);
    let draw = |tid, ticks| pool(tid, &[("draw", ticks, 0)]);
    let slots = slots_of(&[
        record(S, vec![parse(S), draw(2, S / 2)]),
        record(2 * S, vec![parse(2 * S), draw(2, 3 * S / 4)]),
        record(3 * S, vec![parse(3 * S), draw(0, S)]),
    ]);
    assert_eq!(
        told(&slots),
        [
            "main 1: 100/0 parse 100, 100/0 parse 100 = 100/0 parse 100",
            "pool 2: 25/0 draw 25, 25/0 draw 25 = 25/0 draw 25",
        ]
    );
    // Two threads have this name, so it is unknown which of them did the work in the row of ended threads.
    let two = |first, second| vec![draw(2, first), draw(3, second)];
    let slots = slots_of(&[
        record(S, two(0, 0)),
        record(2 * S, two(S / 2, S / 4)),
        record(3 * S, vec![draw(0, S)]),
    ]);
    assert_eq!(
        told(&slots),
        [
            "pool 2: 50/0 draw 50, 0/0 = 25/0 draw 25",
            "pool 3: 25/0 draw 25, 0/0 = 13/0 draw 13",
            "pool 0: 0/0, 25/0 draw 25 = 13/0 draw 13",
        ]
    );
}

#[test]
fn a_reset_takes_nothing_away() {
    let with = |at, epoch, since_reset, kind, ticks| Record {
        at,
        epoch,
        since_reset,
        kind,
        threads: vec![main(&[("parse", ticks, 0)])],
    };
    let (periodic, closing) = (CaptureKind::Periodic, CaptureKind::Closing);
    let slots = slots_of(&[
        with(S, 1, S, periodic, S / 10),
        with(2 * S, 1, 2 * S, periodic, S / 10 + S / 2),
        with(5 * S / 2, 1, 5 * S / 2, closing, S / 10 + S),
        with(5 * S / 2 + 1, 2, 1, periodic, 0),
        with(3 * S, 2, S / 2, periodic, S / 4),
        with(4 * S, 2, 3 * S / 2, periodic, S),
    ]);
    assert_eq!(
        told(&slots),
        ["main 1: 50/0 parse 50, 100/0 parse 100, 50/0 parse 50, 75/0 parse 75 = 67/0 parse 67"]
    );
}

#[test]
fn time_without_records_has_no_slot_and_no_share() {
    let at = |second: u64, ticks| record(second * S, vec![main(&[("parse", ticks, 0)])]);
    let slots = slots_of(&[at(1, 0), at(2, S / 2), at(60, 30 * S), at(61, 30 * S + S / 2)]);
    assert_eq!(slots.times, [(0, S), (59 * S, 60 * S)]);
    assert_eq!(
        told(&slots),
        ["main 1: 50/0 parse 50, 50/0 parse 50 = 50/0 parse 50"]
    );
    assert_eq!(
        slots_of(&[at(1, 0)]),
        Slots {
            began_unix_ns: 1_001 * S,
            ..Slots::default()
        }
    );
}

#[test]
fn those_that_worked_most_have_a_row() {
    let names: Vec<&'static str> = (0..50).map(|at| &*format!("t{at}").leak()).collect();
    let of = |by: u64| {
        let rows = (1u32..)
            .zip(&names)
            .map(|(tid, &name)| (name, tid, vec![("parse", by * u64::from(tid), 0)]));
        rows.collect()
    };
    let slots = slots_of(&[record(S, of(0)), record(2 * S, of(S / 100))]);
    assert_eq!((slots.rows.len(), slots.left_out), (ROWS, 10));
    assert_eq!(slots.rows[0].name, "t49");
}
