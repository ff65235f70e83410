//! The macros. They are the same with and without the feature `enable`; only the functions that they call differ.
//! Code that compiles with the feature therefore also compiles without it. Macro bodies must not use `cfg`, because it
//! would be evaluated in the caller's crate.

/// Opens a scope that lasts to the end of the enclosing block.
///
/// `scope!("name")` takes any constant string; `scope!()` takes the name of the enclosing function. `group = "..."` may
/// come first. With `watch` as the first argument, as in `scope!(watch, "frame")`, slow calls are compared with typical
/// calls: see [`watch`](crate::watch()).
///
/// ```
/// fn insert(orders: &mut Vec<u64>, order: u64) {
///     tickscope::scope!();
///     {
///         tickscope::scope!(group = "book", "search");
///         if orders.contains(&order) {
///             return;
///         }
///     }
///     orders.push(order);
/// }
/// # insert(&mut Vec::new(), 1);
/// ```
///
/// A scope belongs to its thread and must end before the next `.await`, because other tasks run on the thread during a
/// wait. Use [`#[profile]`](crate::profile) for async functions and [`future!`](crate::future!) for all other futures.
#[macro_export]
macro_rules! scope {
    ($($site:tt)*) => {
        let _tickscope_scope = $crate::__private::enter($crate::__site!($($site)*));
    };
}

/// Opens a scope and returns its guard, so that the scope can end before its block does. It takes the same arguments as
/// [`scope!`](crate::scope!).
///
/// ```
/// # fn search() -> usize { 7 }
/// let search_scope = tickscope::scope_guard!("search");
/// let place = search();
/// drop(search_scope);
/// println!("found at {place}"); // not part of "search"
/// ```
#[macro_export]
macro_rules! scope_guard {
    ($($site:tt)*) => {
        $crate::__private::enter($crate::__site!($($site)*))
    };
}

/// Measures an expression and returns its value. The name is any constant string, and `group = "..."` may come first.
///
/// ```
/// # let prices = std::collections::HashMap::from([("tea", 3)]);
/// let price = tickscope::time!("look up", prices.get("tea").copied());
/// assert_eq!(price, Some(3));
/// ```
///
/// The expression must not contain `.await`; for that, use [`future!`](crate::future!).
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

/// Measures a future. `future!("download", async { .. })` wraps the future in one with the same output.
///
/// A future is one call, which is counted at its first poll. Its time in the call tree is the time spent in its polls,
/// so the times of futures that run concurrently on a thread never add up to more than the thread's own time. Its
/// latency is the whole duration of the call, from the first poll until the future is ready or dropped, including
/// waits. A future that is dropped before it is ready counts as cancelled. The name is any constant string, and
/// `group = "..."` may come first.
///
/// The argument is anything that can be awaited. The result can be spawned, boxed or awaited like the future itself:
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
/// For a whole `async fn`, write `#[profile]` instead.
#[macro_export]
macro_rules! future {
    (group = $group:expr, $name:expr, $future:expr $(,)?) => {
        $crate::__private::profile_future($crate::__site!(group = $group, $name), $future)
    };
    ($name:expr, $future:expr $(,)?) => {
        $crate::__private::profile_future($crate::__site!($name), $future)
    };
}

/// Names what a task waits for. `wait!("db.lock", lock.lock())` wraps the future in one with the same output.
///
/// The future is measured like a [`future!`](crate::future!). In addition, the Tasks view shows its name as the reason
/// why the calls around it are pending. A call that waits for a future with neither a name nor a profile is shown as
/// `await (unnamed)`. `group = "..."` may come first.
///
/// ```
/// # struct Lock;
/// # impl Lock { async fn lock(&self) -> u32 { 7 } }
/// #[tickscope::profile]
/// async fn balance(lock: &Lock) -> u32 {
///     tickscope::wait!("db.lock", lock.lock()).await
/// }
/// # let mut balance = std::pin::pin!(balance(&Lock));
/// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// # assert_eq!(balance.as_mut().poll(&mut context), std::task::Poll::Ready(7));
/// ```
#[macro_export]
macro_rules! wait {
    (group = $group:expr, $name:expr, $future:expr $(,)?) => {
        $crate::__private::profile_future($crate::__site!(@named $name, $group, .naming_await()), $future)
    };
    ($name:expr, $future:expr $(,)?) => {
        $crate::__private::profile_future($crate::__site!(@named $name, "", .naming_await()), $future)
    };
}

/// Counts without reading a clock: `count!("cache miss")` adds 1, and `count!("bytes", n)` adds `n`, which can be any
/// [`Amount`].
///
/// The counter appears as a row below the open scope, and shows how often it was called and the sum of the amounts.
/// `group = "..."` may come first. The name must be a constant string, because a counter belongs to one place in the
/// source code. Anything known only at run time goes into `n`.
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
/// Each call costs a few loads and two additions; it takes no lock and reads no clock. Counters count in every mode but
/// off, even during a pause and below calls that are not timed. `n` is always evaluated, and a literal needs no suffix.
/// The sum wraps around on overflow of 64 bits.
///
/// [`Amount`]: crate::Amount
#[macro_export]
macro_rules! count {
    (group = $group:expr, $name:expr $(,)?) => {
        $crate::__private::count($crate::__site!(@named $name, $group, .counting()), 1)
    };
    (group = $group:expr, $name:expr, $amount:expr $(,)?) => {
        $crate::__private::count($crate::__site!(@named $name, $group, .counting()), $crate::__amount!($amount))
    };
    ($name:expr $(,)?) => {
        $crate::__private::count($crate::__site!(@named $name, "", .counting()), 1)
    };
    ($name:expr, $amount:expr $(,)?) => {
        $crate::__private::count($crate::__site!(@named $name, "", .counting()), $crate::__amount!($amount))
    };
}

/// Records a number, such as a size: `value!("rows", n)` records `n`, which can be any [`Amount`].
///
/// The value appears as a row below the open scope. The row has the number of calls, the sum, the minimum and the
/// maximum of the numbers, and a histogram. Viewers and reports take `P50`, `P99` and `MAX` from the histogram, as they
/// do for times. Numbers have no unit, so the name should state it. `group = "..."` may come first, and the name is a
/// constant string.
///
/// ```
/// fn query(table: &[u32], least: u32) -> Vec<u32> {
///     tickscope::scope!();
///     let rows: Vec<u32> = table.iter().copied().filter(|&row| row >= least).collect();
///     tickscope::value!("rows", rows.len());
///     tickscope::value!(group = "memory", "answer bytes", rows.len() * size_of::<u32>());
///     rows
/// }
/// # assert_eq!(query(&[1, 5, 9], 5).len(), 2);
/// ```
///
/// The histogram has eight buckets for each doubling of the number, so percentiles are accurate to within 6.3 %. Each
/// number up to 15 has its own bucket. The minimum and the maximum are exact, even after a reset. The one exception is
/// a number recorded while a reset is in progress: the edge of its bucket may be shown instead, and reports say so. If
/// only the sum matters, as for bytes read, use [`count!`](crate::count!), which keeps less and costs less.
///
/// Each call takes no lock, reads no clock, and allocates nothing once its row exists. Values are recorded in every
/// mode but off, even during a pause and below calls that are not timed, and whether latency histograms are on or off.
/// `n` is always evaluated, and a literal needs no suffix.
///
/// [`Amount`]: crate::Amount
#[macro_export]
macro_rules! value {
    (group = $group:expr, $name:expr, $number:expr $(,)?) => {
        $crate::__private::value($crate::__site!(@named $name, $group, .of_value()), $crate::__amount!($number))
    };
    ($name:expr, $number:expr $(,)?) => {
        $crate::__private::value($crate::__site!(@named $name, "", .of_value()), $crate::__amount!($number))
    };
}

/// Tracks a level that goes up and down: `gauge!("queue", n)` sets it to `n`, which can be any [`Level`] and may be
/// negative.
///
/// The gauge appears as a row below the open scope. The row has the latest, the lowest and the highest level, and its
/// calls are the number of times that the level was set. `group = "..."` may come first, and the name is a constant
/// string.
///
/// ```
/// fn receive(queue: &mut std::collections::VecDeque<u32>) -> Option<u32> {
///     let job = queue.pop_front();
///     tickscope::gauge!("queue", queue.len());
///     job
/// }
/// # assert_eq!(receive(&mut [7, 8].into()), Some(7));
/// ```
///
/// Each thread has its own row. Where the rows of several threads are shown as one, `last` is the level that was set
/// most recently on any thread, according to the program's clock, and the lowest and highest levels are taken over all
/// threads. A level stays in force until it is set again, even across a reset: after the reset, the lowest and the
/// highest level start from it.
///
/// Each call reads the clock once, takes no lock, and allocates nothing once its row exists. Gauges are set in every
/// mode but off. `n` is always evaluated, and a literal needs no suffix.
///
/// [`Level`]: crate::Level
#[macro_export]
macro_rules! gauge {
    (group = $group:expr, $name:expr, $level:expr $(,)?) => {
        $crate::__private::gauge($crate::__site!(@named $name, $group, .of_gauge()), $crate::__level!($level))
    };
    ($name:expr, $level:expr $(,)?) => {
        $crate::__private::gauge($crate::__site!(@named $name, "", .of_gauge()), $crate::__level!($level))
    };
}

/// Attaches a key and a value to the current call of a watched function: `note!("order", 4711)`. If the call turns out
/// to be slow and is kept, the note helps to identify it.
///
/// The key is a string, and the value is anything that implements [`Display`](std::fmt::Display). The value is
/// formatted only if this thread is inside a call of a [watched](crate::watch()) function; otherwise `note!` costs a
/// few loads. The first 64 bytes of the key and the first 256 bytes of the value are kept.
///
/// ```
/// fn handle(order: u64) {
///     tickscope::scope!(watch, "handle");
///     tickscope::note!("order", order);
/// }
/// # handle(4711);
/// ```
#[macro_export]
macro_rules! note {
    ($key:expr, $value:expr $(,)?) => {
        $crate::__private::note($key, ::core::format_args!("{}", $value))
    };
}

/// Converts an expression to a `u64`, as `Amount` does. A literal without a suffix is a `u64`.
#[doc(hidden)]
#[macro_export]
macro_rules! __amount {
    ($amount:literal) => {
        match $amount {
            amount => {
                $crate::__private::Literal(&amount).is_u64();
                $crate::Amount::amount(amount)
            }
        }
    };
    ($amount:expr) => {
        $crate::Amount::amount($amount)
    };
}

/// Converts an expression to an `i64`, as `Level` does. A literal without a suffix is an `i64`.
#[doc(hidden)]
#[macro_export]
macro_rules! __level {
    ($level:literal) => {
        match $level {
            level => {
                $crate::__private::Literal(&level).is_i64();
                $crate::Level::level(level)
            }
        }
    };
    ($level:expr) => {
        $crate::Level::level($level)
    };
}

/// The static descriptor of the place where the macro is invoked.
#[doc(hidden)]
#[macro_export]
macro_rules! __site {
    () => {
        $crate::__site!(@enclosing "",)
    };
    (group = $group:expr $(,)?) => {
        $crate::__site!(@enclosing $group,)
    };
    (group = $group:expr, $name:expr $(,)?) => {
        $crate::__site!(@named $name, $group,)
    };
    (watch $(,)?) => {
        $crate::__site!(@enclosing "", .watched())
    };
    (watch, group = $group:expr $(,)?) => {
        $crate::__site!(@enclosing $group, .watched())
    };
    (watch, group = $group:expr, $name:expr $(,)?) => {
        $crate::__site!(@named $name, $group, .watched())
    };
    (watch, $name:expr $(,)?) => {
        $crate::__site!(@named $name, "", .watched())
    };
    (@enclosing $group:expr, $($kind:tt)*) => {{
        fn here() {}
        fn path() -> &'static str {
            ::core::any::type_name_of_val(&here)
        }
        static SITE: $crate::__private::Site =
            $crate::__private::Site::enclosing(path, ::core::module_path!(), ::core::file!(), ::core::line!())
                .in_group($group)$($kind)*;
        &SITE
    }};
    (@named $name:expr, $group:expr, $($kind:tt)*) => {{
        static SITE: $crate::__private::Site =
            $crate::__private::Site::named($name, ::core::module_path!(), ::core::file!(), ::core::line!())
                .in_group($group)
                $($kind)*;
        &SITE
    }};
    ($name:expr $(,)?) => {
        $crate::__site!(@named $name, "",)
    };
}
