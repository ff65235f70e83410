//! The log of intervals. It has a line for each thread and each group or function that the thread was inside. An interval without
//! activity also gets a line, to show that logging continues.
//!
//! ```text
//! TIME              TID  THREAD           INSIDE / INTERVAL ms        %      CALLS  NAME
//! 14:02:11.250Z    4711  main             17.024 /    1007.102     1.7%     101966  [malloc]
//! ```

use std::fmt::{self, Write};

use tickscope_analysis::intervals::{Interval, Subject};

use crate::escape::{Json, visible};
use crate::{clock, text_of};

/// How the lines of the log are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogOptions {
    /// Offset of local time from UTC, in seconds. If `None`, times are in UTC and end in a Z.
    pub utc_offset_s: Option<i32>,
    /// Whether the lines contain only ASCII characters.
    pub ascii: bool,
}

/// Returns the header line, which ends in a newline. It shows the offset from UTC if there is one in `options`.
pub fn header(options: &LogOptions) -> String {
    let time = match options.utc_offset_s.map(|seconds| seconds / 60) {
        None => "TIME".to_string(),
        Some(minutes) => {
            let sign = if minutes < 0 { '-' } else { '+' };
            let minutes = minutes.unsigned_abs();
            format!("TIME {sign}{:02}:{:02}", minutes / 60, minutes % 60)
        }
    };
    format!(
        "{time:<13} {:>8}  {:<15} {:>23}  {:>7} {:>10}  NAME\n",
        "TID", "THREAD", "INSIDE / INTERVAL ms", "%", "CALLS"
    )
}

/// Returns the lines of an interval. Each ends in a newline.
pub fn lines(interval: &Interval, options: &LogOptions) -> String {
    text_of(|out| write_lines(out, interval, options))
}

fn write_lines(out: &mut String, interval: &Interval, options: &LogOptions) -> fmt::Result {
    let time = clock::time_of_day(interval.unix_ns, options.utc_offset_s);
    let mut line = |tid: &str, thread: &str, (inside_ns, about): (u64, &str), calls: u64, name: &str| {
        let inside = format!("{about}{}", ms(inside_ns));
        let share = format!("{about}{:.1}%", share(inside_ns, interval.ns) * 100.0);
        let whole = ms(interval.ns);
        writeln!(
            out,
            "{time:<13} {tid:>8}  {thread:<15} {inside:>10} / {whole:>10}  {share:>7} {calls:>10}  {name}"
        )
    };
    for of in &interval.lines {
        let tid = match of.tid {
            0 => "ended".to_string(),
            tid => tid.to_string(),
        };
        let about = if of.estimated { "~" } else { "" };
        let name = match &of.subject {
            Subject::Group(name) => format!("[{}]", visible(name, options.ascii)),
            Subject::Function(name) => visible(name, options.ascii).into_owned(),
        };
        let thread = visible(&of.thread, options.ascii);
        line(&tid, &thread, (of.inside_ns, about), of.calls, &name)?;
    }
    if interval.lines.is_empty() {
        let why = match interval.any_met {
            true => "(nothing)",
            false => "(no group or function to follow was met yet)",
        };
        line("-", "-", (0, ""), 0, why)?;
    }
    Ok(())
}

/// Returns an interval as JSON, with one object per line. An interval without activity becomes a single object without a thread.
pub fn json_lines(interval: &Interval) -> String {
    text_of(|out| write_json(out, interval))
}

fn write_json(out: &mut String, interval: &Interval) -> fmt::Result {
    let Interval { unix_ns, ns, .. } = interval;
    for of in &interval.lines {
        let (kind, name) = match &of.subject {
            Subject::Group(name) => ("group", Json(name)),
            Subject::Function(name) => ("function", Json(name)),
        };
        writeln!(
            out,
            "{{\"unix_ns\":{unix_ns},\"interval_ns\":{ns},\"tid\":{},\"thread\":{},\"{kind}\":{name},\
             \"inside_ns\":{},\"share\":{},\"estimated\":{},\"calls\":{}}}",
            of.tid,
            Json(&of.thread),
            of.inside_ns,
            share(of.inside_ns, *ns),
            of.estimated,
            of.calls,
        )?;
    }
    if interval.lines.is_empty() {
        writeln!(out, "{{\"unix_ns\":{unix_ns},\"interval_ns\":{ns}}}")?;
    }
    Ok(())
}

/// Returns `part` as a share of `whole`. It may exceed 1 in the line of several ended threads with the same name, because their
/// times are added up.
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

/// Returns nanoseconds as milliseconds with three decimals, rounded to the nearest.
fn ms(ns: u64) -> String {
    let us = ns / 1_000 + u64::from(ns % 1_000 >= 500);
    format!("{}.{:03}", us / 1_000, us % 1_000)
}

#[cfg(test)]
mod tests {
    use tickscope_analysis::intervals::Line;

    use super::*;

    fn interval() -> Interval {
        let line = |tid, thread: &str, subject, calls, inside_ns, estimated| Line {
            tid,
            thread: thread.into(),
            subject,
            calls,
            inside_ns,
            estimated,
        };
        let group = |name: &str| Subject::Group(name.into());
        Interval {
            unix_ns: 1_763_000_134_250_999_999,
            ns: 1_007_102_499,
            lines: vec![
                line(4711, "main", group("malloc"), 101_966, 17_024_500, false),
                line(
                    4711,
                    "main",
                    Subject::Function("app::frame".into()),
                    60,
                    1_007_102_499,
                    false,
                ),
                line(4712, "wor\nker;\"1", group("a\u{202e}<b>"), 1, 100, true),
                line(
                    0,
                    "a pool of ended ones",
                    group("malloc"),
                    12,
                    3_000_000_000,
                    false,
                ),
            ],
            any_met: true,
        }
    }

    #[test]
    fn golden() {
        let offset = LogOptions {
            utc_offset_s: Some(3600),
            ascii: true,
        };
        let of = |minutes: i32| {
            let utc_offset_s = Some(minutes * 60);
            header(&LogOptions {
                utc_offset_s,
                ..offset
            })
        };
        assert!(of(60).starts_with("TIME +01:00        TID  "));
        assert!(of(-570).starts_with("TIME -09:30        TID  "));
        let mut text = header(&LogOptions::default()) + &lines(&interval(), &LogOptions::default());
        let mut nothing = interval();
        nothing.lines.clear();
        text += &lines(&nothing, &offset);
        nothing.any_met = false;
        text += &lines(&nothing, &offset);
        insta::assert_snapshot!(text);
        insta::assert_snapshot!(json_lines(&interval()) + &json_lines(&nothing));
    }
}
