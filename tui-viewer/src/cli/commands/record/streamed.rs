//! Writes a recording to standard output while the program runs, for `tickscope -` at the other end of a pipe.
//!
//! Apart from the recording, only errors are printed, because the command at the other end may show a screen on the
//! same terminal.

use std::fs::File;
use std::io;
use std::io::IsTerminal;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Instant;

use anyhow::anyhow;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tickscope_command::console;
use tickscope_command::console::{Misuse, about};
use tickscope_format::file::open::RingFile;
use tickscope_format::recording::Writer;
use tickscope_programs::target;
use tickscope_programs::target::wanted::{Found, NoTarget, Wanted, is_live, one_alone};

use crate::cli::args::RecordArgs;
use crate::cli::commands::live_snapshot;
use crate::cli::commands::record::copier::{Begin, Copier};
use crate::cli::commands::record::recording::{End, LOOK_AROUND, copy, stop_on_signals};
use crate::cli::commands::status_line::StatusLine;

/// Name of the stream in messages.
const NAME: &str = "standard output";

/// Returns whether a running program is to be recorded to standard output.
pub(super) fn is_wanted(args: &RecordArgs) -> bool {
    args.command.is_empty() && args.output.as_deref() == Some(Path::new("-"))
}

/// Writes records until the duration has passed, a signal arrives, the reader closes the pipe, or the program ends.
/// With `--follow`, continues with the program's next runs.
///
/// # Errors
/// There is no such program, it cannot be read, or the stream cannot be written.
pub(super) fn run(args: &RecordArgs) -> anyhow::Result<u8> {
    if io::stdout().is_terminal() {
        let why = "a recording is not for terminals; pipe it on: tickscope record -o - | tickscope -, or give -o FILE";
        return Err(Misuse(why.into()).into());
    }
    if args.after.is_some() {
        return Err(Misuse("--after is for files: a stream begins with its reader".into()).into());
    }
    let stop = stop_on_signals()?;
    let begin = Instant::now();
    let is_over = || stop.load(Ordering::Relaxed) || has_no_reader();
    let Some(mut ring) = first(args, is_over)? else {
        return Ok(console::DONE);
    };
    let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let name = Path::new(NAME);
    let mut writer = match Writer::stream(output, name) {
        Ok(writer) => writer,
        Err(error) => return reader_gone_or(anyhow!(about(name, &error))),
    };
    // The next run is found by its name even if the user typed a process id, because its process id differs.
    let wanted = Wanted::Name(ring.header().name.clone());
    loop {
        let process = (ring.header().pid, ring.header().start_time);
        let mut copier = Copier::new(ring, writer, Begin::Now, args.rate);
        let mut silent = StatusLine::on_stderr(false);
        let left = args
            .duration
            .map(|duration| duration.saturating_sub(begin.elapsed()));
        let end = copy(&mut copier, left, &mut silent, is_over)?;
        if !args.follow || !matches!(end, End::Program(_)) {
            return Ok(console::DONE);
        }
        writer = copier.writer;
        ring = loop {
            if is_over() {
                return Ok(console::DONE);
            }
            if let Some(next) = running(&wanted, args)
                && (next.header().pid, next.header().start_time) != process
            {
                break next;
            }
            thread::sleep(LOOK_AROUND);
        };
        if let Err(error) = writer.begin_again() {
            return reader_gone_or(anyhow!(about(name, &error)));
        }
    }
}

/// Returns the program that the user named, or `None` if the recording was stopped while waiting for the program.
fn first(args: &RecordArgs, is_over: impl Fn() -> bool) -> anyhow::Result<Option<RingFile>> {
    let why = "a program is recorded while it runs";
    let wanted = args.target.wanted();
    if let Wanted::All(name) = &wanted {
        return Err(one_alone(name, why).into());
    }
    while args.follow && running(&wanted, args).is_none() {
        // Waiting does not help if the user must choose among programs or correct the name.
        if let Err(error) = target::find(&wanted, args.target.dir.as_deref())
            && !NoTarget::may_come(&error)
        {
            return Err(error);
        }
        if is_over() {
            return Ok(None);
        }
        thread::sleep(LOOK_AROUND);
    }
    live_snapshot::find_running(&args.target, None, why).map(Some)
}

fn running(wanted: &Wanted, args: &RecordArgs) -> Option<RingFile> {
    match target::find(wanted, args.target.dir.as_deref()) {
        Ok(Found::Ring(ring, liveness)) if is_live(&liveness) => Some(*ring),
        _ => None,
    }
}

/// Returns whether the reader has closed the pipe. A failing write would show it too, but only once the program
/// publishes again.
fn has_no_reader() -> bool {
    let out = io::stdout();
    let mut fds = [PollFd::new(&out, PollFlags::empty())];
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    poll(&mut fds, Some(&now)).is_ok() && fds[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
}

/// Returns success if the error comes from a closed pipe.
fn reader_gone_or(error: anyhow::Error) -> anyhow::Result<u8> {
    if has_no_reader() {
        Ok(console::DONE)
    } else {
        Err(error)
    }
}
