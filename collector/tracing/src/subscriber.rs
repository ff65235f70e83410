//! The bare subscriber. The collector owns the spans, so there is no registry.

use tickscope::__private::{count, spans};
use tracing_core::dispatcher::{self, Dispatch, SetGlobalDefaultError};
use tracing_core::span::{Attributes, Current, Id, Record};
use tracing_core::subscriber::Interest;
use tracing_core::{Event, LevelFilter, Metadata};

use crate::call_sites;
use crate::filter::Filter;

/// The id of every span that the collector has no space for. The ids of other spans are smaller.
const BEYOND: u64 = u64::MAX;

/// A subscriber that turns spans into rows. Create it with [`subscriber()`].
#[derive(Clone, Debug)]
#[must_use = "nothing is measured before it is made the program's subscriber: `init`"]
pub struct Subscriber {
    filter: Filter,
}

/// Returns a subscriber that turns all spans into rows. Events are disabled.
///
/// A span costs about 50 ns more than without a subscriber. Without the feature `enable`, all spans are disabled.
pub fn subscriber() -> Subscriber {
    Subscriber {
        filter: Filter::new(),
    }
}

impl Subscriber {
    /// Disables spans and events that are more verbose than `level`. They then cost the same as without a subscriber.
    pub fn with_max_level(mut self, level: LevelFilter) -> Self {
        self.filter.level = level;
        self
    }

    /// Sets the maximum level for a target and all targets below it, instead of the level from
    /// [`Self::with_max_level`]. If several such targets match, the longest one decides.
    ///
    /// ```
    /// # use tickscope_tracing::{LevelFilter, subscriber};
    /// let subscriber = subscriber()
    ///     .with_max_level(LevelFilter::INFO)
    ///     .with_target("my_app", LevelFilter::TRACE)
    ///     .with_target("hyper", LevelFilter::OFF);
    /// # drop(subscriber);
    /// ```
    pub fn with_target(mut self, target: impl Into<String>, level: LevelFilter) -> Self {
        self.filter.set_target(target.into(), level);
        self
    }

    /// Makes each event's call site a counter. By default, events are disabled.
    pub fn count_events(mut self) -> Self {
        self.filter.events = true;
        self
    }

    /// Makes `self` the subscriber of the whole program.
    ///
    /// # Errors
    /// Fails if the program already has a subscriber.
    pub fn init(self) -> Result<(), SetGlobalDefaultError> {
        dispatcher::set_global_default(Dispatch::new(self))
    }

    fn allows(&self, metadata: &Metadata<'_>) -> bool {
        spans::IS_MEASURED && self.filter.allows(metadata)
    }
}

impl tracing_core::Subscriber for Subscriber {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if !self.allows(metadata) {
            return Interest::never();
        }
        call_sites::of(metadata);
        Interest::always()
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        self.allows(metadata)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        let most = self.filter.most_verbose();
        Some(if spans::IS_MEASURED {
            most
        } else {
            LevelFilter::OFF
        })
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let (tag, site) = call_sites::of(attributes.metadata());
        id(spans::begin(site, tag))
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        // A disabled event may still arrive here if another subscriber has enabled its call site.
        if self.filter.events && self.allows(event.metadata()) {
            count(call_sites::of(event.metadata()).1, 1);
        }
    }

    fn enter(&self, span: &Id) {
        spans::enter(number(span));
    }

    fn exit(&self, span: &Id) {
        spans::exit(number(span));
    }

    fn clone_span(&self, span: &Id) -> Id {
        spans::hold(number(span));
        span.clone()
    }

    fn try_close(&self, span: Id) -> bool {
        spans::release(number(&span))
    }

    fn current_span(&self) -> Current {
        let known = spans::current().and_then(|(span, tag)| Some((span, call_sites::get(tag)?)));
        known.map_or_else(Current::none, |(span, call_site)| {
            Current::new(id(span), call_site.metadata)
        })
    }
}

fn id(number: u32) -> Id {
    Id::from_u64(if number == 0 { BEYOND } else { number.into() })
}

/// Returns the number that the collector gave a span, or 0 if the collector had no space for it.
fn number(span: &Id) -> u32 {
    u32::try_from(span.into_u64()).unwrap_or(0)
}
