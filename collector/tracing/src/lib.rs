//! Shows the spans of the `tracing` crate as rows in [tickscope].
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
//! Calling `start` is optional: with `TICKSCOPE=live` in its environment, the program publishes from its first span onwards.
//!
//! | | what it is for |
//! |---|---|
//! | [`subscriber()`] | programs that use spans only for tickscope. It is fast, because it keeps neither fields nor a registry of spans |
//! | `layer()`, feature `layer` | programs with a `tracing-subscriber` `Registry`, alongside their other layers |
//!
//! # Rows
//! Each call site of a span is a row with the span's name, module, file and line. A span counts as one call when it is
//! entered for the first time. Its row is below the span that is open at that moment, and not below its parent in
//! `tracing`. Usually, these two are the same span.
//!
//! A span that is entered again before it is closed is a call of a future, like a call of a
//! `#[tickscope::profile] async fn`. The call lasts from the first entry until the span is closed, and is in flight
//! during this time. Each time that the span is open is a poll of the call. `#[instrument] async fn` and `Instrumented`
//! futures enter their span again when the future is dropped, if they have not done so before.
//!
//! A call site is not known to belong to a future until one of its spans has been entered again. Until then, a call
//! that waits for its second poll looks as if it had ended. A future that is dropped early cannot be told from one that
//! has completed, so no call counts as cancelled. The drop counts as one more poll.
//!
//! Spans may be exited in any order. If a span is exited before the spans inside it, those continue in new rows in its
//! place.
//!
//! # Events
//! Events are disabled unless [`Subscriber::count_events`] turns them into counters. The call site of an event is then
//! a row below the open span. The row is called `[warn] src/net.rs:41`, or `[warn] name` if the event has a name.
//!
//! # Limits
//! - Fields are not recorded.
//! - Up to 8192 call sites have rows of their own. Spans and events of all other call sites share the rows
//!   `(further spans)` and `(further events)`.
//! - Up to a million spans are kept at a time. Any more count as dropped calls, which viewers and reports show.
//! - Spans do not work in signal handlers.

mod call_sites;
mod filter;
#[cfg(feature = "layer")]
mod layer;
mod subscriber;

#[cfg(feature = "layer")]
pub use layer::{Layer, layer};
pub use subscriber::{Subscriber, subscriber};
/// Re-exported for programs that start a session themselves and depend on no other tickscope crate.
pub use tickscope;
pub use tracing_core::LevelFilter;
