use tickscope_format::latency::Latencies;
use tickscope_format::snapshot::CaptureKind;

use super::*;
use crate::orderbook;
use crate::test_driver::past;

const CHECK: &str = "orderbook_sim::risk::check";
const TENTH: Duration = Duration::from_millis(100);

/// Returns a snapshot of the test program after `tenths` tenths of a second, as a record. Its function `check` has
/// `slow` additional calls that take 60 ms.
fn record(tenths: u64, slow: u64) -> Past {
    let mut snapshot = orderbook::snapshot(tenths);
    let check = snapshot.sites.iter().position(|site| site.name == "check");
    let mut latencies = Latencies::default();
    for row in snapshot.latencies.row.clone() {
        let mut latency = snapshot.latencies.of(row);
        if Some(snapshot.nodes.site[row as usize] as usize) == check {
            (0..slow).for_each(|_| latency.insert(60_000_000));
        }
        latencies.push(row, &latency);
    }
    snapshot.latencies = latencies;
    past(&snapshot)
}

fn watch(condition: &str, over_ms: u64, at_most: &str) -> Watch {
    let options = TriggerOptions {
        over: Duration::from_millis(over_ms),
        keep: Duration::from_secs(30),
        at_most: at_most.parse().unwrap(),
    };
    Watch::new(condition.parse().unwrap(), options)
}

/// Returns the times at which the trigger acts, in tenths of a second. There are a thousand slow calls at each time in
/// `slow_at`.
fn acted(watch: &mut Watch, tenths: std::ops::Range<u64>, slow_at: &[u64]) -> Vec<(u64, Fired)> {
    let mut acted = Vec::new();
    for at in tenths {
        let slow = slow_at.iter().filter(|&&slow| slow <= at).count() as u64;
        let event = watch.take(&[record(at, slow * 1_000)], TENTH * at as u32);
        if let Some(Event::Act(fired)) = event {
            acted.push((at, *fired));
        }
    }
    acted
}

#[test]
fn it_acts_once_for_what_happens_while_it_watches() {
    let mut watch = watch("max(check) > 50ms", 1_000, "100/h");
    // The slow calls at 900 happened before the first window.
    let acted = acted(&mut watch, 1_000..1_100, &[900, 1_040, 1_043, 1_080]);
    let at: Vec<u64> = acted.iter().map(|(at, _)| *at).collect();
    assert_eq!(at, [1_040, 1_080]);
    let fired = &acted[0].1;
    assert_eq!(fired.finding.function, CHECK);
    // An earlier call was equally slow, so only the upper bound of the maximum's histogram bucket is known.
    assert!(
        fired
            .words
            .starts_with(&format!("max({CHECK}) = 60.8ms > 50ms in the last 1.0 s (")),
        "{}",
        fired.words
    );
    assert_eq!(fired.unix_ns, record(1_040, 0).unix_ns);
    assert_eq!(watch.acted, 2);
}

/// A viewer that gets no CPU time for a while reads many records in one poll. The window may be shorter than that
/// pause.
#[test]
fn records_that_come_together_are_all_judged() {
    let mut watch = watch("max(check) > 50ms", 200, "100/h");
    assert!(acted(&mut watch, 1_000..1_010, &[]).is_empty());
    let late: Vec<Past> = (1_010..1_030)
        .map(|at| record(at, u64::from(at >= 1_015)))
        .collect();
    let Some(Event::Act(fired)) = watch.take(&late, TENTH * 1_030) else {
        panic!("no window has the slow call")
    };
    assert!((record(1_015, 0).unix_ns..record(1_018, 0).unix_ns).contains(&fired.unix_ns));
    assert_eq!(watch.acted, 1);
    // Slow calls from before the trigger started do not count.
    let mut watch = self::watch("max(check) > 50ms", 200, "100/h");
    assert!(watch.take(&late, TENTH * 1_030).is_none());
}

/// Capture times jitter by milliseconds, so the first three records may span slightly less than a window.
#[test]
fn the_first_window_begins_with_the_first_record() {
    let mut watch = watch("max(check) > 50ms", 200, "100/h");
    let mut acted = Vec::new();
    for at in 1_000..1_010 {
        let mut record = record(at, u64::from(at > 1_000));
        record.unix_ns += if at == 1_000 { 4_000_000 } else { 0 };
        let event = watch.take(&[record], TENTH * at as u32);
        acted.extend(matches!(event, Some(Event::Act(_))).then_some(at));
    }
    assert_eq!(acted, [1_003]);
}

#[test]
fn the_first_judgement_comes_after_a_whole_window() {
    let mut watch = watch("calls(check) > 1/s", 1_000, "100/h");
    let acted = acted(&mut watch, 1_000..1_020, &[]);
    assert_eq!(acted.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [1_010]);
}

#[test]
fn the_limit_holds_back_and_counts() {
    let mut watch = watch("max(check) > 50ms", 500, "1/h");
    let mut held = Vec::new();
    for at in 1_000..1_060u64 {
        let slow = [1_010, 1_030, 1_050].iter().filter(|&&slow| slow <= at).count() as u64;
        match watch.take(&[record(at, slow)], TENTH * at as u32) {
            Some(Event::HeldBack(left)) => held.push((at, left)),
            Some(Event::Act(_)) => assert_eq!(at, 1_010),
            None => {}
        }
    }
    let left = |tenths| Duration::from_secs(3_600) - TENTH * tenths;
    assert_eq!(held, [(1_030, left(20)), (1_050, left(40))]);
    assert_eq!((watch.acted, watch.held_back()), (1, 2));
}

#[test]
fn a_reset_whose_record_is_missing_is_no_reason_to_act() {
    let mut watch = watch("calls(check) < 1", 500, "100/h");
    assert!(acted(&mut watch, 1_000..1_010, &[]).is_empty());
    let mut reset = orderbook::snapshot(1_010);
    reset.capture.reset_epoch += 1;
    reset.nodes.calls.fill(0);
    reset.nodes.self_ticks.fill(0);
    assert!(watch.take(&[past(&reset)], TENTH * 1_010).is_none());
    assert!(watch.now_in_words().contains("a reset lies in the window"));
    // If the record that closes the epoch is also read, all calls are counted, and the condition is false.
    let mut whole = self::watch("calls(check) < 1", 500, "100/h");
    assert!(acted(&mut whole, 1_000..1_010, &[]).is_empty());
    let mut closing = orderbook::snapshot(1_010);
    closing.capture.kind = CaptureKind::Closing;
    reset.capture.seq += 1;
    assert!(
        whole
            .take(&[past(&closing), past(&reset)], TENTH * 1_010)
            .is_none()
    );
    assert!(whole.now_in_words().starts_with("calls(check) = "));
}

#[test]
fn a_function_that_is_not_there_is_waited_for() {
    let mut watch = watch("calls(chekc) < 1", 500, "100/h");
    let waits = Some("no function that matches chekc was met yet (did you mean check?); waiting for it");
    assert!(acted(&mut watch, 1_000..1_001, &[]).is_empty());
    assert_eq!(watch.doubt().as_deref(), waits, "from the first record on");
    assert!(acted(&mut watch, 1_001..1_010, &[]).is_empty());
    assert_eq!(watch.doubt().as_deref(), waits);
    assert_eq!(watch.now_in_words(), "calls(chekc): not met yet");
}
