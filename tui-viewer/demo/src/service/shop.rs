//! The shop: what all requests share.

use std::sync::Arc;

use crate::service::cache::Cache;
use crate::service::database::Database;
use crate::service::timer::Timer;

/// What requests need.
#[derive(Debug)]
pub(crate) struct Shop {
    pub(crate) cache: Cache,
    pub(crate) database: Database,
    pub(crate) timer: Arc<Timer>,
}
