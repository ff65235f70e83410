//! `tickscope demo`: starts itself as a child that renders, and attaches to it like to anybody.

use std::process::{Command, Stdio};

use anyhow::Context;
use tickscope_examples::demo;

use crate::args::{Format, LookArgs};
use crate::command::attach::{has_screen, watch};
use crate::command::output;
use crate::command::run::{Started, start};

/// Shows the demo; without a screen, renders one frame and prints the report.
///
/// # Errors
/// What keeps the demo from running or being watched.
pub fn run(look: &LookArgs) -> anyhow::Result<u8> {
    let mut command = Command::new(std::env::current_exe().context("where this program is")?);
    command
        .arg("demo-program")
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    if !has_screen() {
        let mut started = start(command.args(["--frames", "1"]), None).context("the demo's program")?;
        started.child.wait()?;
        output::write(&started.report(Format::Text)?, None)?;
        return Ok(output::DONE);
    }
    let mut started = start(command.stderr(Stdio::null()), None).context("the demo's program")?;
    let shown = watch(&mut started.feed(), look);
    end(&mut started);
    shown
}

fn end(started: &mut Started) {
    // It has nothing to save.
    let _ = started.child.kill();
    let _ = started.child.wait();
}

/// The program behind the demo: renders so many frames, or until it is killed.
pub fn program(frames: Option<u64>) -> u8 {
    let _tickscope = demo::session();
    // A demo that lost its viewer must not render for ever.
    let parent = rustix::process::getppid();
    demo::run(&mut |done| frames.is_none_or(|frames| done < frames) && rustix::process::getppid() == parent);
    output::DONE
}
