//! Output that the program itself writes for people: reports, dumps, the log.
//!
//! The code for report formats and the log comes from `tickscope-report`, with the feature `report`. Without this
//! feature, the snapshot itself is written instead of a report, and a message gives the command that makes a report
//! from it.

#[cfg(feature = "report")]
mod forms;
#[cfg(feature = "report")]
mod log;
#[cfg(feature = "report")]
mod log_writer;
pub(crate) mod report_file;
#[cfg(not(feature = "report"))]
mod without_report;

#[cfg(feature = "report")]
pub use self::forms::of_format;
#[cfg(not(feature = "report"))]
pub(crate) use self::without_report::{LOG_IS_MISSING, Log};
#[cfg(feature = "report")]
pub(crate) use self::{forms::LOG_IS_MISSING, log::Log};
