//! Decisions that are made once for the whole process.

pub(crate) mod clock_rate;
pub(crate) mod config;
pub(crate) mod process_name;
pub(crate) mod settings;
