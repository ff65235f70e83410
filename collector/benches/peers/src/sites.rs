//! A call site for each scope name in the workloads.
//!
//! Most peers need a `static` at each call site, which their own macro creates. But the workloads open their scopes
//! through a generic function, so this file has one call site for each name. Wherever a scope opens, its name is a
//! constant, so after inlining only one arm of the `match` is left, without a comparison.

/// Expands to `$site!(NAME)` for the value of `$name`.
macro_rules! site {
    ($name:expr, $site:ident) => {
        $crate::sites::site!(@ $name, $site,
            "empty" "twenty" "thousand" "down"
            "site1" "site2" "site3" "site4" "site5" "site6" "site7" "site8"
            "level1" "level2" "level3" "level4" "level5" "level6" "level7" "level8"
            "c0" "c1" "c2" "c3" "c4" "c5" "c6" "c7" "c8" "c9" "c10" "c11" "c12" "c13" "c14" "c15" "c16"
            "worker" "ray_trace" "intersect_primary" "intersect_shadow" "create" "basis")
    };
    (@ $name:expr, $site:ident, $($known:literal)*) => {
        match $name {
            $($known => $site!($known),)*
            // Scopes whose names are missing from the table all count as "?", so that the omission is noticed.
            _ => $site!("?"),
        }
    };
}

pub(crate) use site;
