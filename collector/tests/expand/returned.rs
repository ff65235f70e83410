//! Tests `#[profile]` on functions that return a future without being async.

use std::future::{Future, ready};
use std::pin::Pin;

use tickscope_macros::profile;

use crate::futures::{finish, pause};
use crate::mock::{log_of, logged, note};

type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Log of a call with two polls: the call counts once, and each poll is timed.
const CALL: &str = "*f +f a -f wait +f b -f";

/// Is ready at its second poll.
async fn work() -> u8 {
    note("a");
    pause().await;
    note("b");
    7
}

/// Imitates the extension trait of the crate `futures`.
trait Later: Future + Sized + Send {
    fn boxed<'a>(self) -> Boxed<'a, Self::Output>
    where
        Self: 'a,
    {
        Box::pin(self)
    }

    fn finished(self) -> Self::Output {
        finish(self)
    }
}

impl<F: Future + Send> Later for F {}

mod last_expression {
    use super::*;

    #[profile]
    pub(super) fn f() -> impl Future<Output = u8> {
        async { work().await }
    }

    pub(super) mod behind_statements {
        use super::*;

        #[profile]
        pub(in super::super) fn f(values: &[u8]) -> impl Future<Output = u8> + use<> {
            let sum: u8 = values.iter().sum();
            if sum > 3 {
                note("large");
            }
            async move { work().await + sum }
        }
    }

    pub(super) mod boxed {
        use super::*;

        #[profile]
        pub(in super::super) fn f(more: &u8) -> Pin<Box<dyn Future<Output = u8> + Send + '_>> {
            Box::pin(async move { work().await + *more })
        }
    }

    /// The name of an alias does not show that the type is a future.
    pub(super) mod of_an_alias {
        use super::*;

        #[profile]
        pub(in super::super) fn f<'a>(more: &'a u8) -> Boxed<'a, u8> {
            ::std::boxed::Box::pin(async move { work().await + *more })
        }
    }

    pub(super) mod boxed_by_a_method {
        use super::*;

        #[profile]
        pub(in super::super) fn f<'a>() -> Boxed<'a, u8> {
            if false {
                note("never");
            }
            async move { work().await }.boxed()
        }
    }

    pub(super) mod a_cast {
        use super::*;

        #[profile]
        pub(in super::super) fn f() -> Boxed<'static, u8> {
            Box::pin(async { work().await }) as Boxed<'static, u8>
        }
    }
}

mod promised {
    use super::*;

    #[profile]
    pub(super) fn f() -> impl Future<Output = u8> + Send {
        work()
    }

    pub(super) mod boxed {
        use super::*;

        #[profile]
        pub(in super::super) fn f(first: bool) -> Pin<Box<dyn Future<Output = u8> + Send>> {
            match first {
                true => Box::pin(work()),
                false => Box::pin(async { 1 + work().await }),
            }
        }
    }

    pub(super) mod pinned {
        use super::*;

        #[profile]
        pub(in super::super) fn f() -> core::pin::Pin<std::boxed::Box<dyn core::future::Future<Output = u8>>>
        {
            Box::pin(work())
        }
    }
}

mod returns {
    use super::*;

    #[profile]
    pub(super) fn f(cached: Option<u8>) -> Boxed<'static, u8> {
        fn other(value: u8) -> u8 {
            if value > 1 {
                return 2;
            }
            value
        }
        if let Some(cached) = cached {
            return Box::pin(async move {
                note("a");
                pause().await;
                note("b");
                cached
            });
        }
        let sizes = [1u8, 2].map(|size| {
            if size == 1 {
                return 3;
            }
            size
        });
        let least = |x: u8, y: u8| match x < y {
            true => return x,
            false => y,
        } + 1;
        let inner = async {
            if least(1, 2) == 1 {
                return 1u8;
            }
            2
        };
        drop((sizes, inner, other(1)));
        Box::pin(work())
    }

    pub(super) mod opaque {
        use super::*;

        #[profile]
        pub(in super::super) fn f(flag: bool) -> impl Future<Output = u8> {
            match flag {
                true => return work(),
                false => {}
            }
            work()
        }
    }
}

#[test]
fn a_future_that_is_the_last_expression_is_a_call() {
    assert_eq!(logged(|| finish(last_expression::f())), (7, CALL));
    let (seven, log) = logged(|| finish(last_expression::behind_statements::f(&[1, 3])));
    assert_eq!((seven, log), (11, &*format!("large {CALL}")));
    assert_eq!(log_of(|| finish(last_expression::boxed::f(&1))), CALL);
    assert_eq!(log_of(|| finish(last_expression::of_an_alias::f(&1))), CALL);
    assert_eq!(log_of(|| finish(last_expression::boxed_by_a_method::f())), CALL);
    assert_eq!(log_of(|| finish(last_expression::a_cast::f())), CALL);
    assert_eq!(log_of(|| drop(last_expression::f())), "");
}

#[test]
fn a_future_that_the_signature_promises_is_a_call() {
    assert_eq!(logged(|| finish(promised::f())), (7, CALL));
    assert_eq!(logged(|| finish(promised::boxed::f(true))), (7, CALL));
    assert_eq!(logged(|| finish(promised::boxed::f(false))), (8, CALL));
    assert_eq!(log_of(|| finish(promised::pinned::f())), CALL);
}

#[test]
fn a_future_behind_a_return_is_a_call() {
    assert_eq!(logged(|| finish(returns::f(Some(3)))), (3, CALL));
    assert_eq!(log_of(|| finish(returns::f(None))), CALL);
    assert_eq!(log_of(|| finish(returns::opaque::f(true))), CALL);
    assert_eq!(log_of(|| finish(returns::opaque::f(false))), CALL);
}

struct Shop(u8);

trait Orders {
    fn f<'life0, 'async_trait>(
        &'life0 self,
    ) -> ::core::pin::Pin<
        Box<
            dyn ::core::future::Future<Output = Result<u8, std::num::ParseIntError>>
                + ::core::marker::Send
                + 'async_trait,
        >,
    >
    where
        'life0: 'async_trait,
        Self: 'async_trait;

    fn later(&self) -> impl Future<Output = u8> + Send {
        ready(1)
    }
}

/// Has a method in the form that `#[async_trait]` generates.
#[profile]
impl Orders for Shop {
    fn f<'life0, 'async_trait>(
        &'life0 self,
    ) -> ::core::pin::Pin<
        Box<
            dyn ::core::future::Future<Output = Result<u8, std::num::ParseIntError>>
                + ::core::marker::Send
                + 'async_trait,
        >,
    >
    where
        'life0: 'async_trait,
        Self: 'async_trait,
    {
        Box::pin(async move {
            let __self = self;
            let one: u8 = "1".parse()?;
            Ok(one + __self.0 + work().await)
        })
    }

    fn later(&self) -> impl Future<Output = u8> + Send {
        let more = self.0;
        async move { more + work().await }
    }
}

/// Methods that use futures but do not visibly return one.
#[profile]
impl Shop {
    fn start(&self) -> std::future::Ready<u8> {
        ready(self.0)
    }

    fn closure(&self) -> impl Fn() -> Boxed<'static, u8> {
        || Box::pin(work())
    }

    fn blocks(&self) -> u8 {
        async { work().await }.finished()
    }

    fn spawned(&self) -> usize {
        size_of_val(&async { work().await })
    }
}

#[test]
fn methods_that_return_futures_are_calls() {
    assert_eq!(logged(|| finish(Shop(2).f()).unwrap()), (10, CALL));
    let (nine, log) = logged(|| finish(Shop(2).later()));
    assert_eq!((nine, log), (9, &*CALL.replace('f', "later")));
}

#[test]
fn what_is_not_seen_to_be_a_future_is_timed_until_it_returns() {
    assert_eq!(log_of(|| finish(Shop(2).start())), "+start -start");
    assert_eq!(
        log_of(|| finish(Shop(2).closure()())),
        "+closure -closure a wait b"
    );
    assert_eq!(log_of(|| Shop(2).blocks()), "+blocks a wait b -blocks");
    assert_eq!(log_of(|| Shop(2).spawned()), "+spawned -spawned");
}

#[profile(name = "n", group = "g")]
fn named() -> impl Future<Output = ()> {
    #![allow(non_upper_case_globals)]
    const many: u8 = 2;
    async {
        let _ = many;
    }
}

#[test]
fn options_reach_the_site() {
    assert_eq!(log_of(|| finish(named())), "*g/n +g/n -g/n");
}

/// The function stays `async` if another attribute may look for that keyword.
mod attributes_below {
    use super::*;

    macro_rules! is_async {
        ($(#[$attribute:meta])* $visibility:vis async fn $($rest:tt)*) => {
            $(#[$attribute])* $visibility async fn $($rest)*
        };
    }

    is_async! {
        #[must_use]
        #[profile]
        pub(super) async fn kept(value: u8) -> u8 {
            value
        }
    }
}

#[test]
fn an_attribute_that_may_look_for_async_keeps_it() {
    assert_eq!(log_of(|| finish(attributes_below::kept(1))), "*kept +kept -kept");
}
