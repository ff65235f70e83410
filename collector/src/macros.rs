//! The macros, as they are with `enable`. Nothing in their bodies may depend on `cfg`: that would be evaluated
//! in the caller's crate.

/// Opens a scope to the end of the enclosing block: `scope!("name")` with any constant string, or `scope!()`
/// under the name of the enclosing function. `group = "g"` may stand in front.
///
/// A scope belongs to its thread and must end before the next `.await`: during a wait other tasks run on the thread. To
/// measure what awaits there is `#[profile]` for async functions and [`future!`](crate::future!) for all other futures.
#[macro_export]
macro_rules! scope {
    ($($site:tt)*) => {
        let _tickscope_scope = $crate::__private::enter($crate::__site!($($site)*));
    };
}

/// Opens a scope and gives its guard, so that it can end early: `let s = scope_guard!("x"); drop(s);`. The name is a
/// constant string, as it is in `scope!`.
#[macro_export]
macro_rules! scope_guard {
    ($($site:tt)*) => {
        $crate::__private::enter($crate::__site!($($site)*))
    };
}

/// Measures an expression and gives its value: `time!("lookup", table.get(key))`. The name is a constant string, as it is
/// in `scope!`. Not for an expression that awaits: [`future!`](crate::future!) is for those. `group = "g"` may stand in
/// front.
#[macro_export]
macro_rules! time {
    (group = $group:expr, $name:expr, $value:expr $(,)?) => {{
        let _tickscope_scope = $crate::__private::enter($crate::__site!(group = $group, $name));
        $value
    }};
    ($name:expr, $value:expr $(,)?) => {{
        let _tickscope_scope = $crate::__private::enter($crate::__site!($name));
        $value
    }};
}

/// Measures a future: `future!("download", async { .. })` is a future with the same output. It counts one call, at its
/// first poll, and its time is the sum of its polls, so a wait costs nothing. The name is a constant string, as it is in
/// `scope!`. `group = "g"` may stand in front.
///
/// It takes whatever can be awaited, and is spawned, boxed or awaited as the future alone would be:
///
/// ```
/// # async fn get(page: u32) -> String { page.to_string() }
/// # fn spawn<F: Future<Output = usize> + Send + 'static>(future: F) -> F { future }
/// async fn pages() -> usize {
///     let first = tickscope::future!("first page", get(1)).await;
///     let second = spawn(tickscope::future!(group = "net", "second page", async move {
///         let page = get(2).await;
///         tickscope::scope!("measure"); // after the last `.await` of its block
///         page.len()
///     }));
///     first.len() + second.await
/// }
/// # let mut pages = std::pin::pin!(pages());
/// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// # assert_eq!(pages.as_mut().poll(&mut context), std::task::Poll::Ready(2));
/// ```
///
/// For a whole `async fn` write `#[profile]` instead.
#[macro_export]
macro_rules! future {
    (group = $group:expr, $name:expr, $future:expr $(,)?) => {
        $crate::__private::profile_future($crate::__site!(group = $group, $name), $future)
    };
    ($name:expr, $future:expr $(,)?) => {
        $crate::__private::profile_future($crate::__site!($name), $future)
    };
}

/// Counts without a clock: `count!("cache miss")` adds 1, `count!("bytes", n)` adds `n`, any [`Amount`]. The counter is a
/// row below the scope that is open, with its calls and its sum. `group = "g"` may stand in front. Names are constant
/// strings: a counter belongs to a place in the source, and what is known only when the program runs goes into `n`.
///
/// ```
/// fn find(key: &str, cached: Option<u32>) -> u32 {
///     tickscope::scope!();
///     match cached {
///         Some(value) => {
///             tickscope::count!("hit");
///             value
///         }
///         None => {
///             tickscope::count!("miss");
///             tickscope::count!("bytes", key.len());
///             7
///         }
///     }
/// }
/// # assert_eq!(find("a", None) + find("b", Some(1)), 8);
/// ```
///
/// It costs a few loads and two adds: no lock, no clock, no time of its own. It counts in every mode but off, in a pause
/// as well, and also below calls that are not timed. `n` is evaluated in any case; a literal needs no suffix. Beyond 64 bits a sum begins again.
///
/// [`Amount`]: crate::Amount
#[macro_export]
macro_rules! count {
    (group = $group:expr, $name:expr $(,)?) => {
        $crate::__private::count($crate::__counter!($name, $group), 1)
    };
    (group = $group:expr, $name:expr, $amount:literal $(,)?) => {
        $crate::__private::count($crate::__counter!($name, $group), $amount)
    };
    (group = $group:expr, $name:expr, $amount:expr $(,)?) => {
        $crate::__private::count($crate::__counter!($name, $group), $crate::Amount::amount($amount))
    };
    ($name:expr $(,)?) => {
        $crate::__private::count($crate::__counter!($name, ""), 1)
    };
    ($name:expr, $amount:literal $(,)?) => {
        $crate::__private::count($crate::__counter!($name, ""), $amount)
    };
    ($name:expr, $amount:expr $(,)?) => {
        $crate::__private::count($crate::__counter!($name, ""), $crate::Amount::amount($amount))
    };
}

/// The static descriptor of a counter.
#[doc(hidden)]
#[macro_export]
macro_rules! __counter {
    ($name:expr, $group:expr) => {{
        static SITE: $crate::__private::Site =
            $crate::__private::Site::named($name, ::core::module_path!(), ::core::file!(), ::core::line!())
                .in_group($group)
                .counting();
        &SITE
    }};
}

/// The static descriptor of this place in the source.
#[doc(hidden)]
#[macro_export]
macro_rules! __site {
    (group = $group:expr, $name:expr $(,)?) => {
        $crate::__site!(@ $crate::__private::Site::named($name, ::core::module_path!(), ::core::file!(), ::core::line!()).in_group($group))
    };
    (group = $group:expr $(,)?) => {
        $crate::__site!(@here here.in_group($group))
    };
    (@ $site:expr) => {{
        static SITE: $crate::__private::Site = $site;
        &SITE
    }};
    () => {{
        fn here() {}
        fn path() -> &'static str {
            ::core::any::type_name_of_val(&here)
        }
        static SITE: $crate::__private::Site =
            $crate::__private::Site::enclosing(path, ::core::module_path!(), ::core::file!(), ::core::line!());
        &SITE
    }};
    (@here $here:ident.in_group($group:expr)) => {{
        fn $here() {}
        fn path() -> &'static str {
            ::core::any::type_name_of_val(&$here)
        }
        static SITE: $crate::__private::Site =
            $crate::__private::Site::enclosing(path, ::core::module_path!(), ::core::file!(), ::core::line!())
                .in_group($group);
        &SITE
    }};
    ($name:expr $(,)?) => {{
        static SITE: $crate::__private::Site =
            $crate::__private::Site::named($name, ::core::module_path!(), ::core::file!(), ::core::line!());
        &SITE
    }};
}
