//! Loops that open spans of the crate `tracing`: with the bare subscriber of `tickscope-tracing`, with its layer on a
//! `Registry`, with a layer that does nothing, and with a layer that, like many others, stores times in the span's extensions.

use std::hint::black_box;
use std::time::{Duration, Instant};

use tracing::span::{Attributes, Id};
use tracing::subscriber::set_global_default;
use tracing::{Subscriber, info_span};
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::registry;
use tracing_subscriber::registry::LookupSpan;

/// A layer that does nothing.
#[derive(Debug)]
struct Nothing;

impl<S: Subscriber + for<'a> LookupSpan<'a>> tracing_subscriber::Layer<S> for Nothing {}

/// A layer that stores two times in each span's extensions: when the span was last entered, and how long it has been
/// entered in total.
#[derive(Debug)]
struct Times;

#[derive(Debug)]
struct Time {
    entered: Instant,
    open: Duration,
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> tracing_subscriber::Layer<S> for Times {
    fn on_new_span(&self, _: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let time = Time {
            entered: Instant::now(),
            open: Duration::ZERO,
        };
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(time);
        }
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        change(&context, id, |time| time.entered = Instant::now());
    }

    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        change(&context, id, |time| time.open += time.entered.elapsed());
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        change(&context, &id, |time| {
            black_box(time.open);
        });
    }
}

fn change<S>(context: &Context<'_, S>, id: &Id, change: impl FnOnce(&mut Time))
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    if let Some(span) = context.span(id)
        && let Some(time) = span.extensions_mut().get_mut()
    {
        change(time);
    }
}

/// Installs the program's global subscriber. There must not be one yet.
fn begin(subscriber: impl Subscriber + Send + Sync) {
    if let Err(error) = set_global_default(subscriber) {
        eprintln!("{error}");
    }
}

pub(crate) fn bare() {
    begin(tickscope_tracing::subscriber());
}

pub(crate) fn layered() {
    begin(registry().with(tickscope_tracing::layer()));
}

pub(crate) fn times() {
    begin(registry().with(Times));
}

pub(crate) fn nothing() {
    begin(registry().with(Nothing));
}

/// Runs the same loop without any spans.
pub(crate) fn none(spans: u64) {
    for number in 0..spans {
        black_box(number);
    }
}

pub(crate) fn scopes(spans: u64) {
    for number in 0..spans {
        tickscope::scope!("scope");
        black_box(number);
    }
}

pub(crate) fn spans(spans: u64) {
    for number in 0..spans {
        let _span = info_span!("span").entered();
        black_box(number);
    }
}

/// Opens spans with a field, which none of the subscribers stores, and enters them by reference.
pub(crate) fn with_field(spans: u64) {
    for number in 0..spans {
        let span = info_span!("with a field", number);
        let _entered = span.enter();
        black_box(number);
    }
}
