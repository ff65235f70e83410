use serde_json::Value;
use tickscope_format::ids::NO_PARENT;
use tickscope_format::snapshot::{Note, Then, Trace, TraceGap};
use tickscope_testkit::fixture;

use super::*;
use crate::speedscope_file::tests::own_values;

fn written(form: ExemplarForm, snapshot: &Snapshot, exemplar: usize) -> Value {
    let watch = &snapshot.watches[0];
    let mut out = Vec::new();
    form.write(snapshot, watch, &watch.exemplars[exemplar], &mut out)
        .unwrap();
    serde_json::from_slice(&out).unwrap()
}

/// Returns the fixture with an additional slow call. It has a gap, a call that continues after an inner call, a period without a
/// CPU, and two notes.
fn snapshot() -> Snapshot {
    let mut snapshot = fixture::slow_frames();
    let mut trace = Trace::default();
    trace.push(0, 10_000, Then::Enter);
    trace.push(2, 5_000, Then::Exit);
    trace.push(0, 2_500, Then::Enter);
    trace.push(2, 50_000, Then::Stay);
    trace.push(3, 75_000, Then::GoOn);
    trace.push(2, 40_000, Then::Exit);
    trace.push(0, 2_500, Then::Exit);
    trace.off_cpu = vec![(3, 10_000, 30_000), (4, 75_000, 0)];
    trace.gap = Some(TraceGap {
        step: 2,
        steps: 9,
        ticks: 100_000,
    });
    trace.keys = vec!["frame".into(), "a \"key\"".into()];
    for (step, key, value) in [(0, 0, "1"), (7, 1, "ü")] {
        trace.notes.push(Note {
            step,
            key,
            value: value.into(),
        });
    }
    let watch = &mut snapshot.watches[0];
    let exemplar = Exemplar {
        number: 9,
        ticks: Waterfall::of(&trace, watch).ticks,
        trace: Some(trace),
        ..watch.exemplars[0].clone()
    };
    watch.exemplars.push(exemplar);
    snapshot
}

/// Returns the self time of each function in the trace, in nanoseconds.
fn own_ns(snapshot: &Snapshot, exemplar: usize) -> Vec<f64> {
    let watch = &snapshot.watches[0];
    let trace = watch.exemplars[exemplar].trace.as_ref().unwrap();
    let mut ns = vec![0.0; snapshot.sites.len()];
    for (path, ticks, _) in trace.steps() {
        ns[watch.paths[path as usize].site.index()] += ticks as f64 * 0.4;
    }
    ns
}

fn assert_close(found: &[f64], wanted: &[f64], steps: usize) {
    for (found, wanted) in found.iter().zip(wanted) {
        assert!((found - wanted).abs() <= steps as f64, "{found} {wanted}");
    }
}

#[test]
fn speedscope_frames_nest_and_take_their_time() {
    let snapshot = snapshot();
    for exemplar in 0..3 {
        let file = written(ExemplarForm::Speedscope, &snapshot, exemplar);
        let own: Vec<f64> = own_values(&file).into_iter().map(|ns| ns as f64).collect();
        let mut wanted = own_ns(&snapshot, exemplar);
        // The time of the omitted steps counts as self time of the function in which they were omitted.
        wanted[0] += if exemplar == 2 { 40_000.0 } else { 0.0 };
        assert_close(&own, &wanted, 1_300);
    }
}

#[test]
fn trace_events_are_those_of_the_format_and_nest() {
    let snapshot = snapshot();
    for exemplar in 0..3 {
        let file = written(ExemplarForm::Chrome, &snapshot, exemplar);
        let events = file["traceEvents"].as_array().unwrap();
        let mut spans: Vec<(f64, f64, &str)> = Vec::new();
        for event in events {
            assert!(event["name"].is_string() && event["pid"].is_u64() && event["tid"].is_u64());
            match event["ph"].as_str().unwrap() {
                "X" => {
                    let (ts, dur) = (event["ts"].as_f64().unwrap(), event["dur"].as_f64().unwrap());
                    assert!(ts >= 0.0 && dur >= 0.0);
                    spans.push((ts, ts + dur, event["cat"].as_str().unwrap()));
                }
                "i" => assert_eq!(event["s"], "t"),
                "M" => assert!(event["args"]["name"].is_string()),
                other => panic!("{other}"),
            }
        }
        // Two spans on one thread are either separate or one contains the other.
        for (index, a) in spans.iter().enumerate() {
            for b in &spans[index + 1..] {
                let apart = a.1 <= b.0 + 1e-6 || b.1 <= a.0 + 1e-6;
                let inside =
                    (a.0 <= b.0 + 1e-6 && b.1 <= a.1 + 1e-6) || (b.0 <= a.0 + 1e-6 && a.1 <= b.1 + 1e-6);
                assert!(apart || inside, "{a:?} {b:?}");
            }
        }
        let calls = spans.iter().filter(|span| span.2 == "call").count();
        assert_eq!(calls, [3, 603, 5][exemplar]);
        let notes = events.iter().filter(|event| event["ph"] == "i").count();
        assert_eq!(notes, [0, 1, 2][exemplar]);
    }
    let file = written(ExemplarForm::Chrome, &snapshot, 2);
    let events = file["traceEvents"].as_array().unwrap().iter();
    let off = events.filter(|event| event["cat"] == "off-cpu");
    let off = off.map(|event| (event["name"].as_str().unwrap(), event["dur"].as_f64().unwrap()));
    let off: Vec<(&str, f64)> = off.collect();
    assert_eq!(off, [("waits", 4.0), ("no CPU", 12.0), ("waits", 30.0)]);
}

#[test]
fn the_firefox_profile_has_tables_that_fit_and_weights_that_are_nanoseconds() {
    let snapshot = snapshot();
    for exemplar in 0..3 {
        let file = written(ExemplarForm::Firefox, &snapshot, exemplar);
        assert!(file["meta"]["preprocessedProfileVersion"].is_u64());
        let thread = &file["threads"][0];
        let column = |table: &str, column: &str| {
            let column = thread[table][column].as_array();
            column.unwrap_or_else(|| panic!("{table}.{column:?}")).clone()
        };
        let stacks = thread["stackTable"]["length"].as_u64().unwrap();
        let (frame, prefix) = (column("stackTable", "frame"), column("stackTable", "prefix"));
        let mut prefixes = (0u64..).zip(&prefix);
        assert!(prefixes.all(|(at, prefix)| prefix.is_null() || prefix.as_u64().unwrap() < at));
        let (func, name) = (column("frameTable", "func"), column("funcTable", "name"));
        let strings = thread["stringArray"].as_array();
        let strings = strings.or(file["shared"]["stringArray"].as_array()).unwrap();
        let number = |column: &[Value], at: u64| column[at as usize].as_u64().unwrap();
        let name_of = |stack: u64| {
            let name = number(&name, number(&func, number(&frame, stack)));
            strings[name as usize].as_str().unwrap()
        };
        let (stack, weight) = (column("samples", "stack"), column("samples", "weight"));
        let mut own = vec![0.0; snapshot.sites.len()];
        for (stack, weight) in stack.iter().zip(&weight).filter(|(stack, _)| !stack.is_null()) {
            let stack = stack.as_u64().unwrap();
            assert!(stack < stacks);
            let mut sites = snapshot.sites.iter();
            let site = sites.position(|site| name_of(stack).ends_with(&site.name));
            own[site.unwrap()] += weight.as_f64().unwrap();
        }
        assert_close(&own, &own_ns(&snapshot, exemplar), 1_300);
        // The stack of a sample has the same callers as its path.
        let mut stacks = stack.iter().filter_map(Value::as_u64);
        if let Some(lookup) = stacks.find(|&stack| name_of(stack).ends_with("lookup")) {
            let above = prefix[lookup as usize].as_u64().unwrap();
            assert!(name_of(above).ends_with("draw_frame") && prefix[above as usize].is_null());
        }
        let markers = thread["markers"]["length"].as_u64().unwrap();
        assert_eq!(markers, [1, 1, 5][exemplar]);
    }
}

#[test]
fn a_call_of_which_nothing_is_known_is_an_error() {
    let mut snapshot = snapshot();
    assert_eq!(snapshot.watches[0].paths[0].parent, NO_PARENT);
    snapshot.watches[0].exemplars[0].trace = None;
    let watch = &snapshot.watches[0];
    for form in [
        ExemplarForm::Chrome,
        ExemplarForm::Firefox,
        ExemplarForm::Speedscope,
    ] {
        let mut out = Vec::new();
        let error = form
            .write(&snapshot, watch, &watch.exemplars[0], &mut out)
            .unwrap_err();
        assert!(error.to_string().contains("not known") && out.is_empty());
    }
}
