//! The commands as users run them: real programs, real files, real exit codes.

mod bugs;
mod diff;
mod documents;
mod files;
mod first_steps;
mod help;
mod lines;
mod listing;
mod live;
mod log;
mod mcp;
mod merging;
mod messages;
mod metrics;
mod push;
mod recording;
mod refusals;
mod report;
pub(crate) mod roles;
mod run;
mod scripts;
mod slow;
mod streams;
mod switching;
mod targets;
mod trigger;

use tickscope_testkit::suite::Case;

pub(crate) const TESTS: &[&[Case]] = &[
    bugs::TESTS,
    diff::TESTS,
    documents::TESTS,
    files::TESTS,
    first_steps::TESTS,
    help::TESTS,
    lines::TESTS,
    listing::TESTS,
    live::TESTS,
    log::TESTS,
    mcp::TESTS,
    merging::TESTS,
    messages::TESTS,
    metrics::TESTS,
    push::TESTS,
    recording::TESTS,
    refusals::TESTS,
    report::TESTS,
    run::TESTS,
    scripts::TESTS,
    slow::TESTS,
    streams::TESTS,
    switching::TESTS,
    targets::TESTS,
    trigger::TESTS,
];
