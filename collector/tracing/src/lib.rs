//! Shows the spans of the crate `tracing` as rows of [tickscope].
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
//! The call of `start` is optional: with `TICKSCOPE=live` in its environment the program publishes from its first span
//! on.
//!
//! | | what it is for |
//! |---|---|
//! | [`subscriber()`] | programs that use spans only for tickscope. It is fast, because it keeps neither fields nor a registry of spans |
//! | `layer()`, feature `layer` | programs with a `Registry` of `tracing-subscriber`, next to their other layers |
//!
//! # Rows
//! Each call site of a span is a row with the span's name, module, file and line. A span counts as one call, at its
//! first entry. Its row is below the span that is open at the entry, and not below the parent in `tracing`. Usually
//! both are the same span.
//!
//! A span that is entered again before it is closed is a call of a future, like a call of `#[tickscope::profile] async
//! fn`. The call lasts from the first entry until the span is closed, and is in flight for this time. Its polls are the
//! times in which the span is open. `#[instrument] async fn` and `Instrumented` futures enter their spans again at the
//! latest when the future is dropped. Until any span of a call site has been entered again, its spans are not known to
//! be futures. A waiting call then looks ended until its second poll. A dropped future cannot be distinguished from a
//! ready future, so no call counts as cancelled. The drop counts as one more poll.
//!
//! Spans may be exited in any order. Spans inside an exited span continue in new rows, in its place.
//!
//! # Events
//! Events are disabled, unless [`Subscriber::count_events`] makes counters of them. Each call site is then a row below
//! the open span, called `[warn] src/net.rs:41`, or `[warn] name` for an event with a name.
//!
//! # Limits
//! - Fields are not recorded.
//! - 8192 call sites have rows of their own. Spans and events of further call sites share the rows `(further spans)`
//!   and `(further events)`.
//! - Up to a million spans are kept at a time. Further spans count as dropped calls, which viewers and reports show.
//! - Spans do not work in signal handlers.

mod call_sites;
mod filter;
#[cfg(feature = "layer")]
mod layer;
mod subscriber;

#[cfg(feature = "layer")]
pub use layer::{Layer, layer};
pub use subscriber::{Subscriber, subscriber};
/// Re-exported for programs that start a session of their own and depend on no other crate of tickscope.
pub use tickscope;
pub use tracing_core::LevelFilter;
