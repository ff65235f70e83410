//! Programs to observe, and the `tickscope` commands that observe them, whose output is kept for assertions.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, FileExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tickscope_format::Snapshot;
use tickscope_format::file::open::{Liveness, RingFile};
use tickscope_format::layout::WORD;
use tickscope_format::recording::Writer;
use tickscope_format::ring::Stamp;
use tickscope_format::snapshot_file;
use tickscope_testkit::suite::skip;
use tickscope_testkit::test_program::payload;
pub(crate) use tickscope_testkit::until::until;

use crate::docs::shell;

/// Environment variable that tells this test binary which role to play.
pub(crate) const ROLE: &str = "IT_ROLE";
/// Environment variable with an argument for the role, such as the name of a session or an exit code.
pub(crate) const ARGUMENT: &str = "IT_ARGUMENT";

/// Temporary directory of a test, with ring files in `rings/`.
pub(crate) struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["tmp", "work", "rings"] {
            let mut made = fs::DirBuilder::new();
            made.mode(0o700).create(dir.path().join(name)).unwrap();
        }
        Self { dir }
    }

    /// Creates a place, and starts a program there that plays a role.
    pub(crate) fn with(role: &str) -> (Self, Program) {
        let place = Self::new();
        let program = place.start(role);
        (place, program)
    }

    pub(crate) fn rings(&self) -> PathBuf {
        self.dir.path().join("rings")
    }

    pub(crate) fn ring_files(&self) -> Vec<PathBuf> {
        rings_in(&self.rings())
    }

    /// Returns the directory in which commands run.
    pub(crate) fn work(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    pub(crate) fn keep(&self, file: &str, snapshot: &Snapshot) {
        snapshot_file::write(&self.work().join(file), snapshot).unwrap();
    }

    pub(crate) fn record(&self, file: &str, snapshots: &[Snapshot]) {
        let mut writer = Writer::create(&self.work().join(file), false).unwrap();
        for snapshot in snapshots {
            let stamp = Stamp::from(&snapshot.capture);
            writer.append(stamp, &payload(snapshot)).unwrap();
        }
        writer.finish().unwrap();
    }

    pub(crate) fn files(&self) -> usize {
        fs::read_dir(self.work()).unwrap().count()
    }

    /// Returns a command in this place, without `TICKSCOPE*` variables from the user's environment.
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

    /// Runs `tickscope ARGS`.
    pub(crate) fn tickscope<S: AsRef<OsStr>>(&self, args: &[S]) -> Done {
        let mut command = self.command(VIEWER);
        command.args(args);
        finish(&mut command)
    }

    /// Runs `tickscope LINE`.
    pub(crate) fn typed(&self, line: &str) -> Done {
        self.tickscope(&shell::commands(line).concat())
    }

    /// Runs `tickscope ARGS`, which must succeed without messages. Returns its output.
    pub(crate) fn told<S: AsRef<OsStr>>(&self, args: &[S]) -> String {
        self.tickscope(args).ok().quiet().out
    }

    /// Runs `tickscope ARGS`, which must succeed without messages. Returns its output as JSON.
    pub(crate) fn document<S: AsRef<OsStr>>(&self, args: &[S]) -> Value {
        self.tickscope(args).ok().quiet().json()
    }

    /// Runs the commands of a table in the format of [`lines_of`], and asserts their exit codes and error messages.
    pub(crate) fn answers(&self, table: &str) {
        for (done, code, says) in refusals(table, |words| self.tickscope(words)) {
            done.with_code(code).says(&says);
        }
    }

    /// Runs the commands of a table in the format of [`lines_of`], each of which must fail with a single error line.
    pub(crate) fn refuses(&self, table: &str) {
        for (done, code, says) in refusals(table, |words| self.tickscope(words)) {
            done.failed(code, &says);
        }
    }

    /// Returns the JSON report on a program.
    pub(crate) fn json(&self, target: &str) -> Value {
        self.tickscope(&["report", "-f", "json", target]).ok().json()
    }

    /// Returns a command that plays a role once it is started.
    pub(crate) fn role(&self, role: &str, argument: impl AsRef<OsStr>) -> Command {
        let mut command = self.command(std::env::current_exe().unwrap());
        command.env(ROLE, role).env(ARGUMENT, argument);
        command
    }

    /// Starts a program with a name that no other test uses, and waits for its ring.
    pub(crate) fn start(&self, role: &str) -> Program {
        self.start_named(role, &name(role))
    }

    pub(crate) fn start_named(&self, role: &str, name: &str) -> Program {
        self.run_named(role, name).0
    }

    /// Starts a program with a name that no other test uses, and opens its ring.
    pub(crate) fn run(&self, role: &str) -> (Program, RingFile) {
        self.run_named(role, &name(role))
    }

    fn run_named(&self, role: &str, name: &str) -> (Program, RingFile) {
        let program = Program::spawn(&mut self.role(role, name));
        let path = until("there is a ring", || self.ring_of(program.pid()));
        let ring = RingFile::open(&path).unwrap();
        // A ring exists shortly before its first heartbeat, and looks stale until then.
        until_true("it runs", || matches!(ring.liveness(), Ok(Liveness::Running)));
        (program, ring)
    }

    /// Returns the command `tickscope ARGS PROGRAM`, where PROGRAM plays a role.
    pub(crate) fn around(&self, args: &[&str], role: &Command) -> Command {
        let mut command = self.command(VIEWER);
        command.args(args);
        played(command, role)
    }

    /// Returns the command `tickscope ARGS -- sh -c SCRIPT`. Programs that the script starts play a role.
    pub(crate) fn script(&self, args: &[&str], role: &Command, script: &str) -> Command {
        let mut command = self.command(VIEWER);
        command.args(args).args(["--", "sh", "-c", script]);
        in_role(&mut command, role);
        command
    }

    /// Returns the entry of a ring in the JSON of `tickscope list`.
    pub(crate) fn listed(&self, path: &Path) -> Value {
        let list = self.tickscope(&["list", "--json"]).ok().json();
        let programs = list["programs"].as_array().unwrap();
        let found = programs
            .iter()
            .find(|entry| entry["path"] == path.to_str().unwrap());
        let found = found.unwrap_or_else(|| panic!("{} is not in {list}", path.display()));
        found.clone()
    }

    pub(crate) fn ring_of(&self, pid: u32) -> Option<PathBuf> {
        let pid = format!(".{pid}.");
        let mut files = self.ring_files().into_iter();
        files.find(|path| path.file_name().unwrap().to_string_lossy().contains(&pid))
    }
}

/// Like [`until`], but waits until a condition is true.
pub(crate) fn until_true(what: &str, mut condition: impl FnMut() -> bool) {
    until(what, || condition().then_some(()));
}

/// Returns the directory for the rings of this process, which must be playing a role.
pub(crate) fn own_rings() -> PathBuf {
    std::env::var_os("TICKSCOPE_DIR").unwrap().into()
}

pub(crate) fn rings_in(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten();
    let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
    paths
        .filter(|path| path.extension().is_some_and(|ending| ending == "ring"))
        .collect()
}

/// Gives a command the environment that makes this binary play a role.
pub(crate) fn in_role(command: &mut Command, role: &Command) {
    for (key, value) in role.get_envs().filter_map(|(key, value)| Some((key, value?))) {
        command.env(key, value);
    }
}

/// Completes a command that runs another program, such as `unshare`, with the program that plays a role.
pub(crate) fn played(mut command: Command, role: &Command) -> Command {
    command.arg(role.get_program());
    in_role(&mut command, role);
    command
}

pub(crate) fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_raw(child.id() as i32).unwrap(), signal).unwrap();
}

/// Returns whether the process is stopped by a signal.
pub(crate) fn stands(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit_once(") ").unwrap().1.starts_with('T')
}

/// Returns a number from the environment, or `otherwise`.
pub(crate) fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).map_or(otherwise, |number| number.parse().expect("a number"))
}

/// Truncates a file to this number of bytes.
pub(crate) fn cut(path: &Path, bytes: u64) {
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_len(bytes).unwrap();
}

/// Reads the 64-bit word with this index from a file.
pub(crate) fn word(path: &Path, index: usize) -> u64 {
    let mut bytes = [0; WORD];
    let file = fs::File::open(path).unwrap();
    file.read_exact_at(&mut bytes, (index * WORD) as u64).unwrap();
    u64::from_le_bytes(bytes)
}

pub(crate) const VIEWER: &str = env!("CARGO_BIN_EXE_tickscope");

/// Returns a name that no other program uses.
pub(crate) fn name(stem: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!(
        "{stem}-{}-{}",
        std::process::id(),
        COUNT.fetch_add(1, Ordering::Relaxed)
    )
}

/// A linear congruential generator. It returns the same numbers in each run and on any machine.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    /// Returns a pseudorandom number from 0 up to, but not including, `limit`.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// A program that runs until it is asked to end. It is killed when this value is dropped.
pub(crate) struct Program {
    pub(crate) child: Child,
    /// Argument of its role.
    pub(crate) name: String,
}

impl Program {
    pub(crate) fn spawn(command: &mut Command) -> Self {
        let mut envs = command.get_envs();
        let name = envs.find_map(|(key, value)| value.filter(|_| key == ARGUMENT));
        let name = name.unwrap_or_default().to_string_lossy().into_owned();
        let child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self { child, name }
    }

    /// Wraps a child, which is then killed on drop.
    pub(crate) fn of(child: Child) -> Self {
        let name = String::new();
        Self { child, name }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns the program's name and process id in the form in which commands print them.
    pub(crate) fn who(&self) -> String {
        format!("{} ({})", self.name, self.pid())
    }

    pub(crate) fn runs(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Stops the program, and waits until it has stopped.
    pub(crate) fn stop(&self) {
        send(&self.child, Signal::STOP);
        until_true("the program is stopped", || stands(self.pid()));
    }

    pub(crate) fn go_on(&self) {
        send(&self.child, Signal::CONT);
    }

    /// Kills the program, and waits until it has died.
    pub(crate) fn kill(&mut self) {
        // `wait` would close the input, which would also end processes that the program has started.
        let input = self.child.stdin.take();
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.child.stdin = input;
    }

    /// Closes the program's input, which makes it end. Returns its exit status.
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

/// Result of an ended command.
pub(crate) struct Done {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Done {
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

    /// Asserts that the command printed nothing except for a single error line, which contains these texts.
    pub(crate) fn failed(self, code: i32, says: &[&str]) -> Self {
        let done = self.with_code(code).says(says);
        assert_eq!(done.out, "", "nothing on standard output");
        assert_eq!(done.err.lines().count(), 1, "one line: {}", done.err);
        done
    }

    pub(crate) fn says(self, says: &[&str]) -> Self {
        for part in says {
            assert!(self.err.contains(part), "wanted {part:?} in: {}", self.err);
        }
        self
    }

    pub(crate) fn prints(&self, words: &[&str]) {
        for word in words {
            assert!(self.out.contains(word), "wanted {word:?} in: {}", self.out);
        }
    }

    pub(crate) fn begins(&self, text: &str) {
        assert!(self.out.starts_with(text), "wanted {text:?} in: {}", self.out);
    }

    pub(crate) fn quiet(self) -> Self {
        assert_eq!(self.err, "");
        self
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error} in {}", self.out))
    }
}

pub(crate) fn finish(command: &mut Command) -> Done {
    finish_with(command, b"")
}

/// Runs a command to its end with bytes on standard input.
pub(crate) fn finish_with(command: &mut Command, input: &[u8]) -> Done {
    let mut child = piped(command.stdin(Stdio::piped()));
    // The command may have ended without reading its input, so an error is ignored.
    let _ = child.stdin.take().unwrap().write_all(input);
    let reader = thread::spawn(move || ended(child));
    until_true(&format!("{command:?} has ended"), || reader.is_finished());
    reader.join().unwrap()
}

/// Returns the first line of a text that contains `words`.
pub(crate) fn line_with<'a>(text: &'a str, words: &str) -> &'a str {
    let line = text.lines().find(|line| line.contains(words));
    line.unwrap_or_else(|| panic!("no line has {words:?}: {text}"))
}

/// Returns the lines of a table. Each line has the form `CODE COMMAND => TEXT`, where `… ` separates the parts of TEXT: the
/// expected exit code, the command, and the expected texts.
pub(crate) fn lines_of(table: &str) -> impl Iterator<Item = (i32, &str, Vec<&str>)> {
    let lines = table.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(|line| {
        let (command, says) = line.split_once(" => ").expect(line);
        let (code, command) = command.split_once(' ').expect(line);
        (code.parse().expect(line), command, says.split("… ").collect())
    })
}

/// Runs the commands of a table in the format of [`lines_of`]. For each command, returns its result, the expected exit code,
/// and the texts expected on standard error.
pub(crate) fn refusals(
    table: &str,
    run: impl Fn(&[String]) -> Done,
) -> impl Iterator<Item = (Done, i32, Vec<&str>)> {
    lines_of(table).map(move |(code, command, says)| (run(&shell::commands(command).concat()), code, says))
}

/// Starts a command with pipes for its output.
pub(crate) fn piped(command: &mut Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Waits for the end of a command, and returns its output.
pub(crate) fn ended(child: Child) -> Done {
    let output = child.wait_with_output().unwrap();
    Done {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Returns a command with a separate `/dev/shm`, without other users' rings. If this is impossible, the test is
/// skipped.
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

/// Runs `tickscope ARGS` with only the rings of the place, without the rings of other users.
pub(crate) fn sealed_tickscope<S: AsRef<OsStr>>(place: &Place, args: &[S]) -> Done {
    finish(sealed(place).arg(VIEWER).args(args))
}

/// Returns a command that runs in the same namespace as a program that was started with [`sealed`].
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
