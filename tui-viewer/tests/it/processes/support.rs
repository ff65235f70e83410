//! Places, programs in a role, and chance that can be had again.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tickscope_format::file::open::RingFile;
pub(crate) use tickscope_testkit::until::until;

use crate::processes::roles::{ARGUMENT, RINGS, ROLE};

/// A number from the environment, or another one.
pub(crate) fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).map_or(otherwise, |number| number.parse().expect("a number"))
}

/// A multiplicative generator: the same chances in each run, whatever the machine makes of them.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    /// A number below a limit.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// A directory for rings.
pub(crate) struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// The rings there.
    pub(crate) fn rings(&self) -> Vec<PathBuf> {
        rings_in(self.dir())
    }

    /// A program in a role, not started yet.
    pub(crate) fn role(&self, role: &str, argument: impl AsRef<OsStr>) -> Command {
        let mut command = self.clean(std::env::current_exe().unwrap());
        command
            .env(ROLE, role)
            .env(RINGS, self.dir())
            .env(ARGUMENT, argument);
        command
    }

    /// A command with nothing of the tester's own environment.
    pub(crate) fn clean(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("TICKSCOPE") {
                command.env_remove(name);
            }
        }
        command
            .env("TICKSCOPE_DIR", self.dir())
            .env("LC_ALL", "C.UTF-8")
            .stdin(Stdio::null());
        command
    }

    /// What `tickscope ARGS` writes to standard output and to standard error, and its code.
    pub(crate) fn tickscope<S: AsRef<OsStr>>(&self, args: &[S]) -> (String, String, Option<i32>) {
        let done = self
            .clean(env!("CARGO_BIN_EXE_tickscope"))
            .args(args)
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (text(done.stdout), text(done.stderr), done.status.code())
    }

    /// What `tickscope list` says of a program.
    pub(crate) fn listed(&self, path: &Path) -> serde_json::Value {
        let (out, err, code) = self.tickscope(&["list", "--json"]);
        assert_eq!(code, Some(0), "{err}");
        let list: serde_json::Value = serde_json::from_str(&out).unwrap();
        let programs = list["programs"].as_array().unwrap();
        let found = programs
            .iter()
            .find(|entry| entry["path"] == path.to_str().unwrap());
        found
            .unwrap_or_else(|| panic!("{} is not in {out}", path.display()))
            .clone()
    }

    /// Starts a program in a role and waits for its ring and its first sign of life.
    pub(crate) fn start(&self, role: &str, argument: &str) -> (Running, RingFile) {
        let running = Running::spawn(&mut self.role(role, argument));
        let ring = until("there is a ring", || self.ring_of(running.pid()));
        until("it runs", || {
            matches!(
                ring.liveness(),
                Ok(tickscope_format::file::open::Liveness::Running)
            )
            .then_some(())
        });
        (running, ring)
    }

    /// The ring of a process, once it is there.
    pub(crate) fn ring_of(&self, pid: u32) -> Option<RingFile> {
        let pid = format!(".{pid}.");
        let path = self
            .rings()
            .into_iter()
            .find(|path| path.to_string_lossy().contains(&pid))?;
        Some(RingFile::open(&path).unwrap())
    }
}

/// The rings in a directory.
pub(crate) fn rings_in(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir) else {
        return Vec::new();
    };
    let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
    paths
        .filter(|path| path.extension().is_some_and(|ending| ending == "ring"))
        .collect()
}

/// A child that ends with its standard input, and is killed at the latest with the test.
pub(crate) struct Running {
    pub(crate) child: Child,
    input: Option<ChildStdin>,
}

impl Running {
    pub(crate) fn spawn(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let input = child.stdin.take();
        Self { child, input }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(self.pid() as i32).unwrap(), signal).unwrap();
    }

    /// Stops it, and waits until it stands.
    pub(crate) fn stop(&self) {
        self.signal(Signal::STOP);
        until("it stands", || {
            let stat = fs::read_to_string(format!("/proc/{}/stat", self.pid())).unwrap();
            stat.rsplit_once(") ").unwrap().1.starts_with('T').then_some(())
        });
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn runs(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Lets it end as it will.
    pub(crate) fn end(&mut self) -> std::process::ExitStatus {
        drop(self.input.take());
        self.child.wait().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
