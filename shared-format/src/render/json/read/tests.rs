use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::fixture;
use crate::profile::narrow;
use crate::profile::per::PerCall;
use crate::render::json::tests::compensated_report;
use crate::render::json::{of_part, report, sites as sites_report};
use crate::render::{Extent, ProcessState, fixtures};
use crate::snapshot::Estimate;

const STATE: ProcessState = ProcessState::Kept;

fn why(text: &str) -> String {
    snapshot_of(text).expect_err("no document").to_string()
}

/// One with latencies and estimates, made once.
static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    let text = report(&fixtures::order_sim_adaptive(), STATE);
    serde_json::from_str(&text).expect("JSON")
});

/// A document that was changed as a value.
fn changed(change: impl FnOnce(&mut Value)) -> String {
    let mut value: Value = serde_json::from_str(&report(&fixture::two_threads(), STATE)).unwrap();
    change(&mut value);
    value.to_string()
}

#[test]
fn what_is_written_is_read_back() {
    for snapshot in [
        fixture::two_threads(),
        fixture::recursion(),
        fixtures::order_sim_adaptive(),
        fixtures::order_sim_sampled(),
        fixtures::off(),
        fixtures::empty(),
        fixtures::hostile(),
        fixtures::stumbling(),
        fixtures::deep(4_096),
        fixtures::large(2_000),
        narrow::above(&fixtures::order_sim_adaptive(), 0.1),
        narrow::of_threads(&fixtures::order_sim_adaptive(), |thread| thread.0 == 1),
    ] {
        assert_eq!(snapshot_of(&report(&snapshot, STATE)).unwrap(), snapshot);
    }
}

#[test]
fn a_document_of_times_that_were_not_measured_is_refused() {
    let snapshot = fixture::two_threads();
    let per = PerCall {
        name: "frame".into(),
        calls: 7,
    };
    let less = compensated_report(&snapshot, STATE);
    assert!(
        why(&less).ends_with(
            "what measuring costs was taken off its times; write the report without --compensated"
        )
    );
    let divided = of_part(&snapshot, None, Some(&per), STATE, &Extent::default());
    assert!(why(&divided).ends_with("its numbers are per call; write the report without --per"));
}

#[test]
fn other_documents_say_what_they_are() {
    let foreign = r#"{"$schema": "https://www.speedscope.app/file-format-schema.json", "nodes": []}"#;
    let said = why(foreign);
    assert!(
        said.starts_with(r#"not a tickscope file: begins with "{\"$schema\": "#),
        "{said}"
    );
    assert!(said.contains("tickscope report -f json"), "{said}");
    let newer = changed(|value| value["tickscope"] = 2.into());
    assert!(
        why(&newer).starts_with(
            "JSON document of version 2, this tickscope reads 1; use the tickscope that wrote it"
        )
    );
    // Though nothing else in it is known.
    assert!(why(r#"{"tickscope": "3b", "rows": 7}"#).contains("version \"3b\""));
    assert!(
        why(&sites_report(&fixture::two_threads(), STATE))
            .contains("a document without nodes; wanted a whole report")
    );
    let older = changed(|value| {
        value.as_object_mut().unwrap().remove("tick");
    });
    assert!(
        why(&older).contains(
            "a document of an older tickscope, which has not all that is needed; write it again from the program or its .tks"
        ),
        "{}",
        why(&older)
    );
}

#[test]
fn a_document_that_was_cut_or_changed_says_where() {
    let whole = report(&fixture::two_threads(), STATE);
    let cut = why(&whole[..whole.len() / 2]);
    assert!(cut.contains("found its end") && cut.contains("line "), "{cut}");
    let broken = why(&whole.replacen("\"seq\": 7", "\"seq\": seven", 1));
    assert!(
        broken.contains("wanted JSON") && broken.contains("line "),
        "{broken}"
    );
    let mistyped = why(&whole.replacen("\"seq\": 7", "\"seq\": \"\\u001b[2J\"", 1));
    assert!(
        mistyped.contains("invalid type") && !mistyped.contains('\u{1b}'),
        "{mistyped}"
    );
    type Change = fn(&mut Value);
    let table: [(Change, &str); 12] = [
        (|v| v["nodes"][1]["id"] = 2.into(), "node 1"),
        (|v| v["nodes"][1]["thread"] = 9.into(), "node 1"),
        (|v| v["nodes"][0]["thread"] = 2.into(), "node 1"),
        (|v| v["nodes"][1]["parent"] = 2.into(), "parent"),
        (|v| v["nodes"][1]["parent"] = u32::MAX.into(), "node 1"),
        (|v| v["nodes"][1]["site"] = 4.into(), "site"),
        (|v| v["sites"][1]["id"] = 4.into(), "site 4"),
        (|v| v["sites"][1]["id"] = 0.into(), "site 0"),
        (|v| v["threads"][0]["began_ticks"] = json!([1]), "thread 0"),
        (
            |v| v["threads"][1]["state"] = "asleep".into(),
            "one of running, idle",
        ),
        (|v| v["clock"]["ticks_per_second"] = 0.into(), "ticks per second"),
        (
            |v| v["latencies"] = json!([{"node": 0, "max_ticks": 0, "buckets": [[3, 1], [2, 1]]}]),
            "latencies of node 0",
        ),
    ];
    let third = why(&changed(|v| v["nodes"][1]["id"] = 2.into()));
    assert_eq!(third, "JSON report, node 1: found id 2, wanted 1");
    for (change, says) in table {
        let said = why(&changed(change));
        assert!(said.contains(says), "{said}");
    }
}

/// Every fact of a snapshot: what [`fixtures::any_snapshot`] leaves as it is, too.
fn any_whole_snapshot() -> impl Strategy<Value = Snapshot> {
    let text = "[a-c\n\"\\\\<;\u{202e}\u{1F680}ö\u{0}]{0,6}";
    let row = any::<prop::sample::Index>;
    let estimate = (row(), any::<u64>(), any::<u64>(), any::<u64>());
    let histogram = (
        row(),
        prop::collection::btree_map(0u16..BUCKETS as u16, 1..u64::MAX, 1..5),
        any::<u64>(),
    );
    let facts = (
        any::<[u64; 9]>(),
        any::<[u32; 4]>(),
        any::<[f64; 4]>(),
        any::<[u8; 3]>(),
        any::<bool>(),
    );
    (
        fixtures::any_snapshot(),
        prop::collection::vec(estimate, 0..5),
        prop::collection::vec(histogram, 0..5),
        prop::collection::vec((text, any::<bool>()), 0..4),
        facts,
        prop::collection::vec(row(), 0..4),
    )
        .prop_map(
            |(mut s, estimates, histograms, texts, (longs, shorts, floats, which, window), rows)| {
                let nodes = s.nodes.len();
                s.window = window;
                let mut last = Site {
                    name: "(pruned)".into(),
                    ..Site::default()
                };
                last.group.push('g');
                s.sites.push(last);
                s.sites[0].group = texts.first().map_or(String::new(), |(text, _)| text.clone());
                s.measuring.off_sites = rows
                    .iter()
                    .map(|row| SiteId(row.index(s.sites.len()) as u32))
                    .collect();
                s.measuring.off_sites.sort();
                s.measuring.off_sites.dedup();
                if nodes > 0 {
                    let mut at = BTreeMap::new();
                    for (row, timed, self_error, total_error) in estimates {
                        let node = NodeId(row.index(nodes) as u32);
                        at.insert(
                            node,
                            Estimate {
                                node,
                                timed,
                                self_error,
                                total_error,
                            },
                        );
                    }
                    // A counter has neither.
                    let is_scope = |node| s.counts.iter().all(|count| count.node != node);
                    at.retain(|&node, _| is_scope(node));
                    s.estimates = at.into_values().collect();
                    let mut at = BTreeMap::new();
                    for (row, buckets, max_ticks) in histograms {
                        let buckets = buckets.into_iter().collect();
                        at.insert(row.index(nodes) as u32, Histogram { buckets, max_ticks });
                    }
                    at.retain(|&row, _| is_scope(NodeId(row)));
                    at.iter()
                        .for_each(|(&row, histogram)| s.latencies.push(row, histogram));
                }
                // One for each row that has any, as JSON has them.
                let mut errors: BTreeMap<NodeId, u64> = BTreeMap::new();
                s.errors
                    .iter()
                    .for_each(|error| *errors.entry(error.node).or_default() += error.count);
                s.errors = errors
                    .into_iter()
                    .map(|(node, count)| NodeErrors { node, count })
                    .collect();
                s.measuring.rules = texts
                    .iter()
                    .map(|(pattern, off)| Rule {
                        pattern: pattern.clone(),
                        off: *off,
                    })
                    .collect();
                s.process.warnings = texts.iter().map(|(text, _)| text.clone()).collect();
                s.process.name = s.process.warnings.concat();
                s.clock.reason = s.process.name.clone();
                [
                    s.capture.tick,
                    s.capture.seq,
                    s.capture.unix_ns,
                    s.capture.pruned,
                    s.lifetime.ticks,
                    ..,
                ] = longs;
                [
                    ..,
                    s.process.uptime_ns,
                    s.clock.errors,
                    s.capture.interval_ns,
                    s.capture.cost.publisher_cpu_ns,
                ] = longs;
                s.capture.withdraws = longs[0].checked_sub(1 << 63);
                [s.process.pid, s.clock.epoch, s.capture.viewers, _] = shorts;
                [
                    s.measuring.sampling_hz,
                    s.capture.cost.lower_ns,
                    s.capture.cost.upper_ns,
                    s.capture.cost.publisher_share,
                ] = floats;
                s.capture.mode = Mode::ALL[usize::from(which[0]) % 4];
                s.capture.kind = [CaptureKind::Periodic, CaptureKind::Closing, CaptureKind::Final]
                    [usize::from(which[1]) % 3];
                s.clock.source = [ClockSource::Tsc, ClockSource::TscOrdered, ClockSource::Custom]
                    [usize::from(which[2]) % 3];
                for (thread, &count) in s.threads.iter_mut().zip(&longs) {
                    thread.cpu_ns = Some(count);
                    thread.count = count >> 8;
                }
                s
            },
        )
}

proptest! {
    #[test]
    fn it_is_the_same_snapshot_and_the_same_text(snapshot in any_whole_snapshot()) {
        let text = report(&snapshot, STATE);
        let read = snapshot_of(&text).unwrap();
        prop_assert_eq!(&read, &snapshot);
        prop_assert_eq!(report(&read, STATE), text);
    }

    #[test]
    fn what_json_has_not_is_the_same_text_once_it_was_read(which in 0usize..3, lower: bool, compensated: bool) {
        let mut snapshot = fixture::two_threads();
        let cost = &mut snapshot.capture.cost;
        let field = if lower { &mut cost.lower_ns } else { &mut cost.upper_ns };
        *field = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY][which];
        let text = report(&snapshot, STATE);
        prop_assert_eq!(report(&snapshot_of(&text).unwrap(), STATE), text);
        if compensated {
            prop_assert!(snapshot_of(&compensated_report(&snapshot, STATE)).is_err());
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in any::<String>()) {
        prop_assert!(snapshot_of(&text).is_err());
    }

    #[test]
    fn a_changed_document_is_read_or_refused(
        at in any::<prop::sample::Index>(),
        put in prop::sample::select(vec!["", "0", "9", "-", "\"", "[", "}", "null", ",", "18446744073709551615", "1e300"]),
        cut in 0usize..4,
    ) {
        let mut text = report(&fixtures::order_sim_adaptive(), STATE);
        let mut begin = at.index(text.len());
        while !text.is_char_boundary(begin) {
            begin -= 1;
        }
        let mut end = (begin + cut).min(text.len());
        while !text.is_char_boundary(end) {
            end += 1;
        }
        text.replace_range(begin..end, put);
        if let Ok(snapshot) = snapshot_of(&text) {
            // Whatever was read can be shown.
            prop_assert!(snapshot_of(&report(&snapshot, STATE)).is_ok());
        }
    }

    #[test]
    fn a_number_out_of_place_is_read_or_refused(
        list in prop::sample::select(vec!["nodes", "threads", "sites", "latencies", "estimates"]),
        at in any::<prop::sample::Index>(),
        member in any::<prop::sample::Index>(),
        value in prop::sample::select(vec![json!(0), json!(1), json!(u64::MAX), json!(u32::MAX), json!(null), json!([[0, 0]]), json!("x")]),
    ) {
        let mut document = DOCUMENT.clone();
        let list = document[list].as_array_mut().unwrap();
        let at = at.index(list.len());
        let object = list[at].as_object_mut().unwrap();
        let member = object.keys().nth(member.index(object.len())).unwrap().clone();
        object[&member] = value;
        if let Ok(snapshot) = snapshot_of(&document.to_string()) {
            prop_assert!(snapshot_of(&report(&snapshot, STATE)).is_ok());
        }
    }
}
