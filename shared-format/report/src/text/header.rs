//! The header of the report: the program, how it was measured, and reasons why the numbers are less reliable.

use std::fmt::{self, Write};

use tickscope_analysis::measure::{Dimension, Measure};
use tickscope_format::ids::{SiteId, ThreadId};
use tickscope_format::snapshot::{
    CaptureKind, Loss, ModeTraits, Quantity, Snapshot, Thread, ThreadState, Timing, saturating_sum,
};

use super::page::Page;
use super::scale::Time;
use crate::budget::off_for_the_budget;
use crate::escape::visible;
use crate::process_state::heading;
use crate::unit::Unit;
use crate::{extent, memory_bound, number};

/// Maximum number of switched-off sites listed by name.
const SITES_NAMED: usize = 2;

pub(super) fn write(out: &mut String, page: &Page<'_>) -> fmt::Result {
    let (state, ascii) = (page.options.state, page.options.ascii);
    out.push_str(&heading("report", page.snapshot, state, ascii));
    writeln!(out)?;
    for (name, text) in facts(page) {
        writeln!(out, "  {name:<11}  {text}")?;
    }
    writeln!(out)
}

/// Returns the header lines below the title, each as a label and its text.
pub(super) fn facts(page: &Page<'_>) -> Vec<(&'static str, String)> {
    let part = &page.options.extent;
    let mut facts = Vec::new();
    let when = part.when.as_ref().filter(|_| !page.snapshot.window);
    facts.extend(when.map(|moment| ("moment", moment.clone())));
    facts.push((extent::name(page.snapshot), reset(page)));
    let focus = part.focus_words();
    facts.extend(focus.map(|text| ("focus", visible(&text, page.options.ascii).into_owned())));
    facts.push(("mode", mode(page)));
    let doubt = memory_bound::doubt(page.raw, page.raw.capture.mode);
    facts.extend(doubt.map(|text| ("memory", text.to_string())));
    facts.extend(estimates(page).map(|text| ("estimates", text)));
    facts.extend(unit(page).map(|text| ("unit", text)));
    facts.extend(per_call(page).map(|text| ("numbers", text)));
    facts.push(("measured", measured(page)));
    facts.extend(by(page).map(|text| ("by", text)));
    let off_now = switched_off(page, "switched off", &page.snapshot.measuring.off_sites);
    let was_off = switched_off(page, "switched off for a time", &page.snapshot.was_off);
    facts.extend(off_now.into_iter().chain(was_off).map(|text| ("sites", text)));
    facts.extend(functions(page).map(|text| ("functions", text)));
    facts.push(("threads", threads(page)));
    facts.push(("clock", clock(page)));
    facts.push(("cost", cost(page)));
    facts.push(("lost", lost(page)));
    for warning in &page.snapshot.process.warnings {
        facts.push(("warning", visible(warning, page.options.ascii).into_owned()));
    }
    facts
}

fn reset(page: &Page<'_>) -> String {
    let capture = &page.snapshot.capture;
    let kind = match capture.kind {
        CaptureKind::Closing => ", closed by a reset",
        CaptureKind::Final => ", final",
        CaptureKind::Periodic | _ => "",
    };
    format!(
        "{} (epoch {}{kind}; program up {})",
        page.in_charset(page.options.extent.length(page.snapshot)),
        capture.reset_epoch,
        page.duration(page.snapshot.process.uptime_ns),
    )
}

fn measured(page: &Page<'_>) -> String {
    // Updates of counters do not count as calls of scopes.
    let scopes = page.tree.rows.iter().filter(|row| row.tally.is_none());
    let calls = page.count(saturating_sum(scopes.map(|row| row.calls)));
    format!("{} inside scopes, {calls} calls", measured_time(page))
}

fn measured_time(page: &Page<'_>) -> String {
    if page.options.by != Measure::Time {
        let shown = |id: &ThreadId| page.options.thread.is_none_or(|chosen| chosen == *id);
        let threads = (0..page.raw.threads.len() as u32).map(ThreadId).filter(shown);
        let self_ns = page.raw.self_nanos();
        let ns = threads.flat_map(|id| &self_ns[page.raw.rows_of(id)]);
        return page.duration(saturating_sum(ns.copied()));
    }
    let measured = page.measured();
    let time = Time::total(measured.ns, measured.ticks, page.measured_uncertainty());
    if time.is_unseen() {
        "no sample was taken while time passed".to_string()
    } else {
        page.time(time)
    }
}

/// Returns the sums of the report's measure inside and outside scopes, or `None` if the measure is time.
fn by(page: &Page<'_>) -> Option<String> {
    let ticks = page.tree.outside_ticks;
    let outside = Time::own(page.snapshot.value(ticks), ticks, None);
    (page.options.by != Measure::Time).then(|| {
        format!(
            "{}: {} inside scopes, {} outside any",
            page.options.by.name(),
            page.cell(page.measured(), 0),
            page.cell(outside, 0),
        )
    })
}

fn mode(page: &Page<'_>) -> String {
    let Snapshot {
        capture, measuring, ..
    } = page.snapshot;
    let ModeTraits {
        name,
        is_counting,
        timing,
        meaning,
        ..
    } = capture.mode.traits();
    match timing {
        Timing::Samples => format!(
            "{name}: {:.0} samples a second, {} {}; counts are exact",
            measuring.sampling_hz,
            number::count(measuring.samples),
            extent::words(page.snapshot),
        ),
        Timing::Never if !is_counting => format!("{name}: {meaning}; `tickscope mode exact` switches it on"),
        Timing::EveryCall | Timing::SomeCalls | Timing::Never => format!("{name}: {meaning}"),
    }
}

/// Explains which numbers are estimates and how accurate their sum is. Returns `None` if there are no estimates.
fn estimates(page: &Page<'_>) -> Option<String> {
    let of = match page.dimension() {
        Dimension::Time => "times",
        Dimension::Count | Dimension::Bytes => "numbers",
    };
    page.has_estimates.then(|| match page.measured_uncertainty() {
        None => format!("{of}, with ~ if rough; the sum of all is exact"),
        // If threads never left their scopes, the samples give no error for the sum.
        Some(uncertainty) if uncertainty.total_error < 0.5 => format!("{of}, with ~ if rough"),
        Some(uncertainty) => {
            let error_ns = page.snapshot.value(uncertainty.total_error.round() as u64);
            format!(
                "{of}, with ~ if rough; the standard error of the sum of all is {} ({})",
                page.time(Time {
                    ns: error_ns,
                    ticks: uncertainty.total_error.round() as u64,
                    estimated: false,
                }),
                page.percent(error_ns),
            )
        }
    })
}

/// Returns the length of a tick, or `None` if the report shows no ticks.
fn unit(page: &Page<'_>) -> Option<String> {
    let per_ns = page.snapshot.clock.ticks_per_second / 1e9;
    let ticks = format!("ticks of the clock, {per_ns:.2} ticks a nanosecond");
    match page.unit() {
        Unit::Ns => None,
        Unit::Ticks => Some(format!("times in {ticks}")),
        Unit::Both => Some(format!("times also in {ticks}")),
    }
}

/// If times and counts are reported per call of a function, returns the name of that function and its number of calls.
fn per_call(page: &Page<'_>) -> Option<String> {
    let per = page.options.per.as_ref()?;
    Some(format!(
        "per call of {} ({} calls)",
        visible(&per.name, page.options.ascii),
        per.calls
    ))
}

fn switched_off(page: &Page<'_>, how: &str, off: &[SiteId]) -> Option<String> {
    let mut names: Vec<&str> = off
        .iter()
        .filter_map(|site| page.tree.functions.of_site.get(site.index()))
        .map(|function| page.labels[function.index()].as_str())
        .take(SITES_NAMED)
        .collect();
    if off.len() > SITES_NAMED {
        names.push(page.glyphs.cut);
    }
    let sites = if off.len() == 1 { "site" } else { "sites" };
    let whose = match page.snapshot.measures.of(Quantity::Sampled) {
        Some(_) => "which are sampled",
        None => "whose time is their callers'",
    };
    (!off.is_empty()).then(|| format!("{how}: {} {sites} ({}), {whose}", off.len(), names.join(", ")))
}

fn threads(page: &Page<'_>) -> String {
    let threads = &page.snapshot.threads;
    let is_finished = |thread: &&Thread| thread.state == ThreadState::Finished;
    let (finished, live): (Vec<&Thread>, Vec<&Thread>) = threads.iter().partition(is_finished);
    let ended = saturating_sum(finished.iter().map(|thread| thread.count));
    let text = format!("{} live, {ended} finished", live.len());
    let Some(chosen) = page.options.thread else {
        return text;
    };
    let Some(thread) = threads.get(chosen.index()) else {
        return format!("{text}; there is no thread {} to show", chosen.0);
    };
    let which = match is_finished(&thread) {
        true => format!("{} finished", thread.count),
        false => format!("tid {}, {}", thread.tid, thread.state.words()),
    };
    let name = visible(&thread.name, page.options.ascii);
    format!("{text}; shown: only {name} ({which})")
}

fn clock(page: &Page<'_>) -> String {
    let clock = &page.snapshot.clock;
    let mut text = format!("{}, {}", clock.source.as_str(), frequency(clock.ticks_per_second));
    if !clock.reason.is_empty() {
        text.push_str(&format!(" ({})", visible(&clock.reason, page.options.ascii)));
    }
    text.push_str(&format!(", {} errors", clock.errors));
    if page.snapshot.clock_drains() {
        let ns = page.snapshot.drains_ns.unwrap_or(0.0);
        text.push_str(&format!(
            "; its reads wait for loads: +{ns:.0} ns for four at once"
        ));
    }
    if clock.errors > 0 {
        text.push_str(" (gaps not charged)");
    }
    if clock.epoch > 0 {
        text.push_str(&format!(", broke {} times", clock.epoch));
    }
    text
}

fn frequency(ticks_per_second: f64) -> String {
    let (value, unit) = match ticks_per_second {
        hz if hz >= 1e9 => (hz / 1e9, "GHz"),
        hz if hz >= 1e6 => (hz / 1e6, "MHz"),
        hz if hz >= 1e3 => (hz / 1e3, "kHz"),
        hz => (hz, "Hz"),
    };
    format!("{value:.3} {unit}")
}

fn cost(page: &Page<'_>) -> String {
    let (lower, upper) = page.raw.cost_share();
    let (lower, upper) = (number::percent(lower), number::percent(upper));
    let (share, each) = if page.raw.may_cost_more() {
        (format!("at least {lower}"), ", a lower bound")
    } else if lower == upper {
        (upper, "")
    } else {
        (format!("{lower} to {upper}"), "")
    };
    let of = match page.raw.has_function_cost() {
        true => "more CPU time than the plain build takes",
        false => "of work in scopes",
    };
    format!(
        "{share} {of} ({} each{each}); publisher {} of a core",
        page.raw.scope_cost(),
        number::percent(page.snapshot.capture.cost.publisher_share),
    )
}

/// Returns how many functions are switched on, or `None` if no function has sleds.
fn functions(page: &Page<'_>) -> Option<String> {
    let functions = page.snapshot.functions.as_ref()?;
    let also = |count: u64, what: &str| match count {
        0 => String::new(),
        count => format!(", {} {what}", page.count(count)),
    };
    Some(format!(
        "{} of {} switched on{}{}{}{}{}",
        functions.on,
        functions.known,
        off_for_the_budget(page.snapshot).map_or(String::new(), |off| format!(", {off}")),
        also(functions.unwound, "calls unwound"),
        also(functions.elsewhere, "events on other stacks, not counted"),
        also(functions.vanished, "async calls whose end was not seen"),
        if functions.fixed {
            "; this system does not let a program change its code, so functions that are off stay off"
        } else {
            ""
        },
    ))
}

fn lost(page: &Page<'_>) -> String {
    let capture = &page.snapshot.capture;
    let count = |loss: Loss| match loss.value {
        0 => format!("0 {}", loss.counted),
        value => format!("{value} {} ({})", loss.counted, loss.cause),
    };
    let counts: Vec<String> = capture.losses.iter().map(count).collect();
    let pruned = match capture.pruned {
        0 => String::new(),
        rows => format!(", {rows} rows pruned (give a larger ring)"),
    };
    counts.join(", ") + &pruned
}
