//! Descriptions of the tools for a client: instructions for a model, and the JSON schema of the arguments.

use serde_json::{Value, json};
use tickscope_analysis::measure::Measure;

use super::marks::MARKS_MAX;
use super::tools::{ROWS_MAX, SECONDS_MAX};

/// Returns the six tools, always in the same order.
pub(super) fn list(may_control: bool) -> Value {
    let target = || {
        text(
            "A program by name or process id (digits), or the path of a .tks, .ring or .html file. Without it: the only program that runs.",
        )
    };
    let rows = || {
        json!({
            "type": "integer", "minimum": 1, "maximum": ROWS_MAX,
            "description": "Number of rows. Without it: ten at most, in 2 kB.",
        })
    };
    let measures = Measure::ALL.map(Measure::name);
    let by = || json!({ "type": "string", "enum": measures, "description": "Measure of the values. Without it: time." });
    let watches = if may_control {
        "With seconds it watches the function for that time first, which changes what the program measures, and restores it afterwards."
    } else {
        "The program must watch it already: this server may only read (it was started without --allow-control), so seconds is refused."
    };
    json!([
        tool(
            "programs",
            "Lists the programs that carry tickscope, running and ended: name, pid, state. Start here.",
            json!({}),
            &[],
            true,
        ),
        tool(
            "top",
            "The functions with the most self time (or another measure) of a program: self, share of all, total, calls, standard \
             error where estimated. Counts since the program's last reset, or since a mark.",
            json!({
                "target": target(),
                "rows": rows(),
                "by": by(),
                "since": text("A handle from mark: only what happened since then, of the same run."),
            }),
            &[],
            true,
        ),
        tool(
            "why",
            &format!(
                "Why slow calls of one function are slow: their difference from typical calls, by path and by cause (more \
                 calls, waiting, no CPU). {watches}"
            ),
            json!({
                "function": text("The function: parse, app::parse."),
                "target": target(),
                "seconds": {
                    "type": "integer", "minimum": 1, "maximum": SECONDS_MAX,
                    "description": "Watch it for this time first. Other calls wait meanwhile.",
                },
                "over": text("With seconds: which calls are slow: 5ms, p99, p99.9, tail."),
            }),
            &["function"],
            !may_control,
        ),
        tool(
            "compare",
            "What has changed between two runs or builds, by function: calls, self, total, each [before, after], largest change first. \
             Give per to compare runs of different length.",
            json!({
                "before": text("A handle from mark, a file, or a program."),
                "after": text("A handle, a file or a program. Without it: the running program with the name of before."),
                "per": text("Numbers per call of this function or scope: frame, app::frame."),
                "by": by(),
                "rows": rows(),
            }),
            &["before"],
            true,
        ),
        tool(
            "mark",
            &format!(
                "Keeps what a program shows now, in this server's memory, and returns a handle (mark-1) for before and since. The last \
                 {MARKS_MAX} are kept, while this server runs. Changes nothing in the program."
            ),
            json!({ "target": target() }),
            &[],
            true,
        ),
        tool(
            "sites",
            "The functions and scopes that a program has met, the most called first: the place of each in the source, and whether it is \
             switched off.",
            json!({
                "target": target(),
                "matching": text("Only these: parse, book::insert, 'alloc::*'."),
                "rows": rows(),
            }),
            &[],
            true,
        ),
    ])
}

fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn tool(name: &str, description: &str, properties: Value, required: &[&str], is_read_only: bool) -> Value {
    json!({
        "name": name,
        "description": description,
        "inputSchema": {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        },
        "annotations": { "readOnlyHint": is_read_only, "destructiveHint": false, "openWorldHint": false },
    })
}
