//! Lines of functions: `tickscope lines` and `tickscope report --view source`.

use crate::cli_commands::support::{Place, name, until};

fn the_lines_of_a_program_are_sampled_while_that_is_wanted() {
    let place = Place::new();
    let name = name("lines");
    let program = place.start_named("computing", &name);
    let report = || {
        place
            .tickscope(&["report", "--view", "source", &name])
            .ok()
            .quiet()
            .out
    };
    assert!(
        report().contains("no samples of the program counter: ask for them with tickscope lines on"),
        "{}",
        report()
    );
    let done = place.tickscope(&["lines", "on", &name]).ok().quiet();
    assert!(
        done.out.contains("is sampled by SIGPROF, 1000 times a second"),
        "{}",
        done.out
    );
    // The role's scopes stand in this test's own sources, whose debug information has lines.
    let line = |report: &str| {
        let mut lines = report.lines().skip_while(|line| !line.contains("roles.rs:"));
        lines.any(|line| line.contains("black_box(if sum"))
    };
    until("a line of the program", || line(&report()).then_some(()));
    assert!(report().contains(" a second (1000 asked for)"));

    let kept = place.work().join("kept.tks");
    place
        .tickscope(&["snapshot", "-o", kept.to_str().unwrap(), &name])
        .ok();
    drop(program);
    let of_file = place
        .tickscope(&["report", "--view", "source", kept.to_str().unwrap()])
        .ok();
    assert!(line(&of_file.out), "{}", of_file.out);
    let form = |form: &str| {
        place
            .tickscope(&["report", "-f", form, kept.to_str().unwrap()])
            .ok()
            .out
    };
    let json: serde_json::Value = serde_json::from_str(&form("json")).unwrap();
    let functions = json["line_functions"].as_array().unwrap();
    let lines = functions
        .iter()
        .flat_map(|function| function["lines"].as_array().unwrap());
    assert!(
        lines
            .clone()
            .any(|line| line["file"].as_str().unwrap().ends_with("roles.rs")),
        "{functions:?}"
    );
    // Readers find the source by its whole path.
    let callgrind = form("callgrind");
    let source = lines.filter_map(|line| line["file"].as_str()).next().unwrap();
    assert!(
        source.starts_with('/') && callgrind.contains(source),
        "{callgrind}"
    );
    assert!(callgrind.contains(" Sampled\n"), "{callgrind}");
}

fn what_cannot_be_asked_for_is_refused() {
    let place = Place::new();
    for arguments in [
        &["lines"][..],
        &["lines", "maybe"],
        &["lines", "on", "--rate", "0"],
        &["lines", "on", "--rate", "10001"],
    ] {
        place.tickscope(arguments).with_code(2);
    }
    place.tickscope(&["lines", "on", "no-such-program"]).with_code(2);
}

tickscope_testkit::tests![
    the_lines_of_a_program_are_sampled_while_that_is_wanted,
    what_cannot_be_asked_for_is_refused,
];
