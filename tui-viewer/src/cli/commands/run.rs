//! `tickscope run`: starts a program with `TICKSCOPE=live`, watches it, and exits with its exit code.

use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::thread;

use anyhow::Context;
use tickscope_command::child::{PAUSE, Program, code_of, pass_on, wait, watch_interrupts};
use tickscope_command::console::{in_one_line, say};
use tickscope_format::file::open::RingFile;
use tickscope_format::file::places::DIR_VARIABLE;
use tickscope_programs::feed::RingFeed;
use tickscope_programs::local_time;
use tickscope_programs::target;
use tickscope_programs::target::wanted::{Found, NoTarget, Wanted, line_of};

use crate::cli::args::LookArgs;
use crate::cli::commands::attach::{has_screen, watch};
use crate::cli::commands::kept_output::KeptOutput;
use crate::cli::commands::{live_snapshot, report};

/// Started command, and how to find its ring.
#[derive(Debug)]
pub struct Started {
    /// The running command.
    pub child: Child,
    /// Target that finds the command's ring.
    pub wanted: Wanted,
    dir: Option<PathBuf>,
}

/// Runs a command and watches it.
///
/// # Errors
/// The command cannot be watched. A command that cannot be started is not an error: the exit code is then 127 or 126,
/// as in a shell.
pub fn run(command: &[OsString], no_screen: bool, dir: Option<&Path>, look: &LookArgs) -> anyhow::Result<u8> {
    watch_program(Program::named(command), no_screen, dir, look)
}

/// Runs a program and watches it.
///
/// # Errors
/// The errors of [`run`].
pub fn watch_program(
    mut program: Program,
    no_screen: bool,
    dir: Option<&Path>,
    look: &LookArgs,
) -> anyhow::Result<u8> {
    let on_screen = has_screen() && !no_screen;
    // Output of the program would garble the screen, so it is kept until the screen has closed.
    let output = on_screen
        .then(KeptOutput::new)
        .transpose()
        .context("a file for the program's output")?;
    if let Some(output) = &output {
        program.command.stdin(Stdio::null()).stdout(output.for_program()?);
        if std::io::stderr().is_terminal() {
            program.command.stderr(output.for_program()?);
        }
    }
    // Handlers are registered before the program starts, because from then on Ctrl-C and SIGTERM must not end this process.
    let terminated = watch_interrupts()?;
    let mut started = match start(&mut program.command, dir) {
        Ok(started) => started,
        Err(error) => return Ok(not_started(&program.name, &error)),
    };
    if let Some(output) = output {
        watch(&mut started.feed(), look)?;
        return finish_behind_screen(&mut started, output, &terminated);
    }
    let status = wait(&mut started.child, &terminated)?;
    let report = started.report();
    match report {
        Ok(text) => eprint_all(&text),
        Err(error) if error.downcast_ref::<NoTarget>().is_some() => {
            say(&format!("no report: {}", program.silence()));
        }
        Err(error) => say(&format!("no report: {}", in_one_line(&error))),
    }
    Ok(code_of(status))
}

/// Prints why a command cannot be started. Returns the exit code that a shell would return.
pub(crate) fn not_started(name: &OsStr, error: &std::io::Error) -> u8 {
    say(&format!("cannot start {}: {error}", name.display()));
    if error.kind() == std::io::ErrorKind::NotFound {
        127
    } else {
        126
    }
}

/// Starts a command with settings that make it publish. A token distinguishes its ring from all other rings.
///
/// # Errors
/// The system reports an error.
pub fn start(command: &mut Command, dir: Option<&Path>) -> std::io::Result<Started> {
    // Bit 0 is set because 0 means that there is no token.
    let token = tickscope_format::os::random() | 1;
    command
        .env("TICKSCOPE", "live")
        .env("TICKSCOPE_RUN", format!("{token:016x}"));
    // The path is made absolute, because the program may change its working directory.
    let named = std::env::var_os(DIR_VARIABLE).filter(|named| !named.is_empty());
    let dir = dir.map(Path::to_path_buf).or_else(|| named.map(PathBuf::from));
    let dir = dir.map(std::path::absolute).transpose()?;
    if let Some(dir) = &dir {
        command.env(DIR_VARIABLE, dir);
    }
    let child = command.spawn()?;
    let wanted = Wanted::Started {
        token,
        pid: child.id(),
    };
    Ok(Started { child, wanted, dir })
}

impl Started {
    /// Returns a feed of the program's ring.
    pub fn feed(&self) -> RingFeed {
        RingFeed::new(self.wanted.clone(), self.dir.clone(), local_time::utc_offset_s())
    }

    /// Finds the program's ring.
    ///
    /// # Errors
    /// There is no ring, or it cannot be read.
    pub fn find(&self) -> anyhow::Result<Found> {
        target::find(&self.wanted, self.dir.as_deref())
    }

    /// Returns a `tickscope PID` command line for each program that the command started, apart from `shown`.
    pub(super) fn others(&self, shown: &RingFile) -> Vec<String> {
        let all = target::all(&self.wanted, self.dir.as_deref());
        all.iter()
            .filter(|ring| ring.header().nonce != shown.header().nonce)
            .map(|ring| format!("tickscope {}", ring.header().pid))
            .collect()
    }

    /// Returns the text report on the started program.
    ///
    /// # Errors
    /// There is no ring, or it cannot be read.
    pub fn report(&self) -> anyhow::Result<String> {
        let found = self.find()?;
        if let Found::Ring(shown, liveness) = &found {
            let others = self.others(shown);
            if !others.is_empty() {
                say(&format!(
                    "of {} programs that ran, the report has only {}; the others: {}",
                    others.len() + 1,
                    line_of(shown, liveness),
                    others.join(", ")
                ));
            }
        }
        let live = live_snapshot::of(&found, &self.wanted)?;
        Ok(report::usual_text(live))
    }
}

/// After the screen has closed, passes on the program's output so far, and further output until the program ends.
fn finish_behind_screen(
    started: &mut Started,
    mut output: KeptOutput,
    terminated: &AtomicBool,
) -> anyhow::Result<u8> {
    let mut out = std::io::stdout().lock();
    let mut told = false;
    let status = loop {
        let ended = started.child.try_wait()?;
        output.pass_on(&mut out)?;
        match ended {
            Some(status) => break status,
            None if !told => {
                told = true;
                say("the program runs on; its output follows (Ctrl-C ends it)");
            }
            None => pass_on(terminated, &started.child),
        }
        thread::sleep(PAUSE);
    };
    Ok(code_of(status))
}

/// Writes to standard error, so that the text stays out of the program's standard output.
pub(crate) fn eprint_all(text: &str) {
    // If standard error is closed, there is no other way to show the text.
    let _ = std::io::Write::write_all(&mut std::io::stderr(), text.as_bytes());
}
