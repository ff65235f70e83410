//! `tickscope trigger`: its recordings, the command that it runs, its messages, and how it ends.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, ChildStderr};

use rustix::process::Signal;
use tickscope_analysis::call_tree::CallTree;
use tickscope_analysis::hotspots::hot;
use tickscope_format::Snapshot;

use crate::cli_commands::recording::snapshots;
use crate::support::{Done, Place, VIEWER, piped, refusals, send, until, until_true};

/// A running trigger, with its messages so far.
struct Trigger {
    child: Child,
    err: BufReader<ChildStderr>,
    said: String,
}

impl Trigger {
    fn start(place: &Place, args: &[&str]) -> Self {
        let mut command = place.command(VIEWER);
        command.arg("trigger").args(args);
        let mut child = piped(&mut command);
        let err = BufReader::new(child.stderr.take().unwrap());
        Self {
            child,
            err,
            said: String::new(),
        }
    }

    /// Waits until the trigger has printed this text.
    fn says(&mut self, text: &str) {
        while !self.said.contains(text) {
            let read = self.err.read_line(&mut self.said).unwrap();
            assert!(read > 0, "it never said {text}: {}", self.said);
        }
    }

    fn interrupt(&self) {
        send(&self.child, Signal::INT);
    }

    fn end(mut self) -> Done {
        self.err.read_to_string(&mut self.said).unwrap();
        let output = self.child.wait_with_output().unwrap();
        Done {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: self.said,
        }
    }
}

/// Returns the recordings that a trigger has kept.
fn kept(place: &Place, name: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(place.work())
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let is_kept = |path: &PathBuf| {
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        file.starts_with(name) && file.ends_with(".tks")
    };
    files.filter(is_kept).collect()
}

/// Returns the longest call of `handle` in a snapshot, in seconds.
fn longest_s(snapshot: &Snapshot) -> f64 {
    let tree = CallTree::build(snapshot, |_| true);
    let mut rows = hot(&tree).into_iter();
    let handle = rows.find(|row| tree.functions.get(row.function).name == "handle");
    let longest = handle.and_then(|row| row.latency.max());
    longest.map_or(0.0, |(ticks, _)| snapshot.nanos(ticks) as f64 / 1e9)
}

fn a_slow_call_keeps_the_past_before_it_and_starts_the_command() {
    let (place, mut program) = Place::with("handling");
    let command = "cp \"$TICKSCOPE_FILE\" copy.tks && printf '%s|' \"$TICKSCOPE_VALUE\" \"$TICKSCOPE_THRESHOLD\" \
                   \"$TICKSCOPE_UNIT\" \"$TICKSCOPE_FUNCTION\" \"$TICKSCOPE_PROGRAM\" \"$TICKSCOPE_PID\" \
                   \"$TICKSCOPE_CONDITION\" \"$TICKSCOPE_SUMMARY\" > told.new && mv told.new told; exit 3";
    let condition = "max(handle) > 1500ms or calls(nowhere) > 0";
    let options = ["--over", "1s", "--keep", "20s", "--exec", command];
    let mut trigger = Trigger::start(&place, &[&[condition, &program.name], &options[..]].concat());
    // The trigger prints this when it has read the first record.
    trigger.says("no function that matches nowhere was met yet");
    fs::write(place.work().join("slow"), "").unwrap();
    let told = until("the command has run", || {
        fs::read_to_string(place.work().join("told")).ok()
    });
    let recordings = kept(&place, &program.name);
    let [path] = &recordings[..] else {
        panic!("one recording: {recordings:?}")
    };
    program.end();
    let (name, pid) = (&program.name, program.pid().to_string());
    let watching = format!("watching {name} (pid {pid}) for {condition} in the last 1.0 s");
    let done = trigger.end().ok().says(&[&watching]);
    let done = done.says(&["--exec: the command ended with exit status: 3"]);
    let done = done.says(&["has ended; 1 recording was kept"]);
    let file = path.file_name().unwrap().to_str().unwrap();
    let function = "it::cli_commands::roles::handle";
    done.prints(&[&format!("max({function}) = 2."), "s > 1500ms in the last ", file]);
    assert_eq!(done.out.lines().count(), 1, "{}", done.out);

    let told: Vec<&str> = told.split('|').collect();
    let value: f64 = told[0].parse().unwrap();
    assert!(value > 1.5e9, "{value}");
    assert_eq!(told[1..7], ["1500000000", "ns", function, name, &pid, condition]);
    assert!(done.out.contains(told[7]), "{}", told[7]);
    let copy = fs::read(place.work().join("copy.tks")).unwrap();
    assert_eq!(copy, fs::read(path).unwrap());

    let snapshots = snapshots(path);
    let (first, last) = (snapshots.first().unwrap(), snapshots.last().unwrap());
    assert!(longest_s(first) < 1.5, "{}", longest_s(first));
    assert!(longest_s(last) > 1.5, "{}", longest_s(last));
    // The call took two seconds, and the recording also covers the time before it.
    assert!(last.capture.unix_ns - first.capture.unix_ns > 2_000_000_000);
    let report = place.tickscope(&["report", path.to_str().unwrap()]).ok();
    report.prints(&["roles::handle"]);

    // The list of this directory includes the kept recording.
    let list = place.tickscope(&["list"]).ok().out;
    let file = format!("./{file}");
    let line = list.lines().find(|line| line.ends_with(&file)).unwrap();
    assert!(line.starts_with(name) && line.contains(" kept "), "{line}");
    let list = place.tickscope(&["list", "--json"]).ok().json();
    let mut entries = list["kept"].as_array().unwrap().iter();
    let entry = entries.find(|entry| entry["path"] == file).unwrap();
    assert_eq!(entry["pid"], program.pid());
    assert_eq!(entry["records"], snapshots.len());
}

fn an_interrupt_ends_it_and_a_function_that_is_not_there_is_waited_for() {
    let (place, program) = Place::with("handling");
    let mut trigger = Trigger::start(&place, &["calls(lookup) > 0", &program.name, "--over", "200ms"]);
    trigger.says("no function that matches lookup was met yet; waiting for it");
    fs::write(place.work().join("slow"), "").unwrap();
    until_true("the past is kept", || kept(&place, &program.name).len() == 1);
    trigger.interrupt();
    let done = trigger.end().ok().says(&["1 recording was kept"]);
    let found = "calls(it::cli_commands::roles::lookup) = 1 > 0 in the last ";
    done.prints(&[found]);

    let mut trigger = Trigger::start(&place, &["calls(lokup) < 1", &program.name]);
    trigger.says("no function that matches lokup was met yet (did you mean lookup?)");
    trigger.interrupt();
    let done = trigger.end().ok();
    done.says(&["nothing was kept: calls(lokup) < 1 did not become true"]);
}

fn what_cannot_be_a_trigger_is_refused_at_once() {
    let place = Place::new();
    place.keep("run.tks", &Snapshot::default());
    let mut program = place.start("stuck");
    program.end();
    let table = "
        2 trigger 'max(f) > 1s' nobody-is-called-so => no program called
        2 trigger 'max(f) > 1s' ./run.tks => run.tks is a file; a trigger needs a running program
        2 trigger 'max(f) > 1s' ENDED => has ended; a trigger needs a running program
    ";
    let table = table.replace("ENDED", &program.name);
    for (done, code, says) in refusals(&table, |words| place.tickscope(words)) {
        assert_eq!(done.with_code(code).says(&says).out, "");
    }
}

tickscope_testkit::tests![
    a_slow_call_keeps_the_past_before_it_and_starts_the_command,
    an_interrupt_ends_it_and_a_function_that_is_not_there_is_waited_for,
    what_cannot_be_a_trigger_is_refused_at_once,
];
