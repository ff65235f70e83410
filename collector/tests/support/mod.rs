//! The collector is one per process, so every test here has a process of its own: the test starts its binary
//! again, for itself alone, and the child runs the body. That has to be on the main thread of a program that
//! nobody else has touched, which the standard harness does not give: hence the small one below.

#![allow(dead_code, reason = "each test binary uses a part of it")]
#![allow(unused_macros, unused_imports, reason = "each test binary uses a part of it")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test that cannot go on has failed"
)]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tickscope_format::Snapshot;
use tickscope_format::file::open::{Liveness, RingFile, Slot};
use tickscope_format::ids::{NO_PARENT, NodeId, ThreadId};
use tickscope_format::ring::Record;
use tickscope_format::slots::{Op, Reply};
use tickscope_format::snapshot::ThreadState;

/// A test that waits for so long says for what, and goes on waiting: how busy the machine is decides how long anything
/// takes, and not whether it works.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Longer than any test takes: what one leaves behind ends then.
pub(crate) const FOR_GOOD: Duration = Duration::from_secs(3600);

/// Where a child says what it has been waiting for.
const WAITS: &str = "waits";

const ROLE: &str = "TICKSCOPE_TEST_ROLE";
const PLACE: &str = "TICKSCOPE_TEST_PLACE";

/// The name of the test function it stands in.
macro_rules! test_name {
    () => {{
        fn here() {}
        let path = std::any::type_name_of_val(&here).trim_end_matches("::here");
        path.rsplit("::").find(|part| *part != "{{closure}}").unwrap()
    }};
}
pub(crate) use test_name;

/// Runs a body in a process of its own, which must succeed.
macro_rules! isolated {
    ($body:expr) => {
        $crate::support::Isolated::new($crate::support::test_name!())
            .run($body)
            .succeeded()
    };
}
pub(crate) use isolated;

/// Makes `main` out of test functions.
macro_rules! tests {
    ($($test:ident),* $(,)?) => {
        fn main() -> std::process::ExitCode {
            $crate::support::main(&[$((stringify!($test), $test as fn())),*])
        }
    };
}
pub(crate) use tests;

/// Runs the tests whose names contain one of the arguments, or all; in a child, its own alone.
pub(crate) fn main(tests: &[(&'static str, fn())]) -> std::process::ExitCode {
    if let Some(role) = std::env::var_os(ROLE) {
        let (_, test) = tests
            .iter()
            .find(|(name, _)| role == *name)
            .expect("a test of this name");
        test();
        panic!("{role:?} has no body for a child");
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (flags, filters): (Vec<&String>, Vec<&String>) =
        arguments.iter().partition(|argument| argument.starts_with("--"));
    let exact = flags.iter().any(|flag| *flag == "--exact");
    let wanted: Vec<_> = tests
        .iter()
        .filter(|(name, _)| {
            let hits = |filter: &&String| {
                if exact {
                    *filter == name
                } else {
                    name.contains(filter.as_str())
                }
            };
            filters.is_empty() || filters.iter().any(hits)
        })
        .collect();
    if flags.iter().any(|flag| *flag == "--list") {
        wanted.iter().for_each(|(name, _)| println!("{name}: test"));
        return std::process::ExitCode::SUCCESS;
    }
    let next = std::sync::atomic::AtomicUsize::new(0);
    let failed = std::sync::Mutex::new(Vec::new());
    let work = || {
        while let Some((name, test)) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
            let begin = Instant::now();
            let fate = match std::panic::catch_unwind(test) {
                Ok(()) => "ok",
                Err(_) => {
                    failed.lock().unwrap().push(*name);
                    "FAILED"
                }
            };
            println!("test {name} ... {fate} ({:.1} s)", begin.elapsed().as_secs_f64());
        }
    };
    std::thread::scope(|scope| {
        // The children wait for most of their time.
        for _ in 0..3 {
            scope.spawn(work);
        }
    });
    let failed = failed.into_inner().unwrap();
    println!("{} tests, {} failed: {failed:?}\n", wanted.len(), failed.len());
    std::process::ExitCode::from(u8::from(!failed.is_empty()))
}

/// A test in a process of its own.
pub(crate) struct Isolated {
    name: &'static str,
    command: Command,
    place: tempfile::TempDir,
}

/// One that runs.
pub(crate) struct Running {
    name: &'static str,
    child: Child,
    place: tempfile::TempDir,
}

/// One that has ended.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    place: tempfile::TempDir,
}

/// True in the child of a test.
pub(crate) fn is_child() -> bool {
    std::env::var_os(ROLE).is_some()
}

/// In the child: a directory that the test sees, too.
pub(crate) fn shared_place() -> PathBuf {
    PathBuf::from(std::env::var_os(PLACE).expect("set by the test"))
}

/// In the child: tells the test something.
pub(crate) fn tell(name: &str, text: impl AsRef<[u8]>) {
    let place = shared_place();
    fs::write(place.join(format!(".{name}")), text).unwrap();
    fs::rename(place.join(format!(".{name}")), place.join(name)).unwrap();
}

impl Isolated {
    pub(crate) fn new(name: &'static str) -> Self {
        Self::through(name, Command::new(std::env::current_exe().unwrap()))
    }

    /// Lets the child be started by another program, which gets it as its last arguments.
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
            // The end waits longer for the last record then: this machine may be busy.
            .env("TICKSCOPE_RUN", "1")
            .stdin(Stdio::null())
            .stdout(File::create(place.path().join("stdout")).unwrap())
            .stderr(File::create(place.path().join("stderr")).unwrap());
        Self { name, command, place }
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn place(&self) -> &Path {
        self.place.path()
    }

    /// Starts the child. In the child: runs the body and exits.
    pub(crate) fn start(mut self, body: impl FnOnce()) -> Running {
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

    /// Starts the child and waits for its end.
    pub(crate) fn run(self, body: impl FnOnce()) -> Done {
        self.start(body).wait()
    }
}

impl Running {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn place(&self) -> &Path {
        self.place.path()
    }

    /// The ring of the child, once it is there.
    pub(crate) fn ring(&self) -> RingFile {
        let path = wait_for("the ring file", || {
            rings_in(&self.place.path().join("rings")).pop()
        });
        RingFile::open(&path).unwrap()
    }

    /// What the child told under this name, once it did.
    pub(crate) fn told(&self, name: &str) -> String {
        wait_for(name, || fs::read_to_string(self.place.path().join(name)).ok())
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

    /// The only ring it left.
    pub(crate) fn ring(&self) -> RingFile {
        let rings = rings_in(&self.place().join("rings"));
        assert_eq!(rings.len(), 1, "{rings:?}");
        RingFile::open(&rings[0]).unwrap()
    }
}

/// The ring files in a directory, the newest last.
pub(crate) fn rings_in(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir) else {
        return Vec::new();
    };
    let mut rings: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "ring"))
        .collect();
    rings.sort_by_key(|path| fs::metadata(path).and_then(|facts| facts.modified()).ok());
    rings
}

/// Waits until something is there.
pub(crate) fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    let mut told = false;
    loop {
        if let Some(found) = look() {
            return found;
        }
        if begin.elapsed() > PATIENCE / 2 && !std::mem::replace(&mut told, true) {
            match std::env::var_os(ROLE) {
                Some(_) => tell(WAITS, what),
                None => println!("still waiting for: {what}"),
            }
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Waits until something holds.
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    wait_for(what, || holds().then_some(()));
}

/// Asks through a slot and waits for the answer.
pub(crate) fn ask(slot: &mut Slot, op: Op) -> Reply {
    let sent = slot.send(op).unwrap();
    wait_for("an answer", || slot.reply(&sent).unwrap())
}

pub(crate) fn newest(ring: &RingFile) -> Snapshot {
    ring.newest_snapshot().unwrap().1
}

/// All records of a ring that is not written over yet, the oldest first.
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

/// The threads of a name.
pub(crate) fn threads_named<'a>(
    snapshot: &'a Snapshot,
    name: &'a str,
) -> impl Iterator<Item = ThreadId> + 'a {
    let named = move |(index, thread): (usize, &tickscope_format::snapshot::Thread)| {
        (thread.name == name).then_some(ThreadId(index as u32))
    };
    snapshot.threads.iter().enumerate().filter_map(named)
}

/// A thread's tree: a line "name calls self total" per row, indented.
pub(crate) fn tree(snapshot: &Snapshot, thread: &str) -> String {
    let totals = snapshot.nodes.totals(&snapshot.nodes.self_ticks);
    let mut text = String::new();
    for thread in threads_named(snapshot, thread) {
        for row in snapshot.rows_of(thread) {
            let depth = path_of(snapshot, row).len() - 1;
            let site = snapshot.site_of(NodeId(row as u32));
            text += &format!(
                "{}{} {} {} {}\n",
                "  ".repeat(depth),
                site.name,
                snapshot.nodes.calls[row],
                snapshot.nodes.self_ticks[row],
                totals[row],
            );
        }
    }
    text
}

/// The names from the top of a thread down to a row.
pub(crate) fn path_of(snapshot: &Snapshot, row: usize) -> Vec<&str> {
    let mut path = Vec::new();
    let mut at = Some(NodeId(row as u32));
    while let Some(node) = at {
        path.push(snapshot.site_of(node).name.as_str());
        at = snapshot.nodes.parent_of(node);
    }
    path.reverse();
    path
}

/// Calls by site name, over all threads.
pub(crate) fn calls(snapshot: &Snapshot) -> BTreeMap<&str, u64> {
    let mut calls = BTreeMap::new();
    for row in 0..snapshot.nodes.len() {
        let name = snapshot.site_of(NodeId(row as u32)).name.as_str();
        *calls.entry(name).or_default() += snapshot.nodes.calls[row];
    }
    calls
}

/// Calls of one site over all threads.
pub(crate) fn calls_of(snapshot: &Snapshot, site: &str) -> u64 {
    calls(snapshot).get(site).copied().unwrap_or(0)
}

/// What the counters of one site have added up, over all threads.
pub(crate) fn sum_of(snapshot: &Snapshot, site: &str) -> u64 {
    let counts = snapshot.counts.iter();
    let of_site = counts.filter(|count| snapshot.site_of(count.node).name == site);
    of_site.map(|count| count.sum).sum()
}

/// Self ticks of one site over all threads.
pub(crate) fn ticks_of(snapshot: &Snapshot, site: &str) -> u64 {
    (0..snapshot.nodes.len())
        .filter(|&row| snapshot.site_of(NodeId(row as u32)).name == site)
        .map(|row| snapshot.nodes.self_ticks[row])
        .sum()
}

/// The names of a thread's open scopes, outermost first.
pub(crate) fn open_path(snapshot: &Snapshot, thread: ThreadId) -> Vec<&str> {
    snapshot.threads[thread.index()]
        .open
        .iter()
        .map(|frame| snapshot.site_of(frame.node).name.as_str())
        .collect()
}

/// What must hold of every snapshot, whatever goes on while it is taken.
pub(crate) fn check(snapshot: &Snapshot) {
    let nodes = &snapshot.nodes;
    let mut row_after_last = 0;
    for thread in &snapshot.threads {
        assert_eq!(thread.first_row, row_after_last, "rows of threads are contiguous");
        row_after_last += thread.rows;
    }
    assert_eq!(row_after_last as usize, nodes.len());

    // Totals made here by walking down, and not by the code under test.
    let self_nanos = snapshot.self_nanos();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    for thread in &snapshot.threads {
        let rows = thread.first_row as usize..(thread.first_row + thread.rows) as usize;
        for row in rows.clone() {
            assert!((nodes.site[row] as usize) < snapshot.sites.len());
            if nodes.parent[row] == NO_PARENT {
                continue;
            }
            let parent = nodes.parent[row] as usize;
            assert!(
                rows.contains(&parent) && parent < row,
                "parents before children, in one thread"
            );
            children[parent].push(row);
        }
        let mut siblings = std::collections::BTreeSet::new();
        for row in rows {
            assert!(
                siblings.insert((nodes.parent[row], nodes.site[row])),
                "one row a place"
            );
        }
    }
    for (values, what) in [(&nodes.self_ticks, "ticks"), (&self_nanos, "ns")] {
        let totals = nodes.totals(values);
        for row in 0..nodes.len() {
            let below: u64 = children[row].iter().map(|&child| totals[child]).sum();
            assert_eq!(
                values[row] + below,
                totals[row],
                "self + children = total in {what}"
            );
        }
    }

    for count in &snapshot.counts {
        let row = count.node.index();
        assert_eq!(nodes.self_ticks[row], 0, "a counter has no time");
        assert!(children[row].is_empty(), "nothing is below a counter");
        assert!(snapshot.latencies.of(count.node.0).is_empty(), "no latency");
        assert!(snapshot.estimate_of(count.node).is_none(), "nothing to estimate");
    }

    // Nobody was busy longer than the program has been running: the clock's rate is good to a percent, and
    // the books may be a moment older than the uptime.
    let most_ns = snapshot.process.uptime_ns as f64 * 1.01 + 5e6;
    for (index, thread) in snapshot.threads.iter().enumerate() {
        let rows = snapshot.rows_of(ThreadId(index as u32));
        let ticks: u64 = rows.map(|row| nodes.self_ticks[row]).sum::<u64>() + thread.outside_ticks;
        let ns = snapshot.nanos(ticks) as f64;
        assert!(
            ns <= most_ns * thread.count as f64,
            "{}: {ns} ns in {most_ns} ns",
            thread.name
        );
        for row in snapshot.rows_of(ThreadId(index as u32)) {
            // One call of each thread may have begun before the reset, and one have been on its way to its bucket.
            let finished = snapshot.latencies.of(row as u32).count();
            assert!(
                finished <= nodes.calls[row] + 2 * thread.count,
                "no call ends twice"
            );
        }
        let mut at = None;
        let mut began = 0;
        for frame in &thread.open {
            assert_eq!(nodes.parent_of(frame.node), at, "the open path is a path");
            assert!(
                snapshot
                    .rows_of(ThreadId(index as u32))
                    .contains(&frame.node.index())
            );
            at = Some(frame.node);
            if frame.began_tick > 0 {
                assert!(frame.began_tick >= began, "outer frames began earlier");
                began = frame.began_tick;
            }
        }
        match thread.state {
            ThreadState::Running => assert!(!thread.open.is_empty()),
            ThreadState::Idle | ThreadState::Finished => assert!(thread.open.is_empty()),
            ThreadState::Paused | _ => {}
        }
    }
    assert!(snapshot.lifetime.calls >= snapshot.calls());
    assert!(snapshot.lifetime.ticks >= snapshot.measured_ticks());
    assert!(snapshot.clock.ticks_per_second > 0.0);
    assert!(snapshot.capture.seq > 0);
}

/// Checks that two snapshots of the same threads, the second the later one, show no call less.
pub(crate) fn check_order(earlier: &Snapshot, later: &Snapshot) {
    assert!(later.capture.seq > earlier.capture.seq);
    assert!(later.capture.reset_epoch >= earlier.capture.reset_epoch);
    assert!(later.lifetime.calls >= earlier.lifetime.calls);
}

/// In the child: says why it failed, where its own hook for panics is in the way.
pub(crate) fn complain(text: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Raises a flag when it is dropped, also where a test fails: so that threads end.
pub(crate) struct Over<'a>(pub(crate) &'a std::sync::atomic::AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Numbers that look random (Marsaglia's xorshift).
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

/// Is pending once.
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

/// Has a signal handled from now on, for as long as the process runs; the handler does only what handlers may.
pub(crate) fn on_signal(signal: libc::c_int, handler: extern "C" fn(libc::c_int)) {
    // SAFETY: zeros are a valid `sigaction` (an empty mask, no flags).
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler as *const () as usize;
    action.sa_flags = libc::SA_RESTART;
    // SAFETY: `action` is filled in, and nobody asks for the one before.
    let result = unsafe { libc::sigaction(signal, &action, std::ptr::null_mut()) };
    assert_eq!(result, 0);
}
