//! Viewers send requests to one program, and are killed at random moments. Each request is carried out once or not at
//! all, and the slot of a killed viewer becomes free.
//!
//! Each viewer logs its requests and their results. The slot of a killed viewer keeps its last request, with the
//! program's reply, until the test has read both, so the result of each request is known. The program's reset epoch
//! counts the resets and undos that were carried out: every reset increments it, and so does every undo that has an
//! effect.
//!
//! `REQUESTS=100000 VIEWERS=16 cargo test -p tickscope-cli --test it killed_viewers` runs the long version. A slot
//! holds one request, and the program checks its 16 slots ten times a second, so at most 160 requests a second are
//! possible.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tickscope_format::layout::slot;
use tickscope_format::os;

use crate::processes::roles::{ask, request};
use crate::support::{Chance, Place, Program, number, until, until_true};

/// Counts of requests by result.
#[derive(Debug, Default)]
struct Tally {
    asked: u64,
    /// Requests that were carried out and incremented the epoch.
    raised: u64,
    done: u64,
    refused: u64,
    /// Requests whose viewer was killed before it wrote them into its slot.
    never_sent: u64,
    /// Requests that were answered, but whose viewer was killed before it read the reply.
    unheard: u64,
}

/// Returns the words of a slot: the request and the reply.
fn slot_words(ring: &Path, index: usize) -> Vec<u64> {
    let mut bytes = [0; slot::WORDS * 8];
    let at = (slot::FIRST + index * slot::WORDS) * 8;
    let file = fs::File::open(ring).unwrap();
    file.read_exact_at(&mut bytes, at as u64).unwrap();
    let (words, _) = bytes.as_chunks();
    words.iter().map(|word| u64::from_le_bytes(*word)).collect()
}

fn is_held(ring: &Path, index: usize) -> bool {
    let file = fs::File::options().read(true).write(true).open(ring).unwrap();
    let at = (slot::FIRST + index * slot::WORDS) * 8;
    os::locked_in(&file, at as u64, slot::WORDS as u64 * 8)
        .unwrap()
        .is_some()
}

/// Returns whether the request with this number increments the epoch when it is carried out.
fn raises(number: u64) -> bool {
    number < 60
}

/// Adds the log of an ended viewer to the tally. Returns the last request if the log lacks its result.
fn read_log(log: &Path, tally: &mut Tally) -> Option<u64> {
    let text = fs::read_to_string(log).unwrap_or_default();
    let mut open = None;
    for line in text.lines() {
        if let Some(number) = line.strip_prefix("ask ") {
            assert_eq!(open, None, "one at a time");
            open = Some(number.parse().unwrap());
            tally.asked += 1;
            continue;
        }
        let number: u64 = open.take().unwrap();
        match line {
            "done" => {
                tally.done += 1;
                tally.raised += u64::from(raises(number));
            }
            "refused there is no reset to undo" => {
                assert!((40..60).contains(&number), "{number} {line}");
                tally.refused += 1;
            }
            other => panic!("{number}: {other}"),
        }
    }
    open
}

/// Returns how many requests a viewer has logged so far.
fn asked_so_far(log: &Path) -> u64 {
    let text = fs::read_to_string(log).unwrap_or_default();
    text.lines().filter(|line| line.starts_with("ask ")).count() as u64
}

fn what_killed_viewers_asked_for_is_done_once_or_not_at_all() {
    let wanted = number("REQUESTS", 300);
    let viewers = number("VIEWERS", 8);
    let place = Place::new();
    let (mut program, seen) = place.run("asked");
    let ring = seen.path().to_path_buf();
    let (_, start) = seen.newest_snapshot().unwrap();
    let mut tally = Tally::default();
    let mut chance = Chance(8);
    let mut lives = 0;
    let mut start_one = || {
        lives += 1;
        ask(&place, &seen, lives)
    };
    let mut askers: Vec<(Program, PathBuf)> = (0..viewers).map(|_| start_one()).collect();
    // For each slot, the sequence number of the last request at the time when the slot's last owner died.
    let mut sequences = [0; slot::COUNT];
    let (mut kills, mut asked) = (0u64, 0);
    let begin = Instant::now();
    let mut looked = Instant::now();
    loop {
        let over = asked >= wanted;
        if askers.is_empty() {
            break;
        }
        // A reply takes up to a tenth of a second, so many of the kills happen while a request is pending.
        std::thread::sleep(Duration::from_micros(chance.below(60_000)));
        let victim = chance.below(askers.len() as u64) as usize;
        let (mut asker, log) = askers.swap_remove(victim);
        until_true("it holds a slot", || {
            let held = (0..slot::COUNT).filter(|&index| is_held(&ring, index)).count();
            held == askers.len() + 1
        });
        let held = |index: &usize| is_held(&ring, *index);
        let before: Vec<usize> = (0..slot::COUNT).filter(held).collect();
        asker.kill();
        kills += 1;
        let freed: Vec<usize> = before.into_iter().filter(|index| !held(index)).collect();
        let [index] = freed[..] else {
            panic!("one slot is free: {freed:?}")
        };
        // A request in the slot is answered even after the viewer's death.
        let words = until("the program has answered the request in the slot", || {
            let words = slot_words(&ring, index);
            let (sequence, answered) = (words[0], words[slot::REQUEST_WORDS]);
            (sequence == answered).then_some(words)
        });
        let (done, refused) = (tally.done, tally.refused);
        let open = read_log(&log, &mut tally);
        let heard = tally.done - done + tally.refused - refused;
        let sent = words[0] - sequences[index];
        sequences[index] = words[0];
        match (open, sent - heard) {
            (None, 0) => {}
            (Some(_), 0) => tally.never_sent += 1,
            (Some(number), 1) => {
                // The slot must hold the last request that was logged.
                assert_eq!(words[1], code_of(number));
                tally.unheard += 1;
                // Outcome 1 means done, and 2 means "nothing to undo".
                let outcome = words[slot::REQUEST_WORDS + 1];
                assert!(outcome == 1 || outcome == 2, "{outcome}");
                tally.raised += u64::from(raises(number) && outcome == 1);
            }
            other => panic!("of {sent} requests {heard} were answered: {other:?}"),
        }
        fs::remove_file(&log).unwrap_or_default();
        if !over {
            askers.push(start_one());
        }
        if looked.elapsed() > Duration::from_millis(200) || over {
            looked = Instant::now();
            asked = tally.asked + askers.iter().map(|(_, log)| asked_so_far(log)).sum::<u64>();
        }
    }
    let took = begin.elapsed();
    let (_, end) = seen.newest_snapshot().unwrap();
    let raised = end.capture.reset_epoch - start.capture.reset_epoch;
    println!(
        "G8: {} requests from {viewers} viewers in {:.1} s ({:.0} a second), {kills} viewers killed: {} done and heard of, {} \
         refused with the reason, {} done for a viewer that was dead, {} never sent; {} raised the epoch, {raised} were to; \
         0 done twice",
        tally.asked,
        took.as_secs_f64(),
        tally.asked as f64 / took.as_secs_f64(),
        tally.done,
        tally.refused,
        tally.unheard,
        tally.never_sent,
        tally.raised,
    );
    assert_eq!(raised, tally.raised, "{tally:?}");
    let known = tally.done + tally.refused + tally.unheard + tally.never_sent;
    assert_eq!(tally.asked, known, "{tally:?}");
    let is_free = |index| !is_held(&ring, index);
    assert!((0..slot::COUNT).all(is_free), "all slots are free");
    until_true("the program sees that no viewer watches", || {
        let (_, snapshot) = seen.newest_snapshot().unwrap();
        snapshot.capture.viewers == 0
    });
    assert!(program.runs());
    assert!(program.end().success());
}

/// Returns the operation code with which a request is written to its slot.
fn code_of(number: u64) -> u64 {
    use tickscope_programs::events::Request;
    match request(number) {
        Request::Reset => 2,
        Request::Undo => 3,
        Request::Interval { .. } => 4,
        Request::Mode(_) => 5,
        Request::SitesOff(_) => 6,
        Request::SitesOn(_) | Request::ForgetRule(_) => 7,
        Request::Watch(..) => 9,
        Request::Unwatch(_) => 10,
        Request::Lines(_) => 11,
    }
}

tickscope_testkit::tests![what_killed_viewers_asked_for_is_done_once_or_not_at_all];
