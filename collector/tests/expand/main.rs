//! Tests real expansions of `#[profile]`, with a mock of the collector that logs each event. Without the feature `enable`, there
//! must be no expansion. These are tests of this package because cargo gives `tickscope-macros` its features only as a dependency.

// The expansion must not cause any warning of the compiler or of clippy in the user's code.
#![deny(warnings, clippy::all, clippy::items_after_statements)]
// The expansion must not contain an `allow` for these lints, because a crate that forbids a lint rejects its `allow`.
// `unreachable_code` cannot be in this list, because the standard library's own `pin!` contains an `expect` for it in
// newer versions.
#![forbid(unused_variables, unused_must_use, unused_mut, clippy::needless_return)]

// Makes `::tickscope`, the default path in the expansion, refer to the mock.
extern crate self as tickscope;

#[cfg(feature = "enable")]
mod containers;
#[cfg(feature = "enable")]
mod fragments;
#[cfg(feature = "enable")]
mod functions;
#[cfg(feature = "enable")]
mod futures;
#[cfg(feature = "enable")]
mod mock;
#[cfg(feature = "enable")]
mod returned;
#[cfg(not(feature = "enable"))]
mod unchanged;

#[cfg(feature = "enable")]
pub(crate) use mock::{__private, __site, scope};
