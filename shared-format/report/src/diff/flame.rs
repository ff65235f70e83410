//! The flame graph of a comparison. The width of a frame is its value after the change, and its colour shows how its share of the
//! whole has changed.

use std::fmt::{self, Write};

use tickscope_analysis::compare::diff::{PathRow, Presence, Quantity};

use super::Comparison;
use crate::escape::{Json, visible};
use crate::html::FLAME_SCRIPT;
use crate::html::json::{end, list, member, strings};
use crate::number;
use crate::trend::{INK, Trend};

/// Minimum width of a frame, as a share of the whole graph. Narrower frames would be invisible.
const LEAST_SHARE: f64 = 1e-4;

const SCRIPT: &str = include_str!("flame.js");

/// Meanings of the colours, in the order of [`Trend::ALL`].
const WORDS: [&str; 5] = [
    "at least 5 points less",
    "less",
    "about the same",
    "more",
    "at least 5 points more",
];

/// HTML of the graph, and of the text about the selected frame.
const FRAME: &str = "</p>
<div id=\"flame\" role=\"tree\" aria-label=\"Flame graph of the runs after\" aria-activedescendant=\"flame-said\" tabindex=\"0\">
<canvas aria-hidden=\"true\"></canvas><div class=\"flame-height\"></div>
<div id=\"flame-said\" class=\"heard\" role=\"treeitem\" aria-selected=\"true\"></div>
</div>
<p id=\"told\"></p>
<div id=\"tip\" hidden></div>
<noscript><p class=\"rest\">The flame graph needs scripts.</p></noscript>
";

/// Widths of the frames on both sides, adjusted so that no frame is wider than its parent.
struct Widths {
    /// Width of the frame of each path, before and after, in nanoseconds.
    of: Vec<[f64; 2]>,
    /// Sum of the widths of the top frames, before and after.
    whole: [f64; 2],
}

/// The flame graph of a comparison, with the labels of its functions.
pub(super) struct Flame<'a> {
    comparison: &'a Comparison<'a>,
    labels: &'a [String],
    widths: Widths,
}

impl<'a> Flame<'a> {
    /// Returns the graph, or `None` if there are no values after the change.
    pub(super) fn of(comparison: &'a Comparison<'a>, labels: &'a [String]) -> Option<Self> {
        let widths = Widths::of(comparison);
        (widths.whole[1] > 0.0).then_some(Self {
            comparison,
            labels,
            widths,
        })
    }

    /// Appends the HTML of the graph.
    pub(super) fn section(&self, out: &mut String) -> fmt::Result {
        let measure = self.comparison.diff.measure.name();
        writeln!(
            out,
            "<h2>Flame graph</h2>\n<p>Frames are as wide as their {measure} after; callees are below their caller. Colours \
             show how the share of the whole has changed. A click zooms in; a click on the topmost frame zooms out. Paths that \
             are gone have no frame.</p>\n<p class=\"legend\">"
        )?;
        for (trend, words) in Trend::ALL.into_iter().zip(WORDS) {
            writeln!(
                out,
                "<span><i style=\"background:#{:06x}\"></i>{words}</span>",
                trend.rgb()
            )?;
        }
        out.push_str(FRAME);
        Ok(())
    }

    /// Appends the data of the graph and its scripts.
    pub(super) fn scripts(&self, out: &mut String) {
        out.push_str("<script type=\"application/json\" id=\"frames\">");
        frames(out, self.comparison, self.labels, &self.widths);
        for part in [
            "</script>\n<script>\n\"use strict\";\n",
            FLAME_SCRIPT,
            SCRIPT,
            "</script>\n",
        ] {
            out.push_str(part);
        }
    }
}

/// Appends the data of the frames, column by column: the distance to the parent in this list (0 for a top frame), the function,
/// the width, the number of the colour, the change in points, and the text.
fn frames(out: &mut String, comparison: &Comparison<'_>, labels: &[String], widths: &Widths) {
    let paths = &comparison.diff.paths;
    let [_, whole] = widths.whole;
    let shown: Vec<usize> = (0..paths.len())
        .filter(|&path| widths.of[path][1] >= LEAST_SHARE * whole)
        .collect();
    // A parent is at least as wide as its child, so the parent of a shown frame is shown too.
    let place = |path: usize| shown.binary_search(&path).unwrap_or_default();
    out.push('{');
    strings(out, "label", labels.iter().map(|label| visible(label, false)));
    let up = shown.iter().enumerate().map(|(at, &path)| {
        let parent = paths[path].parent;
        parent.map_or(0, |parent| at - place(parent as usize))
    });
    list(out, "up", up);
    list(out, "fn", shown.iter().map(|&path| paths[path].function.0));
    list(out, "width", shown.iter().map(|&path| widths.of[path][1]));
    let points = |path: usize| widths.points(path, &paths[path]);
    list(
        out,
        "trend",
        shown.iter().map(|&path| Trend::of_points(points(path)) as u8),
    );
    let changes = shown.iter().map(|&path| match points(path) {
        small if small.abs() < 0.05 => String::new(),
        points => format!("{points:+.1}"),
    });
    strings(out, "points", changes);
    strings(
        out,
        "told",
        shown.iter().map(|&path| told(comparison, path, widths)),
    );
    let colours = Trend::ALL.map(|trend| format!("\"#{:06x}\"", trend.rgb()));
    list(out, "colours", colours.iter());
    member(out, "ink", Json(&format!("#{INK:06x}")));
    end(out);
    out.push('\n');
}

/// Returns the text that describes a frame, with one line for each quantity that is compared.
fn told(comparison: &Comparison<'_>, path: usize, widths: &Widths) -> String {
    let row = &comparison.diff.paths[path];
    let change = &row.change;
    let numbers = comparison.numbers();
    let [then, now] = [0, 1].map(|side| widths.share(path, side));
    let mut text = format!("{} of all", number::percent(now));
    if row.change.presence == Presence::New {
        text.push_str(", and it was not there before");
    } else {
        let _ = write!(
            text,
            ", and {} before: {:+.1} points",
            number::percent(then),
            widths.points(path, row)
        );
    }
    for (name, what) in [
        ("total", Quantity::Total),
        ("self", Quantity::SelfTime),
        ("calls", Quantity::Calls),
    ] {
        let [before, after] = numbers.sides(change, what);
        let _ = write!(
            text,
            "\n{name} {before} → {after} ({})",
            numbers.change(change, what)
        );
    }
    if let Some(remark) = comparison.remark(change) {
        let _ = write!(text, "\n{remark}");
    }
    text
}

impl Widths {
    fn of(comparison: &Comparison<'_>) -> Self {
        let diff = comparison.diff;
        let mean = |calls: &[u64]| {
            let sum: f64 = calls.iter().map(|&calls| calls as f64).sum();
            (sum / calls.len().max(1) as f64).max(1.0)
        };
        let per = [mean(&diff.per_calls.0), mean(&diff.per_calls.1)];
        let mut of: Vec<[f64; 2]> = diff
            .paths
            .iter()
            .map(|PathRow { change, .. }| {
                let of = |total: f64, per: f64| match (change.is_counter, change.times_per_run) {
                    (true, _) => 0.0,
                    (false, true) => total / per,
                    (false, false) => total,
                };
                [
                    of(change.before.total_ns, per[0]),
                    of(change.after.total_ns, per[1]),
                ]
            })
            .collect();
        let mut whole = [0.0; 2];
        // Medians of several runs do not add up, so each frame is made at least as wide as all frames below it together. Children
        // have higher indices than their parents, so in reverse order they come first.
        let mut below = vec![[0.0; 2]; of.len()];
        for path in (0..of.len()).rev() {
            for side in 0..2 {
                of[path][side] = of[path][side].max(below[path][side]);
                match diff.paths[path].parent {
                    Some(parent) => below[parent as usize][side] += of[path][side],
                    None => whole[side] += of[path][side],
                }
            }
        }
        Self { of, whole }
    }

    fn share(&self, path: usize, side: usize) -> f64 {
        match self.whole[side] {
            whole if whole > 0.0 => self.of[path][side] / whole,
            _ => 0.0,
        }
    }

    /// Returns by how many percentage points the share of a path has grown; 0 if its times cannot be compared.
    fn points(&self, path: usize, row: &PathRow) -> f64 {
        match row.change.around_scope {
            true => 0.0,
            false => 100.0 * (self.share(path, 1) - self.share(path, 0)),
        }
    }
}
