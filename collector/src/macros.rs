//! The macros. They are the same with and without the feature `enable`; only the functions that they call differ. So
//! code that compiles with the feature also compiles without it. Macro bodies must not use `cfg`, because it would be
//! evaluated in the caller's crate.

/// Opens a scope that lasts to the end of the enclosing block.
///
/// `scope!("name")` takes any constant string; `scope!()` takes the name of the enclosing function. `group = "..."` may
/// come first. With `watch` as the first argument, as in `scope!(watch, "frame")`, slow calls are distinguished from
/// typical calls: see [`watch`](crate::watch()).
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
/// The expression must not contain `.await`; use [`future!`](crate::future!) there.
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

/// Measures a future. `future!("download", async { .. })` is a future with the same output.
///
/// The future counts as one call, at its first poll. Its time in the call tree is the sum of its polls, so that times
/// of concurrent calls add up to the time of their thread. Latencies are the durations of calls: from the first poll
/// until the future is ready or dropped, waits included. A future that is dropped before it is ready counts as
/// cancelled. The name is any constant string, and `group = "..."` may come first.
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

/// Gives a name to a task's wait. `wait!("db.lock", lock.lock())` is a future with the same output.
///
/// The future is measured as by [`future!`](crate::future!), and the view Tasks shows the name as the reason why the calls around
/// it are pending. Calls that wait for no named or profiled future are shown as `await (unnamed)`. `group = "..."` may come
/// first.
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

/// Counts without a clock: `count!("cache miss")` adds 1, and `count!("bytes", n)` adds `n`, which can be any
/// [`Amount`].
///
/// The counter is a row below the open scope, with its calls and its sum. `group = "..."` may come first. The name is a constant
/// string, because a counter belongs to a place in the source. Data known only at run time goes into `n`.
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
/// An execution costs a few loads and two additions; it takes no lock and reads no clock. Counters count in every mode
/// but off, also in a pause and below calls that are not timed. `n` is always evaluated, and a literal needs no suffix.
/// A sum beyond 64 bits wraps around to zero.
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

/// Keeps sizes: `value!("rows", n)` takes a number `n`, which can be any [`Amount`].
///
/// The value is a row below the open scope. It has the calls, the sum of all numbers, the smallest and the largest
/// number, and a histogram. Viewers and reports take `P50`, `P99` and `MAX` from the histogram, as they do for times.
/// The numbers have no unit; put the unit into the name. `group = "..."` may come first, and the name is a constant
/// string.
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
/// The histogram has eight buckets for each doubling of the number, so percentiles are good to 6.3 %. Each number up to
/// 15 has its own bucket. The smallest and the largest are exact, also after a reset. Only numbers that come during a
/// reset may be shown as the edge of their bucket, and reports say so. For numbers that only add up, like bytes read,
/// [`count!`](crate::count!) keeps less and costs less.
///
/// An execution takes no lock, reads no clock, and allocates nothing once its row exists. Values count in every mode but
/// off, also in a pause and below calls that are not timed, and whether latency histograms are on or off. `n` is always
/// evaluated, and a literal needs no suffix.
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

/// Follows a level: `gauge!("queue", n)` sets it to `n`, which can be any [`Level`], also a negative one.
///
/// The gauge is a row below the open scope. It has the last level, the lowest and the highest level, and how often it was set
/// (its calls). `group = "..."` may come first, and the name is a constant string.
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
/// Each thread has its own row. If rows of several threads are shown as one, `last` is the newest level of any thread,
/// by the program's clock. Lowest and highest are the extremes of all threads. A level holds until it is set again: a
/// reset leaves it unchanged, and it counts for the lowest and the highest after the reset as well.
///
/// An execution reads the clock once, takes no lock, and allocates nothing once its row exists. Gauges are set in every
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

/// Notes a key and a value in the watched call that is open, so that a kept slow call can be identified:
/// `note!("order", 4711)`.
///
/// The key is a string, and the value is anything that implements [`Display`](std::fmt::Display). The value is
/// formatted only while a call of a [watched](crate::watch()) function is open on this thread; otherwise `note!` costs
/// a few loads. The first 64 bytes of the key and the first 256 of the value are kept.
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

/// The static descriptor of this place in the source.
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
