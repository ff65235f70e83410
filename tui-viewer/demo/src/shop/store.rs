//! Data that all requests share.

use std::sync::Arc;

use crate::database::Database;
use crate::shop::cache::Cache;
use crate::tasks::timer::Timer;

/// Data that requests need.
#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) cache: Cache,
    pub(crate) database: Database,
    pub(crate) timer: Arc<Timer>,
}
