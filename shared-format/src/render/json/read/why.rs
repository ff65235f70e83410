//! Why a text is no document that can be read: what it is instead, as far as one can tell.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::error::Category;

use super::super::document::VERSION;
use super::wrong;
use crate::error::FormatError;

/// What is asked for.
const WANTED: &str = "a whole report, as `tickscope report -f json` writes it";

/// How much of a foreign text is shown.
const SHOWN: usize = 24;

/// What tells documents apart.
#[derive(Deserialize)]
struct Head {
    tickscope: Option<Value>,
    compensated: Option<Value>,
    per: Option<Value>,
    nodes: Option<IgnoredAny>,
    tick: Option<IgnoredAny>,
}

/// Why a text could not be read as a document.
pub(super) fn not_read(text: &str, error: &serde_json::Error) -> FormatError {
    let Ok(head) = serde_json::from_str::<Head>(text) else {
        return if is_ours(text) { at(error) } else { not_ours(text) };
    };
    match head {
        Head { tickscope: None, .. } => not_ours(text),
        Head {
            tickscope: Some(version),
            ..
        } if version != VERSION => other_version(version),
        Head { nodes: None, .. } => FormatError::Derived {
            found: "a document without nodes".into(),
            wanted: format!("wanted {WANTED}"),
        },
        Head {
            compensated: Some(Value::Bool(true)),
            ..
        } => compensated(),
        Head { per: Some(per), .. } if !per.is_null() => per_call(),
        Head { tick: None, .. } => FormatError::Derived {
            found: "a document of an older tickscope, which has not all that is needed".into(),
            wanted: "write it again from the program or its .tks".into(),
        },
        Head { .. } => at(error),
    }
}

pub(super) fn other_version(found: impl ToString) -> FormatError {
    FormatError::DocumentVersion {
        found: found.to_string(),
        wanted: VERSION,
    }
}

pub(super) fn compensated() -> FormatError {
    FormatError::Derived {
        found: "what measuring costs was taken off its times".into(),
        wanted: "write the report without --compensated".into(),
    }
}

pub(super) fn per_call() -> FormatError {
    FormatError::Derived {
        found: "its numbers are per call".into(),
        wanted: "write the report without --per".into(),
    }
}

/// Whether a text that is no JSON begins as ours do.
fn is_ours(text: &str) -> bool {
    let rest = text.trim_start().strip_prefix('{');
    rest.is_some_and(|rest| rest.trim_start().starts_with("\"tickscope\""))
}

fn not_ours(text: &str) -> FormatError {
    let start: String = text.chars().take(SHOWN).collect();
    FormatError::NotOurs {
        found: format!("\"{}\"", start.escape_debug()),
        wanted: WANTED.into(),
    }
}

fn at(error: &serde_json::Error) -> FormatError {
    let said = error.to_string();
    let place = format!("line {}, column {}", error.line(), error.column());
    let said = said.split(" at line ").next().unwrap_or_default();
    match error.classify() {
        Category::Eof => wrong(place, "its end", "the rest of it: it was cut off"),
        Category::Syntax => wrong(place, said, "JSON"),
        // Texts of the file stand in it with their escapes.
        Category::Data | Category::Io => wrong(place, said, WANTED),
    }
}
