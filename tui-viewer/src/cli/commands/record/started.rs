//! `tickscope record -- CMD`: starts a program, records it from start to end, and exits with its exit code.

use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use tickscope_command::child;
use tickscope_command::child::Program;
use tickscope_command::console::{FAILED, in_one_line, say};
use tickscope_format::file::open::RingFile;
use tickscope_format::recording::Writer;
use tickscope_programs::target::wanted::{Found, line_of};

use super::copier::{Begin, Copier};
use crate::cli::args::RecordArgs;
use crate::cli::commands::record::recording::{copy, create, finish};
use crate::cli::commands::run;
use crate::cli::commands::run::Started;
use crate::cli::commands::status_line::StatusLine;

/// Time between two searches for the program's ring during the first second.
const PAUSE: Duration = Duration::from_millis(10);

/// Time between two searches after the first second. A program may open its first scope late or never.
const SELDOM: Duration = Duration::from_millis(100);

/// Records a program. Returns its exit code, or an error code if there is no recording.
///
/// # Errors
/// The file cannot be written, or the program cannot be watched.
pub fn run(args: &RecordArgs, mut program: Program) -> anyhow::Result<u8> {
    let file = Path::new(&program.name).file_name();
    let name = file.unwrap_or_default().to_os_string();
    let writer = create(args, &name.to_string_lossy())?;
    // Handlers are registered before the program starts, because from then on Ctrl-C and SIGTERM must not end this process.
    let terminated = child::watch_interrupts()?;
    let mut running = match run::start(&mut program.command, args.target.dir.as_deref()) {
        Ok(started) => Running {
            started,
            ended: None,
            terminated: &terminated,
        },
        Err(error) => {
            writer.finish()?;
            return Ok(run::not_started(&program.name, &error));
        }
    };
    let recorded = record(args, &program, writer, &mut running);
    if let Err(error) = &recorded {
        say(&in_one_line(error));
    }
    if running.status()?.is_none() {
        say(&format!("{} runs on; waiting for its end", name.display()));
    }
    while running.status()?.is_none() {
        thread::sleep(PAUSE);
    }
    let code = running.ended.map_or(FAILED, child::code_of);
    Ok(match recorded {
        Ok(true) => code,
        // No file was written, so the exit code must not be 0: a script would go on to commands that need the file.
        Ok(false) => code.max(FAILED),
        Err(_) => FAILED,
    })
}

/// Started command, and its exit status once it has ended.
struct Running<'a> {
    started: Started,
    ended: Option<ExitStatus>,
    terminated: &'a AtomicBool,
}

/// Records the command. Returns false if there was nothing to record.
fn record(
    args: &RecordArgs,
    program: &Program,
    writer: Writer,
    running: &mut Running<'_>,
) -> anyhow::Result<bool> {
    let Some(ring) = running.ring(args.after)? else {
        writer.finish()?;
        say(&match args.after {
            Some(_) if running.started.find().is_ok() => format!(
                "nothing was recorded: {} ended before the time of --after",
                program.name.display()
            ),
            _ => format!("nothing was recorded: {}", program.silence()),
        });
        return Ok(false);
    };
    let begin = match args.after {
        None => Begin::Oldest,
        Some(_) => Begin::Now,
    };
    let mut copier = Copier::new(ring, writer, begin, args.rate);
    // On a terminal the status line would disturb the program's output.
    let mut progress = StatusLine::on_stderr(!std::io::stdout().is_terminal());
    let copied = copy(&mut copier, args.duration, &mut progress, || {
        running.status().is_ok_and(|ended| ended.is_some())
    });
    progress.clear();
    let others = running.started.others(&copier.ring);
    if !others.is_empty() {
        say(&format!(
            "of {} programs that ran, only {} is recorded; the others: {}",
            others.len() + 1,
            line_of(&copier.ring, &copier.ring.liveness()?),
            others.join(", ")
        ));
    }
    finish(copier, copied).map(|_| true)
}

impl Running<'_> {
    /// Returns the exit status of the command, if it has ended. If this process has received SIGTERM, passes it on to
    /// the command.
    fn status(&mut self) -> anyhow::Result<Option<ExitStatus>> {
        if self.ended.is_none() {
            self.ended = self.started.child.try_wait()?;
        }
        if self.ended.is_none() {
            child::pass_on(self.terminated, &self.started.child);
        }
        Ok(self.ended)
    }

    /// Waits until the ring exists and `after` has passed, and returns the ring; `None` if the command ends before that.
    fn ring(&mut self, after: Option<Duration>) -> anyhow::Result<Option<RingFile>> {
        let begin = Instant::now();
        loop {
            // The status is read before the search, so that no ring is missed: a program that has ended creates no ring any more.
            let ended = self.status()?.is_some();
            let is_time = after.is_none_or(|after| begin.elapsed() >= after);
            if is_time
                && (!ended || after.is_none())
                && let Ok(Found::Ring(ring, _)) = self.started.find()
            {
                return Ok(Some(*ring));
            }
            if ended {
                return Ok(None);
            }
            let late = begin.elapsed() > after.unwrap_or_default() + SELDOM * 10;
            thread::sleep(if late { SELDOM } else { PAUSE });
        }
    }
}
