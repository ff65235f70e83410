//! Reports in files: which can be opened again, and what numbers are per.

use std::fs;

use serde_json::Value;

use crate::cli_commands::support::{Place, until};

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

fn a_report_as_json_is_refused_with_what_to_open_instead() {
    let place = Place::new();
    let kept = kept(&place);
    let whole = place.tickscope(&["report", &kept, "-f", "json"]).ok().quiet().out;
    fs::write(place.work().join("now.json"), &whole).unwrap();
    for command in ["report", "stacks", "sites", "reset"] {
        place.tickscope(&[command, "now.json"]).failed(
            1,
            &[
                "now.json: reports as .json cannot be opened again",
                ".html can",
                ".tks",
            ],
        );
    }
}

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
    for view in ["tree", "hot", "flat", "threads"] {
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
            &["--per is for text, html and json; this form has whole nanoseconds"],
        );
    }
    assert!(!place.work().join("x").exists());
}

tickscope_testkit::tests![
    a_report_as_json_is_refused_with_what_to_open_instead,
    a_report_into_a_tks_file_is_the_snapshot,
    numbers_per_call_of_a_function,
];
