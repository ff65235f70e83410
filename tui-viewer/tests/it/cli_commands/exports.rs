//! Reports for other tools: the same snapshot gives the same sums in every form, of all or of a part of it.

use std::fs;
use std::process::Stdio;

use serde_json::Value;

use crate::cli_commands::support::{Place, VIEWER, finish, until};

/// A kept snapshot in which every function of the busy program was called.
fn kept(place: &Place) -> String {
    let program = place.start("busy");
    until("all is entered, by a thread that has ended too", || {
        let text = place.tickscope(&["report", &program.name]).ok().out;
        (text.contains("leaf") && !text.contains(" 0 finished")).then_some(())
    });
    place
        .tickscope(&["snapshot", "-o", "./kept.tks", &program.name])
        .ok();
    "./kept.tks".into()
}

const FORMS: [&str; 7] = [
    "text",
    "html",
    "json",
    "folded",
    "speedscope",
    "pprof",
    "callgrind",
];

fn self_ns(document: &Value) -> u64 {
    let nodes = document["nodes"].as_array().unwrap().iter();
    nodes.map(|node| node["self_ns"].as_u64().unwrap()).sum()
}

fn folded_sum(text: &str) -> u64 {
    let ns = |line: &str| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap();
    text.lines().map(ns).sum()
}

fn speedscope_sum(text: &str) -> u64 {
    let file: Value = serde_json::from_str(text).unwrap();
    let profiles = file["profiles"].as_array().unwrap().iter();
    profiles
        .map(|profile| profile["endValue"].as_u64().unwrap())
        .sum()
}

fn callgrind_sum(text: &str) -> u64 {
    let summary = text.lines().find_map(|line| line.strip_prefix("summary: "));
    summary.unwrap().split(' ').next().unwrap().parse().unwrap()
}

fn every_form_has_the_same_sum() {
    let place = Place::new();
    let kept = kept(&place);
    for part in [
        &[][..],
        &["--thread", "busy-0"],
        &["--thread", "brief"],
        &["--min-share", "20%"],
        &["--thread", "busy-1", "--min-share", "50%"],
    ] {
        let report = |form: &str| {
            let args = [&["report", kept.as_str(), "-f", form], part].concat();
            let done = place.tickscope(&args).ok().quiet();
            assert_eq!(
                done.out,
                place.tickscope(&args).ok().out,
                "the same bytes each time"
            );
            assert!(!done.out.contains("(outside)"), "{form}");
            done.out
        };
        let document: Value = serde_json::from_str(&report("json")).unwrap();
        let sum = self_ns(&document);
        assert!(sum > 0, "{part:?}");
        assert_eq!(folded_sum(&report("folded")), sum, "{part:?}");
        assert_eq!(speedscope_sum(&report("speedscope")), sum, "{part:?}");
        assert_eq!(callgrind_sum(&report("callgrind")), sum, "{part:?}");
        let is_small = |node: &Value| node["name"] == "(small)";
        let is_narrowed = document["nodes"].as_array().unwrap().iter().any(is_small);
        assert_eq!(is_narrowed, part.contains(&"--min-share"), "{part:?}");
    }
}

fn units_of_the_text() {
    let place = Place::new();
    let kept = kept(&place);
    let text = |unit: &str| {
        place
            .tickscope(&["report", &kept, "--unit", unit])
            .ok()
            .quiet()
            .out
    };
    assert!(text("ticks").contains("times in ticks of the clock"));
    assert!(text("both").contains("times also in ticks of the clock"));
    assert_eq!(text("ns"), place.tickscope(&["report", &kept]).ok().out);
}

fn pprof_is_a_gzipped_file() {
    let place = Place::new();
    let kept = kept(&place);
    // The file's name says the form.
    let write = ["report", &kept, "-o", "now.pb.gz"];
    assert_eq!(place.tickscope(&write).ok().quiet().out, "");
    let bytes = fs::read(place.work().join("now.pb.gz")).unwrap();
    assert_eq!(bytes[..2], [0x1f, 0x8b]);
    place
        .tickscope(&write)
        .failed(1, &["now.pb.gz exists already; --force writes over it"]);
    place.tickscope(&[&write[..], &["--force"]].concat()).ok().quiet();
    assert_eq!(fs::read(place.work().join("now.pb.gz")).unwrap(), bytes);
    assert_eq!(
        fs::read_dir(place.work()).unwrap().count(),
        2,
        "nothing half-made is left"
    );
}

fn views_of_the_text() {
    let place = Place::new();
    let kept = kept(&place);
    let view = |view: &str| {
        let args = ["report", &kept, "--view", view];
        place.tickscope(&args).ok().quiet().out
    };
    let (tree, hot, flat) = (view("tree"), view("hot"), view("flat"));
    let threads = view("threads");
    assert!(
        threads.contains("STATE     THREAD\n") && threads.contains("  busy-0\n"),
        "{threads}"
    );
    assert!(tree.contains("Call tree") && !tree.contains("Top functions"));
    assert!(hot.contains("Top functions") && !hot.contains("Call tree"));
    assert!(flat.contains("SELF/CALL  TOTAL/CALL  FUNCTION"), "{flat}");
    for text in [&tree, &hot, &flat] {
        assert!(text.contains("outer") && text.contains("leaf"), "{text}");
    }
    let of_one = place.tickscope(&["report", &kept, "--thread", "busy-0"]).ok();
    assert!(of_one.out.contains("; shown: only busy-0 ("), "{}", of_one.out);
}

fn what_makes_no_sense_is_said_in_one_line() {
    let place = Place::new();
    let kept = kept(&place);
    let report = |args: &[&str]| place.tickscope(&[&["report", kept.as_str()], args].concat());
    report(&["--view", "flat", "-f", "json"]).failed(
        2,
        &["--view chooses a part of the text; leave it out, or give -f text"],
    );
    report(&["--unit", "ns", "-f", "folded"]).failed(
        2,
        &["--unit is for text; this form has nanoseconds alone: leave it out"],
    );
    report(&["--unit", "ticks", "-f", "json"])
        .failed(2, &["json has both, as total_ns and total_ticks: leave it out"]);
    report(&["--thread", "nobody"]).failed(
        2,
        &[
            "no thread nobody among its threads: ",
            "busy-0 (",
            "brief (finished)",
        ],
    );
    // These are clap's to say.
    report(&["--min-share", "200%"])
        .with_code(2)
        .says(&["wanted a percentage from 0 to 100, like 1% or 0.5%"]);
    report(&["--force"]).with_code(2).says(&["--output"]);
}

fn a_full_disk_and_a_closed_pipe() {
    let place = Place::new();
    let kept = kept(&place);
    for form in FORMS {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = place.command(VIEWER);
        command.args(["report", &kept, "-f", form]);
        let done = command.stdout(full).stderr(Stdio::piped()).output().unwrap();
        let said = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(1), "{form}: {said}");
        assert!(
            said.contains("No space left") && said.lines().count() == 1,
            "{form}: {said}"
        );

        let script = format!("set -o pipefail; '{VIEWER}' report {kept} -f {form} | true");
        finish(place.command("bash").args(["-c", &script])).ok().quiet();
    }
}

fn a_page_opens_again_as_what_was_measured() {
    let place = Place::new();
    let kept = kept(&place);
    for part in [&[][..], &["--thread", "busy-0"]] {
        let args = [&["report", kept.as_str(), "--force", "-o", "./page.html"], part].concat();
        place.tickscope(&args).ok().quiet();
        for form in ["json", "folded", "text"] {
            let of = |target: &str| place.tickscope(&["report", target, "-f", form]).ok().quiet().out;
            assert_eq!(of("./page.html"), of(&kept), "{part:?} {form}");
        }
    }
    // A page whose snapshot was taken out says so.
    let path = place.work().join("page.html");
    let page = fs::read_to_string(&path).unwrap();
    fs::write(&path, page.replace("application/x-tickscope", "text/plain")).unwrap();
    place
        .tickscope(&["report", "./page.html"])
        .failed(1, &["page.html", "report -f html"]);
}

fn a_file_that_cannot_grow_is_said_and_not_left() {
    let place = Place::new();
    let kept = kept(&place);
    let before = fs::read_dir(place.work()).unwrap().count();
    for form in FORMS {
        // As where the disk is full, but for the reason's name; what is there already stays as it was.
        for (file, force) in [("new", ""), ("kept.tks", "--force")] {
            let there = fs::read(place.work().join(file)).ok();
            let script = format!(
                "trap '' XFSZ; ulimit -f 0; exec '{VIEWER}' report {kept} -f {form} -o ./{file} {force}"
            );
            finish(place.command("bash").args(["-c", &script]))
                .failed(1, &[file, "cannot write", "too large"]);
            assert_eq!(fs::read(place.work().join(file)).ok(), there, "{form}");
        }
        assert_eq!(fs::read_dir(place.work()).unwrap().count(), before, "{form}");
    }
}

tickscope_testkit::tests![
    every_form_has_the_same_sum,
    units_of_the_text,
    pprof_is_a_gzipped_file,
    views_of_the_text,
    what_makes_no_sense_is_said_in_one_line,
    a_full_disk_and_a_closed_pipe,
    a_page_opens_again_as_what_was_measured,
    a_file_that_cannot_grow_is_said_and_not_left,
];
