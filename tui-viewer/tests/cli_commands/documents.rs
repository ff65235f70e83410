//! Reports as JSON are targets, and what numbers are per.

use std::fs;

use serde_json::Value;

use crate::support::{Place, until};

/// A kept snapshot of the busy program.
fn kept(place: &Place) -> String {
    let program = place.start("busy");
    until("all is entered", || {
        let text = place.tickscope(&["report", &program.name]).ok().out;
        text.contains("leaf").then_some(())
    });
    place
        .tickscope(&["snapshot", "-o", "./kept.tks", &program.name])
        .ok();
    "./kept.tks".into()
}

#[test]
fn a_document_opens_again_as_what_was_measured() {
    let place = Place::new();
    let kept = kept(&place);
    for part in [&[][..], &["--thread", "busy-0"], &["--min-share", "5%"]] {
        let report = |target: &str, args: &[&str]| {
            let args = [&["report", target], args].concat();
            place.tickscope(&args).ok().quiet().out
        };
        let whole = report(&kept, &[&["-f", "json"], part].concat());
        fs::write(place.work().join("now.json"), &whole).unwrap();
        assert_eq!(report("now.json", &["-f", "json"]), whole, "{part:?}");
        for form in ["text", "csv", "folded", "callgrind"] {
            let parts = [&["-f", form], part].concat();
            // A part of what was narrowed already is all of it, said in other words.
            if part.is_empty() || form != "text" {
                assert_eq!(
                    report("now.json", &["-f", form]),
                    report(&kept, &parts),
                    "{part:?} {form}"
                );
            }
        }
        place.tickscope(&["stacks", "now.json"]).ok().quiet();
    }
    place.tickscope(&["reset", "now.json"]).failed(1, &["now.json"]);
}

#[test]
fn a_report_into_a_tks_file_is_the_snapshot() {
    let place = Place::new();
    let kept = kept(&place);
    let report = |args: &[&str]| place.tickscope(&[&["report"], args].concat());
    for (number, part) in [&[][..], &["--thread", "busy-0"], &["--min-share", "5%"]]
        .iter()
        .enumerate()
    {
        let file = format!("now-{number}.tks");
        report(&[&[kept.as_str(), "-o", &file], *part].concat())
            .ok()
            .quiet();
        let json = |target: &str, part: &[&str]| report(&[&[target, "-f", "json"], part].concat()).ok().out;
        assert_eq!(json(&file, &[]), json(&kept, part), "{part:?}");
    }
    for (args, says) in [
        (
            &["-f", "tks"][..],
            "a tks file is opened by its name: give -o FILE",
        ),
        (
            &["-o", "x.tks", "--compensated"],
            "a tks file has the times that were measured; leave out --compensated",
        ),
        (
            &["-o", "x.tks", "--per", "outer"],
            "a tks file has what was measured; leave out --per",
        ),
        (
            &["-o", "x.tks", "--unit", "ns"],
            "a tks file has ticks and their length: leave it out",
        ),
        (
            &["-o", "x.tks", "--view", "hot"],
            "--view chooses a part of the text",
        ),
    ] {
        report(&[&[kept.as_str()], args].concat()).failed(2, &[says]);
    }
    assert!(!place.work().join("x.tks").exists());
}

#[test]
fn other_documents_are_refused_with_what_they_are() {
    let place = Place::new();
    let kept = kept(&place);
    let report = |args: &[&str]| place.tickscope(&[&["report", kept.as_str()], args].concat());
    for (args, says) in [
        (
            &["-f", "json", "--compensated"][..],
            "cannot be read as what was measured: what measuring costs was taken off its times; write the report without --compensated",
        ),
        (
            &["-f", "json", "--per", "outer"],
            "its numbers are per call; write the report without --per",
        ),
        (&["-f", "speedscope"], "not a tickscope file"),
    ] {
        fs::write(place.work().join("other.json"), report(args).ok().out).unwrap();
        place
            .tickscope(&["report", "other.json"])
            .failed(1, &["other.json", says]);
    }
    let whole = report(&["-f", "json"]).ok().out;
    fs::write(place.work().join("cut.json"), &whole[..whole.len() / 3]).unwrap();
    place.tickscope(&["report", "cut.json"]).failed(
        1,
        &[
            "cut.json: JSON report, line ",
            "found its end, wanted the rest of it: it was cut off",
        ],
    );
}

#[test]
fn numbers_per_call_of_a_function() {
    let place = Place::new();
    let kept = kept(&place);
    let report = |args: &[&str]| place.tickscope(&[&["report", kept.as_str()], args].concat());
    let document = |args: &[&str]| -> Value {
        let text = report(&[&["-f", "json"], args].concat()).ok().quiet().out;
        serde_json::from_str(&text).unwrap()
    };
    let (whole, per) = (document(&[]), document(&["--per", "outer"]));
    let calls = per["per"]["calls"].as_f64().unwrap();
    let nodes = |document: &Value| document["nodes"].as_array().unwrap().clone();
    let mut outer = 0.0;
    for (whole, per) in nodes(&whole).iter().zip(&nodes(&per)) {
        let number = |node: &Value, member: &str| node[member].as_f64().unwrap();
        assert_eq!(number(per, "self_ns"), number(whole, "self_ns") / calls);
        if whole["name"] == "outer" {
            outer += number(whole, "calls");
        }
    }
    assert_eq!(outer, calls);
    // Those of all threads, also where only one is shown.
    let of_one = document(&["--per", "outer", "--thread", "busy-0"]);
    assert_eq!(of_one["per"], per["per"]);
    for view in ["tree", "hot", "flat", "graph", "threads"] {
        let text = report(&["--view", view, "--per", "outer"]).ok().quiet().out;
        assert!(
            text.contains(&format!("per call of outer ({calls} calls)")),
            "{text}"
        );
    }
    report(&["--per", "outre"]).failed(2, &["outre", "outer"]);
    for form in ["folded", "speedscope", "pprof", "callgrind"] {
        report(&["--per", "outer", "-f", form, "-o", "x"]).failed(
            2,
            &["--per is for text, html, json and csv; this form has whole nanoseconds"],
        );
    }
    assert!(!place.work().join("x").exists());
}
