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

/// Opens a scope and gives its guard, so that it can end early: `let s = scope_guard!("x"); drop(s);`.
#[macro_export]
macro_rules! scope_guard {
    ($($site:tt)*) => {
        $crate::__private::enter($crate::__site!($($site)*))
    };
}

/// Measures an expression and gives its value: `time!("lookup", table.get(key))`. Not for an expression that
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
