//! Minimal async tasks, built on std alone: the executor that polls them, and the futures that they wait for.

pub(crate) mod answer;
pub(crate) mod executor;
pub(crate) mod patience;
pub(crate) mod timer;
