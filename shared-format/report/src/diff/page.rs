//! A comparison as one self-contained HTML page, in a light and a dark theme. It has a flame graph, and its table of functions
//! can be sorted by any column.

use std::fmt::{self, Write};

use tickscope_analysis::compare::diff::{Change, Quantity};

use super::flame::Flame;
use super::rows::{self, Rest};
use super::{Comparison, Piece, Tables, WHOLE};
use crate::escape::visible;
use crate::html::escape;

/// Maximum number of paths on the page. More would make the page slow. The text form has all paths.
const PATHS: usize = 2_000;

const STYLE: &str = concat!(include_str!("page.css"), include_str!("../html/heard.css"));
const SCRIPT: &str = include_str!("page.js");

/// Returns the page. The same snapshots always give the same text.
pub fn report(comparison: &Comparison<'_>) -> String {
    comparison.in_utf8().written(write)
}

fn write(out: &mut String, comparison: &Comparison<'_>) -> fmt::Result {
    let labels = comparison.labels();
    out.push_str("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    out.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    writeln!(
        out,
        "<title>tickscope diff</title>\n<style>\n{STYLE}</style>\n</head>\n<body>"
    )?;
    writeln!(
        out,
        "<h1>tickscope diff</h1>\n<p>{}</p>",
        text(&comparison.title())
    )?;
    for (name, runs) in [("before", comparison.runs.0), ("after", comparison.runs.1)] {
        writeln!(
            out,
            "<p class=\"side\"><b>{name}</b> {}</p>",
            text(&comparison.side(runs))
        )?;
    }
    let remarks = comparison.remarks(&labels);
    if !remarks.is_empty() {
        out.push_str("<ul>\n");
        for (word, pieces) in remarks {
            let class = match word {
                "FAILED" => "failed",
                "passed" => "passed",
                _ => "note",
            };
            write!(out, "<li class=\"{class}\"><b>{word}</b> ")?;
            for piece in pieces {
                match piece {
                    Piece::Words(words) => out.push_str(&text(&words)),
                    Piece::Name(name) => write!(out, "<code>{}</code>", text(&name))?,
                }
            }
            out.push_str("</li>\n");
        }
        out.push_str("</ul>\n");
    }
    let has_paths = comparison.tables != Tables::Functions;
    let flame = has_paths.then(|| Flame::of(comparison, &labels)).flatten();
    if let Some(flame) = &flame {
        flame.section(out)?;
    }
    if comparison.tables != Tables::Paths {
        let (shown, rest) = rows::functions(comparison);
        titles(out, comparison, "Functions", "Function", true)?;
        for index in shown {
            let change = &comparison.diff.by_function[index];
            row(out, comparison, change, 0, &labels[index])?;
        }
        out.push_str("</tbody>\n<tfoot>\n");
        row(out, comparison, &comparison.diff.whole, 0, WHOLE)?;
        end(out, comparison, "tfoot", rest, "function")?;
    }
    if has_paths {
        let (shown, rest) = rows::paths(comparison);
        titles(out, comparison, "Paths", "Path", false)?;
        let (shown, more) = rows::cut(shown, PATHS, &rows::failing_paths(comparison));
        for index in shown {
            let path = &comparison.diff.paths[index];
            let label = &labels[path.function.index()];
            row(out, comparison, &path.change, path.depth, label)?;
        }
        end(out, comparison, "tbody", rest, "path")?;
        if more > 0 {
            writeln!(
                out,
                "<p class=\"rest\">{more} more paths have changed; -f text and -f json show all</p>"
            )?;
        }
    }
    if let Some(about) = comparison.about_remarks() {
        writeln!(out, "<p class=\"rest\">{}</p>", text(&about))?;
    }
    if let Some(flame) = &flame {
        flame.scripts(out);
    }
    writeln!(out, "<script>\n{SCRIPT}</script>\n</body>\n</html>")
}

fn titles(
    out: &mut String,
    comparison: &Comparison<'_>,
    title: &str,
    first: &str,
    sorts: bool,
) -> fmt::Result {
    // A tree has a fixed order, so its table cannot be sorted.
    let class = if sorts { " class=\"sorts\"" } else { "" };
    writeln!(
        out,
        "<h2>{title}</h2>\n<div class=\"wide\"><table{class}>\n<thead>"
    )?;
    let all = ["Calls", "Total", "Self", "P99", "Max"];
    let columns = &all[..comparison.columns(&comparison.diff.whole).len()];
    out.push_str("<tr><th></th>");
    for column in columns {
        write!(out, "<th colspan=\"3\">{column}</th>")?;
    }
    writeln!(out, "</tr>\n<tr><th scope=\"col\">{first}</th>")?;
    for _ in columns {
        out.push_str(
            "<th scope=\"col\">before</th><th scope=\"col\">after</th><th scope=\"col\">change</th>\n",
        );
    }
    writeln!(out, "</tr></thead>\n<tbody>")
}

fn row(
    out: &mut String,
    comparison: &Comparison<'_>,
    change: &Change,
    depth: u32,
    name: &str,
) -> fmt::Result {
    let numbers = comparison.numbers();
    let remark = comparison.remark(change).filter(|_| name != WHOLE);
    let remark = remark.map(|remark| format!(" <small>{}</small>", text(&remark)));
    let remark = remark.unwrap_or_default();
    let indent = match depth {
        0 => String::new(),
        depth => format!(" style=\"padding-left:calc(8px + {}em)\"", depth.min(40)),
    };
    write!(out, "<tr><th scope=\"row\"{indent}>{}{remark}</th>", text(name))?;
    for what in comparison.columns(change) {
        let [before, after] = numbers.sides(change, what);
        // The change is unknown if a side has no latencies, so it is coloured as unchanged.
        let by = if what.is_latency() && !change.has_latencies() {
            0.0
        } else {
            change.of(what)
        };
        let class = match by {
            more if more > 0.0 => "more",
            less if less < 0.0 => "less",
            _ => "same",
        };
        // A sum is in the same column as times but cannot be compared with them, so it is sorted as 0.
        let (then, now, by) = match what {
            Quantity::Sum => (0.0, 0.0, 0.0),
            Quantity::Calls | Quantity::Total | Quantity::SelfTime | Quantity::P99 | Quantity::Max => {
                (change.before.get(what), change.after.get(what), by)
            }
        };
        write!(
            out,
            "<td data-n=\"{then}\">{}</td><td data-n=\"{now}\">{}</td><td data-n=\"{by}\" class=\"{class}\">{}</td>",
            text(&before),
            text(&after),
            text(&numbers.change(change, what))
        )?;
    }
    writeln!(out, "</tr>")
}

fn end(out: &mut String, comparison: &Comparison<'_>, body: &str, rest: Rest, of: &str) -> fmt::Result {
    writeln!(out, "</{body}></table></div>")?;
    match comparison.rest(rest, of) {
        Some(sentence) => writeln!(out, "<p class=\"rest\">{}</p>", text(&sentence)),
        None => Ok(()),
    }
}

/// Returns text escaped for HTML between tags.
fn text(words: &str) -> String {
    let mut out = String::new();
    escape(&mut out, &visible(words, false));
    out
}
