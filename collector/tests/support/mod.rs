//! Runs each test in its own process, because a process has only one collector. A test starts its own binary again as a
//! child, and the child runs the test's body. The body needs the main thread of a fresh program, so there is no test
//! harness in the child.

#![allow(dead_code, reason = "each test binary uses a part of it")]
#![allow(unused_macros, unused_imports, reason = "each test binary uses a part of it")]

mod by_hand;
mod sessions;
mod snapshots;
mod system;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tickscope_format::Snapshot;
use tickscope_format::file::open::{RingFile, Slot};
use tickscope_format::ring::Record;
use tickscope_format::slots::{Op, Reply};
use tickscope_testkit::suite::{self, Case, skip};
use tickscope_testkit::until::WATCHDOG;

pub(crate) use by_hand::*;
pub(crate) use sessions::*;
pub(crate) use snapshots::*;
pub(crate) use system::*;

/// How long a test waits for its child before it prints what the child is waiting for. The child writes this down after
/// half of the time. The test then goes on waiting, because everything may just be slow on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// How long a process that a test has left behind may live. This is longer than any test takes.
pub(crate) const FOR_GOOD: Duration = Duration::from_secs(3600);

/// Name of the file into which a waiting child writes what it is waiting for.
const WAITS: &str = "waits";

const ROLE: &str = "TICKSCOPE_TEST_ROLE";
const PLACE: &str = "TICKSCOPE_TEST_PLACE";
const CASE: &str = "TICKSCOPE_TEST_CASE";

/// Returns the name of the enclosing test function.
macro_rules! test_name {
    () => {{
        fn here() {}
        let path = std::any::type_name_of_val(&here).trim_end_matches("::here");
        path.rsplit("::").find(|part| *part != "{{closure}}").unwrap()
    }};
}
pub(crate) use test_name;

/// Runs a body in a child process, which must succeed.
macro_rules! isolated {
    ($body:expr) => {
        $crate::support::Isolated::new($crate::support::test_name!()).succeeds($body)
    };
}
pub(crate) use isolated;

/// Runs a body in a child process in the default mode, for tests in which the user has not chosen a mode.
macro_rules! isolated_as_usual {
    ($body:expr) => {
        $crate::support::Isolated::as_usual($crate::support::test_name!()).succeeds($body)
    };
}
pub(crate) use isolated_as_usual;

/// Lists the tests of a file, by kind:
///
/// - `isolated`: the body runs in a child process, in exact mode. The child must succeed.
/// - `as_usual`: like `isolated`, but in the default mode, for tests in which the user has not chosen a mode.
/// - `own`: the test starts its children itself.
/// - `ignored` and `ignored_isolated`: like `own` and `isolated`, but run only on request.
macro_rules! tests {
    ($($kind:ident: $($test:ident),+;)+) => {
        pub(crate) const TESTS: &[tickscope_testkit::suite::Case] =
            &[$($($crate::support::case!($kind $test),)+)+];
    };
}
pub(crate) use tests;

/// Makes a test of a kind.
macro_rules! case {
    (own $test:ident) => {
        $crate::support::case!($test, new, $test)
    };
    (ignored $test:ident) => {
        $crate::support::case!($test, ignored, $test)
    };
    (isolated $test:ident) => {
        $crate::support::case!($test, new, || {
            $crate::support::Isolated::new(stringify!($test)).succeeds($test);
        })
    };
    (as_usual $test:ident) => {
        $crate::support::case!($test, new, || {
            $crate::support::Isolated::as_usual(stringify!($test)).succeeds($test);
        })
    };
    (ignored_isolated $test:ident) => {
        $crate::support::case!($test, ignored, || {
            $crate::support::Isolated::new(stringify!($test)).succeeds($test);
        })
    };
    ($test:ident, $make:ident, $run:expr) => {
        tickscope_testkit::suite::Case::$make(concat!(module_path!(), "::", stringify!($test)), $run)
    };
}
pub(crate) use case;

/// Runs the tests that are selected by the arguments. A child runs only its own test, on the main thread.
///
/// The name of a test consists of its file and its function, for example `storm::name`. A child is told only the name
/// of the function.
pub(crate) fn main(files: &[&[Case]]) -> std::process::ExitCode {
    let Some(role) = std::env::var_os(ROLE) else {
        return suite::main(files);
    };
    let function = |case: &&Case| case.name().rsplit("::").next().is_some_and(|name| role == name);
    let mut named = files.iter().copied().flatten().filter(function);
    let (Some(case), None) = (named.next(), named.next()) else {
        panic!("found no test or several that are called {role:?}, wanted one");
    };
    // A shell makes programs ignore these signals if it starts them in the background.
    for signal in [libc::SIGINT, libc::SIGQUIT] {
        // SAFETY: this is the default disposition.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    (case.test)();
    panic!("{role:?} has no body for a child");
}

/// A test in its own process.
pub(crate) struct Isolated {
    name: &'static str,
    command: Command,
    place: tempfile::TempDir,
}

pub(crate) struct Running {
    name: &'static str,
    child: Child,
    place: tempfile::TempDir,
}

/// A child that has ended.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    place: tempfile::TempDir,
}

/// Returns whether this process is the child of a test.
pub(crate) fn is_child() -> bool {
    std::env::var_os(ROLE).is_some()
}

/// Makes a command that starts this binary run the body of the test `name`. The child has no shared directory.
pub(crate) fn as_child(name: &str, mut program: Command) -> Command {
    program.env(ROLE, name);
    program
}

/// Returns the directory that the child shares with the test. Works only in the child.
pub(crate) fn shared_place() -> PathBuf {
    PathBuf::from(std::env::var_os(PLACE).expect("set by the test"))
}

/// Leaves a text for the test in the file `name` of the shared directory. Works only in the child.
pub(crate) fn tell(name: &str, text: impl AsRef<[u8]>) {
    let place = shared_place();
    // The file gets its name only when it is complete. Several children of a test may write the same file, so the
    // temporary name contains the process id.
    let unnamed = place.join(format!(".{name}-{}", std::process::id()));
    fs::write(&unnamed, text).unwrap();
    fs::rename(&unnamed, place.join(name)).unwrap();
}

/// Runs a child whose directory `rings` is a separate file system of `kib` KiB. Skips the test if mounting is not
/// permitted.
pub(crate) fn on_small_file_system(name: &'static str, kib: u32, body: fn()) -> Done {
    if is_child() {
        body();
        std::process::exit(0);
    }
    let probe = Command::new("unshare").args(["-m", "true"]).output();
    if !probe.is_ok_and(|probe| probe.status.success()) {
        skip("no mount namespace for us");
    }
    let script =
        "mkdir -m 700 $TICKSCOPE_DIR && mount -t tmpfs -o mode=700,size=$KIB tmpfs $TICKSCOPE_DIR || exit 77
        echo begun > $PLACE/begun; exec \"$0\"";
    let mut command = Command::new("unshare");
    command
        .args(["-m", "sh", "-c", script])
        .arg(std::env::current_exe().unwrap());
    let test = Isolated::through(name, command);
    let place = test.place().to_path_buf();
    let done = test.env("KIB", format!("{kib}k")).env("PLACE", place).run(|| ());
    if done.status.code() == Some(77) {
        skip("no mount for us");
    }
    done.succeeded()
}

/// For each case, runs a body in the child process that `make` prepares. Returns the cases with their ended children.
pub(crate) fn each<T: Copy, const N: usize>(
    cases: [T; N],
    make: impl Fn(T) -> Isolated,
    body: impl Fn(T),
) -> Vec<(T, Done)> {
    // In a child, this is the number of its case.
    let own = std::env::var(CASE)
        .ok()
        .map(|number| number.parse::<usize>().unwrap());
    let run = |(number, case): (usize, T)| {
        let child = make(case).env(CASE, number.to_string());
        (case, child.run(|| body(cases[own.unwrap_or(number)])))
    };
    cases.into_iter().enumerate().map(run).collect()
}

/// Like [`each`], but also checks that all children succeed.
pub(crate) fn each_passes<T: Copy + std::fmt::Debug, const N: usize>(
    cases: [T; N],
    make: impl Fn(T) -> Isolated,
    body: impl Fn(T),
) -> Vec<(T, Done)> {
    let all = each(cases, make, body);
    for (case, done) in &all {
        assert!(done.status.success(), "{case:?}: {done:?}");
    }
    all
}

impl Isolated {
    /// Creates a test in exact mode, because most tests check times that are known to the tick.
    pub(crate) fn new(name: &'static str) -> Self {
        Self::as_usual(name).env("TICKSCOPE_MODE", "exact")
    }

    /// Creates a test in the default mode, or in the mode that the test's own code sets. No environment variable
    /// overrides that mode.
    pub(crate) fn as_usual(name: &'static str) -> Self {
        Self::through(name, Command::new(std::env::current_exe().unwrap()))
    }

    /// Creates a test whose child is started by another program. The last arguments of `command` must be the command
    /// that starts the child.
    pub(crate) fn through(name: &'static str, mut command: Command) -> Self {
        let place = tempfile::tempdir().unwrap();
        for (variable, _) in std::env::vars_os() {
            if variable.to_string_lossy().starts_with("TICKSCOPE") {
                command.env_remove(variable);
            }
        }
        command
            .env(ROLE, name)
            .env(PLACE, place.path())
            .env("TICKSCOPE_DIR", place.path().join("rings"))
            .stdin(Stdio::null())
            .stdout(File::create(place.path().join("stdout")).unwrap())
            .stderr(File::create(place.path().join("stderr")).unwrap());
        Self { name, command, place }
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Makes the child write its report at exit into the file `name` of the shared directory.
    pub(crate) fn report(self, name: &str) -> Self {
        let place = self.place().join(name);
        self.env("TICKSCOPE_REPORT", place)
    }

    pub(crate) fn place(&self) -> &Path {
        self.place.path()
    }

    /// Starts the child. In the child itself, runs the body and exits.
    pub(crate) fn start(self, body: impl FnOnce()) -> Running {
        self.start_boxed(Box::new(body))
    }

    fn start_boxed(mut self, body: Box<dyn FnOnce() + '_>) -> Running {
        if std::env::var_os(ROLE).is_some_and(|role| role == self.name) {
            tell("begun", "");
            body();
            std::process::exit(0);
        }
        Running {
            name: self.name,
            child: self.command.spawn().unwrap(),
            place: self.place,
        }
    }

    /// Starts the child and waits until it has ended.
    pub(crate) fn run(self, body: impl FnOnce()) -> Done {
        self.start(body).wait()
    }

    /// Runs the body in the child, and checks that the child succeeds.
    pub(crate) fn succeeds(self, body: impl FnOnce()) -> Done {
        self.run(body).succeeded()
    }
}

impl Running {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn place(&self) -> &Path {
        self.place.path()
    }

    /// Waits for the ring of the child.
    pub(crate) fn ring(&self) -> RingFile {
        let path = wait_for("the ring file", || {
            rings_in(&self.place.path().join("rings")).pop()
        });
        RingFile::open(&path).unwrap()
    }

    /// Waits for the text that the child wrote under this name.
    pub(crate) fn told(&self, name: &str) -> String {
        wait_for(name, || fs::read_to_string(self.place.path().join(name)).ok())
    }

    /// Starts another child of the same test with the same directory. The variable `PART` tells the child which part to
    /// run.
    pub(crate) fn beside(&self, part: &str) -> Child {
        Command::new(std::env::current_exe().unwrap())
            .env(ROLE, self.name)
            .env(PLACE, self.place.path())
            .env("PART", part)
            .env("TICKSCOPE_DIR", self.place.path().join("rings"))
            .stdin(Stdio::null())
            .spawn()
            .unwrap()
    }

    /// Returns the child's exit status, if the child has ended.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    pub(crate) fn kill(&mut self) -> ExitStatus {
        self.child.kill().unwrap();
        self.child.wait().unwrap()
    }

    pub(crate) fn wait(mut self) -> Done {
        let begin = Instant::now();
        let mut told = false;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if begin.elapsed() > PATIENCE && !std::mem::replace(&mut told, true) {
                let what = fs::read_to_string(self.place.path().join(WAITS)).unwrap_or_default();
                println!(
                    "test {} is still running; its process waits for: {what}",
                    self.name
                );
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        let text = |name| fs::read(self.place.path().join(name)).unwrap();
        let done = Done {
            stdout: String::from_utf8_lossy(&text("stdout")).into_owned(),
            stderr: String::from_utf8_lossy(&text("stderr")).into_owned(),
            status,
            place: self.place,
        };
        assert!(
            done.place().join("begun").exists(),
            "{} never began: {done:?}",
            self.name
        );
        done
    }
}

impl Done {
    pub(crate) fn place(&self) -> &Path {
        self.place.path()
    }

    pub(crate) fn succeeded(self) -> Self {
        assert!(
            self.status.success(),
            "{}\n--- stdout\n{}\n--- stderr\n{}",
            self.status,
            self.stdout,
            self.stderr
        );
        self
    }

    /// Opens the ring that the child left behind. There must be only one.
    pub(crate) fn ring(&self) -> RingFile {
        let rings = rings_in(&self.place().join("rings"));
        assert_eq!(rings.len(), 1, "{rings:?}");
        RingFile::open(&rings[0]).unwrap()
    }
}

/// Returns the ring files in a directory, with the most recently modified one last.
pub(crate) fn rings_in(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir) else {
        return Vec::new();
    };
    let mut rings: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "ring"))
        .collect();
    // The modification time of each file is read only once, because it changes whenever the ring is written.
    rings.sort_by_cached_key(|path| fs::metadata(path).and_then(|facts| facts.modified()).ok());
    rings
}

/// Waits until `look` returns a value.
pub(crate) fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let mut found = None;
    wait_until(what, || {
        found = look();
        found.is_some()
    });
    found.unwrap()
}

pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    wait(what, &mut holds);
}

/// Not generic, because it would be compiled for each of the many conditions.
fn wait(what: &str, holds: &mut dyn FnMut() -> bool) {
    let begin = Instant::now();
    let mut told = false;
    while !holds() {
        if begin.elapsed() > PATIENCE / 2 && !std::mem::replace(&mut told, true) {
            match std::env::var_os(ROLE) {
                Some(_) => tell(WAITS, what),
                None => println!("still waiting for: {what}"),
            }
        }
        assert!(begin.elapsed() < WATCHDOG, "in vain for: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Sends a request through a slot and waits for the reply.
pub(crate) fn ask(slot: &mut Slot, op: Op) -> Reply {
    let sent = slot.send(op).unwrap();
    wait_for("an answer", || slot.reply(&sent).unwrap())
}

pub(crate) fn newest(ring: &RingFile) -> Snapshot {
    ring.newest_snapshot().unwrap().1
}

/// Returns all records that are still in a ring, oldest first.
pub(crate) fn records(ring: &RingFile) -> Vec<(Record, Snapshot)> {
    let mut all = Vec::new();
    let mut at = Some(ring.newest().unwrap());
    while let Some(record) = at {
        at = ring.before(&record).unwrap();
        let snapshot = tickscope_format::codec::decode(&record.payload).unwrap();
        all.push((record, snapshot));
    }
    all.reverse();
    assert_eq!(all[0].0.sequence, 1, "the ring has been written over");
    all
}

pub(crate) trait Says {
    /// Checks that the text contains each of the parts.
    fn says<const N: usize>(&self, parts: [&str; N]);
}

impl Says for str {
    #[track_caller]
    fn says<const N: usize>(&self, parts: [&str; N]) {
        for part in parts {
            assert!(self.contains(part), "{part:?} is not in: {self}");
        }
    }
}

/// Prints a message to standard error. In a child, panic hooks that replace the default hook report failures this way.
pub(crate) fn complain(text: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Sets a flag when dropped, so that threads end even if a test fails.
pub(crate) struct Over<'a>(pub(crate) &'a std::sync::atomic::AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Pseudo-random numbers (Marsaglia's xorshift).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }
}

/// Polls a future until it is ready.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    loop {
        if let std::task::Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
}

/// Future that is pending once.
#[derive(Default)]
pub(crate) struct Yield(bool);

impl Future for Yield {
    type Output = ();

    fn poll(mut self: std::pin::Pin<&mut Self>, _: &mut std::task::Context<'_>) -> std::task::Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    }
}

/// Replaces standard error with a full pipe that nobody reads from. Returns the read end of the pipe.
pub(crate) fn full_standard_error() -> std::io::PipeReader {
    use std::io::Write;
    use std::os::fd::AsRawFd;
    let (reader, writer) = std::io::pipe().unwrap();
    let flags = |flags: libc::c_int| {
        // SAFETY: `writer` is open.
        let result = unsafe { libc::fcntl(writer.as_raw_fd(), libc::F_SETFL, flags) };
        assert_eq!(result, 0);
    };
    flags(libc::O_NONBLOCK);
    while (&writer).write(&[b'x'; 4096]).is_ok() {}
    flags(0);
    // SAFETY: `writer` is open.
    let made = unsafe { libc::dup2(writer.as_raw_fd(), libc::STDERR_FILENO) };
    assert_eq!(made, libc::STDERR_FILENO);
    reader
}

/// Installs a signal handler for the rest of the process. The handler must be async-signal-safe.
pub(crate) fn on_signal(signal: libc::c_int, handler: extern "C" fn(libc::c_int)) {
    // SAFETY: an all-zero `sigaction` is valid (an empty mask and no flags).
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler as *const () as usize;
    action.sa_flags = libc::SA_RESTART;
    // SAFETY: `action` is initialised, and the old action is not read.
    let result = unsafe { libc::sigaction(signal, &action, std::ptr::null_mut()) };
    assert_eq!(result, 0);
}

fn statement(code: u32, k: u32, jt: usize) -> libc::sock_filter {
    libc::sock_filter {
        code: code as u16,
        jt: jt as u8,
        jf: 0,
        k,
    }
}

/// Loads a 32-bit word of `seccomp_data`. Word 0 is the system call number, and word 4 + 2n is the low half of argument
/// n, counted from 0.
fn load(word: u32) -> libc::sock_filter {
    statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, word * 4, 0)
}

/// Makes the kernel kill this process at the next system call that is not in `calls`. This applies to the system calls
/// of the calling thread or, with `all_threads`, of all threads.
pub(crate) fn allow_only(calls: &[libc::c_long], all_threads: bool) {
    let mut program = vec![load(0)];
    for (index, &call) in calls.iter().enumerate() {
        let equals = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
        program.push(statement(equals, call as u32, calls.len() - index));
    }
    let ends = libc::BPF_RET | libc::BPF_K;
    program.push(statement(ends, libc::SECCOMP_RET_KILL_PROCESS, 0));
    program.push(statement(ends, libc::SECCOMP_RET_ALLOW, 0));
    filter(program, all_threads);
}

/// Makes the kernel refuse a system call of the calling thread with `errno` whenever the call's third argument is
/// `argument`.
pub(crate) fn refuse(call: libc::c_long, argument: libc::c_int, errno: libc::c_int) {
    let unless = |k| libc::sock_filter {
        jf: 1,
        ..statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, k, 0)
    };
    let ends = libc::BPF_RET | libc::BPF_K;
    let allow = statement(ends, libc::SECCOMP_RET_ALLOW, 0);
    filter(
        vec![
            load(0),
            libc::sock_filter {
                jf: 3,
                ..unless(call as u32)
            },
            load(8),
            unless(argument as u32),
            statement(ends, libc::SECCOMP_RET_ERRNO | errno as u32, 0),
            allow,
        ],
        false,
    );
}

fn filter(program: Vec<libc::sock_filter>, all_threads: bool) {
    let program = libc::sock_fprog {
        len: program.len() as u16,
        filter: program.leak().as_mut_ptr(),
    };
    // SAFETY: the call takes no pointers.
    let result = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    assert_eq!(result, 0);
    let flags = if all_threads {
        libc::SECCOMP_FILTER_FLAG_TSYNC
    } else {
        0
    };
    // SAFETY: the filter is never freed, and `program` is valid during the call.
    let result = unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &program) };
    assert_eq!(result, 0);
}

/// Makes calls on 4096 paths, each four levels deep. A snapshot of them takes about 100 kB.
pub(crate) fn call_many_paths() {
    fn uncertainty(path: u64, depth: u32) {
        macro_rules! one_of {
            ($($digit:literal)*) => {
                match path % 8 {
                    $($digit => {
                        tickscope::scope!(concat!("digit ", $digit));
                        if depth > 0 {
                            uncertainty(path / 8, depth - 1);
                        }
                    })*
                    _ => {}
                }
            };
        }
        one_of!(0 1 2 3 4 5 6 7);
    }
    (0..8u64.pow(4)).for_each(|path| uncertainty(path, 3));
}

/// Returns the CPU time in ns of the calling thread or of the process, depending on `clock`.
pub(crate) fn cpu_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is valid for writes.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
