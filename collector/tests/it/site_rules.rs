//! Sites are switched off and on by as many patterns as the collector allows, while other threads open scopes. The
//! counts are reset in between. Sites that stay on must lose no calls, and time must be charged only to open calls.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::support::{Over, Says, calls_of, check, sum_of, threads_named, wait_until};
use tickscope::{Builder, Snapshot};

/// Largest number of patterns that the collector keeps.
const RULES_MAX: usize = 256;

static ROUNDS: AtomicU64 = AtomicU64::new(0);

fn round() {
    tickscope::scope!("stays");
    {
        tickscope::scope!("switched");
        tickscope::time!("below", std::hint::black_box(()));
        tickscope::count!("counted", 3);
    }
    ROUNDS.fetch_add(1, Ordering::Relaxed);
}

/// Adds as many rules as the collector allows, one of which switches off the site "switched". Then removes all rules.
fn change_rules(number: usize) {
    for rule in 1..RULES_MAX {
        assert_eq!(tickscope::disable_sites(&format!("nobody{rule}")).unwrap(), 0);
    }
    assert_eq!(tickscope::disable_sites("switched").unwrap(), 1);
    // Each of the two workers may have begun a round before the rule took effect.
    let before = ROUNDS.load(Ordering::Relaxed);
    wait_until("a round without it", || {
        ROUNDS.load(Ordering::Relaxed) > before + 2
    });
    let refused = tickscope::disable_sites("one too many").unwrap_err().to_string();
    refused.says(["256 patterns", "enable_sites"]);
    if number.is_multiple_of(2) {
        assert_eq!(tickscope::enable_sites("switched").unwrap(), 1);
    }
    assert!(tickscope::enable_sites("*").is_ok());
}

fn as_many_rules_as_there_may_be_lose_no_call_of_others_and_no_time() {
    let _session = Builder::new("rules").try_start().unwrap();
    // One round runs first: it registers all sites, so that rules find them.
    round();
    ROUNDS.store(0, Ordering::Relaxed);
    let mut epochs: Vec<Snapshot> = vec![];
    let before = tickscope::reset().lifetime;
    let over = AtomicBool::new(false);
    let work = || {
        round();
        let begin = tickscope::snapshot().capture.tick;
        while !over.load(Ordering::Relaxed) {
            round();
        }
        let end = tickscope::snapshot().capture.tick;
        round();
        end - begin
    };
    let born = tickscope::snapshot().capture.tick;
    let lives: Vec<u64> = std::thread::scope(|scope| {
        let _over = Over(&over);
        let workers: Vec<_> = (0..2)
            .map(|number| {
                let named = std::thread::Builder::new().name(format!("worker-{number}"));
                named.spawn_scoped(scope, work).unwrap()
            })
            .collect();
        for number in 0..6 {
            change_rules(number);
            let closing = tickscope::reset();
            check(&closing);
            epochs.push(closing);
        }
        over.store(true, Ordering::Relaxed);
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    let last = tickscope::snapshot();
    let longest = last.capture.tick - born;
    epochs.push(last);
    let sum = |of: &dyn Fn(&Snapshot) -> u64| epochs.iter().map(of).sum::<u64>();
    let rounds = ROUNDS.load(Ordering::Relaxed);
    for name in ["stays", "below", "counted"] {
        assert_eq!(sum(&|epoch| calls_of(epoch, name)), rounds, "{name}");
    }
    assert_eq!(sum(&|epoch| sum_of(epoch, "counted")), rounds * 3);
    let switched = sum(&|epoch| calls_of(epoch, "switched"));
    assert!(
        switched > 0 && switched < rounds,
        "{switched} of {rounds} while it was on"
    );
    let lifetime = epochs[epochs.len() - 1].lifetime;
    assert_eq!(sum(&Snapshot::calls), lifetime.calls - before.calls);
    assert_eq!(sum(&Snapshot::measured_ticks), lifetime.ticks - before.ticks);
    for (number, life) in lives.into_iter().enumerate() {
        let name = format!("worker-{number}");
        let ticks = sum(&|epoch| {
            let threads = threads_named(epoch, &name);
            let of = |thread: tickscope_format::ids::ThreadId| {
                let rows = epoch.rows_of(thread).map(|row| epoch.nodes.self_ticks[row]);
                rows.sum::<u64>() + epoch.threads[thread.index()].outside_ticks
            };
            threads.map(of).sum()
        });
        // When a thread has lost its CPU, the collector takes 1 to 2 us to find out why. This time is not charged to
        // the program.
        let least = life - life / 100;
        assert!(
            (least..=longest).contains(&ticks),
            "{least} <= {ticks} <= {longest}"
        );
    }
}

crate::support::tests![
    as_usual: as_many_rules_as_there_may_be_lose_no_call_of_others_and_no_time;
];
