//! `tickscope demo`: starts itself as a child process that runs the demo, and attaches to it as to any other program.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use tickscope_command::console;

use crate::cli::args::LookArgs;
use crate::cli::commands::attach::{has_screen, watch};
use crate::cli::commands::run::{Started, start};

/// How long the demo may take to exit by itself. A frame takes a tenth of a second, and serving the clients that
/// are already there takes less.
const LONGEST_END: Duration = Duration::from_secs(2);

/// Shows the demo; without a screen, renders one frame and prints the report.
///
/// # Errors
/// The demo cannot run or be watched.
pub fn run(look: &LookArgs) -> anyhow::Result<u8> {
    let mut command = Command::new(std::env::current_exe().context("the demo's program")?);
    command
        .arg("demo-program")
        .stdin(Stdio::piped())
        .stdout(Stdio::null());
    if !has_screen() {
        let mut started = start(command.args(["--frames", "1"]), None).context("the demo's program")?;
        started.child.wait()?;
        console::write(&started.report()?)?;
        return Ok(console::DONE);
    }
    let mut started = start(command.stderr(Stdio::null()), None).context("the demo's program")?;
    let shown = watch(&mut started.feed(), look);
    end(&mut started);
    shown
}

/// Lets the demo end by itself, so that its state is "exited", not "crashed".
fn end(started: &mut Started) {
    drop(started.child.stdin.take());
    let begin = Instant::now();
    while begin.elapsed() < LONGEST_END && !matches!(started.child.try_wait(), Ok(Some(_)) | Err(_)) {
        thread::sleep(Duration::from_millis(5));
    }
    // Killing the demo loses nothing, because it saves no data.
    let _ = started.child.kill();
    let _ = started.child.wait();
}

/// Runs the demo itself: renders `frames` frames while its service handles clients. Without a number, it runs until
/// standard input closes, so that it ends if its viewer is gone.
pub fn program(frames: Option<u64>) -> u8 {
    let _tickscope = tickscope_demo::session();
    let alone = Arc::new(AtomicBool::new(false));
    if frames.is_none() {
        let told = Arc::clone(&alone);
        thread::spawn(move || {
            let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
            told.store(true, Ordering::Relaxed);
        });
    }
    tickscope_demo::run(&mut |done| match frames {
        Some(frames) => done < frames,
        None => !alone.load(Ordering::Relaxed),
    });
    console::DONE
}
