//! Runs the commands shown on the pages against the demo and a recording of it.

use std::fs;
use std::fs::File;
use std::path::Path;
use std::process::Output;
use std::sync::Mutex;

use clap::Parser;
use tickscope_cli::cli::args::Cli;

use crate::docs::commands::{commands_of, typed};
use crate::docs::pages;
use crate::support::{Place, Program, VIEWER};

/// Recording that stands in for every recording that a command reads.
const RECORDING: &str = "run.tks";

/// Directory for the files that commands write with `-o`.
const NEW: &str = "new";

/// HTML report that commands on the pages open.
const PAGE: &str = "now.html";

/// Words in the commands on the pages, and their replacements for the demo. The demo watches `requests::browse` from
/// the start.
const STAND_FOR: [(&str, &str); 18] = [
    ("app", "demo"),
    ("game", "demo"),
    ("order-book", "demo"),
    ("groups", "demo"),
    ("server", "demo"),
    ("mini-redis-server", "demo"),
    ("rg", "demo"),
    ("web*", "de*"),
    ("handle", "requests::browse"),
    ("handle_request", "requests::browse"),
    ("insert", "requests::browse"),
    ("parse", "requests::browse"),
    ("parse::peek", "requests::browse"),
    ("RequestService::call::{closure}", "requests::browse"),
    ("flat_map_then_with::<…, pipe::{closure}>", "requests::browse"),
    ("alloc::*", "image::*"),
    ("p99(handle) > 50ms", "p99(requests::browse) > 50ms"),
    ("calls(parse) > 0", "calls(requests::browse) > 0"),
];

/// Commands that need a signal to end, or another program, a server or a terminal.
const NOT_RUN: [&str; 6] = ["run", "demo-program", "log", "metrics", "push", "trigger"];

/// Commands that would change the results of other commands, because they change how the demo is measured or start
/// another demo.
const CHANGING: [&str; 7] = ["mode", "reset", "off", "on", "watch", "lines", "demo"];

/// The demo, which ends when this value is dropped.
struct Demo {
    program: Program,
    place: Place,
}

impl Demo {
    fn start() -> Self {
        let place = Place::new();
        let program = Program::spawn(place.command(VIEWER).arg("demo-program"));
        let demo = Self { place, program };
        // Wait until the demo has kept all of a slow call, and has drawn some frames.
        demo.until_done(&["why", "requests::browse", "-f", "trace"]);
        demo.until_done(&["wait-until", "calls(demo::frame) > 2", "demo"]);
        // Record again until the recording has records at the times that the pages use.
        loop {
            demo.until_done(&["record", "-d", "1s", "-o", RECORDING]);
            let times: [&[&str]; 3] = [
                &["--to", "200ms"],
                &["--from", "-200ms"],
                &["--from", "600ms", "--to", "750ms", "-o", PAGE],
            ];
            let has_records = |time: &&[&str]| {
                let words = [&["report", RECORDING], *time].concat();
                demo.run(&demo.place.work(), &words).status.success()
            };
            if times.iter().all(has_records) {
                break;
            }
            fs::remove_file(demo.place.work().join(RECORDING)).unwrap();
        }
        demo
    }

    fn until_done(&self, args: &[&str]) {
        while !self.run(&self.place.work(), args).status.success() {}
    }

    /// Runs a command in a directory.
    fn run(&self, here: &Path, args: &[impl AsRef<str>]) -> Output {
        let mut command = self.place.command(VIEWER);
        command.current_dir(here).args(args.iter().map(AsRef::as_ref));
        if args.iter().any(|word| word.as_ref() == "-") && !args.iter().any(|word| word.as_ref() == "-o") {
            command.stdin(File::open(here.join(RECORDING)).unwrap());
        }
        command.output().unwrap()
    }

    /// Runs a command from a page in a temporary directory. Returns an error message if it fails.
    fn complaint(&self, page: &str, words: &[String]) -> Option<String> {
        let here = tempfile::tempdir().unwrap();
        for file in [RECORDING, PAGE] {
            fs::copy(self.place.work().join(file), here.path().join(file)).unwrap();
        }
        fs::create_dir(here.path().join(NEW)).unwrap();
        let done = self.run(here.path(), words);
        // Exit code 3 means that a gate failed or a wait timed out, which is fine here.
        let may_be_three = ["diff", "wait-until"].contains(&words[0].as_str());
        let is_fine = done.status.success() || may_be_three && done.status.code() == Some(3);
        let said = String::from_utf8_lossy(&done.stderr);
        (!is_fine).then(|| format!("{page}: {}: {}: {said}", words.join(" "), done.status))
    }
}

/// Replaces a word of a command so that the command can run here. Durations are shortened.
fn runnable(word: &str, before: &str, demo: u32) -> String {
    if ["-o", "--output"].contains(&before) {
        let name = Path::new(word).file_name().unwrap_or_default().display();
        return if word == "-" {
            word.into()
        } else {
            format!("{NEW}/{name}")
        };
    }
    if word.ends_with(".tks") {
        return RECORDING.into();
    }
    // As a target, `parse` is the name of a program, not of a function.
    if word == "parse" && ["", "attach"].contains(&before) {
        return "demo".into();
    }
    if word == "4711" {
        return demo.to_string();
    }
    let (sign, length) = word.strip_prefix('-').map_or(("", word), |length| ("-", length));
    for (unit, unit_ms) in [("s", 50), ("m", 200)] {
        if let Some(number) = length
            .strip_suffix(unit)
            .and_then(|number| number.parse::<u64>().ok())
        {
            return format!("{sign}{}ms", number * unit_ms);
        }
    }
    let stands_for = STAND_FOR.iter().find(|(shown, _)| *shown == word);
    stands_for.map_or(word, |(_, run)| run).to_string()
}

/// Returns the arguments of a command to run, or `None` for a command that is not run.
fn arguments(command: &[String], demo: u32) -> Option<Vec<String>> {
    let words: Vec<String> = command[1..].iter().flat_map(|word| typed(word)).collect();
    let name = words.first()?.as_str();
    let has = |option: &str| words.iter().any(|word| word == option);
    let is_endless = name == "record" && !has("-d") || name == "wait-until" && !has("--timeout");
    // Commands are not run if they need a program to start, a terminal, a time of day or a value for a placeholder.
    let lacks = |word: &String| {
        let is_name = |c: char| c.is_ascii_uppercase() || c == '.';
        ["./app", "--compare"].contains(&word.as_str())
            || word.chars().all(is_name)
            || word.matches(':').count() == 2 && word.starts_with(|c: char| c.is_ascii_digit())
    };
    if NOT_RUN.contains(&name) || is_endless || words.iter().any(lacks) {
        return None;
    }
    let before = std::iter::once("").chain(words.iter().map(String::as_str));
    let words: Vec<String> = words
        .iter()
        .zip(before)
        .map(|(word, before)| runnable(word, before, demo))
        .collect();
    let line = std::iter::once("tickscope").chain(words.iter().map(String::as_str));
    let is_diff = words[0] == "diff";
    // If the words cannot be parsed, the text only mentions the command. `diff` is not parsed here, because it treats
    // `--` specially.
    (is_diff && words.len() > 2 || Cli::try_parse_from(line).is_ok()).then_some(words)
}

fn commands_of_tickscope_do_what_they_are_shown_for() {
    let demo = Demo::start();
    let mut lines: Vec<(String, Vec<String>)> = Vec::new();
    for page in pages() {
        for command in commands_of(&page)
            .iter()
            .filter(|command| command[0] == "tickscope")
        {
            let words = arguments(command, demo.program.pid());
            let is_new = |words: &Vec<String>| lines.iter().all(|(_, known)| known != words);
            if let Some(words) = words.filter(is_new) {
                lines.push((page.clone(), words));
            }
        }
    }
    assert!(lines.len() > 50, "{} commands", lines.len());
    let (changing, others): (Vec<_>, Vec<_>) = lines
        .into_iter()
        .partition(|(_, words)| CHANGING.contains(&words[0].as_str()));
    // The commands are run by eight threads, because most of them spend their time waiting for the demo.
    let wrong = Mutex::new(Vec::new());
    let others = Mutex::new(others.into_iter());
    let next = || others.lock().unwrap().next();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while let Some((page, words)) = next() {
                    let complaint = demo.complaint(&page, &words);
                    wrong.lock().unwrap().extend(complaint);
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().unwrap();
    wrong.extend(
        changing
            .iter()
            .filter_map(|(page, words)| demo.complaint(page, words)),
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

tickscope_testkit::tests![; ignored: commands_of_tickscope_do_what_they_are_shown_for];
