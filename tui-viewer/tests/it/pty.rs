//! The viewer in a real terminal.

mod deaf;
mod editor;
mod leaving;
mod looks;
mod piped;
pub(crate) mod program;
mod session;
mod sizes;
pub(crate) mod synthetic;
mod troubled;

use tickscope_testkit::suite::Case;

pub(crate) const TESTS: &[&[Case]] = &[
    deaf::TESTS,
    editor::TESTS,
    leaving::TESTS,
    looks::TESTS,
    piped::TESTS,
    program::TESTS,
    sizes::TESTS,
    troubled::TESTS,
];
