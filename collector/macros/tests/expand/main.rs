//! Real expansions of `#[profile]`, run against a stand-in for the collector that logs each event.

// The expansion must not cause warnings of the compiler or clippy about the user's code.
#![deny(warnings, clippy::all, clippy::items_after_statements)]
// The expansion must not need to allow a lint, which a crate that forbids it would refuse. `unreachable_code` cannot be in this
// list, because the standard library's own `pin!` expects it in newer versions.
#![forbid(unused_variables, unused_must_use, unused_mut, clippy::needless_return)]

// The default path `::tickscope` of the expansion then leads to the stand-in too.
extern crate self as tickscope;

mod containers;
mod fragments;
mod functions;
mod futures;
mod mock;
mod returned;

pub(crate) use mock::{__private, __site, scope};
