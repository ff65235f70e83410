//! Tests with real processes, which are killed, stopped, lapped by a ring's writer, locked out, and observed by many.

mod identity;
mod killed;
mod locked;
mod paths;
mod requests;
pub(crate) mod roles;
mod viewers;

use tickscope_testkit::suite::Case;

/// The tests of each file.
pub(crate) const TESTS: &[&[Case]] = &[
    identity::TESTS,
    killed::TESTS,
    locked::TESTS,
    paths::TESTS,
    requests::TESTS,
    viewers::TESTS,
];
