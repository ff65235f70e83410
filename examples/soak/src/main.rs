//! A long run: a program is watched, asked, recorded and killed all the time, and the result says which of the promises
//! held.
//!
//! One program stays for the whole run. Viewers stay with it, another one is killed and replaced all the time, and commands run on
//! it. A second program is killed, has its ring truncated, and is started again. Ctrl-C ends the run early, with the same table. The
//! exit code is 1 if a goal was missed.
//!
//! | check | where |
//! |---|---|
//! | a killed program is said to have crashed, and its newest snapshot is intact | [`second`] |
//! | whose ring is cut or removed, ends in order with an account that is right; its viewer lives | [`second`] |
//! | every record can be read and decoded, and is the one that its stamp says | [`records`] |
//! | records come in order, and over resets and undos nothing that was counted becomes less | [`records`] |
//! | the epochs add up to all calls and ticks that were ever counted | [`records`] |
//! | async calls that began have ended, were dropped, or are in flight | [`records`] |
//! | all together is what the program itself says that it has done; nothing is in flight or live at its end | [`records`] |
//! | the program runs to the end, ends in order, and has no warnings | here, [`records`] |
//! | no viewer ends by itself, whatever keys are pressed; Ctrl-C ends it, in order | [`viewers`] |
//! | commands succeed | [`viewers`] |
//! | the memory of the program and its viewers does not grow | [`memory`] |
//!
//! Other tests have what is inside a single record (`conservation` and `storm` of the collector), blocks and values (`programs`), how
//! far live bytes are from the truth (`allocations`), reads that are overtaken (`lapped` of the format), and requests that are done
//! once (`processes` requests of the viewer).
#![allow(clippy::print_stdout, reason = "a program that speaks to its user")]

mod checks;
mod load;
mod memory;
mod process;
mod records;
mod requests;
mod second;
mod soak;
mod viewers;

use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use anyhow::{Result, bail};
use signal_hook::consts::TERM_SIGNALS;
use signal_hook::flag;

use checks::{Run, Tally};
use memory::Memory;
use process::Place;
use soak::{Over, Soak};

/// Viewers that stay from beginning to end.
const VIEWERS: usize = 4;

fn main() -> Result<ExitCode> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        // This program is the load as well.
        ["load", name] => load::run(name).map(|()| ExitCode::SUCCESS),
        [] => begin(1.0),
        ["--minutes", minutes] => begin(minutes.parse()?),
        _ => bail!("usage: soak [--minutes MINUTES]"),
    }
}

/// Does a whole run, and says whether all goals were reached.
fn begin(minutes: f64) -> Result<ExitCode> {
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
    println!("soak: {minutes:.1} min with {VIEWERS} viewers; Ctrl-C ends it early");
    let run = watch(&soak, minutes)?;
    println!("\n{run}");
    Ok(ExitCode::from(u8::from(!run.holds_all())))
}

/// Runs everything, and returns what was reached.
fn watch(soak: &Soak, minutes: f64) -> Result<Run<'_>> {
    let (tally, over) = (&soak.tally, &soak.over);
    let mut program = soak.place.load(load::STAYS)?;
    let (ring, pid) = (soak.place.ring_of(&mut program)?, program.pid());
    let staying = (0..VIEWERS).map(|_| soak.place.tickscope(&format!("--pid {pid}")));
    let staying = staying.collect::<Result<Vec<_>, _>>()?;
    let mut memory = vec![Memory::of("the program", pid)];
    memory.extend(staying.iter().map(|viewer| Memory::of("a viewer", viewer.pid())));
    let (begin, ended) = (Instant::now(), Over::default());
    let seconds = thread::scope(|scope| {
        let reader = scope.spawn(|| records::follow(tally, &ring, &ended));
        let mut parts = vec![
            scope.spawn(|| viewers::come_and_go(soak, pid)),
            scope.spawn(|| viewers::commands(soak, pid)),
            scope.spawn(|| second::live(soak)),
        ];
        for viewer in staying {
            parts.push(scope.spawn(|| viewers::stay(soak, viewer)));
        }
        while begin.elapsed().as_secs_f64() < 60.0 * minutes && !over.sleep(1000) {
            let seconds = begin.elapsed().as_secs_f64();
            memory.iter_mut().for_each(|memory| memory.look(seconds, tally));
            tally.did("files of viewers and commands", soak.place.tidy());
            if let Err(why) = program.lives() {
                tally.error(why);
                over.set();
            }
        }
        let seconds = begin.elapsed().as_secs_f64();
        over.set();
        for part in parts {
            if part.join().is_err() {
                tally.error("a part of this run panicked");
            }
        }
        let account = load::account_of(program);
        ended.set();
        match reader.join() {
            Ok(records) => {
                _ = tally.check(
                    checks::RECORDS,
                    account.and_then(|said| records.are_those_of(&said)),
                )
            }
            Err(_) => tally.error("the reader of all records panicked"),
        }
        seconds
    });
    Ok(Run {
        tally,
        minutes: seconds / 60.0,
        memory: memory.iter().map(|memory| memory.drift(seconds)).collect(),
    })
}
