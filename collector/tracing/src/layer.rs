//! A layer for a `tracing-subscriber` registry. For each span of the registry that passes the filter, the collector has
//! a span of its own.

mod by_id;

use tickscope::__private::{count, spans};
use tracing_core::span::{Attributes, Id};
use tracing_core::{Event, LevelFilter};
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use crate::call_sites;
use crate::filter::Filter;

/// A layer that turns spans into rows. Create it with [`layer()`].
#[derive(Clone, Debug)]
#[must_use = "nothing is measured before it is part of the program's subscriber"]
pub struct Layer {
    filter: Filter,
}

/// Returns a layer that turns all spans into rows. If tickscope is the only user of spans,
/// [`subscriber`](crate::subscriber()) costs less.
///
/// ```
/// use tracing_subscriber::prelude::*;
///
/// let subscriber = tracing_subscriber::registry().with(tickscope_tracing::layer());
/// # drop(subscriber);
/// ```
///
/// Filters of `tracing-subscriber` apply, for the whole subscriber as well as for this layer (`with_filter`).
pub fn layer() -> Layer {
    Layer {
        filter: Filter::new(),
    }
}

impl Layer {
    /// Makes no rows for spans and events that are more verbose than `level`. Such spans and events are not disabled,
    /// because other layers may use them.
    pub fn with_max_level(mut self, level: LevelFilter) -> Self {
        self.filter.level = level;
        self
    }

    /// Sets the maximum level for a target and all targets below it, instead of the level from
    /// [`Self::with_max_level`]. If several such targets match, the longest one decides.
    pub fn with_target(mut self, target: impl Into<String>, level: LevelFilter) -> Self {
        self.filter.set_target(target.into(), level);
        self
    }

    /// Makes each event's call site a counter. By default, events are not counted.
    pub fn count_events(mut self) -> Self {
        self.filter.events = true;
        self
    }
}

impl<S> tracing_subscriber::Layer<S> for Layer
where
    S: tracing_core::Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, _: Context<'_, S>) {
        if spans::IS_MEASURED && self.filter.allows(attributes.metadata()) {
            let (tag, site) = call_sites::of(attributes.metadata());
            by_id::put(id.into_u64(), spans::begin(site, tag));
        }
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if spans::IS_MEASURED && self.filter.events && self.filter.allows(event.metadata()) {
            count(call_sites::of(event.metadata()).1, 1);
        }
    }

    fn on_enter(&self, id: &Id, _: Context<'_, S>) {
        if spans::IS_MEASURED {
            spans::enter(by_id::get(id.into_u64()));
        }
    }

    fn on_exit(&self, id: &Id, _: Context<'_, S>) {
        if spans::IS_MEASURED {
            spans::exit(by_id::get(id.into_u64()));
        }
    }

    fn on_close(&self, id: Id, _: Context<'_, S>) {
        if spans::IS_MEASURED {
            spans::release(by_id::take(id.into_u64()));
        }
    }
}
