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
//! | on | effect |
//! | --- | --- |
//! | `fn` | `::tickscope::scope!();` becomes the first statement, after inner attributes |
//! | `async fn` | it returns one profiled future: it counts one call, at its first poll, and its time is the sum of its polls |
//! | `fn` that is seen to return a future | the future is profiled like the future of an `async fn` |
//! | `impl`, `trait` | each function with a body, as above |
//! | `mod m { .. }` | each function, `impl`, `trait` and inline module inside, as above |
//!
//! In an `impl`, `trait` or `mod` the attribute leaves out:
//!
//! - every `const fn`;
//! - every item with its own attribute whose path ends in `profile`, also within `cfg_attr`;
//! - everything that macros make;
//! - functions inside the bodies of other functions.
//!
//! # Options
//!
//! | option | on | meaning |
//! | --- | --- | --- |
//! | `name = "..."` | `fn` | the name of the row; by default the path of the function |
//! | `group = "..."` | all | the group of the rows, passed on to each function inside |
//! | `crate = path` | all | replaces `::tickscope`, for crates that re-export it; the path is inserted as written, so begin it with `::`, `crate` or `$crate` |
//! | `task` | `async fn`, `fn` that is seen to return a future | the function is what a task runs: its row also has the time from each wake to the poll that follows |
//! | `watch` | all | slow calls are kept to compare them with typical calls, as with `tickscope::watch` |
//! | `skip` | all | leaves the item unchanged; must be the only option |
//!
//! # The feature `enable`
//!
//! Without the feature, the attribute returns its item token for token. It refuses the same code as with the feature,
//! so that a library builds in each application.
//!
//! # Limits
//!
//! - A `const fn` may run in the compiler, which has no clock, so the attribute refuses it.
//! - The scope's guard is the function's first local and is dropped last, so the destructors of all other locals are
//!   part of the function's time. The destructors of the arguments are not, except in an `async fn`: its arguments
//!   belong to the future that is polled.
//! - A future that is never polled is never counted. The time between polls is charged to no function.
//! - A `scope!` or `time!` that is open at an `.await` in the function is refused, because other tasks run on the
//!   thread during the wait. End the scope before the `.await`, or measure the polls of the future:
//!   `tickscope::future!("name", future).await`.
//! - The functions of a module in another file (`mod m;`) are not visible at its declaration. Put the attribute on the
//!   functions, impl blocks and traits in that file.
//! - A function that is not async is seen to return a future if its last expression, or the value of a `return`, is
//!   `async { .. }` or `Box::pin(async { .. })`. Its return type may also be written as `impl Future<..>` or
//!   `Pin<Box<dyn Future<..>>>`. So `#[async_trait]` may be above `#[profile]` or below it. Any other function is
//!   measured until it returns, for example if its return type is a type alias of a future or a type of another crate.
//!   `tickscope::future!("name", future)` measures such a future.
//! - An `async fn` becomes a `fn` that returns `impl Future`, so that chains of functions that await each other stay
//!   within the compiler's recursion limit. It stays an `async fn` if an attribute may look for that word: any but
//!   `allow`, `cfg`, `cold`, `deny`, `doc`, `forbid`, `inline` and `warn`.
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

/// Profiles a function, or every function of an `impl` block, trait or inline module. The [crate page](self) has the
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

/// `#[profiling::skip]` of `tickscope-profiling`, which has an effect only in a block with `all_functions`.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn profiling_skip(_options: TokenStream, item: TokenStream) -> TokenStream {
    item
}
