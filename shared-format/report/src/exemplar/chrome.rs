//! A slow call in the JSON form of the Trace Event Format, which Perfetto reads. Each call is a complete event, and each period
//! off the CPU is another complete event inside it. All times are in microseconds since the slow call began.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;
use tickscope_analysis::functions::Function;

use super::call::Call;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct File<'a> {
    trace_events: &'a [Event<'a>],
    /// Unit in which readers display times.
    display_time_unit: &'static str,
    other_data: BTreeMap<&'static str, String>,
}

/// A trace event. Its times are microseconds.
#[derive(Serialize)]
struct Event<'a> {
    name: &'a str,
    cat: &'static str,
    /// Kind of the event: `M` names a thread or process, `X` is a complete event, `i` an instant.
    ph: &'static str,
    ts: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    pid: u32,
    tid: u32,
    /// Scope of an instant event, which is its thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    s: Option<&'static str>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    args: BTreeMap<&'a str, String>,
}

pub(super) fn write(call: &Call<'_>, out: &mut impl Write) -> io::Result<()> {
    let functions = call.functions.list.iter();
    let names: Vec<String> = functions.map(Function::full_name).collect();
    let (pid, tid) = (call.snapshot.process.pid, call.exemplar.tid);
    let us = |ticks: u64| call.ns(ticks) as f64 / 1e3;
    let event = |name, cat, ph, ts| Event {
        name,
        cat,
        ph,
        ts,
        dur: None,
        pid,
        tid,
        s: None,
        args: BTreeMap::new(),
    };
    let named = |name: &'static str, value: &str| Event {
        args: [("name", value.to_owned())].into(),
        ..event(name, "__metadata", "M", 0.0)
    };
    let mut events = vec![
        named("process_name", &call.snapshot.process.name),
        named("thread_name", &call.exemplar.thread),
    ];
    for span in &call.waterfall.spans {
        let name = &names[call.of_path[span.path as usize]];
        events.push(Event {
            dur: Some(us(span.end) - us(span.begin)),
            ..event(name, "call", "X", us(span.begin))
        });
    }
    for off in &call.waterfall.off_cpu {
        // It is unknown when during the step the thread was waiting and when it was ready to run. Both periods are drawn at the
        // end of the step, with the ready time last.
        let ready = off.end.saturating_sub(off.ready);
        let parts = [
            ("waits", off.waiting, ready.saturating_sub(off.waiting)),
            ("no CPU", off.ready, ready),
        ];
        for (name, ticks, begin) in parts.into_iter().filter(|part| part.1 > 0) {
            events.push(Event {
                dur: Some(us(begin + ticks) - us(begin)),
                ..event(name, "off-cpu", "X", us(begin))
            });
        }
    }
    if let Some((gap, steps)) = &call.waterfall.gap {
        events.push(Event {
            dur: Some(us(gap.end) - us(gap.start)),
            args: [("steps", steps.to_string())].into(),
            ..event("left out", "gap", "X", us(gap.start))
        });
    }
    for (at, key, value) in call.notes() {
        events.push(Event {
            s: Some("t"),
            args: [(key, value.to_owned())].into(),
            ..event("note", "note", "i", us(at))
        });
    }
    let about = [
        ("call", call.title()),
        ("began_unix_ns", call.exemplar.began_unix_ns.to_string()),
        (
            "exporter",
            concat!("tickscope@", env!("CARGO_PKG_VERSION")).to_owned(),
        ),
    ];
    let file = File {
        trace_events: &events,
        display_time_unit: "ns",
        other_data: about.into(),
    };
    Ok(serde_json::to_writer(out, &file)?)
}
