//! A drop-in replacement for version 1 of the crate `profiling`. Its macros measure with tickscope.
//!
//! A program that uses `profiling` changes one line of its `Cargo.toml`, and none of its source:
//!
//! ```toml
//! profiling = { package = "tickscope-profiling", version = "0.1", features = ["enable"] }
//! ```
//!
//! ```
//! #[profiling::function]
//! fn load(words: &str) -> usize {
//!     profiling::scope!("count");
//!     words.split(' ').count()
//! }
//!
//! struct World;
//!
//! #[profiling::all_functions]
//! impl World {
//!     fn step(&self) -> usize {
//!         load("a b c")
//!     }
//!
//!     #[profiling::skip]
//!     fn size(&self) -> usize {
//!         3
//!     }
//! }
//!
//! profiling::register_thread!("main");
//! assert_eq!(World.step(), World.size());
//! profiling::finish_frame!();
//! ```
//!
//! # Limits
//! - Attributes expand to paths that begin with `::profiling`, so crates that use them must depend on this crate under
//!   that name.
//! - The data argument of a scope is neither evaluated nor recorded.
//! - Scope names must be constants. All but one of the backends of `profiling` require this, too.
//! - Dependencies that use `profiling` themselves keep using the original, because cargo cannot replace a package with
//!   one of a different name.

/// Measures every function of an `impl` block, except functions marked with [`skip`].
pub use tickscope_macros::profiling_all_functions as all_functions;
/// Measures a function. For an `async fn` it measures calls and polls.
pub use tickscope_macros::profiling_function as function;
/// Excludes a function from [`all_functions`].
pub use tickscope_macros::profiling_skip as skip;

/// Re-exports the crate to which expanded macros refer. This module is not part of the public API and may change in any release.
#[doc(hidden)]
pub mod __private {
    pub use tickscope;
}

/// Opens a scope that lasts until the end of the enclosing block. The name must be a constant. The second argument, if any, is
/// not recorded.
#[macro_export]
macro_rules! scope {
    ($name:expr $(,)?) => {
        $crate::__private::tickscope::scope!($name);
    };
    ($name:expr, $data:expr $(,)?) => {
        $crate::__unused!($data);
        $crate::__private::tickscope::scope!($name);
    };
}

/// Opens a scope with the name of the enclosing function. The argument, if any, is not recorded.
#[macro_export]
macro_rules! function_scope {
    () => {
        $crate::__private::tickscope::scope!();
    };
    ($data:expr $(,)?) => {
        $crate::__unused!($data);
        $crate::__private::tickscope::scope!();
    };
}

/// Counts a frame, in a row called `frames` below the open scope.
#[macro_export]
macro_rules! finish_frame {
    () => {
        $crate::__private::tickscope::count!("frames")
    };
}

/// Opts the calling thread in, if `Builder::threads` requires threads to opt in. The argument has no effect, because
/// threads are shown under their kernel names.
#[macro_export]
macro_rules! register_thread {
    () => {
        $crate::__private::tickscope::thread::include()
    };
    ($name:expr $(,)?) => {{
        $crate::__unused!($name);
        $crate::__private::tickscope::thread::include()
    }};
}

/// Mentions an expression without evaluating it, so that the compiler does not report its variables as unused.
#[doc(hidden)]
#[macro_export]
macro_rules! __unused {
    ($value:expr) => {
        let _ = || {
            let _ = &$value;
        };
    };
}
