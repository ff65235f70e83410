//! Tests with real processes that are killed, stopped, lapped by the writer of a ring, locked out, or observed by many
//! viewers.

mod identity;
mod killed;
mod locked;
mod paths;
mod requests;
pub(crate) mod roles;
mod viewers;

use tickscope_testkit::suite::Case;

pub(crate) const TESTS: &[&[Case]] = &[
    identity::TESTS,
    killed::TESTS,
    locked::TESTS,
    paths::TESTS,
    requests::TESTS,
    viewers::TESTS,
];
