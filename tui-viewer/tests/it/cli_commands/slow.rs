//! `tickscope why` and `tickscope watch`: why slow calls are slow.

use tickscope_testkit::fixture;

use crate::support::{Place, until};

/// Creates a place that contains a snapshot of a program in which `draw_frame` is watched.
fn kept() -> (Place, &'static str) {
    let place = Place::new();
    place.keep("frames.tks", &fixture::slow_frames());
    (place, "./frames.tks")
}

fn a_kept_snapshot_says_why_slow_calls_are_slow() {
    let (place, file) = kept();
    let text = place.told(&["why", "draw_frame", file]);
    let begins = "draw_frame: 30 slow of 6000 calls (>= 1.90ms, ";
    assert!(text.starts_with(begins), "{text}");
    let most = "scene::lookup: most of it in 20 calls, +2.97ms each, 600 calls instead of 6; ";
    assert!(text.lines().nth(1).unwrap().starts_with(most), "{text}");
    for (args, has) in [
        (&["-f", "markdown"][..], "| 6 → 402 | `scene::lookup` |"),
        (&["-f", "json"], "\"rows\": ["),
        (&["--json"], "\"shown\": {\"causes\": 3, \"rows\": 2,"),
    ] {
        let text = place.told(&[&["why", "draw_frame", file], args].concat());
        assert!(text.contains(has), "{has} in {text}");
    }
}

fn one_of_the_calls_is_written_for_other_tools() {
    let (place, file) = kept();
    let named = "order-book (draw_frame, 3.48ms, on main)";
    for (args, has) in [
        // By default the longest call is chosen.
        (&["-f", "trace"][..], "draw_frame, 8.48ms, on main"),
        (&["-f", "firefox", "--call", "3"], named),
        (&["-f", "speedscope", "--call", "3"], "3484000"),
        (&["-f", "html"], "\"opens_slow\":0"),
    ] {
        let out = place.told(&[&["why", "draw_frame", file], args].concat());
        assert!(out.contains(has), "{has} in {out}");
    }
    let table = "
        2 why draw_frame ./frames.tks -f html --call 3 => leave it out
        2 why draw_frame ./frames.tks -f trace --call 4 => call 4 is not kept; kept calls: 7, 3
        2 why draw_frame ./frames.tks --call 3 => --call 3 is for -f trace, firefox and speedscope; leave it out
    ";
    place.refuses(table);
}

fn what_is_not_watched_names_the_command_that_watches_it() {
    let (place, _) = kept();
    let program = place.start("busy");
    let table = "
        2 why lookup ./frames.tks => lookup is not watched (watched: draw_frame); a function must be watched while the \
            program runs
        2 why draw_frame ./frames.tks --for 1s => is a file; --for needs a running program
        2 why leaf NAME => leaf is not watched (no function is watched); watch it for a while: tickscope why leaf NAME \
            --for 10s
    ";
    place.refuses(&table.replace("NAME", &program.name));
}

fn a_running_program_is_watched_for_a_while_and_then_no_longer() {
    let (place, program) = Place::with("busy");
    let name = program.name.as_str();
    let document = until("calls have ended", || {
        let during = ["why", "leaf", name, "--for", "200ms", "--over", "1us", "--json"];
        let document = place.tickscope(&during).ok().json();
        (document["calls"].as_u64() > Some(0)).then_some(document)
    });
    assert_eq!(document["threshold_ns"], 1_000);
    let rows = document["rows"].as_array().unwrap();
    assert!(rows[0]["path"].as_str().unwrap().ends_with("leaf"), "{document}");
    let not_watched = ["leaf is not watched (no function is watched)"];
    place.tickscope(&["why", "leaf", name]).failed(2, &not_watched);

    let watch = |words: &[&str]| place.tickscope(&[&["watch"], words, &[name]].concat());
    let done = watch(&["leaf", "--over", "5ms"]).ok().quiet();
    done.prints(&[": leaf is watched: calls of 5ms and more are slow; "]);
    place.tickscope(&["why", "leaf", name]).ok();
    // If a function was already watched, `why --for` does not stop watching it. The answer covers only the time while
    // the command ran.
    let calls = |words: &[&str]| {
        let words = [&["why", "leaf", name, "--json"], words].concat();
        place.tickscope(&words).ok().json()["calls"].as_u64().unwrap()
    };
    let (before, during, after) = (calls(&[]), calls(&["--for", "50ms"]), calls(&[]));
    assert!(before + during <= after, "{before} {during} {after}");
    let says =
        "no called function matches leef (did you mean leaf?); tickscope sites lists the called functions";
    place.refuses(&format!("2 why leef {name} --for 50ms => {says}"));
    for other in ["other::a", "other::b", "other::c"] {
        let done = watch(&[other]).ok().quiet().out;
        assert!(done.contains("no called function matches"), "{done}");
    }
    let says = "4 functions are watched already (leaf, other::a, other::b, other::c)";
    watch(&["other::d"]).failed(1, &[says]);
    let done = watch(&["leaf", "--off"]).ok().quiet().out;
    assert!(done.ends_with(": leaf is no longer watched\n"), "{done}");
    let done = watch(&["leaf", "--off"]).ok().quiet().out;
    let ends = ": leaf was not watched; watched: other::a, other::b, other::c\n";
    assert!(done.ends_with(ends), "{done}");
}

tickscope_testkit::tests![
    a_kept_snapshot_says_why_slow_calls_are_slow,
    one_of_the_calls_is_written_for_other_tools,
    what_is_not_watched_names_the_command_that_watches_it,
    a_running_program_is_watched_for_a_while_and_then_no_longer,
];
