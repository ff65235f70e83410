//! Reports that are written to files or read by other tools: options that choose the content, formats that can be
//! opened again, and options that exclude each other.

use tickscope_format::Snapshot;
use tickscope_testkit::fixture;

use crate::support::{Done, Place};

/// Creates a place that contains the snapshot file `kept.tks`.
fn kept() -> Place {
    let place = Place::new();
    place.keep("kept.tks", &fixture::two_threads());
    place
}

fn report(place: &Place, args: &[&str]) -> Done {
    place.tickscope(&[&["report", "./kept.tks"], args].concat())
}

fn options_choose_what_the_text_shows() {
    let place = kept();
    let text = |args: &[&str]| report(&place, args).ok().quiet().out;
    let all = text(&[]);
    assert_eq!(text(&["--unit", "ns"]), all);
    for (args, shown) in [
        (&["--unit", "ticks"][..], "times in ticks of the clock"),
        (&["--unit", "both"], "times also in ticks of the clock"),
        (&["--view", "tree"], "Call tree"),
        (&["--view", "hot"], "Top functions"),
        (&["--view", "flat"], "SELF/CALL  TOTAL/CALL  FUNCTION"),
        (&["--view", "threads"], "STATE     THREAD\n"),
        (&["--thread", "match-0"], "; shown: only match-0 ("),
        (&["--per", "insert"], "per call of insert (800 calls)"),
    ] {
        let shows = text(args);
        assert!(shows != all && shows.contains(shown), "{args:?} {shows}");
    }
}

fn a_report_into_a_file_that_opens_again_is_the_snapshot() {
    let place = kept();
    let json = |target: &str, part: &[&str]| {
        let args = [&["report", target, "-f", "json"], part].concat();
        place.told(&args)
    };
    for (number, part) in [&[][..], &["--thread", "match-0"], &["--min-share", "50%"]]
        .into_iter()
        .enumerate()
    {
        let file = format!("./now-{number}.tks");
        report(&place, &[&["-o", &file], part].concat()).ok().quiet();
        assert_eq!(json(&file, &[]), json("./kept.tks", part), "{part:?}");
    }
    // A page shows only the chosen thread, but contains the whole snapshot.
    let page = ["-o", "./page.html", "--thread", "match-0"];
    report(&place, &page).ok().quiet();
    assert_eq!(json("./page.html", &[]), json("./kept.tks", &[]));
}

fn what_makes_no_sense_is_said_in_one_line() {
    let place = kept();
    place.keep("bare.tks", &Snapshot::default());
    let table = "
        2 report ./kept.tks --view flat -f json => --view chooses a part of the text; leave it out, or give -f text
        2 report ./kept.tks --unit ns -f folded => --unit is for text; this form has nanoseconds alone: leave it out
        2 report ./kept.tks --unit ticks -f json => json has both, as total_ns and total_ticks: leave it out
        2 report ./kept.tks -f tks => a tks file needs a name, by which it is opened: give -o FILE
        2 report ./kept.tks -o x.tks --per insert => a tks file has the numbers as measured; leave out --per
        2 report ./kept.tks -o x.tks --unit ns => a tks file has ticks and their length: leave it out
        2 report ./kept.tks -o x -f folded --per insert => --per is for text, html and json; this form has whole nanoseconds
        2 report ./kept.tks --per insret => did you mean
        2 report ./kept.tks --thread nobody => no thread nobody among its threads: match-0 (
        2 report ./bare.tks --thread nobody => no thread nobody among its threads: no thread has entered a scope
    ";
    place.refuses(table);
    // clap reports these errors.
    let table = "
        2 report ./kept.tks --min-share 200% => wanted a percentage from 0 to 100, like 1% or 0.5%
        2 report ./kept.tks --force --all-rows => --output
    ";
    place.answers(table);
    assert_eq!(place.files(), 2, "nothing was written");
}

tickscope_testkit::tests![
    options_choose_what_the_text_shows,
    a_report_into_a_file_that_opens_again_is_the_snapshot,
    what_makes_no_sense_is_said_in_one_line,
];
