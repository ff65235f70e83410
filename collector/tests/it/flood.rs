//! A hostile viewer: it writes the most expensive requests into all slots at once, without pause.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::support::{self, Isolated, anonymous, newest, ring_of, wait_until};
use tickscope::Builder;
use tickscope_format::file::open::RingFile;
use tickscope_format::layout::{WORD, slot};
use tickscope_format::pattern::Pattern;
use tickscope_format::slots::{Op, first_word, request_words};
use tickscope_format::snapshot::Mode;

/// The share of a core that the publisher may use: half of it for requests, half for all its other work.
const SHARE_MOST: f64 = 0.10;

/// Returns the most expensive requests in turn, with patterns that fail to match as late as possible.
fn op(number: u64) -> Op {
    let pattern = |number: u64| {
        let text = format!("{}{number}", "*o".repeat(44));
        Pattern::new(&text).unwrap()
    };
    match number % 6 {
        0 => Op::Mode(Mode::ALL[(number / 6 % 4) as usize]),
        1 => Op::Reset,
        2 => Op::UndoReset,
        3 => Op::SitesOff(pattern(number)),
        4 => Op::SitesOn(pattern(number)),
        _ => Op::Interval(0),
    }
}

/// Writes requests into all slots but the last until `stop` is set; returns the number of requests.
fn flood(path: &Path, stop: &AtomicBool) -> u64 {
    let file = OpenOptions::new().read(true).write(true).open(path).unwrap();
    let mut written = 0;
    while !stop.load(Ordering::Relaxed) {
        for index in 0..slot::COUNT - 1 {
            let at = (first_word(index) * WORD) as u64;
            let mut replied = [0; WORD];
            file.read_exact_at(&mut replied, at + (slot::REQUEST_WORDS * WORD) as u64)
                .unwrap();
            written += 1;
            let sequence = u64::from_le_bytes(replied) + 1 + written % 3;
            let mut words = request_words(sequence, op(written));
            if written.is_multiple_of(7) {
                words[3] = written;
            }
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            file.write_all_at(&bytes, at).unwrap();
        }
    }
    written
}

/// Creates many rows, so that writing a record takes noticeable time.
fn work(depth: u32) {
    for site in ["one", "two", "three"] {
        match site {
            "one" if depth > 0 => tickscope::time!("one", work(depth - 1)),
            "two" if depth > 0 => tickscope::time!("two", work(depth - 1)),
            _ => tickscope::time!("leaf", ()),
        }
    }
}

fn a_flood_of_requests_costs_a_tenth_of_a_core_at_most() {
    let name = "a_flood_of_requests_costs_a_tenth_of_a_core_at_most";
    let done = Isolated::as_usual(name).run(|| {
        let session = Builder::new("flooded").try_start().unwrap();
        work(11);
        let ring = ring_of(&session);
        let mut honest = loop {
            // The last slot belongs to the honest viewer; the flood does not write to it.
            let slot = ring.take_slot().unwrap().unwrap();
            if ring_slots_left(&ring) == 0 {
                break slot;
            }
            std::mem::forget(slot);
        };
        let seconds: u64 = std::env::var("FLOOD_SECONDS").map_or(60, |text| text.parse().unwrap());
        let stop = AtomicBool::new(false);
        let (written, share, answered, grown) = std::thread::scope(|scope| {
            let path = session.path().unwrap();
            let stop = &stop;
            let hostile = scope.spawn(move || flood(&path, stop));
            let publisher_cpu = || newest(&ring).capture.cost.publisher_cpu_ns;
            let before = publisher_cpu();
            // The flood must first use up the budget that the publisher has saved up.
            wait_until("a flood", || publisher_cpu() > before + 400_000_000);
            let memory = anonymous();
            let (begin, first) = (Instant::now(), newest(&ring).capture);
            let mut answered = 0u64;
            while begin.elapsed() < Duration::from_secs(seconds) || answered < 3 {
                let sent = honest.send(Op::PublishNow).unwrap();
                wait_until("an answer", || honest.reply(&sent).unwrap().is_some());
                answered += 1;
            }
            let last = newest(&ring).capture;
            let cpu = last.cost.publisher_cpu_ns - first.cost.publisher_cpu_ns;
            let share = cpu as f64 / (last.unix_ns - first.unix_ns) as f64;
            stop.store(true, Ordering::Relaxed);
            (hostile.join().unwrap(), share, answered, anonymous().saturating_sub(memory) >> 10)
        });
        let told = format!(
            "flood of {seconds} s: {written} requests written, publisher's share {:.1} % of a core, {answered} honest \
             requests answered, {grown} kB more",
            share * 100.0
        );
        support::tell("flood", told);
        assert!(share < SHARE_MOST, "{share}");
        assert!(newest(&ring).measuring.rules.len() <= 256);
        assert!(grown < 4 << 10, "{grown} kB more");
    });
    let done = done.succeeded();
    println!("{}", std::fs::read_to_string(done.place().join("flood")).unwrap());
}

/// Returns 1 if another slot can be taken, otherwise 0.
fn ring_slots_left(ring: &RingFile) -> usize {
    usize::from(ring.take_slot().unwrap().is_some())
}

tickscope_testkit::tests![
    ;
    ignored:
    // The test measures for a minute, so only `.ci/nightly` runs it.
    a_flood_of_requests_costs_a_tenth_of_a_core_at_most
];
