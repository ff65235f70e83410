//! Measures what a span of the crate `tracing` costs above the same loop without one: with the bare subscriber of
//! `tickscope-tracing`, with its layer on a `Registry`, with a layer that does nothing, and with one that keeps times among the span's
//! extensions, as layers that measure do. All are in one run.
//!
//! `tracing_cost [ROUNDS]`, 101 rounds unless said otherwise.
//!
//! A program has one subscriber, and `tracing` keeps it in a place of its own that costs less than one for a while. So the
//! subscriber here is one that hands on to the one whose turn it is: a load and a comparison more for each of the four events of a span.
#![allow(clippy::print_stdout, reason = "a program that speaks to its user")]

use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tickscope_bench::pairs::{self, Pair};
use tickscope_tracing::{layer, subscriber};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::{Interest, set_global_default};
use tracing::{Event, Metadata, Subscriber, info_span};
use tracing_core::span::Current;
use tracing_subscriber::Registry;
use tracing_subscriber::layer::{Context, Layered, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

/// How many spans a round makes.
const SPANS: u64 = 100_000;

/// A layer that looks nothing up and keeps nothing.
#[derive(Debug)]
struct Nothing;

impl<S: Subscriber + for<'a> LookupSpan<'a>> tracing_subscriber::Layer<S> for Nothing {}

/// A layer that keeps among the span's extensions when it was entered and how long it was open.
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

/// The subscribers, by turn.
#[derive(Debug)]
struct Turns {
    bare: tickscope_tracing::Subscriber,
    layered: Layered<tickscope_tracing::Layer, Registry>,
    times: Layered<Times, Registry>,
    nothing: Layered<Nothing, Registry>,
}

static TURN: AtomicUsize = AtomicUsize::new(0);

macro_rules! whose_turn {
    ($turns:expr, $subscriber:ident => $does:expr) => {
        match TURN.load(Ordering::Relaxed) {
            0 => {
                let $subscriber = &$turns.bare;
                $does
            }
            1 => {
                let $subscriber = &$turns.layered;
                $does
            }
            2 => {
                let $subscriber = &$turns.times;
                $does
            }
            _ => {
                let $subscriber = &$turns.nothing;
                $does
            }
        }
    };
}

impl Subscriber for Turns {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        self.bare.register_callsite(metadata);
        self.layered.register_callsite(metadata);
        self.times.register_callsite(metadata);
        self.nothing.register_callsite(metadata);
        Interest::always()
    }

    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        whose_turn!(self, subscriber => subscriber.new_span(attributes))
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        whose_turn!(self, subscriber => subscriber.record(span, values));
    }

    fn record_follows_from(&self, span: &Id, follows: &Id) {
        whose_turn!(self, subscriber => subscriber.record_follows_from(span, follows));
    }

    fn event(&self, event: &Event<'_>) {
        whose_turn!(self, subscriber => subscriber.event(event));
    }

    fn enter(&self, span: &Id) {
        whose_turn!(self, subscriber => subscriber.enter(span));
    }

    fn exit(&self, span: &Id) {
        whose_turn!(self, subscriber => subscriber.exit(span));
    }

    fn clone_span(&self, span: &Id) -> Id {
        whose_turn!(self, subscriber => subscriber.clone_span(span))
    }

    fn try_close(&self, span: Id) -> bool {
        whose_turn!(self, subscriber => subscriber.try_close(span))
    }

    fn current_span(&self) -> Current {
        whose_turn!(self, subscriber => subscriber.current_span())
    }
}

fn plain(spans: u64) {
    for number in 0..spans {
        black_box(number);
    }
}

#[inline(always)]
fn in_turn(turn: usize, spans: u64) {
    TURN.store(turn, Ordering::Relaxed);
    for number in 0..spans {
        let _span = info_span!("span").entered();
        black_box(number);
    }
}

/// A span that has a field, which nothing keeps, and that is entered by its reference.
fn with_field(spans: u64) {
    TURN.store(0, Ordering::Relaxed);
    for number in 0..spans {
        let span = info_span!("with a field", number);
        let _entered = span.enter();
        black_box(number);
    }
}

fn scopes(spans: u64) {
    for number in 0..spans {
        tickscope::scope!("scope");
        black_box(number);
    }
}

const CASES: [Pair; 6] = [
    Pair {
        name: "scope!",
        plain,
        measured: scopes,
    },
    Pair {
        name: "bare",
        plain,
        measured: |spans| in_turn(0, spans),
    },
    Pair {
        name: "bare, field",
        plain,
        measured: with_field,
    },
    Pair {
        name: "layer",
        plain,
        measured: |spans| in_turn(1, spans),
    },
    Pair {
        name: "times layer",
        plain,
        measured: |spans| in_turn(2, spans),
    },
    Pair {
        name: "empty layer",
        plain,
        measured: |spans| in_turn(3, spans),
    },
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rounds = pairs::rounds(std::env::args().nth(1).as_deref())?;
    let _session = tickscope::start("tracing_cost");
    let subscriber = Turns {
        bare: subscriber(),
        layered: tracing_subscriber::registry().with(layer()),
        times: tracing_subscriber::registry().with(Times),
        nothing: tracing_subscriber::registry().with(Nothing),
    };
    set_global_default(subscriber)?;
    println!(
        "A span that is made, entered, exited and closed, in ns, medians of {rounds} rounds; the difference with its 95 % \
         interval:"
    );
    println!("case              plain       span  difference");
    pairs::print_times(&CASES, rounds, SPANS);
    Ok(())
}
