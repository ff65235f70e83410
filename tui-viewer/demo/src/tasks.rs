//! Async tasks in small, in std alone: what polls them, and what they wait for.

pub(crate) mod answer;
pub(crate) mod executor;
pub(crate) mod patience;
pub(crate) mod timer;
