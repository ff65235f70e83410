//! The log of a running program: a call that waits is counted in every interval, resets do not disturb the log, and it
//! ends with the program.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout};

use serde_json::Value;

use crate::cli_commands::live::number;
use crate::support::{Done, Place, Program, VIEWER, piped, refusals, until};

/// Parses the lines of a JSON log.
fn objects(done: &Done) -> Vec<Value> {
    let lines = done.out.lines();
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A `tickscope log` that runs in the background and has printed its header.
struct Running {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Running {
    fn start(place: &Place, program: &Program, args: &[&str]) -> Self {
        let mut command = place.command(VIEWER);
        command.args(["log", &program.name]).args(args);
        let mut child = piped(&mut command);
        let out = BufReader::new(child.stdout.take().unwrap());
        let mut log = Self { child, out };
        let header = log.line();
        assert!(header.starts_with("TIME "), "{header}");
        assert!(header.ends_with("  NAME\n"), "{header}");
        log
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.out.read_line(&mut line).unwrap();
        line
    }

    /// Waits for the end of the log. Returns its exit code and its standard error.
    fn end(mut self) -> (Option<i32>, String) {
        drop(self.out);
        let status = until("the log has ended", || self.child.try_wait().unwrap());
        let mut said = String::new();
        let mut err = self.child.stderr.take().unwrap();
        err.read_to_string(&mut said).unwrap();
        (status.code(), said)
    }
}

fn a_call_that_waits_fills_every_interval() {
    let (place, program) = Place::with("grouped");
    let args = ["log", &program.name, "--every", "100ms", "-d", "1s", "--json"];
    let done = place.tickscope(&args).ok().quiet();
    let lines = objects(&done);
    let (mut waited, mut passed, mut worked) = (0, 0, 0);
    for line in &lines {
        let (inside, interval) = (number(&line["inside_ns"]), number(&line["interval_ns"]));
        assert!(interval >= 5_000_000, "no slivers: {line}");
        match line["group"].as_str() {
            Some("pipe") => {
                assert_eq!(
                    (&line["calls"], &line["thread"]),
                    (&0.into(), &"waiter".into()),
                    "{line}"
                );
                assert!(number(&line["tid"]) > 0);
                waited += inside;
                passed += interval;
            }
            Some("work") => {
                let calls = number(&line["calls"]);
                assert_eq!(line["thread"], "worker");
                assert!(inside < interval, "members inside each other count once: {line}");
                assert!(calls > 0, "{line}");
                worked += 1;
            }
            other => panic!("no group {other:?}"),
        }
    }
    assert!(worked > 1, "{}", done.out);
    // A capture does not read all threads at the same moment, so the times in single intervals are inexact. Their sum
    // must still be right.
    assert!(waited.abs_diff(passed) < passed / 5, "{waited} of {passed} ns");
}

fn a_group_or_functions_alone_and_resets_go_unnoticed() {
    let (place, program) = Place::with("grouped");
    let mut log = Running::start(&place, &program, &["--every", "200ms", "--group", "pipe"]);
    let mut shares = Vec::new();
    for round in 0..4 {
        let line = log.line();
        assert!(line.contains("  waiter  "), "{line}");
        assert!(line.ends_with("  [pipe]\n"), "{line}");
        let share = line.split_whitespace().find(|word| word.ends_with('%')).unwrap();
        shares.push(share.trim_matches(['~', '%']).parse::<f64>().unwrap());
        if round < 2 {
            place.tickscope(&["reset", &program.name]).ok();
        }
    }
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    assert!((80.0..120.0).contains(&mean), "{shares:?}");
    drop(log.line());
    let (code, said) = log.end();
    assert_eq!((code, said.as_str()), (Some(0), ""), "nobody reads any more");

    let what = ["log", &program.name, "--function", "outside"];
    let done = place.tickscope(&[&what[..], &["--every", "50ms", "-d", "200ms"]].concat());
    let done = done.ok();
    for line in done.out.lines().skip(1) {
        let is_of_it = line.ends_with("::outside") || line.ends_with("(nothing)");
        assert!(is_of_it, "{line}");
    }
    done.prints(&["::outside\n"]);
}

fn it_ends_with_the_program() {
    let (place, mut program) = Place::with("grouped");
    let mut log = Running::start(&place, &program, &["--every", "100ms"]);
    assert!(log.line().contains('%'));
    program.end();
    // The log writes its remaining lines before it ends.
    let mut rest = String::new();
    log.out.read_to_string(&mut rest).unwrap();
    assert!(
        !rest.contains(" ended "),
        "threads keep their ids to the end: {rest}"
    );
    let (code, said) = log.end();
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(said, format!("tickscope: {} has ended\n", program.who()));
}

fn what_it_cannot_follow_it_says() {
    let (place, mut busy) = Place::with("busy");
    until("the functions are there", || {
        let document = place.json(&busy.name);
        (document["nodes"].as_array()?.len() > 3).then_some(())
    });
    let done = place.tickscope(&["log", &busy.name]);
    let put = "), or put scopes into one: scope!(group = \"io\", ";
    done.failed(2, &[" has no groups: give --function PATTERN (most time: ", put]);
    let table = "
        0 LOG --group none => no scope of the group none was met yet (no groups were met so far); lines begin
        0 LOG --function nobody => no function that matches nobody was met yet; lines begin when it is met
    ";
    let table = table.replace("LOG", &format!("log {} --every 50ms -d 100ms", busy.name));
    for (done, code, says) in refusals(&table, |words| place.tickscope(words)) {
        let done = done.with_code(code).says(&says);
        done.prints(&["(no group or function to follow was met yet)"]);
    }
    place.told(&["snapshot", &busy.name, "-o", "kept.tks"]);
    place.refuses("2 log kept.tks => is a file; a log needs a running program");
    busy.end();
    let says = " has ended; a log needs a running program";
    place.refuses(&format!("2 log {} => {says}", busy.name));
}

tickscope_testkit::tests![
    a_call_that_waits_fills_every_interval,
    a_group_or_functions_alone_and_resets_go_unnoticed,
    it_ends_with_the_program,
    what_it_cannot_follow_it_says,
];
