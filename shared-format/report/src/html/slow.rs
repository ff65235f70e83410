//! What the page's scripts need to know about watched functions: the answers as text, and the traces of slow calls.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use tickscope_analysis::functions::Functions;
use tickscope_analysis::slow::{SlowRow, lineage};
use tickscope_analysis::waterfall::{OffCpu, Waterfall, begins};
use tickscope_format::snapshot::{Exemplar, Snapshot, Trace};

use super::json::{end, join, list, member, strings};
use crate::escape::{Json, visible};
use crate::form_options::FormOptions;
use crate::slow::{Answer, SlowOptions};

/// Maximum number of spans in a page, all traces taken together.
const SPANS: usize = 32_768;

/// Maximum number of spans in one trace.
const SPANS_OF_CALL: usize = 8_192;

/// Maximum number of periods off the CPU, and of notes, in one trace.
const STRETCHES: usize = 1_024;
const NOTES: usize = 256;

/// Maximum number of paths in the table of a watched function.
const ROWS: usize = 8;

/// Appends the watched functions, or nothing if there are none.
pub(super) fn write(out: &mut String, snapshot: &Snapshot, options: &FormOptions) {
    if snapshot.watches.is_empty() {
        return;
    }
    let functions = Functions::of(snapshot);
    let calls: usize = snapshot.watches.iter().map(|watch| watch.exemplars.len()).sum();
    let spans = (SPANS / calls.max(1)).min(SPANS_OF_CALL);
    let watches = snapshot.watches.iter().map(|watch| {
        let answer = Answer::of(snapshot, watch, SlowOptions::default());
        let mut text = String::from("{");
        member(&mut text, "function", Json(&answer.function()));
        let sentences = [answer.facts(), answer.why(), answer.doubt(), answer.lost()];
        strings(&mut text, "sentences", sentences.into_iter().flatten());
        // A path is written as its last function and the number of paths above it.
        let paths = (0u32..).zip(&watch.paths).map(|(at, path)| {
            let function = functions.of_site[path.site.index()].index();
            format!("[{function},{}]", lineage(watch, at).len() - 1)
        });
        list(&mut text, "paths", paths);
        list(&mut text, "rows", rows(&answer).into_iter());
        list(
            &mut text,
            "calls",
            answer
                .exemplars()
                .into_iter()
                .map(|call| kept(&answer, call, spans)),
        );
        member(
            &mut text,
            "other_rows",
            answer.slow.rows.len().saturating_sub(ROWS),
        );
        end(&mut text);
        text
    });
    list(out, "slow", watches);
    let opens = options.watch.filter(|&watch| watch < snapshot.watches.len());
    if let Some(watch) = opens {
        member(out, "opens_slow", watch);
    }
}

/// Returns the rows of the table, each as a JSON array of strings: difference between a slow and a typical call, share of the
/// whole difference, time in a typical call, time in a slow call, calls, path.
fn rows(answer: &Answer<'_>) -> Vec<String> {
    let line = |row: &SlowRow| {
        let name = answer.path_name(row.path) + &answer.off_cpu(row, 4.0);
        let texts = answer.cells(row).into_iter().chain([name]);
        let mut line = String::from("[");
        join(&mut line, texts.map(Json));
        line + "]"
    };
    answer.slow.rows.iter().take(ROWS).map(line).collect()
}

/// Returns a slow call with its trace. Times in the trace are nanoseconds since the call began.
fn kept(answer: &Answer<'_>, call: &Exemplar, spans: usize) -> String {
    let snapshot = answer.snapshot;
    let mut text = String::from("{");
    let [began, _, thread, cause, _] = answer.exemplar_texts(call);
    for (name, said) in [("began", began), ("thread", thread), ("cause", cause)] {
        member(&mut text, name, Json(&said));
    }
    member(&mut text, "number", call.number);
    if let Some(trace) = &call.trace {
        over_time(&mut text, answer, trace, spans);
    }
    member(&mut text, "ns", snapshot.nanos(call.ticks));
    end(&mut text);
    text
}

fn over_time(out: &mut String, answer: &Answer<'_>, trace: &Trace, most: usize) {
    let (snapshot, watch) = (answer.snapshot, answer.watch);
    let ns = |ticks: u64| snapshot.nanos(ticks);
    let waterfall = Waterfall::of(trace, watch);
    // A span is written as path, start, duration and number of calls. The spans at one depth are sorted by start.
    let spans: Vec<[u64; 4]> = match waterfall.spans.len() <= most {
        true => waterfall
            .spans
            .iter()
            .map(|span| [u64::from(span.path), span.begin, span.end - span.begin, 1])
            .collect(),
        false => merged(&waterfall, most),
    };
    let shown: u64 = spans.iter().map(|span| span[3]).sum();
    let values = spans
        .iter()
        .flat_map(|&[path, begin, ticks, calls]| [path, ns(begin), ns(ticks), calls]);
    list(out, "spans", values);
    if spans.len() < waterfall.spans.len() {
        // Number of calls in the trace, and how many of them the spans stand for.
        list(out, "merged", [waterfall.spans.len() as u64, shown].into_iter());
    }
    let mut own: BTreeMap<u32, u64> = BTreeMap::new();
    for (path, ticks, _) in trace.steps() {
        let sum = own.entry(path).or_default();
        *sum = sum.saturating_add(ticks);
    }
    list(
        out,
        "own",
        own.iter().map(|(path, ticks)| format!("[{path},{}]", ns(*ticks))),
    );
    // The longest periods off the CPU, sorted by start: depth, start, end, waiting, ready.
    let mut off_cpu: Vec<&OffCpu> = waterfall.off_cpu.iter().collect();
    off_cpu.sort_by_key(|off| Reverse(off.waiting.saturating_add(off.ready)));
    let left_out = off_cpu.len().saturating_sub(STRETCHES);
    off_cpu.truncate(STRETCHES);
    off_cpu.sort_by_key(|off| off.begin);
    let stretches = off_cpu.iter().map(|off| {
        let [begin, end, waiting, ready] = [off.begin, off.end, off.waiting, off.ready].map(ns);
        format!("[{},{begin},{end},{waiting},{ready}]", off.depth)
    });
    list(out, "off", stretches);
    if left_out > 0 {
        member(out, "off_left_out", left_out);
    }
    if let Some((gap, steps)) = &waterfall.gap {
        list(out, "gap", [ns(gap.start), ns(gap.end), *steps].into_iter());
    }
    let begins = begins(trace);
    let notes = trace.notes.iter().take(NOTES).map(|note| {
        let at = begins.get(note.step as usize).copied().unwrap_or(0);
        let key = trace.keys.get(note.key as usize).map_or("", String::as_str);
        let said = format!("{}={}", visible(key, false), visible(&note.value, false));
        format!("[{},{}]", ns(at), Json(&said))
    });
    list(out, "notes", notes);
}

/// Reduces the spans of a trace to at most `most`. Adjacent spans of the same path are merged if together they fit into one unit
/// of time, which is doubled until there are few enough spans. A span much shorter than this unit is dropped if it directly
/// follows a span of another path.
fn merged(waterfall: &Waterfall, most: usize) -> Vec<[u64; 4]> {
    let mut unit = waterfall.ticks / most.max(1) as u64 + 1;
    loop {
        let least = unit / 4;
        let mut lines: Vec<Vec<[u64; 4]>> = vec![Vec::new(); waterfall.depth as usize];
        for span in &waterfall.spans {
            let Some(line) = lines.get_mut(span.depth as usize) else {
                continue;
            };
            let path = u64::from(span.path);
            match line.last_mut() {
                Some([last, begin, ticks, calls]) if *last == path && span.end - *begin <= unit => {
                    *ticks = span.end - *begin;
                    *calls += 1;
                }
                Some([last, begin, ticks, _])
                    if *last != path
                        && span.end - span.begin < least
                        && span.begin - (*begin + *ticks) < least => {}
                _ => line.push([path, span.begin, span.end - span.begin, 1]),
            }
        }
        let count: usize = lines.iter().map(Vec::len).sum();
        if count <= most || unit / 8 > waterfall.ticks {
            // If there are still too many spans, keep the outer calls.
            return lines.into_iter().flatten().take(most).collect();
        }
        unit = unit.saturating_mul(2);
    }
}

#[cfg(test)]
mod tests {
    use tickscope_format::snapshot::Then;
    use tickscope_testkit::fixture;

    use super::*;

    #[test]
    fn a_call_of_many_steps_takes_bounded_room_and_says_what_was_merged() {
        let mut snapshot = fixture::slow_frames();
        let mut trace = Trace::default();
        for step in 0..32_768u64 {
            trace.push(0, 3 + step % 5, Then::Enter);
            trace.push(2, 10 + step % 7, Then::Exit);
        }
        let call = &mut snapshot.watches[0].exemplars[0];
        call.ticks = trace.ticks.iter().sum();
        call.trace = Some(trace);
        let answer = Answer::of(&snapshot, &snapshot.watches[0], SlowOptions::default());
        let text = kept(&answer, &snapshot.watches[0].exemplars[0], SPANS_OF_CALL);
        let data: serde_json::Value = serde_json::from_str(&text).unwrap();
        let spans: Vec<u64> = serde_json::from_value(data["spans"].clone()).unwrap();
        let count = spans.len() / 4;
        assert!(
            (SPANS_OF_CALL / 4..=SPANS_OF_CALL).contains(&count),
            "{count} spans"
        );
        let calls: u64 = spans.iter().skip(3).step_by(4).sum();
        let merged: Vec<u64> = serde_json::from_value(data["merged"].clone()).unwrap();
        assert_eq!(merged, [32_769, calls]);
        assert!(calls > 32_000, "hardly any call has no span: {calls}");
    }
}
