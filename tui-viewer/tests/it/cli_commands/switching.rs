//! Changing the mode and switching sites on or off, both requested by commands.

use serde_json::Value;

use crate::cli_commands::live::{check, number};
use crate::support::{Place, Program, until, until_true};

fn nodes<'a>(document: &'a Value, name: &str) -> Vec<&'a Value> {
    let nodes = document["nodes"].as_array().unwrap();
    nodes.iter().filter(|node| node["name"] == name).collect()
}

fn calls_of(document: &Value, name: &str) -> u64 {
    let nodes = nodes(document, name);
    nodes.iter().map(|node| number(&node["calls"])).sum()
}

/// Starts a program and waits until all its functions have been called.
fn begun(place: &Place) -> Program {
    let program = place.start("busy");
    until_true("all is entered", || {
        calls_of(&place.json(&program.name), "leaf") > 100
    });
    program
}

fn a_mode_is_switched_and_every_report_says_so() {
    let place = Place::new();
    let program = begun(&place);
    for (epoch, mode) in (1u64..).zip(["exact", "sampled", "off", "adaptive"]) {
        let done = place.tickscope(&["mode", mode, &program.name]).ok().quiet();
        done.begins(&format!("{}: mode {mode} from now on, ", program.who()));
        assert!(done.out.ends_with(&format!("; epoch {epoch}\n")), "{}", done.out);

        let document = place.json(&program.name);
        check(&document);
        assert_eq!(document["mode"], mode);
        assert_eq!(document["reset_epoch"], epoch);
        let text = place.told(&["report", &program.name]);
        assert!(text.contains(&format!("\n  mode         {mode}: ")), "{text}");
        assert_eq!(text.contains("nothing is measured"), mode == "off", "{text}");
    }
    // Requesting the current mode again is allowed.
    place.told(&["mode", "adaptive", &program.name]);
}

fn sites_are_switched_off_and_on_and_listed() {
    let place = Place::new();
    let program = begun(&place);
    let name = program.name.as_str();
    let done = place.tickscope(&["off", "leaf", name]).ok().quiet();
    let who = program.who();
    let said = format!("{who}: 1 site switched off by leaf; also applies to sites met later\n");
    assert_eq!(done.out, said);
    let done = place.tickscope(&["off", "no::such::*", name]).ok().quiet();
    let said = format!("{who}: no site matches no::such::* yet; sites met later are switched off by it\n");
    assert_eq!(done.out, said);

    let document = place.document(&["sites", "-f", "json", name]);
    assert_eq!(document["name"], name);
    assert_eq!(document["pid"], program.pid());
    let sites = document["sites"].as_array().unwrap().iter();
    let off = sites.filter(|site| site["off"] == true);
    assert_eq!(off.map(|site| &site["name"]).collect::<Vec<_>>(), ["leaf"]);
    let rules = document["rules"].as_array().unwrap();
    let patterns: Vec<&Value> = rules.iter().map(|rule| &rule["pattern"]).collect();
    assert_eq!(patterns, ["leaf", "no::such::*"]);

    let text = place.told(&["sites", name]);
    let line = |site: &str| {
        let line = text.lines().find(|line| line.contains(&format!("::{site} ")));
        line.unwrap_or_else(|| panic!("{site} in {text}")).to_string()
    };
    assert!(line("leaf").starts_with("off "), "{text}");
    assert!(line("leaf").contains("roles.rs:"), "{text}");
    assert!(line("outer").starts_with("on "), "{text}");
    assert!(text.ends_with("  off  leaf\n  off  no::such::*\n"), "{text}");
    let report = place.tickscope(&["report", name]).ok().out;
    assert!(report.contains("switched off: 1 site ("), "{report}");

    // Sites that are switched off are not counted, while other sites still are.
    let before = place.json(name);
    let after = until("others were called", || {
        let after = place.json(name);
        (calls_of(&after, "outer") > calls_of(&before, "outer")).then_some(after)
    });
    check(&after);
    assert_eq!(calls_of(&after, "leaf"), calls_of(&before, "leaf"));

    let done = place.tickscope(&["on", "leaf", name]).ok().quiet();
    done.prints(&[": 1 site switched on by leaf; also"]);
    until_true("it is measured again", || {
        calls_of(&place.json(name), "leaf") > calls_of(&after, "leaf")
    });
}

fn names_are_taken_as_they_are_shown() {
    let (place, program) = Place::with("instances");
    let name = program.name.as_str();
    let shown = until("all is entered", || {
        let text = place.tickscope(&["report", name]).ok().out;
        text.contains("Slab<u16>::get").then_some(text)
    });
    assert!(shown.contains("RequestService::call::{closure}"), "{shown}");
    let done = place.tickscope(&["off", "Slab<…>::get", name]).ok().quiet();
    done.prints(&[": 2 sites switched off by "]);
    place.told(&["on", "*", name]);
    let says = "Slab::get matches … Slab<u8>::get, … Slab<u16>::get; give more of its path";
    place.refuses(&format!("2 why Slab::get {name} --for 100ms => {says}"));
    place.refuses(&format!(
        "2 report --per Slab::gett {name} => (did you mean Slab::get?)"
    ));
    let function = "RequestService::call::{closure}";
    let why = ["why", function, name, "--for", "100ms", "--json"];
    let answer = place.tickscope(&why).ok().json();
    assert!(answer["calls"].as_u64() > Some(0), "{answer}");
    assert_eq!(answer["function"], function, "{answer}");
}

fn a_program_that_cannot_be_switched_is_named() {
    let place = Place::new();
    let (older, deaf, mut ended) = (place.start("older"), place.start("deaf"), place.start("stuck"));
    place.told(&["snapshot", "-o", "./kept.tks", &ended.name]);
    assert!(ended.end().success());
    let deaf_says = " takes no requests from this viewer (Builder::allow_remote_control is off";
    for (target, says) in [
        (
            older.name.as_str(),
            "collector is older and does not know this request",
        ),
        (&deaf.name, deaf_says),
        (&ended.name, " has ended; there is nothing to switch"),
        ("./kept.tks", "kept snapshot"),
    ] {
        for args in ["mode adaptive", "off leaf", "on leaf"] {
            place.refuses(&format!("1 {args} {target} => {says}… {target}"));
        }
    }
    for target in [&older.name, "./kept.tks"] {
        place.told(&["sites", target]);
    }
}

tickscope_testkit::tests![
    a_mode_is_switched_and_every_report_says_so,
    sites_are_switched_off_and_on_and_listed,
    names_are_taken_as_they_are_shown,
    a_program_that_cannot_be_switched_is_named,
];
