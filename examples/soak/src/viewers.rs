//! Viewers in terminals: those that stay and get keys, and one that is killed and replaced all the time.

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::keys;
use crate::over::Over;
use crate::random::Random;
use crate::tally::Tally;
use crate::terminal::Terminal;

/// How long a viewer may take to leave. It is long, because other builds and tests may run on the same machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// How viewers are started.
#[derive(Clone, Debug)]
pub(crate) struct Viewing {
    /// The path of the viewer.
    pub(crate) program: PathBuf,
    pub(crate) rings: PathBuf,
    /// The directory in which viewers write.
    pub(crate) directory: PathBuf,
}

impl Viewing {
    /// Starts a viewer of the program with this process id.
    ///
    /// # Errors
    /// The system's error.
    pub(crate) fn of(&self, pid: u32) -> Result<Terminal, String> {
        let pid = pid.to_string();
        let viewer = Terminal::start(&self.program, &["--pid", &pid], &self.rings, &self.directory);
        viewer.map_err(|error| format!("no viewer: {error}"))
    }
}

/// Presses keys until the run is over, and then lets the viewer leave.
pub(crate) fn stay(mut viewer: Terminal, mut random: Random, over: &Over, tally: &Tally) {
    while !over.sleep(random.ms(100, 1500)) {
        if let Some(status) = viewer.has_ended() {
            tally.error(format!("a viewer ended with {status}: {}", viewer.said()));
            return;
        }
        viewer.send(&keys::burst(&mut random));
        tally.keys.add(1);
        if random.one_in(20) {
            viewer.resize(40 + random.below(160) as u16, 10 + random.below(60) as u16);
        }
    }
    leave(viewer, tally);
}

/// Presses Ctrl-C, which quits from everywhere. Directly after an Esc it would be read as part of another key.
fn leave(mut viewer: Terminal, tally: &Tally) {
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        viewer.send(b"\x03");
        match viewer.has_ended() {
            Some(status) if status.success() || status.signal().is_some() => return,
            Some(status) => {
                return tally.error(format!("a viewer left with {status}: {}", viewer.said()));
            }
            None => thread::sleep(Duration::from_millis(100)),
        }
    }
    tally.error(format!("a viewer does not leave in {} s", PATIENCE.as_secs()));
}

/// Starts viewers of a program one after another, and kills each at some moment.
pub(crate) fn come_and_go(viewing: &Viewing, pid: u32, mut random: Random, over: &Over, tally: &Tally) {
    while !over.is_set() {
        match viewing.of(pid) {
            Ok(viewer) => guest(viewer, &mut random, over, tally),
            Err(error) => {
                tally.error(error);
                over.sleep(Duration::from_secs(1));
            }
        }
    }
}

fn guest(mut viewer: Terminal, random: &mut Random, over: &Over, tally: &Tally) {
    for _ in 0..random.below(8) {
        over.sleep(random.ms(0, 400));
        viewer.send(&keys::burst(random));
        tally.keys.add(1);
    }
    if let Some(status) = viewer.has_ended() {
        return tally.error(format!("a viewer ended with {status}: {}", viewer.said()));
    }
    match random.below(4) {
        0 => leave(viewer, tally),
        _ => {
            viewer.kill();
            tally.viewers_killed.add(1);
        }
    }
}

/// Returns the path of the viewer, which is beside this program or made by cargo.
///
/// # Errors
/// Where it should be, and how to make it.
pub(crate) fn program() -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let directory = own.parent().unwrap_or(Path::new("."));
    let viewer = directory.join("tickscope");
    // `cargo run` has built this program; a viewer beside it may be older.
    let cargo = std::env::var_os("CARGO");
    if viewer.is_file() && cargo.is_none() {
        return Ok(viewer);
    }
    let release = if directory.ends_with("release") {
        &["--release"][..]
    } else {
        &[]
    };
    let mut build = std::process::Command::new(cargo.unwrap_or("cargo".into()));
    build.args(["build", "--package", "tickscope-cli"]).args(release);
    if let Some(target) = directory.parent() {
        build.arg("--target-dir").arg(target);
    }
    if Path::new(env!("CARGO_MANIFEST_DIR")).is_dir() {
        build.current_dir(env!("CARGO_MANIFEST_DIR"));
    }
    let built = build.status();
    if built.is_ok_and(|status| status.success()) && viewer.is_file() {
        return Ok(viewer);
    }
    Err(format!(
        "no viewer at {}; make one with: cargo build {} --package tickscope-cli",
        viewer.display(),
        release.concat(),
    ))
}
