use proptest::prelude::*;
use serde_json::{Value, json};
use tickscope_analysis::sampled_rows::with_sampled_rows;
use tickscope_format::ids::{NodeId, SiteId};
use tickscope_format::latency::{Histogram, bucket_of};
use tickscope_format::snapshot::{FunctionChoice, Functions, Mode, OverBudget, Rule};
use tickscope_testkit::fixture;
use tickscope_testkit::fixture::programs as fixtures;

use super::*;
use crate::escape::shapeless;
use crate::source_code::tests::source_code;

fn report(snapshot: &Snapshot, state: ProcessState) -> String {
    of_part(snapshot, None, state, &Extent::default(), &Addresses::default())
}

fn document(snapshot: &Snapshot) -> Value {
    serde_json::from_str(&report(snapshot, ProcessState::Running)).expect("JSON")
}

#[test]
fn two_threads() {
    insta::assert_snapshot!(report(&fixture::two_threads(), ProcessState::Running));
}

#[test]
fn live_bytes_have_their_error_and_totals_that_of_the_sum() {
    use tickscope_format::snapshot::{LIVE_SAMPLE_BYTES, Quantity, live_error};
    let mut snapshot = fixture::two_threads();
    let variance = 30 * LIVE_SAMPLE_BYTES * LIVE_SAMPLE_BYTES;
    for row in [1, 2] {
        snapshot.measures.push_row(Quantity::LiveBytes, row, 70_000_000);
        snapshot.measures.push_row(Quantity::LiveVariance, row, variance);
        snapshot
            .measures
            .push_row(Quantity::MadeOthersWait, row, 1_000_000);
    }
    let document = document(&snapshot);
    let of = |row: usize, member: &str| document["nodes"][row][member].as_u64();
    assert_eq!(of(1, "live_bytes"), Some(70_000_000));
    assert_eq!(of(1, "total_live_bytes"), Some(140_000_000));
    assert_eq!(of(1, "live_bytes_error"), Some(live_error(variance)));
    assert_eq!(of(1, "total_live_bytes_error"), Some(live_error(2 * variance)));
    assert_eq!(of(0, "live_bytes_error"), Some(4 * LIVE_SAMPLE_BYTES));
    assert_eq!(
        of(0, "allocations"),
        None,
        "the allocator counted nothing else here"
    );
    assert_eq!(of(2, "made_others_wait_ns"), Some(snapshot.nanos(1_000_000)));
    assert_eq!(
        of(0, "total_made_others_wait_ns"),
        Some(2 * snapshot.nanos(1_000_000))
    );
    assert_eq!(document["threads"][0]["outside_live_bytes"].as_u64(), Some(0));
    let without = report(&fixture::allocating(), ProcessState::Running);
    assert!(!without.contains("live_bytes") && !without.contains("made_others_wait"));
}

#[test]
fn nodes_and_threads_say_what_they_wait_in() {
    let document = document(&fixture::waiting());
    let of = |call: &str, samples: u64, share: f64| json!({"call": call, "samples": samples, "share": share});
    let nodes = &document["nodes"];
    assert_eq!(
        nodes[1]["waits_in"],
        json!([of("futex", 71, 0.71), of("fsync", 20, 0.2), of("read", 9, 0.09)])
    );
    assert_eq!(nodes[5]["waits_in"], json!([of("futex", 12, 1.0)]));
    assert!(nodes[0].get("waits_in").is_none(), "nothing is known of it");
    let threads = &document["threads"];
    let now = [0, 1, 2].map(|at| (threads[at]["now"].as_str(), threads[at]["now_in"].as_str()));
    assert_eq!(
        now,
        [
            (Some("waiting"), Some("futex")),
            (Some("ready"), None),
            (Some("running"), None),
        ]
    );
}

#[test]
fn hostile() {
    insta::assert_snapshot!(report(&fixtures::hostile(), ProcessState::FromFile));
}

#[test]
fn empty() {
    insta::assert_snapshot!(report(&fixtures::empty(), ProcessState::Exited));
}

#[test]
fn percentiles_estimates_and_sites() {
    let mut snapshot = fixture::two_threads();
    snapshot.capture.mode = Mode::Adaptive;
    snapshot.measuring.histograms = true;
    snapshot.measuring.rules = vec![
        Rule {
            pattern: "book".into(),
            off: true,
        },
        Rule {
            pattern: "rebalance".into(),
            off: false,
        },
    ];
    snapshot.measuring.off_sites = vec![SiteId(1)];
    let bucket = |ticks: u64| bucket_of(ticks) as u16;
    snapshot.latencies.push(
        1,
        &Histogram {
            buckets: vec![
                (bucket(5_000), 300),
                (bucket(20_000), 90),
                (bucket(90_000), 9),
                (bucket(400_000), 1),
            ],
            max_ticks: 410_000,
        },
    );
    snapshot.latencies.push(
        2,
        &Histogram {
            max_ticks: 0,
            ..fixture::calls_of(30_000, 100)
        },
    );
    snapshot.estimates = vec![fixture::estimate(2, 25, 50_000, 50_000)];
    insta::assert_snapshot!(report(&snapshot, ProcessState::Running));
    insta::assert_snapshot!("sites", sites(&snapshot, ProcessState::Running));
}

#[test]
fn functions_of_the_compiler() {
    let mut snapshot = fixture::two_threads();
    let over_budget = |site, learned| OverBudget {
        site: SiteId(site),
        mean_ns: 85.4,
        cost_share: 0.121,
        learned,
    };
    snapshot.functions = Some(Functions {
        known: 3686,
        on: 1522,
        returned: 20_698,
        unwound: 10,
        elsewhere: 2,
        vanished: 1,
        fixed: false,
        budget: 0.05,
        cost_share: 0.031,
        call_ns: 31.5,
        // No site has the index `u32::MAX`.
        over_budget: vec![over_budget(1, true), over_budget(u32::MAX, false)],
        choice: FunctionChoice {
            every: true,
            only: vec!["regex_automata::*".into(), "a \"b\"".into()],
            not: vec!["*::fmt".into()],
        },
    });
    let text = report(&snapshot, ProcessState::Exited);
    insta::assert_snapshot!(&text[text.find("\n  \"functions\"").unwrap()..]);
}

#[test]
fn numbers_per_call_are_parts_of_the_whole() {
    let snapshot = fixtures::order_sim_adaptive();
    let per = PerCall {
        name: "step".into(),
        calls: 8_000,
    };
    let whole = document(&snapshot);
    let (state, extent) = (ProcessState::Running, Extent::default());
    let part = of_part(&snapshot, Some(&per), state, &extent, &Addresses::default());
    let part: Value = serde_json::from_str(&part).unwrap();
    assert_eq!(part["per"], json!({"name": "step", "calls": 8_000}));
    assert_eq!(whole["per"], Value::Null);
    let is_part = |list: &str, members: &[&str]| {
        let [whole, part] = [&whole, &part].map(|document| document[list].as_array().unwrap());
        for (whole, part) in whole.iter().zip(part) {
            for &member in members {
                let divided = whole[member].as_f64().map(|number| number / 8_000.0);
                assert_eq!(part[member].as_f64(), divided, "{member}");
            }
        }
    };
    is_part(
        "nodes",
        &[
            "calls",
            "total_ns",
            "self_ns",
            "total_ticks",
            "self_ticks",
            "total_error_ns",
            "timed_calls",
        ],
    );
    is_part("threads", &["outside_ns", "cpu_ns"]);
    is_part("sites", &["calls"]);
    for same in ["p50_ns", "errors", "estimated", "name"] {
        assert_eq!(part["nodes"][3][same], whole["nodes"][3][same], "{same}");
    }
    assert_eq!(part["lifetime"], whole["lifetime"]);
}

#[test]
fn values_and_gauges_have_members_of_their_own() {
    let document = document(&fixtures::queries());
    let node = |name: &str| {
        let nodes = document["nodes"].as_array().unwrap().iter();
        nodes.filter(|node| node["name"] == name).collect::<Vec<_>>()
    };
    insta::assert_snapshot!(
        serde_json::to_string_pretty(&[node("rows")[0], node("queue")[1], node("cache hit")[0]]).unwrap()
    );
    let [one, other] = node("rows")[..] else {
        panic!("one in each thread")
    };
    assert_eq!(one["sum"], one["value"]["sum"]);
    assert_eq!(
        (&other["value"]["max"], &other["value"]["max_exact"]),
        (&90_111.into(), &false.into())
    );
    for name in ["rows", "queue", "cache hit"] {
        for node in node(name) {
            assert!(node["p50_ns"].is_null() && node["max_ns"].is_null(), "no times");
        }
    }
    assert_eq!(document["latencies"], Value::Array(Vec::new()));
}

#[test]
fn sampled() {
    let value = document(&fixtures::order_sim_sampled());
    assert_eq!(value["mode"], "sampled");
    assert_eq!(
        (&value["sampling_hz"], &value["samples"]),
        (&996.4.into(), &133_518.into())
    );
    let node = &value["nodes"][1];
    assert_eq!(
        (&node["estimated"], &node["timed_calls"]),
        (&true.into(), &0.into())
    );
    assert!(node["self_error_ns"].as_u64() > Some(0), "{node}");
    assert_eq!(node["p50_ns"], Value::Null);
}

#[test]
fn numbers_that_json_has_not_are_zero() {
    let mut snapshot = fixture::two_threads();
    snapshot.capture.cost.lower_ns = f64::NAN;
    snapshot.capture.cost.upper_ns = f64::INFINITY;
    snapshot.clock.ticks_per_second = f64::NAN;
    let value = document(&snapshot);
    assert_eq!(value["cost"]["lower_ns"], 0.0);
    assert_eq!(value["cost"]["upper_ns"], 0.0);
    assert_eq!(value["clock"]["ticks_per_second"], 0.0);
    assert!(value["cost"]["share_lower"].is_number());
}

proptest! {
    #[test]
    fn it_parses_and_adds_up(snapshot in fixtures::any_snapshot()) {
        let text = report(&snapshot, ProcessState::Running);
        prop_assert!(text.ends_with("}\n"), "ends in a newline");
        let value: Value = serde_json::from_str(&text).expect("JSON");
        prop_assert!(!text.chars().any(|c| shapeless(c) && c != '\n'), "printable");
        let nodes = value["nodes"].as_array().expect("nodes");
        prop_assert_eq!(nodes.len(), snapshot.nodes.len());
        let number = |value: &Value| value.as_u64().expect("a number");
        for what in ["ns", "ticks"] {
            let (total, own) = (format!("total_{what}"), format!("self_{what}"));
            let mut sums: Vec<u64> = nodes.iter().map(|node| number(&node[&own])).collect();
            for node in nodes {
                if let Some(parent) = node["parent"].as_u64() {
                    prop_assert!(parent < number(&node["id"]), "parents come first");
                    prop_assert_eq!(&nodes[parent as usize]["thread"], &node["thread"]);
                    sums[parent as usize] += number(&node[&total]);
                }
            }
            for (node, sum) in nodes.iter().zip(sums) {
                prop_assert_eq!(number(&node[&total]), sum);
            }
        }
        let own: u64 = nodes.iter().map(|node| number(&node["self_ticks"])).sum();
        prop_assert_eq!(own, snapshot.measured_ticks());
        for (id, node) in nodes.iter().enumerate() {
            prop_assert_eq!(number(&node["id"]), id as u64);
            let site = snapshot.site_of(NodeId(id as u32));
            prop_assert_eq!(node["name"].as_str(), Some(site.name.as_str()));
            prop_assert_eq!(node["module"].as_str(), Some(site.module.as_str()));
        }
    }
}

#[test]
fn groups_of_the_document() {
    let snapshot = fixtures::order_sim_in_groups();
    let text = report(&snapshot, ProcessState::Running);
    let value: Value = serde_json::from_str(&text).unwrap();
    let groups = &text[text.find("\n  \"groups\"").unwrap()..];
    insta::assert_snapshot!(groups);
    let book = &value["groups"][0];
    let number = |value: &Value| value.as_u64().unwrap();
    assert!(number(&book["self_ns"]) < number(&book["total_ns"]));
    let threads = book["threads"].as_array().unwrap();
    let sum: u64 = threads.iter().map(|thread| number(&thread["total_ns"])).sum();
    assert_eq!(sum, number(&book["total_ns"]));
}

#[test]
fn samples_have_their_addresses_and_their_code_where_it_is_known() {
    let snapshot = fixture::sampled();
    let lines = |addresses: &Addresses| {
        let (state, extent) = (ProcessState::Running, Extent::default());
        let text = of_part(&snapshot, None, state, &extent, addresses);
        text[text.find("\"lines\"").expect("the member")..].to_owned()
    };
    insta::assert_snapshot!(lines(&source_code().addresses));
    let with = with_sampled_rows(&snapshot, &source_code().addresses);
    let nodes = super::node::nodes(&with, None);
    let sampled = nodes.iter().filter(|node| node.sampled);
    let names: Vec<_> = sampled.map(|node| node.name).collect();
    assert_eq!(names, ["insert\u{1b}", "memchr", "(no file)"]);
    assert!(lines(&Addresses::default()).contains("\"line_functions\": []"));
}
