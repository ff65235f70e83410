//! Makes rows of [tickscope] of the spans of the crate `tracing`.
//!
//! ```
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     tickscope_tracing::subscriber().init()?;
//!     let _tickscope = tickscope::start("order-book");
//!     parse("a b c");
//!     Ok(())
//! }
//!
//! #[tracing::instrument]
//! fn parse(input: &str) -> usize {
//!     let _count = tracing::info_span!("count").entered();
//!     input.split(' ').count()
//! }
//! ```
//!
//! The line with `start` may be missing: with `TICKSCOPE=live` in its environment the program publishes from its first span on.
//!
//! | | what it is for |
//! |---|---|
//! | [`subscriber()`] | programs that use spans for nothing else. It is fast: it keeps no fields, and no registry of spans |
//! | `layer()`, feature `layer` | programs with a `Registry` of `tracing-subscriber`, beside their other layers |
//!
//! # Rows
//! Each call site of a span is a row with the span's name, module, file and line. A span counts as one call, at the first time that it is
//! entered. Where it is entered decides where its row is, and not what `tracing` takes for its parent: most often both are the same.
//!
//! A span that is entered again before it is closed is a call of a future, as that of `#[tickscope::profile] async fn`: it lasts from
//! the first time that it is entered until it is closed, its polls are the times that it is open, and until it is closed it is among the
//! calls in flight. `#[instrument] async fn` and `Instrumented` futures enter their spans again at the latest when the future is
//! dropped. Before any span of a call site was entered again, nothing tells that its spans are those of futures: then a
//! call that waits is seen as one that has ended, until its second poll. Nothing tells a future that was dropped
//! from one that was ready, so no call is cancelled. Dropping is one poll more.
//!
//! Spans may be exited in any order. Those inside a span that is exited go on in their own rows where that span was.
//!
//! # Events
//! Events are disabled, unless [`Subscriber::count_events`] makes counters of them: each call site is a row below the span that is open,
//! called `[warn] src/net.rs:41`, or `[warn] name` for an event with a name.
//!
//! # Limits
//! - Fields are not recorded.
//! - 8192 call sites have rows of their own. Spans and events of further ones share the rows `(further spans)` and `(further events)`.
//! - Up to a million spans are kept at a time. Further ones count as dropped calls, which viewers and reports show.
//! - A span is not for signal handlers.

mod call_sites;
mod filter;
#[cfg(feature = "layer")]
mod layer;
mod subscriber;

#[cfg(feature = "layer")]
pub use layer::{Layer, layer};
pub use subscriber::{Subscriber, subscriber};
/// For programs that start a session of their own and depend on nothing else of tickscope.
pub use tickscope;
pub use tracing_core::LevelFilter;
