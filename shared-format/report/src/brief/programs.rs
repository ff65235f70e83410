//! The programs that use tickscope, as JSON.
//!
//! Members keep their order and meaning within version 1; new members are added at the end.

use serde::Serialize;

use super::{cut, fitted};
use crate::ProcessState;
use crate::json::{VERSION, written};

/// Maximum number of rows in a short answer.
const ROWS: usize = 20;

/// A running program, or an ended program whose ring remains.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Name of the program.
    pub name: String,
    /// Process id of the program.
    pub pid: u32,
    /// State of the program.
    pub state: ProcessState,
    /// Whether the program runs.
    pub is_live: bool,
    /// Time at which the program started, in nanoseconds since the Unix epoch.
    pub started_unix_ns: u64,
}

#[derive(Serialize)]
struct Document {
    tickscope: u32,
    shown: usize,
    total: usize,
    live: usize,
    programs: Vec<Row>,
    notes: Vec<String>,
    next: Vec<String>,
}

#[derive(Serialize)]
struct Row {
    name: String,
    pid: u32,
    state: &'static str,
    live: bool,
    started_unix_ns: u64,
}

/// Returns the programs as a JSON document for a client of `tickscope mcp`. Running programs come first. The document ends in a
/// newline.
pub fn json(programs: &[Listed]) -> String {
    let mut rows: Vec<&Listed> = programs.iter().collect();
    rows.sort_by_key(|program| !program.is_live);
    let document = |count: usize| {
        let listed = rows.iter().take(count).map(|program| Row {
            name: cut(&program.name),
            pid: program.pid,
            state: program.state.as_str(),
            live: program.is_live,
            started_unix_ns: program.started_unix_ns,
        });
        let none = "no program with tickscope runs or has ended here; start one that calls tickscope::start(), \
                    or: cargo tickscope run --release";
        let first = rows.first().filter(|program| program.is_live);
        let document = Document {
            tickscope: VERSION,
            shown: count.min(rows.len()),
            total: rows.len(),
            live: rows.iter().filter(|program| program.is_live).count(),
            programs: listed.collect(),
            notes: rows.is_empty().then(|| none.to_owned()).into_iter().collect(),
            next: first
                .map(|program| format!("top {{\"target\":\"{}\"}}", program.pid))
                .into_iter()
                .collect(),
        };
        written(&document, count)
    };
    fitted(rows.len().min(ROWS), document)
}
