//! Profiled futures: one call a future, its time the sum of its polls.

use std::future::{Future, poll_fn};
use std::pin::pin;

use crate::enabled::record::site::Site;
use crate::enabled::scope;

/// Runs a future; its first poll counts a call, and each poll is charged to the site. Between polls nothing is
/// open, so that an await is nobody's time and the future may move to another thread.
pub async fn profile_future<F: Future>(site: &'static Site, future: F) -> F::Output {
    let mut future = pin!(future);
    let mut calls = 1;
    poll_fn(|context| {
        let _scope = scope::enter_counting(site, std::mem::take(&mut calls));
        future.as_mut().poll(context)
    })
    .await
}
