use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::fixture;
use crate::ids::NodeId;
use crate::render::escape::shapeless;
use crate::render::fixtures;

#[test]
fn two_threads() {
    insta::assert_snapshot!(report(&fixture::two_threads(), ProcessState::Running));
}

#[test]
fn hostile() {
    insta::assert_snapshot!(report(&fixtures::hostile(), ProcessState::Kept));
}

#[test]
fn empty() {
    insta::assert_snapshot!(report(&fixtures::empty(), ProcessState::Exited));
}

#[test]
fn numbers_that_json_has_not_are_zero() {
    let mut snapshot = fixture::two_threads();
    snapshot.capture.cost.lower_ns = f64::NAN;
    snapshot.capture.cost.upper_ns = f64::INFINITY;
    snapshot.clock.ticks_per_second = f64::NAN;
    let value: Value = serde_json::from_str(&report(&snapshot, ProcessState::Running)).expect("JSON");
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
