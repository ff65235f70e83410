//! A long run in which a program is constantly watched, recorded, killed, and sent requests. The result shows which
//! goals were reached.
//!
//! One program runs all the time. Several viewers stay attached to it, another viewer is killed and replaced again and again,
//! and commands are run on it. A second program is started again and again, and is killed or has its ring truncated or
//! removed. Ctrl-C ends the run early, but the table is still printed. The exit code is 1 if a goal was missed.
//!
//! | check | where |
//! |---|---|
//! | a killed program is reported as crashed, and its newest snapshot is intact | [`second`] |
//! | a program whose ring is truncated or removed ends normally with a correct account; its viewer survives | [`second`] |
//! | every record can be read and decoded, and matches its stamp | [`records`] |
//! | records arrive in order, and no count decreases because of a reset or an undo | [`records`] |
//! | the epochs add up to all calls and ticks that were ever counted | [`records`] |
//! | every async call that began has ended, was dropped, or is in flight | [`records`] |
//! | all sums match the program's own account; when it ends, nothing is in flight or live | [`records`] |
//! | the program runs to the end, ends normally, and has no warnings | here, [`records`] |
//! | no viewer ends by itself or by the keys that it gets; Ctrl-C ends it normally | [`viewers`] |
//! | commands succeed | [`viewers`] |
//! | the memory of the program and its viewers does not grow | [`memory`] |
//!
//! Other tests cover the contents of a single record (`conservation` and `storm` in the collector), blocks and values
//! (`programs`), the error of live bytes (`allocations`), reads that the writer overtakes (`lapped` in the format), and
//! requests being carried out exactly once (`processes::requests` in the viewer).
#![allow(clippy::print_stdout, reason = "a program that speaks to its user")]

mod account;
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

use anyhow::{Result, anyhow, bail};
use checks::{Run, Tally};
use memory::Memory;
use process::Place;
use signal_hook::consts::TERM_SIGNALS;
use signal_hook::flag;
use soak::{Over, Soak};

/// Number of viewers that stay attached for the whole run.
const VIEWERS: usize = 4;

fn main() -> Result<ExitCode> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        // This program also produces the load.
        ["load", name] => load::run(name).map(|()| ExitCode::SUCCESS),
        [] => begin(1.0),
        ["--minutes", minutes] => begin(minutes.parse()?),
        _ => bail!("usage: soak [--minutes MINUTES]"),
    }
}

/// Performs a whole run. Returns success if no goal was missed.
fn begin(minutes: f64) -> Result<ExitCode> {
    let soak = Soak {
        over: Over::default(),
        place: Place::new()?,
        tally: Tally::default(),
    };
    for &signal in TERM_SIGNALS {
        // A second signal ends the process, as if no handler were installed.
        flag::register_conditional_default(signal, Arc::clone(&soak.over.0))?;
        flag::register(signal, Arc::clone(&soak.over.0))?;
    }
    println!("soak: {minutes:.1} min with {VIEWERS} viewers; Ctrl-C ends it early");
    let run = watch(&soak, minutes)?;
    println!("\n{run}");
    Ok(ExitCode::from(u8::from(!run.holds_all())))
}

/// Runs all parts, and returns the results.
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
        let account = account::account_of(program);
        ended.set();
        let records = reader
            .join()
            .map_err(|_| anyhow!("the reader of all records panicked"));
        let are_right = records.and_then(|records| records.are_those_of(&account?));
        tally.check(checks::RECORDS, are_right);
        seconds
    });
    Ok(Run {
        tally,
        minutes: seconds / 60.0,
        memory: memory.iter().map(|memory| memory.drift(seconds)).collect(),
    })
}
