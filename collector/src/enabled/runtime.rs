//! Decisions that are made once for the whole process.

pub(crate) mod clock_rate;
pub(crate) mod config;
pub(crate) mod copies;
pub(crate) mod environment;
#[cfg(all(feature = "functions", target_arch = "x86_64"))]
pub(crate) mod function_choice;
#[cfg(all(feature = "functions", target_arch = "x86_64"))]
pub(crate) mod learned;
pub(crate) mod process_name;
pub(crate) mod settings;
