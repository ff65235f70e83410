//! The attribute `#[profile]` of [tickscope], which re-exports it. It puts a scope around the body of a function, or of
//! every function in an `impl` block, a trait or an inline module.
//!
//! ```standalone_crate
//! # extern crate self as tickscope;
//! # #[macro_export] macro_rules! scope { ($($any:tt)*) => {} }
//! use tickscope_macros::profile;
//!
//! struct Book(Vec<u64>);
//!
//! #[profile(group = "book")]
//! impl Book {
//!     fn insert(&mut self, order: u64) {
//!         self.0.push(order);
//!     }
//!
//!     #[profile(skip)] // too short to be worth two clock reads
//!     fn len(&self) -> usize {
//!         self.0.len()
//!     }
//! }
//!
//! #[profile(name = "the whole day")]
//! fn trade() {
//!     let mut book = Book(Vec::new());
//!     book.insert(7);
//!     assert_eq!(book.len(), 1);
//! }
//! # fn main() { trade() }
//! ```
//!
//! # Items and effects
//!
//! | applied to | effect |
//! | --- | --- |
//! | `fn` | `::tickscope::scope!();` becomes the first statement, after inner attributes |
//! | `async fn` | the function returns one profiled future, which is counted as one call at its first poll; the time of the call is the sum of the polls |
//! | `fn` that visibly returns a future (see [Limits](#limits)) | the future is profiled like the future of an `async fn` |
//! | `impl`, `trait` | each function with a body, as above |
//! | `mod m { .. }` | each function, `impl`, `trait` and inline module inside, as above |
//!
//! In an `impl`, `trait` or `mod`, the attribute leaves out:
//!
//! - every `const fn`;
//! - every item that has its own attribute whose path ends in `profile`, even inside `cfg_attr`;
//! - everything that macros generate;
//! - functions inside the bodies of other functions.
//!
//! # Options
//!
//! | option | applied to | meaning |
//! | --- | --- | --- |
//! | `name = "..."` | `fn` | the name of the row; by default the path of the function |
//! | `group = "..."` | all | the group of the rows, passed on to each function inside |
//! | `crate = path` | all | a path to use instead of `::tickscope`, for crates that re-export tickscope; it is inserted as written, so begin it with `::`, `crate` or `$crate` |
//! | `task` | `async fn`, `fn` that visibly returns a future | the future is run as a task: its row also shows the time from each wake to the poll that follows |
//! | `watch` | all | keeps slow calls, to compare them with typical calls, as `tickscope::watch` does |
//! | `skip` | all | leaves the item unchanged; must be the only option |
//!
//! # The feature `enable`
//!
//! Without the feature, the attribute returns its item token for token. It rejects the same code with and without the
//! feature, so that a library builds in every application if it builds in one.
//!
//! # Limits
//!
//! - A `const fn` may run at compile time, where there is no clock, so the attribute rejects it.
//! - The scope's guard is the function's first local and is dropped last, so the destructors of all other locals are
//!   part of the function's time. The destructors of the arguments are not, except in an `async fn`: its arguments
//!   belong to the future that is polled.
//! - A future that is never polled is never counted. The time between polls is not charged to any function.
//! - A `scope!` or `time!` that is open at an `.await` in the function is rejected, because other tasks run on the
//!   thread while the function waits. End the scope before the `.await`, or measure the polls of the future:
//!   `tickscope::future!("name", future).await`.
//! - At the declaration of a module in another file (`mod m;`), the attribute cannot see the functions of the module.
//!   Put the attribute on the functions, impl blocks and traits in that file.
//! - A function that is not async visibly returns a future if its last expression, or the value of a `return`, is
//!   `async { .. }` or `Box::pin(async { .. })`, or if its return type is written as `impl Future<..>` or
//!   `Pin<Box<dyn Future<..>>>`. So `#[async_trait]` may come before or after `#[profile]`. Any other function is
//!   measured only until it returns, for example if its return type is a type alias for a future or a type from
//!   another crate. `tickscope::future!("name", future)` measures such a future.
//! - An `async fn` becomes a `fn` that returns `impl Future`, so that long chains of functions that await each other
//!   stay within the compiler's recursion limit. It stays an `async fn` if it has an attribute that may look for the
//!   keyword `async`: any attribute other than `allow`, `cfg`, `cold`, `deny`, `doc`, `forbid`, `inline` and `warn`.
//!
//! [tickscope]: https://docs.rs/tickscope

#![forbid(unsafe_code)]

use proc_macro::TokenStream;

mod attribute;
mod emit;
mod error;
mod exits;
mod expand;
mod function;
mod item;
mod open_scope;
mod options;
mod plain;
mod profiling;
mod tokens;
mod writer;

/// Profiles a function, or every function of an `impl` block, trait or inline module. The [crate page](self) lists the
/// options and the limits.
///
/// ```standalone_crate
/// # extern crate self as tickscope;
/// # #[macro_export] macro_rules! scope { ($($any:tt)*) => {} }
/// # use tickscope_macros::profile;
/// #[profile(name = "parse", group = "input")]
/// fn parse_line(line: &str) -> usize {
///     line.split(' ').count()
/// }
/// # fn main() { assert_eq!(parse_line("a b"), 2) }
/// ```
#[proc_macro_attribute]
pub fn profile(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand(options, item)
}

/// `#[profiling::function]` of `tickscope-profiling`.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn profiling_function(_options: TokenStream, item: TokenStream) -> TokenStream {
    profiling::marked(item)
}

/// `#[profiling::all_functions]` of `tickscope-profiling`.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn profiling_all_functions(_options: TokenStream, item: TokenStream) -> TokenStream {
    profiling::all_marked(item)
}

/// `#[profiling::skip]` of `tickscope-profiling`. It has an effect only inside a block marked with `all_functions`.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn profiling_skip(_options: TokenStream, item: TokenStream) -> TokenStream {
    item
}
