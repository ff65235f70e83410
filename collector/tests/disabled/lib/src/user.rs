//! Every form of every macro and every call, compiled with the feature and without, warnings denied.

use std::time::Duration;

use tickscope::{
    Builder, Clock, Destination, DumpError, Format, Mode, Session, Snapshot, StartError, Status, Threads,
};

const NAME: &str = "constant";
const GROUP: &str = "group";

/// Used by the macros alone.
mod names {
    pub const OTHER: &str = "other";
}

pub fn macros(values: &[u8]) -> Option<u8> {
    tickscope::scope!();
    tickscope::scope!("literal");
    tickscope::scope!(NAME);
    tickscope::scope!(names::OTHER,);
    tickscope::scope!(group = "g");
    tickscope::scope!(group = GROUP, "grouped");
    tickscope::scope!(group = "g", NAME,);
    let guard = tickscope::scope_guard!("guard");
    drop(guard);
    let named = tickscope::scope_guard!();
    let grouped = tickscope::scope_guard!(group = "g", concat!("a", "b"));
    let first = tickscope::time!("expression", values.first()?);
    let second = tickscope::time!(NAME, {
        let doubled = first.wrapping_mul(2);
        doubled + 1
    },);
    let second = tickscope::time!(group = GROUP, "grouped", second.checked_add(0)?);
    let second = tickscope::time!(group = "g", NAME, second,);
    drop((grouped, named));
    tickscope::count!("counted");
    tickscope::count!(NAME, 2);
    tickscope::count!(names::OTHER, values.len(),);
    tickscope::count!(group = GROUP, "counted in a group");
    tickscope::count!(group = "g", NAME, u32::from(*first),);
    let mut evaluated = 0u64;
    let mut once = || {
        evaluated += 1;
        evaluated
    };
    tickscope::count!("evaluated", once());
    assert_eq!(evaluated, 1);
    tickscope::value!("rows", values.len());
    tickscope::value!(NAME, 4096);
    tickscope::value!(group = GROUP, "rows in a group", u32::from(*first),);
    tickscope::gauge!("queue", values.len());
    tickscope::gauge!(NAME, -3,);
    tickscope::gauge!(group = "g", "level", i32::from(*first) - 300);
    let mut evaluated = 0u64;
    let mut once = || {
        evaluated += 1;
        evaluated
    };
    tickscope::value!("evaluated", once());
    tickscope::gauge!("evaluated too", once());
    assert_eq!(evaluated, 2);
    match values {
        [] => tickscope::count!("empty"),
        [..] => tickscope::count!(group = "g", "not empty", 1),
    }
    let closure = |value: u8| {
        tickscope::scope!();
        value
    };
    Some(closure(second))
}

#[tickscope::profile]
pub fn function<T: Clone>(value: &T) -> T {
    value.clone()
}

#[tickscope::profile(name = "renamed", group = "g")]
pub fn options(#[allow(unused_variables)] unused: u8) {}

#[tickscope::profile]
pub async fn asynchronous(value: &str) -> usize {
    std::future::ready(value.len()).await
}

/// A future of its own, and what only becomes one.
pub async fn futures(value: &str) -> usize {
    let text = String::from(value);
    let first = tickscope::future!("future", async { text.len() });
    let second = tickscope::future!(group = "g", "grouped future", asynchronous(value),);
    let third = tickscope::wait!("await", async { text.len() });
    let fourth = tickscope::wait!(group = "g", "grouped await", std::future::ready(1),);
    let task = tickscope::task("task", spawned(value));
    first.await + second.await + third.await + fourth.await + task.await
}

#[tickscope::profile(task, group = "g")]
pub async fn spawned(value: &str) -> usize {
    value.len()
}

#[tickscope::profile]
pub fn bounded(value: u8) -> u8
where
    u8: Copy,
{
    value
}

pub struct Thing<T>(pub T);

#[tickscope::profile]
impl<T: Copy> Thing<T> {
    pub fn new(value: T) -> Self {
        Self(value)
    }

    pub fn get(&self) -> T {
        tickscope::scope!();
        self.0
    }

    pub async fn later(&self) -> T {
        self.0
    }

    #[tickscope::profile(skip)]
    pub fn skipped(&self) -> T {
        self.0
    }
}

pub trait Shape {
    fn area(&self) -> u32;
    fn twice(&self) -> u32 {
        tickscope::scope!();
        2 * self.area()
    }
}

#[tickscope::profile(group = "shapes")]
impl Shape for Thing<u32> {
    fn area(&self) -> u32 {
        self.0 * self.0
    }
}

#[tickscope::profile]
pub mod inside {
    pub fn called() -> u8 {
        deeper()
    }

    fn deeper() -> u8 {
        5
    }
}

fn mine() -> u64 {
    0
}

pub fn start(name: &str) -> (Session, Vec<Status>) {
    let first: Session = tickscope::start(name);
    let builder = Builder::new(name)
        .interval(Duration::from_secs(1))
        .ring_bytes(1 << 20)
        .dir(std::env::temp_dir().join("unused-place"))
        .mode(Mode::Exact)
        .clock(Clock::Tsc)
        .threads(Threads::All)
        .max_depth(512)
        .max_nodes(65_536)
        .max_process_nodes(1 << 20)
        .max_gap(Duration::from_secs(3600))
        .report_at_exit(Destination::Stderr)
        .log_every(Duration::from_secs(3600))
        .allow_remote_control(true);
    drop(builder.clone().clock(Clock::Custom(mine, 1e9)));
    drop(builder.clone().report_at_exit(Destination::File("unused".into())));
    let states = vec![first.status()];
    drop((first.path(), first.warnings()));
    (first, states)
}

pub fn try_start(name: &str) -> Result<Session, StartError> {
    Builder::new(name).try_start().inspect_err(|error| {
        let _: &dyn std::error::Error = error;
    })
}

pub fn calls() -> (Snapshot, Snapshot, u64, u64) {
    let pause = tickscope::pause();
    drop(pause);
    tickscope::thread::exclude();
    tickscope::thread::include();
    tickscope::request_reset();
    let (now, closing) = (tickscope::snapshot(), tickscope::reset());
    let (calls, ticks) = (now.calls(), now.measured_ticks());
    (now, closing, calls, ticks)
}

pub fn dumps(path: &std::path::Path) -> Result<(), DumpError> {
    if let Err(error) = tickscope::dump("no/such/directory/now.html", Format::Html) {
        let error: &dyn std::error::Error = &error;
        assert!(error.to_string().contains("no/such/directory"));
    }
    let written: std::path::PathBuf = tickscope::dump(path, Format::Tks)?;
    assert_eq!(written, path);
    Ok(())
}
