//! What measuring costs: `tickscope cost`.

use crate::cli_commands::support::{Place, name};

fn what_measuring_costs_a_program_is_measured_in_it() {
    let place = Place::new();
    let name = name("cost");
    let program = place.start_named("frames", &name);
    let document = place
        .tickscope(&["cost", "--of", "frame", "--for", "60s", "--json", &name])
        .ok()
        .quiet()
        .json();
    let in_place = &document["in_place"];
    assert!(
        in_place["unit"].as_str().unwrap().ends_with("::frame"),
        "{document}"
    );
    let number = |member: &str| in_place[member].as_f64().unwrap();
    // Calls that are open at either snapshot count with what they have done so far.
    assert!((900.0..=1_100.0).contains(&number("scopes")), "{document}");
    assert!(number("low") <= number("slowdown") && number("slowdown") <= number("high"));
    assert!(number("scope_low_ns") <= number("scope_high_ns") && number("pairs") >= 20.0);
    // Reports and kept snapshots have it as well.
    let report = place.json(&name);
    assert_eq!(report["cost"]["in_place"]["unit"], in_place["unit"]);
    let file = place.work().join("kept.tks");
    place
        .tickscope(&["snapshot", "-o", file.to_str().unwrap(), &name])
        .ok();
    drop(program);
    let text = place
        .tickscope(&["cost", file.to_str().unwrap()])
        .ok()
        .quiet()
        .out;
    assert!(
        text.contains("::frame: measuring makes a call take ") && text.contains("a scope by itself costs "),
        "{text}"
    );
}

fn a_program_in_which_nothing_repeats_and_a_mode_without_clocks_are_told() {
    let place = Place::new();
    let name = name("cost");
    let _program = place.start_named("stuck", &name);
    let said = |wanted: &str| {
        let text = place.tickscope(&["cost", "--for", "1s", &name]).ok().quiet().out;
        assert!(text.contains(wanted), "{text}");
    };
    said("not measured in place: no function repeats");
    place.tickscope(&["mode", "sampled", &name]).ok();
    said("mode sampled reads no clock");
    place
        .tickscope(&["cost", "--for", "0", &name])
        .failed(2, &["--for 0 measures nothing"]);
}

tickscope_testkit::tests![
    a_program_in_which_nothing_repeats_and_a_mode_without_clocks_are_told;
    ignored:
    // Half a minute of measuring.
    what_measuring_costs_a_program_is_measured_in_it,
];
