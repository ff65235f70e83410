//! Every form of every macro and every call, compiled with the feature `enable` and without, with warnings denied.
//! Forms that must not compile are in `collector/tests/compile/cases`.

use std::time::Duration;

use tickscope::{
    Builder, Clock, Destination, DumpError, Format, Mode, Session, Snapshot, StartError, Status, Threads,
};

const NAME: &str = "constant";
const GROUP: &str = "group";

/// Names that only the macros use.
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

/// Uses each number type that the macros take, as a variable and as a literal.
pub fn numbers() {
    macro_rules! each {
        ($name:ident: $($number:ident $literal:literal),*) => {$(
            let number: $number = $literal;
            tickscope::$name!("a variable", number);
            tickscope::$name!("a literal", $literal);
            tickscope::$name!(group = "g", "a variable in a group", number,);
            tickscope::$name!(group = "g", "a literal in a group", $literal,);
        )*};
    }
    each!(count: bool true, bool false, u8 1u8, u16 2u16, u32 3u32, u64 4u64, usize 5usize, u64 6);
    each!(value: bool true, bool false, u8 1u8, u16 2u16, u32 3u32, u64 4u64, usize 5usize, u64 6);
    each!(gauge: bool true, bool false, u8 1u8, u16 2u16, u32 3u32, u64 4u64, usize 5usize, i64 6);
    each!(count: i8 -1i8, i16 -2i16, i32 -3i32, i64 -4i64, isize -5isize, u128 6u128, i128 7i128);
    each!(value: i8 -1i8, i16 -2i16, i32 -3i32, i64 -4i64, isize -5isize, u128 6u128, i128 7i128);
    each!(gauge: i8 -1i8, i16 -2i16, i32 -3i32, i64 -4i64, isize -5isize, u128 6u128, i128 7i128, i64 -6);
    tickscope::count!("the largest", 18_446_744_073_709_551_615);
    tickscope::value!("the largest value", 0xffff_ffff_ffff_ffff);
    tickscope::gauge!("the lowest", -9_223_372_036_854_775_808);
    tickscope::count!("a sum", 1 + 2u64);
    tickscope::gauge!("a difference", 1 - 2i16);
    /// A user-defined macro that passes an expression on to `count!`.
    macro_rules! bytes {
        ($bytes:expr) => {
            tickscope::count!("handed on", $bytes)
        };
    }
    bytes!(7);
    bytes!("text".len());
}

/// A user-defined type that implements `Amount` and `Level` but is not `Copy`.
pub struct Bytes(pub String);

impl tickscope::Amount for Bytes {
    fn amount(self) -> u64 {
        self.0.len() as u64
    }
}

impl tickscope::Level for Bytes {
    fn level(self) -> i64 {
        self.0.len() as i64
    }
}

pub fn own_numbers(text: &str) {
    tickscope::count!("own", Bytes(text.to_owned()));
    tickscope::value!("own value", Bytes(text.to_owned()));
    tickscope::gauge!("own level", Bytes(text.to_owned()));
}

/// Checks that futures and scopes implement the auto traits that users rely on.
pub fn auto_traits() {
    fn of_its_future<T: Send + Sync + Unpin + std::panic::UnwindSafe + std::panic::RefUnwindSafe>(_: T) {}
    of_its_future(tickscope::future!("future", std::future::ready(1)));
    of_its_future(tickscope::wait!("wait", std::future::ready(1)));
    fn of_a_scope<T: Unpin + std::panic::UnwindSafe + std::panic::RefUnwindSafe + std::fmt::Debug>(_: &T) {}
    of_a_scope(&tickscope::scope_guard!("guard"));
}

pub fn notes(order: u64) {
    tickscope::scope!(watch, "watched");
    tickscope::note!("order", order);
    tickscope::note!("text", "text",);
    tickscope::note!(NAME, format_args!("{order}"));
    tickscope::scope!(watch);
    tickscope::scope!(watch, group = "g");
    tickscope::scope!(watch, group = "g", NAME);
    drop(tickscope::scope_guard!(watch, "guard"));
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

/// Uses every macro and function that wraps a future.
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

type Boxed<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Futures returned by functions that are not `async`.
#[tickscope::profile]
pub mod returned {
    use super::Boxed;
    use std::pin::Pin;

    #[allow(clippy::manual_async_fn)]
    pub fn built(value: u8) -> impl Future<Output = u8> + Send {
        async move { value }
    }

    #[allow(clippy::type_complexity)]
    pub fn boxed(
        value: &str,
    ) -> Pin<Box<dyn Future<Output = Result<u8, Box<dyn std::error::Error>>> + Send + '_>> {
        Box::pin(async move { Ok(value.parse()?) })
    }

    pub fn of_an_alias(value: &str) -> Boxed<'_, usize> {
        let length = value.len();
        Box::pin(async move { length })
    }

    pub fn chosen(value: &u8) -> Pin<Box<dyn Future<Output = u8> + '_>> {
        if *value > 3 {
            return Box::pin(std::future::ready(3));
        }
        match value {
            0 => Box::pin(built(*value)),
            1 => std::process::abort(),
            _ => Box::pin(async { *value }),
        }
    }

    pub fn of_another(value: u8) -> impl Future<Output = u8> {
        built(value)
    }

    #[allow(clippy::needless_return)]
    pub fn behind_return(value: u8) -> impl Future<Output = u8> {
        return built(value);
    }

    #[allow(clippy::todo)]
    pub fn never() -> Pin<Box<dyn Future<Output = u8> + Send>> {
        todo!()
    }

    #[tickscope::profile(task)]
    pub fn task(value: u8) -> impl Future<Output = u8> {
        built(value)
    }

    /// Returns the sum of the functions' results.
    pub async fn all() -> Result<u8, Box<dyn std::error::Error>> {
        let _: fn() -> Boxed<'static, u8> = || Box::pin(never());
        let parsed = boxed("2").await? + of_an_alias("abc").await as u8;
        let chosen = chosen(&0).await + chosen(&2).await + chosen(&4).await;
        Ok(built(1).await + parsed + chosen + of_another(1).await + behind_return(1).await + task(1).await)
    }
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
        .end_within(Duration::from_secs(2))
        .end_on_signals(false)
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
