//! A slow call as an evented profile of speedscope: frames open and close when they did.

use std::io::{self, Write};

use serde::Serialize;

use super::call::Call;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct File<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    exporter: &'static str,
    name: String,
    active_profile_index: usize,
    shared: Shared<'a>,
    profiles: [Profile; 1],
}

#[derive(Serialize)]
struct Shared<'a> {
    frames: Vec<Frame<'a>>,
}

#[derive(Serialize)]
struct Frame<'a> {
    name: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    file: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Profile {
    r#type: &'static str,
    name: String,
    unit: &'static str,
    start_value: u64,
    end_value: u64,
    events: Vec<Event>,
}

#[derive(Serialize)]
struct Event {
    r#type: &'static str,
    frame: usize,
    at: u64,
}

pub(super) fn write(call: &Call<'_>, out: &mut impl Write) -> io::Result<()> {
    let spans = &call.waterfall.spans;
    let mut events = Vec::with_capacity(2 * spans.len());
    let mut open: Vec<usize> = Vec::new();
    let event = |r#type, span: usize, ticks| Event {
        r#type,
        frame: call.of_path[spans[span].path as usize],
        at: call.ns(ticks),
    };
    for (index, span) in spans.iter().enumerate() {
        // Callers stand before what they call, so those that are not above this one have ended.
        for ended in open.drain(span.depth as usize..).rev() {
            events.push(event("C", ended, spans[ended].end));
        }
        events.push(event("O", index, span.begin));
        open.push(index);
    }
    for ended in open.into_iter().rev() {
        events.push(event("C", ended, spans[ended].end));
    }
    let frames = call.functions.list.iter().map(|function| Frame {
        name: function.full_name(),
        file: &function.file,
        line: (function.line > 0).then_some(function.line),
    });
    let file = File {
        schema: "https://www.speedscope.app/file-format-schema.json",
        exporter: concat!("tickscope@", env!("CARGO_PKG_VERSION")),
        name: call.title(),
        active_profile_index: 0,
        shared: Shared {
            frames: frames.collect(),
        },
        profiles: [Profile {
            r#type: "evented",
            name: call.title(),
            unit: "nanoseconds",
            start_value: 0,
            end_value: call.ns(call.waterfall.ticks),
            events,
        }],
    };
    Ok(serde_json::to_writer(out, &file)?)
}
