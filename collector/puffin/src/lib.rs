//! The macros of the crate `puffin`, version 0.19, as rows of tickscope.
//!
//! A program that uses that crate changes one line of its `Cargo.toml`, and no source:
//!
//! ```toml
//! puffin = { package = "tickscope-puffin", version = "0.1", features = ["enable"] }
//! ```
//!
//! ```
//! fn load(words: &str) -> usize {
//!     puffin::profile_function!();
//!     puffin::profile_scope!("count", words);
//!     words.split(' ').count()
//! }
//!
//! puffin::set_scopes_on(true);
//! assert_eq!(load("a b c"), 3);
//! puffin::GlobalProfiler::lock().new_frame();
//! ```
//!
//! # Limits
//! - The data of a scope is not recorded, and its expression is not evaluated.
//! - Names of scopes are constants.
//! - Frames are not kept: there is no `FrameView`, no sink and no `ThreadProfiler`, so `puffin_http` and `puffin_egui` have nothing to show.
//!   `tickscope NAME` in a terminal takes their place.
//! - Crates that depend on `puffin` themselves keep it: cargo puts no package of another name in its place.

use std::sync::atomic::{AtomicBool, Ordering};

static ARE_ON: AtomicBool = AtomicBool::new(true);

/// Opens scopes from now on, or does not. Open scopes go on. They are on from the start, because nothing but counting happens before a program
/// publishes.
pub fn set_scopes_on(on: bool) {
    ARE_ON.store(on, Ordering::Relaxed);
}

/// Returns whether macros open scopes.
#[inline]
pub fn are_scopes_on() -> bool {
    ARE_ON.load(Ordering::Relaxed)
}

/// What ends frames.
#[derive(Debug)]
pub struct GlobalProfiler {
    _private: (),
}

impl GlobalProfiler {
    /// Returns the only one. Nothing is locked.
    pub fn lock() -> Self {
        Self { _private: () }
    }

    /// Counts a frame: a row called `frames`, below the scope that is open.
    pub fn new_frame(&mut self) {
        if are_scopes_on() {
            tickscope::count!("frames");
        }
    }
}

/// What the macros expand to. It is not part of the public API and may change in any release.
#[doc(hidden)]
pub mod __private {
    pub use tickscope;
}

/// Opens a scope that lasts to the end of the enclosing block. The name is a constant. The data, if there is any, is not recorded.
#[macro_export]
macro_rules! profile_scope {
    ($name:expr $(, $data:expr)? $(,)?) => {
        $crate::profile_scope_if!(true, $name $(, $data)?);
    };
}

/// Opens a scope if a condition holds. Otherwise it is that of [`profile_scope!`].
#[macro_export]
macro_rules! profile_scope_if {
    ($condition:expr, $name:expr $(, $data:expr)? $(,)?) => {
        let _profiler_scope = $crate::profile_scope_custom_if!($condition, $name $(, $data)?);
    };
}

/// Opens a scope that lasts until the value is dropped, which is `None` where scopes are off.
#[macro_export]
macro_rules! profile_scope_custom {
    ($name:expr $(, $data:expr)? $(,)?) => {
        $crate::profile_scope_custom_if!(true, $name $(, $data)?)
    };
}

/// Opens a scope if a condition holds. It lasts until the value is dropped.
#[macro_export]
macro_rules! profile_scope_custom_if {
    ($condition:expr, $name:expr $(, $data:expr)? $(,)?) => {{
        $($crate::__unused!($data);)?
        if $crate::are_scopes_on() && $condition {
            Some($crate::__private::tickscope::scope_guard!($name))
        } else {
            None
        }
    }};
}

/// Opens a scope that is called as the enclosing function. The data, if there is any, is not recorded.
#[macro_export]
macro_rules! profile_function {
    ($($data:expr)? $(,)?) => {
        $crate::profile_function_if!(true $(, $data)?);
    };
}

/// Opens a scope that is called as the enclosing function if a condition holds.
#[macro_export]
macro_rules! profile_function_if {
    ($condition:expr $(, $data:expr)? $(,)?) => {
        $($crate::__unused!($data);)?
        let _profiler_scope = if $crate::are_scopes_on() && $condition {
            Some($crate::__private::tickscope::scope_guard!())
        } else {
            None
        };
    };
}

/// Uses an expression, so that the compiler does not report it as unused, and does not evaluate it.
#[doc(hidden)]
#[macro_export]
macro_rules! __unused {
    ($value:expr) => {
        let _ = || {
            let _ = &$value;
        };
    };
}
