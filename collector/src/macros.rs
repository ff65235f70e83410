//! The macros, as they are with `enable`. Nothing in their bodies may depend on `cfg`: that would be evaluated
//! in the caller's crate.

/// Opens a scope to the end of the enclosing block: `scope!("name")` with any constant string, or `scope!()`
/// under the name of the enclosing function. `group = "g"` may stand in front.
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
/// in `scope!`. Not for an expression that
/// awaits: put `#[profile]` on an async function for that. `group = "g"` may stand in front.
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
