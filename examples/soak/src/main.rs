//! A long run: a program is watched, asked, recorded and killed all the time, and the result says which of the promises
//! held.
//!
//! `soak [--minutes N] [--viewers N] [--hz N] [--seed N]`
//!
//! One program stays for the whole run and publishes `--hz` records a second. `--viewers` viewers stay with it, another
//! one is killed and replaced all the time, and commands run on it. A second program is killed, has its ring truncated,
//! and is started again. Ctrl-C ends the run early, with the same table. The exit code is 1 if a goal was missed.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that speaks to its user"
)]

mod account;
mod askers;
mod child;
mod commands;
mod counted;
mod epochs;
mod keys;
mod load;
mod memory;
mod moment;
mod options;
mod over;
mod past;
mod place;
mod program;
mod random;
mod readers;
mod requests;
mod second;
mod table;
mod tally;
mod terminal;
mod viewers;

use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use tickscope_format::file::open::RingFile;

use memory::{Memory, SETTLED};
use options::Options;
use over::Over;
use place::Place;
use program::Program;
use random::Random;
use table::Run;
use tally::Tally;
use viewers::Viewing;

/// The number of threads that read the newest snapshot.
const READERS: usize = 2;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let done = match &words[..] {
        [flag, words @ ..] if flag == child::FLAG => child::run(words).map(|()| true),
        _ => begin(words),
    };
    match done {
        Ok(held) => ExitCode::from(u8::from(!held)),
        Err(error) => {
            eprintln!("soak: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Does a whole run. Returns whether all goals were reached.
fn begin(words: Vec<String>) -> Result<bool, String> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let options = Options::new(words.into_iter(), now.map_or(1, |now| now.as_secs()))?;
    let over = Over::by_signal().map_err(|error| format!("no signals: {error}"))?;
    let viewer = viewers::program()?;
    let place = Place::new()?;
    let viewing = Viewing {
        program: viewer,
        rings: place.rings(),
        directory: place.written(),
    };
    let interval = (1000 / options.hz).to_string();
    let settings = [("TICKSCOPE_INTERVAL_MS", interval.as_str())];
    let mut program = Program::start("soak", &place.rings(), true, &settings)?;
    let Some(ring) = program.ring(&over)? else {
        return Ok(true);
    };
    println!(
        "soak: {:.1} min at {} Hz with {} viewers, --seed {}; Ctrl-C ends it early",
        options.length.as_secs_f64() / 60.0,
        options.hz,
        options.viewers,
        options.seed,
    );
    let tally = Tally::default();
    let (seconds, program_memory, viewers) =
        watch(&options, &viewing, program, &ring, &over, &tally, &place)?;
    let settled = SETTLED * seconds;
    let run = Run {
        tally: &tally,
        minutes: seconds / 60.0,
        hz: options.hz,
        program: program_memory.drift(settled),
        viewers: viewers.iter().map(|memory| memory.drift(settled)).collect(),
    };
    println!("\n{run}");
    Ok(run.holds_all())
}

/// Runs the load. Returns the length in seconds, and the memory of the program and of the viewers that stayed.
fn watch(
    options: &Options,
    viewing: &Viewing,
    mut program: Program,
    ring: &RingFile,
    over: &Over,
    tally: &Tally,
    place: &Place,
) -> Result<(f64, Memory, Vec<Memory>), String> {
    let pid = program.pid();
    let random = |part| Random::new(options.seed, part);
    let staying = (0..options.viewers).map(|_| viewing.of(pid));
    let staying = staying.collect::<Result<Vec<_>, _>>()?;
    let mut viewers: Vec<Memory> = staying.iter().map(|viewer| Memory::of(viewer.pid())).collect();
    let mut memory = Memory::of(pid);
    let (begin, ended) = (Instant::now(), Over::default());
    let seconds = thread::scope(|scope| {
        let ended = &ended;
        let follower = scope.spawn(|| readers::follow(ring, ended, tally));
        for _ in 0..READERS {
            scope.spawn(|| readers::read(ring, over, tally));
        }
        let mut others = Vec::new();
        for (number, viewer) in staying.into_iter().enumerate() {
            let random = random(100 + number as u64);
            others.push(scope.spawn(move || viewers::stay(viewer, random, over, tally)));
        }
        others.push(scope.spawn(|| viewers::come_and_go(viewing, pid, random(1), over, tally)));
        others.push(scope.spawn(|| commands::run(viewing, pid, random(2), over, tally)));
        others.push(scope.spawn(|| second::live(viewing, random(3), over, tally)));
        let (mut minute, mut past) = (1, 0);
        while begin.elapsed() < options.length && !over.sleep(Duration::from_secs(1)) {
            let seconds = begin.elapsed().as_secs_f64();
            // Memory that was needed once is not given back.
            past = past.max(tally.past().bytes());
            memory.look(seconds, 0);
            viewers.iter_mut().for_each(|viewer| viewer.look(seconds, past));
            tally.files.add(place.tidy());
            if let Some(status) = program.has_ended() {
                tally.error(format!("the program ended with {status}"));
                over.set();
            }
            if seconds >= 60.0 * f64::from(minute) {
                println!("{}", line(minute, tally, &memory, &viewers));
                minute += 1;
            }
        }
        let seconds = begin.elapsed().as_secs_f64();
        over.set();
        for other in others {
            if other.join().is_err() {
                tally.error("a part of this run panicked".to_owned());
            }
        }
        let account = program.end();
        ended.set();
        let all = follower.join();
        let same = account.and_then(|account| match all {
            Ok(all) => all.map_or(Ok(()), |all| all.is_that_of(&account)),
            Err(_) => Err("the reader of all records panicked".to_owned()),
        });
        if let Err(why) = same {
            tally.off.add(1);
            tally.error(why);
        }
        seconds
    });
    Ok((seconds, memory, viewers))
}

/// Prints what was reached so far.
fn line(minute: u32, tally: &Tally, memory: &Memory, viewers: &[Memory]) -> String {
    let viewers: Vec<String> = viewers
        .iter()
        .map(|viewer| format!("{:.1}", viewer.mib()))
        .collect();
    format!(
        "{minute:>4} min  {} errors; {} records, {} reads, {} kills, {} cuts, {} requests\n          \
         {} epochs, {} off; MiB: program {:.2}, viewers {}",
        tally.errors(),
        tally.records.get(),
        tally.reads.get(),
        tally.kills.get(),
        tally.cuts.get(),
        tally.answered.get(),
        tally.epochs.get(),
        tally.off.get(),
        memory.mib(),
        viewers.join(" "),
    )
}
