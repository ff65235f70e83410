//! A call site for each name.
//!
//! Most peers need a `static` at each call site, made by their own macro. But the workload opens its scopes through a
//! generic function, so each name gets a call site in this file. The name is a constant wherever a scope opens, so
//! after inlining the compiler keeps only one arm, without a comparison.

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
            // Scopes whose names are missing in the table all count as "?", so the mistake is noticed.
            _ => $site!("?"),
        }
    };
}

pub(crate) use site;
