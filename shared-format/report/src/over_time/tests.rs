use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use tickscope_testkit::fixture;
use tickscope_testkit::fixture::programs as fixtures;

use super::*;

const SECOND: u64 = 1_000_000_000;

/// Three intervals of a second, in the middle of which nothing happened.
fn three() -> OverTime {
    let mut over_time = OverTime::default();
    let busy = fixtures::order_sim_counting();
    let mut idle = busy.clone();
    idle.nodes.calls.fill(0);
    idle.nodes.self_ticks.fill(0);
    for count in &mut idle.counts {
        count.sum = 0;
    }
    for (at, window) in (10..).zip([&busy, &idle, &busy]) {
        over_time.add(at * SECOND, (at + 1) * SECOND, window);
    }
    over_time
}

fn written(over_time: &OverTime, form: OverTimeForm) -> Vec<u8> {
    let mut out = Vec::new();
    form.write(over_time, 3, &mut out).unwrap();
    out
}

/// The Trace Event Format, as far as counters and names need it; other members are refused.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct TraceFile {
    trace_events: Vec<TraceEvent>,
    display_time_unit: String,
    other_data: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TraceEvent {
    name: String,
    #[serde(rename = "cat")]
    _cat: String,
    ph: String,
    ts: f64,
    pid: u32,
    #[serde(rename = "tid")]
    _tid: u32,
    args: BTreeMap<String, Value>,
}

#[test]
fn perfetto_has_counters_with_shares_that_add_up() {
    let over_time = three();
    let file: TraceFile = serde_json::from_slice(&written(&over_time, OverTimeForm::Chrome)).unwrap();
    assert!(matches!(file.display_time_unit.as_str(), "ms" | "ns"));
    assert_eq!(file.other_data["began_unix_ns"], (10 * SECOND).to_string());
    let mut shares = Vec::new();
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    for event in &file.trace_events {
        assert_eq!(event.pid, over_time.pid);
        match event.ph.as_str() {
            "M" => assert_eq!(event.args["name"], over_time.process.as_str()),
            "C" => {
                *names.entry(&event.name).or_default() += 1;
                let values: Vec<f64> = event.args.values().map(|value| value.as_f64().unwrap()).collect();
                assert!(
                    values.iter().all(|value| value.is_finite() && *value >= 0.0),
                    "{}",
                    event.name
                );
                if event.name == "self time, %" {
                    shares.push((event.ts, values.iter().sum::<f64>().round(), values.len()));
                }
            }
            other => panic!("an event {other}"),
        }
    }
    // Two functions and all others; the last numbers stand at the end again.
    let wanted = [(0.0, 100.0, 3), (1e6, 0.0, 2), (2e6, 100.0, 3), (3e6, 100.0, 3)];
    assert_eq!(shares, wanted);
    assert_eq!(names["calls per second"], 4);
    let counters = over_time.counters.keys().map(String::as_str);
    assert!(counters.clone().count() > 0, "the program has counters");
    for counter in counters {
        assert_eq!(names[counter], 4, "{counter}");
    }
}

#[test]
fn waiting_and_cpu_time_are_tracks_where_they_are_known() {
    let mut window = fixture::slow_frames();
    window.threads[0].cpu_ns = Some(SECOND / 2);
    let mut over_time = OverTime::default();
    over_time.add(0, SECOND, &window);
    let file: TraceFile = serde_json::from_slice(&written(&over_time, OverTimeForm::Chrome)).unwrap();
    let of = |name: &str| file.trace_events.iter().find(|event| event.name == name).unwrap();
    assert_eq!(of("CPUs in use").args["CPUs"], 0.5);
    assert_eq!(of("threads in scopes off the CPU").args.len(), 2);
    let firefox: Value = serde_json::from_slice(&written(&over_time, OverTimeForm::Firefox)).unwrap();
    let names: Vec<&str> = firefox["counters"]
        .as_array()
        .unwrap()
        .iter()
        .map(|counter| counter["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        &names[..3],
        ["CPUs in use", "threads waiting", "threads without a CPU"]
    );
}

/// What the processed format asks of counters and threads: all columns are as long as their table says, indices are valid.
#[test]
fn the_firefox_profiler_has_a_thread_for_each_function_and_counters() {
    let over_time = three();
    let file: Value = serde_json::from_slice(&written(&over_time, OverTimeForm::Firefox)).unwrap();
    let meta = &file["meta"];
    assert!(meta["preprocessedProfileVersion"].as_u64().unwrap() >= 44);
    assert_eq!(meta["startTime"], 10_000.0);
    assert_eq!(meta["interval"], 0.001);
    let threads = file["threads"].as_array().unwrap();
    assert_eq!(threads.len(), 3, "the process, and two functions");
    let of_name = |name: &str| threads.iter().find(|thread| thread["name"] == name).unwrap();
    assert_eq!(of_name(&over_time.process)["isMainThread"], true);
    let columns = |table: &Value| {
        let length = table["length"].as_u64().unwrap() as usize;
        for (name, column) in table.as_object().unwrap() {
            if let Some(column) = column.as_array() {
                assert_eq!(column.len(), length, "{name}");
            }
        }
        length
    };
    for (name, parts) in over_time.top(3) {
        let thread = of_name(name);
        let samples = &thread["samples"];
        assert_eq!(columns(samples), 4);
        let weights: i64 = samples["weight"]
            .as_array()
            .unwrap()
            .iter()
            .map(|w| w.as_i64().unwrap())
            .sum();
        let self_us: u64 = parts.iter().map(|part| part.self_ns / 1_000).sum();
        assert_eq!(weights, self_us as i64);
        let stacks = samples["stack"].as_array().unwrap();
        assert!(
            stacks[0].is_null() && stacks[2].is_null(),
            "nothing where it did nothing"
        );
        let stack = stacks[1].as_u64().unwrap_or_else(|| panic!("{thread:#}"));
        assert!(stack < columns(&thread["stackTable"]) as u64);
    }
    let counters = file["counters"].as_array().unwrap();
    assert!(counters.len() >= 3 + over_time.counters.len());
    for counter in counters {
        for member in ["name", "category", "description", "pid"] {
            assert!(counter[member].is_string(), "{member}");
        }
        let main = counter["mainThreadIndex"].as_u64().unwrap();
        assert!((main as usize) < threads.len());
        let samples = counter
            .get("samples")
            .unwrap_or(&counter["sampleGroups"][0]["samples"]);
        assert_eq!(columns(samples), 4);
    }
}

#[test]
fn functions_with_most_self_time_have_tracks() {
    let mut out = Vec::new();
    OverTimeForm::Chrome.write(&three(), 1, &mut out).unwrap();
    let file: TraceFile = serde_json::from_slice(&out).unwrap();
    let shares = file
        .trace_events
        .iter()
        .find(|event| event.name == "self time, %")
        .unwrap();
    let names: Vec<&str> = shares.args.keys().map(String::as_str).collect();
    assert_eq!(names, ["(other functions)", "orderbook_sim::wire::decode"]);
    assert_eq!(shares.args["(other functions)"], 25.0);
}

#[test]
fn nothing_is_a_file_as_well() {
    for form in [OverTimeForm::Chrome, OverTimeForm::Firefox] {
        let file: Value = serde_json::from_slice(&written(&OverTime::default(), form)).unwrap();
        assert!(file.is_object());
    }
}
