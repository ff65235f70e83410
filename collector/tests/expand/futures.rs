//! Tests `#[profile]` on `async fn`.

use std::convert::Infallible;
use std::future::poll_fn;
use std::num::ParseIntError;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use tickscope_macros::profile;

use crate::mock::{log_of, logged, note};

/// Polls a future until it is ready.
pub(crate) fn finish<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        note("wait");
    }
}

/// Waits once: its first poll returns `Pending`.
pub(crate) async fn pause() {
    let mut waited = false;
    poll_fn(|_| {
        if std::mem::replace(&mut waited, true) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await
}

#[profile]
async fn twice() -> u8 {
    note("a");
    pause().await;
    note("b");
    7
}

#[test]
fn counted_once_and_timed_at_each_poll() {
    assert_eq!(
        logged(|| finish(twice())),
        (7, "*twice +twice a -twice wait +twice b -twice")
    );
}

#[test]
fn never_polled_is_never_counted() {
    assert_eq!(log_of(|| drop(twice())), "");
}

#[test]
fn dropped_half_way_leaves_no_scope_open() {
    let log = log_of(|| {
        let mut future = Box::pin(twice());
        assert!(
            future
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()))
                .is_pending()
        );
        drop(future);
    });
    assert_eq!(log, "*twice +twice a -twice");
}

#[derive(Debug, PartialEq)]
struct Failure(ParseIntError);

impl From<ParseIntError> for Failure {
    fn from(error: ParseIntError) -> Self {
        Failure(error)
    }
}

#[profile]
async fn question_mark<T>(text: &str, _: T) -> Result<u8, Failure>
where
    T: Fn(u8) -> u8,
{
    let byte: u8 = text.parse()?;
    pause().await;
    Ok(byte)
}

#[profile]
async fn into() -> Box<dyn std::error::Error> {
    "boxed".into()
}

#[profile]
async fn collects(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().rev().copied().collect()
}

#[profile]
async fn early(flag: bool) -> String {
    if flag {
        return "early".into();
    }
    "late".into()
}

#[test]
fn inference_works_as_in_a_plain_function() {
    assert_eq!(finish(question_mark("7", |x| x)), Ok(7));
    assert!(finish(question_mark("x", |x| x)).is_err());
    assert_eq!(finish(into()).to_string(), "boxed");
    assert_eq!(finish(collects(&[1, 2])), [2, 1]);
    assert_eq!(finish(early(true)) + &finish(early(false)), "earlylate");
}

#[profile]
async fn borrowed<'a>(left: &'a str, right: &str) -> &'a str {
    pause().await;
    if left.len() > right.len() { left } else { "" }
}

#[profile]
async fn opaque<T: Clone>(value: T) -> impl Iterator<Item = T> {
    [value.clone(), value].into_iter()
}

#[profile]
async fn nested_opaque() -> Option<impl Fn(u8) -> u8> {
    Some(|x| x + 1)
}

/// Only the signature determines the type of the error. The other type stays opaque.
#[profile]
async fn half_opaque<'a>(
    text: &'a str,
) -> Result<(impl Fn(u8) -> u8 + 'a, impl Iterator<Item = u8>), Failure> {
    let byte = text.parse::<u8>()?;
    pause().await;
    Ok((move |x| x + byte + text.len() as u8, [byte].into_iter()))
}

#[profile]
async fn mutable(mut count: u8, (a, b): (u8, u8)) -> u8 {
    count += a;
    pause().await;
    count += b;
    count
}

#[allow(unused_braces)] // the test needs braces before the braces of the body
#[profile]
async fn arrow_in_bounds<F: Fn(u8) -> u8, const N: usize>(f: F) -> [u8; { N }]
where
    Box<dyn Fn(u8) -> u8>: Sized,
{
    [f(1); { N }]
}

#[profile]
async fn inner_attributes() {
    #![allow(non_snake_case)]
    let Odd = 1;
    note(Odd.to_string());
}

/// The inserted type hint names a type that is not `Send`. The future is `Send` nevertheless, because no value of this
/// type is alive across an await.
#[profile]
async fn returns_local(flag: bool) -> Option<Rc<u8>> {
    pause().await;
    flag.then(|| Rc::new(3))
}

#[profile]
async fn uninhabited(result: Result<Infallible, u8>) -> Infallible {
    match result {
        Ok(never) => never,
        Err(_) => loop {
            pause().await;
        },
    }
}

#[profile]
async fn items_first() -> Result<u8, Failure> {
    #![allow(non_upper_case_globals)]
    const value: &str = "5";
    pause().await;
    Ok(value.parse()?)
}

mod lowercase {
    #![allow(non_upper_case_globals)]
    const value: &str = "6";

    /// If the expansion bound a variable with the same name as the constant above, this function would not compile.
    #[tickscope_macros::profile]
    pub(super) async fn constant() -> Option<u8> {
        value.parse().ok()
    }
}

#[profile]
async fn same_names(value: u8) -> u8 {
    value
}

#[profile]
async unsafe fn no_contract() -> u8 {
    4
}

#[test]
fn signatures_of_all_sorts() {
    fn sendable<T: Send>(value: T) -> T {
        value
    }

    assert_eq!(finish(borrowed("long", "x")), "long");
    assert_eq!(finish(opaque(1)).sum::<u8>(), 2);
    assert_eq!(finish(nested_opaque()).unwrap()(1), 2);
    let (add, mut bytes) = finish(half_opaque("3")).ok().unwrap();
    assert_eq!((add(1), bytes.next()), (5, Some(3)));
    assert_eq!(
        finish(half_opaque("x")).err().unwrap().0.to_string(),
        "invalid digit found in string"
    );
    assert_eq!(finish(mutable(1, (2, 3))), 6);
    assert_eq!(finish(arrow_in_bounds::<_, 2>(|x| x + 1)), [2, 2]);
    assert_eq!(
        log_of(|| finish(inner_attributes())),
        "*inner_attributes +inner_attributes 1 -inner_attributes"
    );
    assert_eq!(finish(sendable(returns_local(true))), Some(Rc::new(3)));
    assert_eq!(finish(items_first()), Ok(5));
    assert_eq!(finish(lowercase::constant()), Some(6));
    assert_eq!(finish(same_names(8)), 8);
    // SAFETY: the function has no safety requirements.
    assert_eq!(finish(unsafe { no_contract() }), 4);
    drop(uninhabited(Err(1)));
}

#[profile]
async fn diverges() -> ! {
    loop {
        pause().await;
        note("round");
    }
}

#[profile]
async fn diverges_in_the_end(flag: bool) -> ! {
    if flag {
        diverges().await
    } else {
        std::process::abort()
    }
}

#[test]
fn never_ending() {
    let log = log_of(|| {
        let mut future = pin!(diverges());
        for _ in 0..2 {
            assert!(
                future
                    .as_mut()
                    .poll(&mut Context::from_waker(Waker::noop()))
                    .is_pending()
            );
        }
    });
    assert_eq!(log, "*diverges +diverges -diverges +diverges round -diverges");
    assert_eq!(log_of(|| drop(diverges_in_the_end(true))), "");
}

struct Counter(u8);

trait Step {
    async fn step(&mut self, by: u8) -> Result<u8, Failure>;
}

impl Counter {
    #[profile]
    async fn bump(&mut self, by: &u8) -> &u8 {
        pause().await;
        self.0 += by;
        &self.0
    }
}

impl Step for Counter {
    #[profile]
    async fn step(&mut self, by: u8) -> Result<u8, Failure> {
        let _: u8 = "1".parse()?;
        Ok(*self.bump(&by).await)
    }
}

#[test]
fn methods() {
    let (result, log) = logged(|| finish(Counter(1).step(2)));
    assert_eq!(result, Ok(3));
    assert_eq!(
        log,
        "*step +step *bump +bump -bump -step wait +step +bump -bump -step"
    );
}

struct Noisy(&'static str);

impl Drop for Noisy {
    fn drop(&mut self) {
        note(self.0);
    }
}

#[profile]
async fn drops(used: Noisy, _unused: Noisy, _: Noisy) {
    let _local = Noisy("local");
    let _ = &used;
}

#[test]
fn all_arguments_are_dropped_in_the_poll_in_the_order_of_a_plain_function() {
    assert_eq!(
        log_of(|| finish(drops(Noisy("used"), Noisy("unused"), Noisy("nameless")))),
        "*drops +drops local nameless unused used -drops"
    );
}

/// A scope macro of another crate, which takes two names.
macro_rules! other_scope {
    ($module:literal, $name:literal) => {
        let _guard = concat!($module, $name);
    };
}
use other_scope as their_scope;

macro_rules! time {
    ($name:literal, $value:expr) => {{
        crate::scope!($name);
        $value
    }};
}

async fn one() -> u8 {
    pause().await;
    1
}

/// Has scopes and `.await`s in many orders. Each scope ends before the next `.await`.
#[profile]
async fn scopes_that_end_in_time(flag: bool) -> u8 {
    {
        crate::scope!("block");
        note("in block");
    }
    if flag {
        tickscope::scope!("branch");
        note("in branch");
    }
    one().await;
    let sum = time!("sum", 1 + 1) + one().await;
    {
        use their_scope as scope;
        scope!("other", "crate");
        one().await;
    }
    // This scope stays open, but the futures below are only created and never awaited.
    tickscope::scope!("makes");
    #[allow(clippy::items_after_statements)]
    async fn inner() -> u8 {
        one().await
    }
    let made = async move { one().await + sum };
    let closure = async |by: u8| one().await + by;
    #[expect(clippy::async_yields_async)]
    let block = async { time!("made", async { one().await }) };
    let _: fn() -> u8 = || 1;
    drop((made, closure, block, inner()));
    sum
}

#[test]
fn scopes_may_end_before_an_await() {
    assert_eq!(finish(scopes_that_end_in_time(true)), 3);
}
