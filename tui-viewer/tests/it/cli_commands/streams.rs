//! Recordings through pipes: `tickscope record -o -`, and commands that read `-`.

use std::fs;

use tickscope_format::recording::{Piece, Stream};

use crate::support::{Place, VIEWER, ended, finish_with, name, piped, refusals, until_true};

/// Returns the bytes that `tickscope record` writes to a pipe.
fn streamed(place: &Place, args: &[&str]) -> Vec<u8> {
    let mut command = place.command(VIEWER);
    command.args(["record", "-o", "-"]).args(args);
    let output = command.output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && err.is_empty(), "{err}");
    output.stdout
}

fn records(bytes: &[u8]) -> usize {
    let mut stream = Stream::new(bytes, 64 << 20);
    let mut records = 0;
    loop {
        match stream.next_piece().unwrap() {
            Piece::Begin => {}
            Piece::Record(_) => records += 1,
            Piece::End { torn } => {
                assert_eq!(torn, 0);
                return records;
            }
        }
    }
}

fn what_goes_through_a_pipe_is_a_recording_that_commands_read() {
    let (place, program) = Place::with("busy");
    let bytes = streamed(&place, &[&program.name, "-d", "400ms", "--rate", "50"]);
    let count = records(&bytes);
    assert!(count >= 2, "the first and the last: {count}");
    // When saved to a file, the stream is an ordinary recording.
    fs::write(place.work().join("run.tks"), &bytes).unwrap();
    let kept = place.json("./run.tks");
    let read = |args: &[&str], input: &[u8]| finish_with(place.command(VIEWER).args(args), input);
    let report = read(&["report", "-", "-f", "json"], &bytes).ok().quiet().json();
    assert_eq!(report, kept);
    let top = read(&["top", "-", "--json"], &bytes).ok().quiet().json();
    assert_eq!(top["program"]["pid"], program.pid());
    assert!(top["total"].as_u64().unwrap() > 2);
    // Without a terminal, `tickscope -` prints a report, as `tickscope FILE` does.
    let text = read(&["-"], &bytes).ok().quiet().out;
    assert!(text.contains(&program.name), "{text}");
    read(&["diff", "./run.tks", "-"], &bytes).ok();

    let torn = read(&["top", "-"], &bytes[..bytes.len() - 8]).ok();
    torn.says(&["standard input broke off within a record; its "]);
    let mut flipped = bytes.clone();
    flipped[bytes.len() / 2] ^= 1;
    let damaged = read(&["report", "-"], &flipped).with_code(1);
    damaged.says(&["standard input: damaged: "]);
    read(&["report", "-"], &bytes[..100]).failed(1, &["standard input ended before a whole record came"]);
    let garbage = "standard input: not a tickscope file: begins with \"GET / HT\"";
    read(&["report", "-"], b"GET / HTTP/1.1").failed(1, &[garbage]);
    let table = "
        1 report - --at 1s => of standard input only the newest moment is kept
        1 reset - => standard input is a stream, which takes no requests
        2 record - => standard input is a stream; a program is recorded while it runs
        2 wait-until 'calls(leaf) > 1' - => standard input is a stream; wait-until watches
        2 record --follow -o x.tks => --follow is for a stream: -o -
        2 record -o - --after 1s => --after is for files
    ";
    let run = |words: &[String]| finish_with(place.command(VIEWER).args(words), &bytes);
    for (done, code, says) in refusals(table, run) {
        done.failed(code, &says);
    }
}

fn a_recorder_whose_reader_leaves_ends_in_silence() {
    let (place, program) = Place::with("stuck");
    let mut command = place.command(VIEWER);
    let mut recorder = piped(command.args(["record", "-o", "-", &program.name]));
    drop(recorder.stdout.take());
    ended(recorder).ok().quiet();
}

fn the_next_run_follows_in_the_same_stream() {
    let place = Place::new();
    let name = name("again");
    let path = place.work().join("stream");
    let mut command = place.command(VIEWER);
    // No program with this name runs yet.
    command
        .args(["record", "-o", "-", "--follow", &name])
        .stdout(fs::File::create(&path).unwrap());
    let mut recorder = command.spawn().unwrap();
    for runs in 1..=2 {
        let mut program = place.start_named("busy", &name);
        let begun = || {
            let bytes = fs::read(&path).unwrap();
            let mut stream = Stream::new(&bytes[..], 64 << 20);
            let (mut begun, mut records) = (0, 0);
            loop {
                match stream.next_piece().unwrap() {
                    Piece::Begin => (begun, records) = (begun + 1, 0),
                    Piece::Record(_) => records += 1,
                    Piece::End { .. } => return (begun, records),
                }
            }
        };
        until_true("it is recorded", || begun().0 == runs && begun().1 > 0);
        assert!(program.end().success());
    }
    recorder.kill().unwrap();
    recorder.wait().unwrap();
}

tickscope_testkit::tests![
    what_goes_through_a_pipe_is_a_recording_that_commands_read,
    a_recorder_whose_reader_leaves_ends_in_silence,
    the_next_run_follows_in_the_same_stream,
];
