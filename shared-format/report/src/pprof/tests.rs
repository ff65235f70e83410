use std::collections::{HashMap, HashSet};
use std::io::Read;

use flate2::read::GzDecoder;
use proptest::prelude::*;
use prost::Message as _;
use tickscope_analysis::call_tree::CallTree;
use tickscope_analysis::hotspots::hot;
use tickscope_testkit::fixture;
use tickscope_testkit::fixture::programs as fixtures;

use self::read::{Label, Line, Profile, ValueType};
use super::{Addresses, Measure, Snapshot, write};
use crate::source_code::tests::source_code;

mod read;

fn bytes(snapshot: &Snapshot, by: Measure, addresses: &Addresses) -> Vec<u8> {
    let mut out = Vec::new();
    write(snapshot, by, addresses, &mut out).unwrap();
    out
}

fn decoded(snapshot: &Snapshot) -> Profile {
    decoded_by(snapshot, Measure::Time, &Addresses::default())
}

fn decoded_by(snapshot: &Snapshot, by: Measure, addresses: &Addresses) -> Profile {
    let mut raw = Vec::new();
    GzDecoder::new(&bytes(snapshot, by, addresses)[..])
        .read_to_end(&mut raw)
        .unwrap();
    let profile = Profile::decode(&raw[..]).unwrap();
    assert_written_as_the_library_does(&profile, &raw);
    profile
}

/// Checks that the bytes are what the library `prost` writes: first the tables, then each sample as a separate message.
fn assert_written_as_the_library_does(profile: &Profile, raw: &[u8]) {
    let tables = Profile {
        sample: Vec::new(),
        ..profile.clone()
    };
    let samples = profile.sample.iter().map(|sample| Profile {
        sample: vec![sample.clone()],
        ..Profile::default()
    });
    let messages = std::iter::once(tables).chain(samples);
    let wanted: Vec<u8> = messages.flat_map(|message| message.encode_to_vec()).collect();
    assert!(raw == wanted, "{} bytes, {} wanted", raw.len(), wanted.len());
}

/// Returns the profile as text, with strings in place of their indices.
fn text(profile: &Profile) -> String {
    let string = |number: i64| profile.string_table[number as usize].as_str();
    let unit = |of: &ValueType| format!("{}/{}", string(of.r#type), string(of.unit));
    let types: Vec<String> = profile.sample_type.iter().map(unit).collect();
    let shown_first = string(profile.default_sample_type);
    let period = unit(&profile.period_type.unwrap());
    let mut lines = vec![
        format!("types {types:?}, shown first: {shown_first}"),
        format!("period {} {period}", profile.period),
        format!("began {}, took {}", profile.time_nanos, profile.duration_nanos),
    ];
    let comments = profile.comment.iter();
    lines.extend(comments.map(|&comment| format!("comment {}", string(comment))));
    let mappings = profile.mapping.iter();
    lines.extend(mappings.map(|mapping| format!("mapping {} {}", mapping.id, string(mapping.filename))));
    lines.extend(profile.function.iter().map(|function| {
        let (name, file) = (string(function.name), string(function.filename));
        format!("function {} {name} {file}:{}", function.id, function.start_line)
    }));
    lines.extend(profile.location.iter().map(|location| {
        let of_line = |line: &Line| (line.function_id, line.line);
        let inlined: Vec<_> = location.line.iter().map(of_line).collect();
        format!("location {} {inlined:?}", location.id)
    }));
    lines.extend(profile.sample.iter().map(|sample| {
        let label = |label: &Label| match label.str {
            0 => format!("{}={}", string(label.key), label.num),
            text => format!("{}={}", string(label.key), string(text)),
        };
        let labels: Vec<String> = sample.label.iter().map(label).collect();
        let labels = labels.join(" ");
        format!("{:?} at {:?} {labels}", sample.value, sample.location_id)
    }));
    lines.join("\n") + "\n"
}

#[test]
fn golden() {
    let snapshot = fixture::two_threads();
    let text = text(&decoded(&snapshot));
    insta::assert_snapshot!(text.replace(env!("CARGO_PKG_VERSION"), "VERSION"));
    let bytes = || bytes(&snapshot, Measure::Time, &Addresses::default());
    assert_eq!(bytes(), bytes());
}

#[test]
fn samples_of_lines_have_the_line_and_what_it_called() {
    let snapshot = fixture::sampled();
    let text = text(&decoded_by(&snapshot, Measure::Time, &source_code().addresses));
    insta::assert_snapshot!(text.replace(env!("CARGO_PKG_VERSION"), "VERSION"));
}

#[test]
fn samples_have_a_period() {
    let profile = decoded(&fixtures::order_sim_sampled());
    assert_eq!(profile.period, 1_003_613);
    let unit = profile.period_type.unwrap().unit;
    assert_eq!(profile.string_table[unit as usize], "nanoseconds");
}

/// Checks a profile against the published schema (indices and ids), and compares its calls and its flat and cumulative times with
/// the call tree.
fn check(snapshot: &Snapshot) {
    let profile = decoded(snapshot);
    assert_eq!(profile.string_table[0], "");
    let is_string = |number: i64| assert!((0..profile.string_table.len() as i64).contains(&number));
    let unique = |ids: &mut dyn Iterator<Item = u64>| {
        let mut seen = HashSet::new();
        for id in ids {
            assert!(id != 0 && seen.insert(id));
        }
        seen
    };
    let mappings = unique(&mut profile.mapping.iter().map(|mapping| mapping.id));
    let functions = unique(&mut profile.function.iter().map(|function| function.id));
    let locations = unique(&mut profile.location.iter().map(|location| location.id));
    for function in &profile.function {
        for number in [function.name, function.system_name, function.filename] {
            is_string(number);
        }
        assert_ne!(function.name, 0);
    }
    let mut function_of = HashMap::new();
    for location in &profile.location {
        assert!(mappings.contains(&location.mapping_id));
        let [line] = &location.line[..] else {
            panic!("one line")
        };
        assert!(functions.contains(&line.function_id));
        function_of.insert(location.id, line.function_id);
    }
    let (mut flat, mut cumulative, mut calls) = (HashMap::new(), HashMap::new(), HashMap::new());
    for sample in &profile.sample {
        assert_eq!(sample.value.len(), profile.sample_type.len());
        assert!(sample.location_id.iter().all(|id| locations.contains(id)));
        for label in &sample.label {
            is_string(label.key);
            is_string(label.str);
            assert!(label.str == 0 || label.num == 0, "one of both");
        }
        let stack: Vec<u64> = sample.location_id.iter().map(|id| function_of[id]).collect();
        *calls.entry(stack[0]).or_insert(0) += sample.value[0] as u64;
        *flat.entry(stack[0]).or_insert(0) += sample.value[1] as u64;
        for function in stack.into_iter().collect::<HashSet<_>>() {
            *cumulative.entry(function).or_insert(0) += sample.value[1] as u64;
        }
    }
    let tree = CallTree::build(snapshot, |_| true);
    for row in hot(&tree) {
        let id = u64::from(row.function.0) + 1;
        let of = |map: &HashMap<u64, u64>| map.get(&id).copied().unwrap_or(0);
        assert_eq!((of(&calls), of(&flat)), (row.calls, row.self_ns));
        assert_eq!(of(&cumulative), row.total_ns);
    }
    assert_eq!(flat.values().sum::<u64>(), tree.measured_ns());
}

#[test]
fn any_name_and_none() {
    check(&fixtures::stumbling());
    check(&fixtures::empty());
}

proptest! {
    #[test]
    fn the_schema_and_the_sums_hold(snapshot in fixtures::any_snapshot()) {
        check(&snapshot);
    }
}

#[test]
fn each_measure_is_a_sample_type_and_the_chosen_one_is_shown_first() {
    let by = Measure::Allocations;
    let profile = decoded_by(&fixture::allocating(), by, &Addresses::default());
    let text = |at: i64| profile.string_table[at as usize].as_str();
    let types = profile
        .sample_type
        .iter()
        .map(|of| (text(of.r#type), text(of.unit)));
    assert_eq!(
        types.collect::<Vec<_>>(),
        [
            ("calls", "count"),
            ("time", "nanoseconds"),
            ("allocations", "count"),
            ("bytes", "bytes")
        ]
    );
    assert_eq!(text(profile.default_sample_type), "allocations");
    let sum = |at: usize| profile.sample.iter().map(|sample| sample.value[at]).sum::<i64>();
    assert_eq!((sum(2), sum(3)), (50, 5_000));
}
