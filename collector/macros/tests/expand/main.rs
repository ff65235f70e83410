//! Real expansions of `#[profile]`, run against a stand-in for the collector that writes down what happens.

// The expansion may not make the compiler or clippy say anything about the user's code.
#![deny(warnings, clippy::all, clippy::items_after_statements)]
// Nor may it need to allow anything, which a crate that forbids would refuse. `unreachable_code` cannot be in this
// list, since the standard library's own `pin!` expects it in newer versions.
#![forbid(unused_variables, unused_must_use, unused_mut, clippy::needless_return)]

// So that the path `::tickscope`, which stands in the expansion by default, leads to the stand-in too.
extern crate self as tickscope;

mod containers;
mod fragments;
mod functions;
mod futures;
mod mock;
mod returned;

pub(crate) use mock::{__private, __site, scope};
