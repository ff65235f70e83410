//! `tickscope record`: writes a program's snapshots to a file whose records survive any crash.

mod copier;
mod recording;
pub mod started;
mod streamed;

use std::sync::atomic::Ordering;
use std::thread;
use std::time::Instant;

use tickscope_command::child::Program;
use tickscope_command::console::Misuse;
use tickscope_programs::target::wanted::is_live;

use self::copier::{Begin, Copier};
use crate::cli::args::RecordArgs;
use crate::cli::commands::live_snapshot;
pub(super) use crate::cli::commands::record::recording::stop_on_signals;
use crate::cli::commands::record::recording::{PAUSE, copy, create, finish};
use crate::cli::commands::status_line::StatusLine;

/// Records a running program, or starts a program and records it.
///
/// # Errors
/// There is no such program, or it cannot be read, or the file cannot be written.
pub fn run(args: &RecordArgs) -> anyhow::Result<u8> {
    if !args.command.is_empty() {
        return started::run(args, Program::named(&args.command));
    }
    if streamed::is_wanted(args) {
        return streamed::run(args);
    }
    if args.follow {
        return Err(Misuse("--follow is for a stream: -o -; a file has one run".into()).into());
    }
    let ring = live_snapshot::find_running(&args.target, None, "a program is recorded while it runs")?;
    let stop = stop_on_signals()?;
    let header = ring.header();
    let writer = create(args, &format!("{}-{}", header.name, header.pid))?;
    let begin = Instant::now();
    while args.after.is_some_and(|after| begin.elapsed() < after) && !stop.load(Ordering::Relaxed) {
        thread::sleep(PAUSE.min(args.after.unwrap_or_default().saturating_sub(begin.elapsed())));
        if !ring.liveness().is_ok_and(|liveness| is_live(&liveness)) {
            break;
        }
    }
    let mut copier = Copier::new(ring, writer, Begin::Now, args.rate);
    let mut progress = StatusLine::on_stderr(true);
    let copied = copy(&mut copier, args.duration, &mut progress, || {
        stop.load(Ordering::Relaxed)
    });
    progress.clear();
    finish(copier, copied)
}
