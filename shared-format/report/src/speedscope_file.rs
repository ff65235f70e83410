//! Writes the part of speedscope's file format that the reports need: evented profiles, which consist of events that open and
//! close frames.

use std::io::{self, Write};

use serde::Serialize;
use tickscope_analysis::functions::{Function, Functions};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct File<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    exporter: &'static str,
    name: &'a str,
    active_profile_index: usize,
    shared: Shared<'a>,
    profiles: &'a [Profile],
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

/// A profile with its start and end values, and the events that open and close its frames.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Profile {
    r#type: &'static str,
    name: String,
    unit: &'static str,
    start_value: u64,
    pub(crate) end_value: u64,
    events: Vec<Event>,
}

/// An event that opens or closes a frame.
#[derive(Debug, Serialize)]
pub(crate) struct Event {
    r#type: &'static str,
    frame: u32,
    at: u64,
}

impl Profile {
    pub(crate) fn new(name: String, unit: &'static str, end_value: u64, events: Vec<Event>) -> Self {
        Self {
            r#type: "evented",
            name,
            unit,
            start_value: 0,
            end_value,
            events,
        }
    }
}

impl Event {
    /// Returns an event that opens a frame, or that closes it if `is_end` is true. `frame` is the index of a function.
    pub(crate) fn new(is_end: bool, frame: u32, at: u64) -> Self {
        let r#type = if is_end { "C" } else { "O" };
        Self { r#type, frame, at }
    }
}

/// Writes a file in which each frame is a function. Speedscope first shows the profile with the index `active`.
///
/// # Errors
/// Any error from writing to `out`.
pub(crate) fn write(
    name: &str,
    functions: &Functions,
    profiles: &[Profile],
    active: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    let file = File {
        schema: "https://www.speedscope.app/file-format-schema.json",
        exporter: concat!("tickscope@", env!("CARGO_PKG_VERSION")),
        name,
        active_profile_index: active,
        shared: Shared {
            frames: functions.list.iter().map(frame).collect(),
        },
        profiles,
    };
    serde_json::to_writer(&mut *out, &file)?;
    out.write_all(b"\n")
}

fn frame(function: &Function) -> Frame<'_> {
    Frame {
        name: function.full_name(),
        file: &function.file,
        line: (function.line > 0).then_some(function.line),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::Value;

    /// Checks a file against the published schema, and checks that frames open and close in a valid order. Returns the self value
    /// of each frame.
    pub(crate) fn own_values(file: &Value) -> Vec<u64> {
        assert_eq!(
            file["$schema"],
            "https://www.speedscope.app/file-format-schema.json"
        );
        let frames = file["shared"]["frames"].as_array().unwrap();
        for frame in frames {
            assert!(frame["name"].is_string());
            assert!(frame.get("file").is_none_or(Value::is_string));
            assert!(frame.get("line").is_none_or(Value::is_u64));
        }
        let mut own = vec![0; frames.len()];
        let profiles = file["profiles"].as_array().unwrap();
        assert!((file["activeProfileIndex"].as_u64().unwrap() as usize) < profiles.len());
        for profile in profiles {
            assert_eq!(profile["type"], "evented");
            assert_eq!(profile["unit"], "nanoseconds");
            assert_eq!(profile["startValue"], 0);
            assert!(profile["name"].is_string());
            let mut open: Vec<u64> = Vec::new();
            let mut last = 0;
            for event in profile["events"].as_array().unwrap() {
                let (at, frame) = (event["at"].as_u64().unwrap(), event["frame"].as_u64().unwrap());
                assert!(at >= last);
                match open.last() {
                    Some(&top) => own[top as usize] += at - last,
                    None => assert_eq!(at, last, "there is always a frame open"),
                }
                last = at;
                match event["type"].as_str().unwrap() {
                    "O" => open.push(frame),
                    "C" => assert_eq!(open.pop(), Some(frame), "the innermost closes first"),
                    other => panic!("{other}"),
                }
            }
            assert!(open.is_empty());
            assert_eq!(profile["endValue"], last);
        }
        own
    }
}
