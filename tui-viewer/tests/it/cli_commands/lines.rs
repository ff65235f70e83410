//! Source lines of functions: `tickscope lines` and `tickscope report --view source`.

use crate::support::{Place, until};

fn the_lines_of_a_program_are_sampled_while_that_is_wanted() {
    let place = Place::new();
    let (program, ring) = place.run("computing");
    let report = |target: &str| {
        let args = ["report", "--view", "source", target];
        place.told(&args)
    };
    let without = report(&program.name);
    assert!(
        without.contains("no samples of the program counter: ask for them with tickscope lines on"),
        "{without}"
    );
    let done = place.tickscope(&["lines", "on", &program.name]).ok().quiet();
    done.prints(&["is sampled by SIGPROF, 1000 times a second"]);
    // A report on this large binary is slow, because it reads all debug information. So the test polls the ring for
    // samples, and makes the report only once.
    until("there are samples", || {
        let (_, snapshot) = ring.newest_snapshot().ok()?;
        let samples = snapshot.lines.samples.iter().map(|sample| sample.samples);
        (samples.sum::<u64>() > 100).then_some(())
    });
    place
        .tickscope(&["snapshot", "-o", "./kept.tks", &program.name])
        .ok();
    drop(program);
    let of_file = report("./kept.tks");
    assert!(of_file.contains(" a second (1000 asked for)"), "{of_file}");
    // The code of the role is part of this test binary, which has line tables, so its source lines can be shown.
    let mut lines = of_file.lines().skip_while(|line| !line.contains("roles.rs:"));
    assert!(lines.any(|line| line.contains("black_box(if sum")), "{of_file}");
}

tickscope_testkit::tests![the_lines_of_a_program_are_sampled_while_that_is_wanted,];
