//! The JSON form of the Trace Event Format, as far as it is written here. Perfetto and `chrome://tracing` read it.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct File<'a, A> {
    trace_events: &'a [Event<'a, A>],
    display_time_unit: &'static str,
    other_data: BTreeMap<&'static str, String>,
}

/// An event. Times are microseconds.
#[derive(Serialize)]
pub(crate) struct Event<'a, A> {
    pub(crate) name: &'a str,
    pub(crate) cat: &'static str,
    /// Its kind: `M` is a name, `X` a complete event, `i` an instant, `C` counters.
    pub(crate) ph: &'static str,
    pub(crate) ts: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dur: Option<f64>,
    pub(crate) pid: u32,
    pub(crate) tid: u32,
    /// Of an instant: that it is of its thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) s: Option<&'static str>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) args: BTreeMap<&'a str, A>,
}

/// Writes a file of events. `unit` is the one that readers show times in at first: `ms` or `ns`.
///
/// # Errors
/// The error of writing to `out`.
pub(crate) fn write<A: Serialize>(
    events: &[Event<'_, A>],
    unit: &'static str,
    about: impl IntoIterator<Item = (&'static str, String)>,
    out: &mut impl Write,
) -> io::Result<()> {
    let exporter = concat!("tickscope@", env!("CARGO_PKG_VERSION")).to_owned();
    let file = File {
        trace_events: events,
        display_time_unit: unit,
        other_data: about.into_iter().chain([("exporter", exporter)]).collect(),
    };
    Ok(serde_json::to_writer(out, &file)?)
}
