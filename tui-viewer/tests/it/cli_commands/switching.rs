//! Modes, and sites switched off and on, asked for from outside.

use serde_json::Value;

use crate::cli_commands::live::check;
use crate::cli_commands::support::{Place, Program, until};

fn who(program: &Program) -> String {
    format!("{} ({})", program.name, program.pid())
}

fn nodes<'a>(document: &'a Value, name: &str) -> Vec<&'a Value> {
    let nodes = document["nodes"].as_array().unwrap();
    nodes.iter().filter(|node| node["name"] == name).collect()
}

fn calls_of(document: &Value, name: &str) -> u64 {
    nodes(document, name)
        .iter()
        .map(|node| node["calls"].as_u64().unwrap())
        .sum()
}

/// A program of whose functions all have been called.
fn begun(place: &Place) -> Program {
    let program = place.start("busy");
    until("all is entered", || {
        (calls_of(&place.json(&program.name), "leaf") > 100).then_some(())
    });
    program
}

fn a_mode_is_switched_and_every_report_says_so() {
    let place = Place::new();
    let program = begun(&place);
    for (epoch, mode) in (1u64..).zip(["exact", "sampled", "off", "adaptive"]) {
        let done = place.tickscope(&["mode", mode, &program.name]).ok().quiet();
        let begins = format!("{}: mode {mode} from now on, ", who(&program));
        assert!(done.out.starts_with(&begins), "{}", done.out);
        assert!(done.out.ends_with(&format!("; epoch {epoch}\n")), "{}", done.out);

        let document = place.json(&program.name);
        check(&document);
        assert_eq!(document["mode"], mode);
        assert_eq!(document["reset_epoch"], epoch);
        let text = place.tickscope(&["report", &program.name]).ok().quiet().out;
        assert!(text.contains(&format!("\n  mode         {mode}: ")), "{text}");
        assert_eq!(text.contains("nothing is measured"), mode == "off", "{text}");
    }
    // The mode that is in force may be asked for again.
    place.tickscope(&["mode", "adaptive", &program.name]).ok().quiet();
}

fn percentiles_stand_in_the_report_and_in_the_json() {
    let place = Place::new();
    let program = begun(&place);
    place.tickscope(&["mode", "exact", &program.name]).ok();
    let document = until("calls have ended", || {
        let document = place.json(&program.name);
        (calls_of(&document, "leaf") > 100).then_some(document)
    });
    assert_eq!(document["histograms"], true);
    for leaf in nodes(&document, "leaf") {
        let ns = |name: &str| leaf[name].as_u64();
        if leaf["calls"].as_u64() < Some(2) {
            continue;
        }
        assert!(ns("p50_ns") > Some(0), "{leaf}");
        assert!(
            ns("p50_ns") <= ns("p90_ns") && ns("p90_ns") <= ns("p99_ns"),
            "{leaf}"
        );
        assert!(
            ns("p99_ns") <= ns("p999_ns") && ns("p999_ns") <= ns("max_ns"),
            "{leaf}"
        );
        assert!(leaf["max_exact"].is_boolean());
        assert_eq!(
            (&leaf["estimated"], &leaf["timed_calls"]),
            (&Value::Bool(false), &leaf["calls"])
        );
    }
    let text = place.tickscope(&["report", &program.name]).ok().out;
    assert!(text.contains("  AVG     P50     P99      MAX  "), "{text}");
}

fn samples_are_counted_and_their_times_are_estimates() {
    let place = Place::new();
    let program = begun(&place);
    let done = place.tickscope(&["mode", "sampled", &program.name]).ok();
    assert!(
        done.out.contains(
            "mode sampled from now on, calls are counted, times are shares of samples (~ if rough); epoch "
        ),
        "{}",
        done.out
    );
    let document = until("it was looked at", || {
        let document = place.json(&program.name);
        (document["samples"].as_u64() > Some(20) && calls_of(&document, "leaf") > 100).then_some(document)
    });
    check(&document);
    assert!(document["sampling_hz"].as_f64() > Some(0.0));
    for node in document["nodes"].as_array().unwrap() {
        assert_eq!(
            (&node["estimated"], &node["timed_calls"]),
            (&Value::Bool(true), &Value::from(0)),
            "{node}"
        );
    }
    let text = place.tickscope(&["report", &program.name]).ok().out;
    assert!(
        text.contains("times, with ~ if rough") && text.contains("samples a second"),
        "{text}"
    );
}

fn sites_are_switched_off_and_on_and_listed() {
    let place = Place::new();
    let program = begun(&place);
    let name = program.name.as_str();
    let done = place.tickscope(&["off", "leaf", name]).ok().quiet();
    assert_eq!(
        done.out,
        format!(
            "{}: 1 site switched off by leaf; also applies to sites met later\n",
            who(&program)
        )
    );
    let done = place.tickscope(&["off", "no::such::*", name]).ok().quiet();
    assert_eq!(
        done.out,
        format!(
            "{}: no site matches no::such::* yet; sites met later are switched off by it\n",
            who(&program)
        )
    );

    let document = place
        .tickscope(&["sites", "-f", "json", name])
        .ok()
        .quiet()
        .json();
    assert_eq!(
        (&document["name"], &document["pid"]),
        (&name.into(), &program.pid().into())
    );
    let off: Vec<&Value> = document["sites"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|site| site["off"] == true)
        .map(|site| &site["name"])
        .collect();
    assert_eq!(off, ["leaf"]);
    let rules = document["rules"].as_array().unwrap();
    let patterns: Vec<&Value> = rules.iter().map(|rule| &rule["pattern"]).collect();
    assert_eq!(patterns, ["leaf", "no::such::*"]);

    let text = place.tickscope(&["sites", name]).ok().quiet().out;
    let line = |site: &str| {
        let line = text.lines().find(|line| line.contains(&format!("::{site} ")));
        line.unwrap_or_else(|| panic!("{site} in {text}")).to_string()
    };
    assert!(
        line("leaf").starts_with("off ") && line("leaf").contains("roles.rs:"),
        "{text}"
    );
    assert!(line("outer").starts_with("on "), "{text}");
    assert!(text.ends_with("  off  leaf\n  off  no::such::*\n"), "{text}");
    let report = place.tickscope(&["report", name]).ok().out;
    assert!(report.contains("switched off: 1 site ("), "{report}");

    // Nothing is counted there any more; the rest goes on.
    let before = place.json(name);
    let after = until("others were called", || {
        let after = place.json(name);
        (calls_of(&after, "outer") > calls_of(&before, "outer")).then_some(after)
    });
    check(&after);
    assert_eq!(calls_of(&after, "leaf"), calls_of(&before, "leaf"));

    let done = place.tickscope(&["on", "leaf", name]).ok().quiet();
    assert!(
        done.out.contains(": 1 site switched on by leaf; also"),
        "{}",
        done.out
    );
    until("it is measured again", || {
        (calls_of(&place.json(name), "leaf") > calls_of(&after, "leaf")).then_some(())
    });
}

fn names_are_taken_as_they_are_shown() {
    let place = Place::new();
    let program = place.start("instances");
    let name = program.name.as_str();
    let shown = until("all is entered", || {
        let text = place.tickscope(&["report", name]).ok().out;
        text.contains("Slab<u16>::get").then_some(text)
    });
    assert!(shown.contains("RequestService::call::{closure}"), "{shown}");
    for (pattern, count) in [
        ("RequestService::call::{closure}", "1 site"),
        ("Slab<u8>::get", "1 site"),
        ("Slab<…>::get", "2 sites"),
        ("Slab::get", "2 sites"),
    ] {
        let done = place.tickscope(&["off", pattern, name]).ok().quiet();
        assert!(
            done.out.contains(&format!(": {count} switched off by ")),
            "{}",
            done.out
        );
        let sites = place.tickscope(&["sites", "-f", "json", name]).ok().json();
        let off = sites["sites"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|site| site["off"] == true)
            .count();
        place.tickscope(&["on", "*", name]).ok().quiet();
        assert_eq!(
            format!("{off} site{}", if off == 1 { "" } else { "s" }),
            count,
            "{sites}"
        );
    }
    place
        .tickscope(&["why", "Slab::get", name, "--for", "100ms"])
        .failed(
            2,
            &[
                "Slab::get may be ",
                "Slab<u8>::get, ",
                "Slab<u16>::get; give more of its path",
            ],
        );
    place
        .tickscope(&["report", "--per", "Slab::gett", name])
        .failed(2, &["(did you mean Slab::get?)"]);
    let why = [
        "why",
        "RequestService::call::{closure}",
        name,
        "--for",
        "100ms",
        "--json",
    ];
    let answer = place.tickscope(&why).ok().json();
    assert!(answer["calls"].as_u64() > Some(0), "{answer}");
    assert_eq!(answer["function"], "RequestService::call::{closure}", "{answer}");
}

fn what_cannot_be_asked_for_is_said() {
    let place = Place::new();
    let done = place.tickscope(&["mode", "fast", "anybody"]).with_code(2);
    for mode in ["fast", "exact", "adaptive", "sampled", "off"] {
        assert!(done.err.contains(mode), "{}", done.err);
    }
}

/// Each request, and the program it is for.
fn requests(target: &str) -> [Vec<&str>; 3] {
    [
        vec!["mode", "adaptive", target],
        vec!["off", "leaf", target],
        vec!["on", "leaf", target],
    ]
}

fn a_program_that_cannot_be_switched_is_named() {
    let place = Place::new();
    let older = place.start("older");
    for args in requests(&older.name) {
        place.tickscope(&args).failed(
            1,
            &[&older.name, "collector is older and does not know this request"],
        );
    }
    place.tickscope(&["sites", &older.name]).ok().quiet();

    let deaf = place.start("deaf");
    for args in requests(&deaf.name) {
        place.tickscope(&args).failed(
            1,
            &[
                &deaf.name,
                " takes no requests from here (Builder::allow_remote_control is off",
            ],
        );
    }

    let mut ended = place.start("stuck");
    let kept = place.tickscope(&["snapshot", &ended.name]).ok().out;
    assert!(ended.end().success());
    for args in requests(&ended.name) {
        place.tickscope(&args).failed(
            1,
            &[&ended.name, " does not run any more; there is nothing to switch"],
        );
    }
    place.tickscope(&["sites", kept.trim()]).ok().quiet();
    for args in requests(kept.trim()) {
        place.tickscope(&args).failed(1, &[kept.trim(), "kept snapshot"]);
    }
    for args in requests("nobody-called-so") {
        place.tickscope(&args).with_code(2).says(&["nobody-called-so"]);
    }
}

tickscope_testkit::tests![
    a_mode_is_switched_and_every_report_says_so,
    percentiles_stand_in_the_report_and_in_the_json,
    samples_are_counted_and_their_times_are_estimates,
    sites_are_switched_off_and_on_and_listed,
    names_are_taken_as_they_are_shown,
    what_cannot_be_asked_for_is_said,
    a_program_that_cannot_be_switched_is_named,
];
