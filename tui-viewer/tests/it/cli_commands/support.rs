//! Programs to look at, and the command that looks, with all they write kept for the assertions.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use serde_json::Value;
use tickscope_format::layout::{WORD, state};
use tickscope_testkit::suite::skip;
pub(crate) use tickscope_testkit::until::until;

use crate::cli_commands::roles::{ARGUMENT, ROLE};

/// A directory of its own, with the rings in `rings/`.
pub(crate) struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["tmp", "work"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        Self { dir }
    }

    pub(crate) fn rings(&self) -> PathBuf {
        self.dir.path().join("rings")
    }

    /// Where commands run.
    pub(crate) fn work(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    /// The one file in the working directory.
    pub(crate) fn only_file(&self) -> PathBuf {
        let files: Vec<PathBuf> = fs::read_dir(self.work())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        let [file] = &files[..] else {
            panic!("one file: {files:?}")
        };
        file.clone()
    }

    /// A command without anything of the tester's own environment, that looks into this place.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("TICKSCOPE") {
                command.env_remove(name);
            }
        }
        command
            .current_dir(self.work())
            .env("TICKSCOPE_DIR", self.rings())
            .env("TMPDIR", self.dir.path().join("tmp"))
            .env("LC_ALL", "C.UTF-8")
            .stdin(Stdio::null());
        command
    }

    /// `tickscope ARGS`.
    pub(crate) fn tickscope<S: AsRef<OsStr>>(&self, args: &[S]) -> Done {
        let mut command = self.command(VIEWER);
        command.args(args);
        finish(&mut command)
    }

    /// The JSON report on a program.
    pub(crate) fn json(&self, target: &str) -> Value {
        self.tickscope(&["report", "-f", "json", target]).ok().json()
    }

    /// A program in a role, not started yet.
    pub(crate) fn role(&self, role: &str, argument: &str) -> Command {
        let mut command = self.command(std::env::current_exe().unwrap());
        command.env(ROLE, role).env(ARGUMENT, argument);
        command
    }

    /// Starts a program under a name that no other test has, and waits for its ring.
    pub(crate) fn start(&self, role: &str) -> Program {
        self.start_named(role, &name(role))
    }

    pub(crate) fn start_named(&self, role: &str, name: &str) -> Program {
        let program = Program::spawn(&mut self.role(role, name), name);
        // A ring is there a moment before its first heartbeat; until then it looks stale.
        until("it runs", || {
            let ring = self.ring_of(program.pid())?;
            (word(&ring, state::HEARTBEAT) != 0).then_some(())
        });
        program
    }

    /// The ring file of a process.
    pub(crate) fn ring_of(&self, pid: u32) -> Option<PathBuf> {
        let pid = format!(".{pid}.");
        fs::read_dir(self.rings())
            .ok()?
            .map(|entry| entry.unwrap().path())
            .find(|path| {
                let name = path.file_name().unwrap().to_string_lossy();
                name.contains(&pid) && name.ends_with(".ring")
            })
    }
}

/// A word of a file.
pub(crate) fn word(path: &Path, index: usize) -> u64 {
    let mut bytes = [0; WORD];
    let file = fs::File::open(path).unwrap();
    file.read_exact_at(&mut bytes, (index * WORD) as u64).unwrap();
    u64::from_le_bytes(bytes)
}

pub(crate) const VIEWER: &str = env!("CARGO_BIN_EXE_tickscope");

/// A name that no other program has.
pub(crate) fn name(stem: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!(
        "{stem}-{}-{}",
        std::process::id(),
        COUNT.fetch_add(1, Ordering::Relaxed)
    )
}

/// A program that runs until it is told to end, killed at the latest with the test.
pub(crate) struct Program {
    child: Child,
    pub(crate) name: String,
}

impl Program {
    pub(crate) fn spawn(command: &mut Command, name: &str) -> Self {
        let child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self {
            child,
            name: name.into(),
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_raw(self.pid() as i32).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Stops it, and waits until it stands.
    pub(crate) fn stop(&self) {
        self.signal(rustix::process::Signal::STOP);
        let stat = format!("/proc/{}/stat", self.pid());
        until("the program stands", || {
            let stat = fs::read_to_string(&stat).unwrap();
            stat.rsplit_once(") ").unwrap().1.starts_with('T').then_some(())
        });
    }

    pub(crate) fn go_on(&self) {
        self.signal(rustix::process::Signal::CONT);
    }

    /// Kills it and waits until the kernel is done with it.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Lets it end.
    pub(crate) fn end(&mut self) -> ExitStatus {
        drop(self.child.stdin.take());
        until("the program has ended", || self.child.try_wait().unwrap())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A command that ended.
pub(crate) struct Done {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Done {
    /// Asserts that it succeeded.
    pub(crate) fn ok(self) -> Self {
        self.with_code(0)
    }

    pub(crate) fn with_code(self, code: i32) -> Self {
        assert_eq!(
            self.code,
            Some(code),
            "exit code\n--- out\n{}\n--- err\n{}",
            self.out,
            self.err
        );
        self
    }

    /// Asserts that it failed with one line that says so, and printed nothing else.
    pub(crate) fn failed(self, code: i32, says: &[&str]) -> Self {
        let done = self.with_code(code).says(says);
        assert_eq!(done.out, "", "nothing on standard output");
        assert_eq!(done.err.lines().count(), 1, "one line: {}", done.err);
        done
    }

    /// Asserts what standard error says.
    pub(crate) fn says(self, says: &[&str]) -> Self {
        for part in says {
            assert!(self.err.contains(part), "wanted {part:?} in: {}", self.err);
        }
        self
    }

    /// Asserts that standard error is silent.
    pub(crate) fn quiet(self) -> Self {
        assert_eq!(self.err, "");
        self
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error} in {}", self.out))
    }
}

/// Runs a command to its end.
pub(crate) fn finish(command: &mut Command) -> Done {
    finish_with(command, b"")
}

/// The same with something on standard input.
pub(crate) fn finish_with(command: &mut Command, input: &[u8]) -> Done {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that does not want its input may be gone already.
    let _ = child.stdin.take().unwrap().write_all(input);
    let reader = thread::spawn(move || child.wait_with_output().unwrap());
    until(&format!("{command:?} has ended"), || {
        reader.is_finished().then_some(())
    });
    let Output {
        status,
        stdout,
        stderr,
    } = reader.join().unwrap();
    Done {
        code: status.code(),
        out: String::from_utf8(stdout).unwrap(),
        err: String::from_utf8(stderr).unwrap(),
    }
}

/// Runs a command where nobody else's rings are: with a `/dev/shm` of its own. The test is skipped where that cannot be had.
pub(crate) fn sealed(place: &Place) -> Command {
    let mut command = place.command("unshare");
    command.arg("-m");
    if !rustix::process::getuid().is_root() {
        command.arg("-r");
    }
    command.args(["sh", "-c", "mount -t tmpfs none /dev/shm && exec \"$@\"", "sh"]);
    let mut probe = place.command(command.get_program());
    probe.args(command.get_args()).arg("true");
    if !probe.output().is_ok_and(|output| output.status.success()) {
        skip("no mount namespace to be had here");
    }
    command
}

/// `tickscope ARGS` where nobody else's rings are, only those of the place.
pub(crate) fn sealed_tickscope<S: AsRef<OsStr>>(place: &Place, args: &[S]) -> Done {
    finish(sealed(place).arg(VIEWER).args(args))
}

/// Runs a command in the namespace of a program that was started by [`sealed`].
pub(crate) fn beside(place: &Place, program: &Program, command: &Path) -> Command {
    let mut inside = place.command("nsenter");
    inside.args(["-t", &program.pid().to_string(), "-m"]);
    if !rustix::process::getuid().is_root() {
        inside.args(["-U", "--preserve-credentials"]);
    }
    inside
        .arg(format!("--wdns={}", place.work().display()))
        .arg(command);
    inside
}
