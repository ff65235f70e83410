//! A long run: a program is watched, asked, recorded and killed all the time, and the result says which of the promises
//! held.
//!
//! One program stays for the whole run. Viewers stay with it, another one is killed and replaced all the time, and commands run on
//! it. A second program is killed, has its ring truncated, and is started again. Ctrl-C ends the run early, with the same table. The
//! exit code is 1 if a goal was missed.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that speaks to its user"
)]

mod account;
mod askers;
mod commands;
mod counted;
mod epochs;
mod load;
mod memory;
mod process;
mod readers;
mod requests;
mod second;
mod soak;
mod table;
mod viewers;

use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use clap::{Parser, value_parser};
use fastrand::Rng;
use signal_hook::consts::TERM_SIGNALS;
use signal_hook::flag;
use tickscope_format::file::open::RingFile;

use memory::{Memory, SETTLED};
use process::{Place, Process};
use soak::{Over, Soak, Tally};
use table::Run;

/// The number of threads that read the newest snapshot.
const READERS: usize = 2;

/// Watches, asks, records and kills programs, and says which promises held.
#[derive(Debug, Parser)]
struct Options {
    /// How long the load runs.
    #[arg(long, default_value = "1", value_parser = minutes)]
    minutes: f64,
    /// Viewers that stay from beginning to end.
    #[arg(long, default_value = "4", value_parser = value_parser!(u64).range(..=8))]
    viewers: u64,
    /// Records a second of the program that is watched; no program publishes more often than every 10 ms.
    #[arg(long, default_value = "50", value_parser = value_parser!(u64).range(1..=100))]
    hz: u64,
    /// The seed of all random decisions, another one each time unless said.
    #[arg(long)]
    seed: Option<u64>,
}

fn minutes(text: &str) -> Result<f64, String> {
    let number = text
        .parse()
        .ok()
        .filter(|number| (0.05..=10_000.0).contains(number));
    number.ok_or("wanted 0.05 to 10000".to_owned())
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    // This program is the load as well.
    let done = match &words[..] {
        [word, name, by_itself] if word == "load" => load::run(name, by_itself == "true").map(|()| true),
        _ => begin(&Options::parse()),
    };
    match done {
        Ok(held) => ExitCode::from(u8::from(!held)),
        Err(error) => {
            eprintln!("soak: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Does a whole run. Returns whether all goals were reached.
fn begin(options: &Options) -> anyhow::Result<bool> {
    let soak = Soak {
        over: Over::default(),
        place: Place::new()?,
        tally: Tally::default(),
    };
    for &signal in TERM_SIGNALS {
        // The second signal ends the process as if there were no handler.
        flag::register_conditional_default(signal, Arc::clone(&soak.over.0))?;
        flag::register(signal, Arc::clone(&soak.over.0))?;
    }
    let mut program = soak.place.load("soak", true, 1000 / options.hz)?;
    let Some(ring) = program.ring(&soak.over)? else {
        return Ok(true);
    };
    let seed = options.seed.unwrap_or_else(|| fastrand::u64(1..));
    println!(
        "soak: {:.1} min at {} Hz with {} viewers, --seed {seed}; Ctrl-C ends it early",
        options.minutes, options.hz, options.viewers,
    );
    let mut random = Rng::with_seed(seed);
    let run = watch(&soak, options, &mut random, program, &ring)?;
    println!("\n{run}");
    Ok(run.holds_all())
}

/// Runs the load, and returns what was reached.
fn watch<'a>(
    soak: &'a Soak,
    options: &Options,
    random: &mut Rng,
    mut program: Process,
    ring: &RingFile,
) -> anyhow::Result<Run<'a>> {
    let (tally, over, pid) = (&soak.tally, &soak.over, program.pid());
    let staying = (0..options.viewers).map(|_| soak.place.viewer_of(pid));
    let staying = staying.collect::<Result<Vec<_>, _>>()?;
    let mut viewers: Vec<Memory> = staying.iter().map(|viewer| Memory::of(viewer.pid())).collect();
    let mut memory = Memory::of(pid);
    let (begin, ended) = (Instant::now(), Over::default());
    let seconds = thread::scope(|scope| {
        let follower = scope.spawn(|| readers::follow(tally, ring, &ended));
        let mut parts = Vec::new();
        for _ in 0..READERS {
            parts.push(scope.spawn(|| readers::read(soak, ring)));
        }
        for viewer in staying {
            let random = random.fork();
            parts.push(scope.spawn(move || viewers::stay(soak, viewer, random)));
        }
        let [guests, commands, lives] = [random.fork(), random.fork(), random.fork()];
        parts.push(scope.spawn(move || viewers::come_and_go(soak, pid, guests)));
        parts.push(scope.spawn(move || commands::run(soak, pid, commands)));
        parts.push(scope.spawn(move || second::live(soak, lives)));
        let mut minute = 1;
        while begin.elapsed().as_secs_f64() < 60.0 * options.minutes && !over.sleep(1000) {
            let seconds = begin.elapsed().as_secs_f64();
            memory.look(seconds, 0);
            for viewer in &mut viewers {
                viewer.look(seconds, tally.kept.get());
            }
            tally.did("files of viewers and commands", soak.place.tidy());
            if let Some(status) = program.has_ended() {
                tally.error(format!("the program ended with {status}"));
                over.set();
            }
            if seconds >= 60.0 * f64::from(minute) {
                let (errors, records) = (tally.errors.get(), tally.records.all.get());
                println!("{minute:>4} min: {errors} errors, {records} records");
                minute += 1;
            }
        }
        let seconds = begin.elapsed().as_secs_f64();
        over.set();
        for part in parts {
            if part.join().is_err() {
                tally.error("a part of this run panicked");
            }
        }
        let account = tally.check(&tally.records, account::of(program));
        ended.set();
        match (account, follower.join()) {
            (Some(account), Ok(Some(all))) => _ = tally.check(&tally.records, all.is_that_of(&account)),
            (_, Ok(_)) => {}
            (_, Err(_)) => tally.error("the reader of all records panicked"),
        }
        seconds
    });
    let drift = |memory: &Memory| memory.drift(SETTLED * seconds);
    Ok(Run {
        tally,
        minutes: seconds / 60.0,
        hz: options.hz,
        program: drift(&memory),
        viewers: viewers.iter().map(drift).collect(),
    })
}
