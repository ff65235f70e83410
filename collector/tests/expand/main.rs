//! Tests real expansions of `#[profile]`, with a mock of the collector that logs each event.

// The expansion must not cause any warning of the compiler or of clippy in the user's code.
#![deny(warnings, clippy::all, clippy::items_after_statements)]
// The expansion must not contain an `allow` for these lints, because a crate that forbids a lint rejects its `allow`.
// `unreachable_code` cannot be in this list, because the standard library's own `pin!` contains an `expect` for it in
// newer versions.
#![forbid(unused_variables, unused_must_use, unused_mut, clippy::needless_return)]

// Makes `::tickscope`, the default path in the expansion, refer to the mock.
extern crate self as tickscope;

mod containers;
mod fragments;
mod functions;
mod futures;
mod mock;
mod returned;

pub(crate) use mock::{__private, __site, scope};
