//! The attribute `#[profile]` of [tickscope], which re-exports it: a scope around the body of a function, or
//! of every function in an `impl` block, a trait or an inline module.
//!
//! ```
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
//! # Where it stands and what it does
//!
//! | on | effect |
//! | --- | --- |
//! | `fn` | `::tickscope::scope!();` becomes the first statement, after inner attributes |
//! | `async fn` | the body becomes one profiled future: one call, counted at its first poll; its time is the sum of its polls |
//! | `impl`, `trait` | each function with a body, as above |
//! | `mod m { .. }` | each function, `impl`, `trait` and inline module inside, as above |
//!
//! In an `impl`, `trait` or `mod`, these are left out: every `const fn`; every item with an attribute of its own
//! that ends in `profile`, within `cfg_attr` too, since that one speaks for itself; whatever macros make; the
//! functions nested in other functions' bodies.
//!
//! # Options
//!
//! | option | on | meaning |
//! | --- | --- | --- |
//! | `name = "..."` | `fn` | the row's name; by default the path of the function |
//! | `group = "..."` | all | the group of the rows, handed to each function inside |
//! | `crate = path` | all | used where `::tickscope` would stand, for crates that re-export it; pasted as it is, so begin it with `::`, `crate` or `$crate` |
//! | `skip` | all | leave the item as it is; stands alone |
//!
//! # The feature `enable`
//!
//! Without it the attribute gives back its item, token for token, and does not look at the options.
//!
//! # Limits
//!
//! - A `const fn` may run in the compiler, where there is no clock: the attribute refuses it.
//! - The scope's guard is the function's first local, so it is dropped after all others: their destructors are
//!   part of the function's time. The arguments' destructors are not, except in an `async fn`, where the
//!   arguments that the body mentions belong to the future that is polled.
//! - A future that is never polled is never counted; time between polls is nobody's.
//! - A `scope!` or `time!` that is open at an `.await` in the function is refused: other tasks run on the thread during
//!   the wait. End the scope before it, or measure the polls of what waits: `tickscope::future!("name", future).await`.
//! - The functions of a module in another file (`mod m;`) cannot be seen from its declaration: put the attribute on the
//!   functions, impl blocks and traits in that file.
//! - `#[async_trait]` and the like rewrite an `async fn` into a plain one that returns a box. Put `#[profile]` above
//!   them, else only the making of the box is measured.
//! - A plain function that returns a future (`fn f() -> impl Future`) is measured until it returns that future.
//!
//! [tickscope]: https://docs.rs/tickscope

#![forbid(unsafe_code)]

use proc_macro::TokenStream;

#[cfg(feature = "enable")]
mod attribute;
#[cfg(feature = "enable")]
mod emit;
#[cfg(feature = "enable")]
mod error;
#[cfg(feature = "enable")]
mod expand;
#[cfg(feature = "enable")]
mod function;
#[cfg(feature = "enable")]
mod item;
#[cfg(feature = "enable")]
mod open_scope;
#[cfg(feature = "enable")]
mod options;
#[cfg(feature = "enable")]
mod tokens;

/// Profiles a function, or every function of an `impl` block, trait or inline module. The [crate](self) tells
/// the rest.
#[cfg(feature = "enable")]
#[proc_macro_attribute]
pub fn profile(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand(options, item)
}

/// Gives back its item: the feature `enable` is off.
#[cfg(not(feature = "enable"))]
#[proc_macro_attribute]
pub fn profile(_options: TokenStream, item: TokenStream) -> TokenStream {
    item
}
