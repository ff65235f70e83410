//! The stack of every live thread: its open scopes, outermost first, and how long each has been open.

use std::fmt::{self, Write};

use tickscope_analysis::functions::Functions;
use tickscope_format::snapshot::{CaptureKind, Now, Snapshot, Thread, ThreadState};

use crate::escape::visible;
use crate::label::{column_width, labels, place};
use crate::process_state::heading;
use crate::{ProcessState, number, text_of};

/// Maximum width of the name column, in cells.
const MAX_NAME_COLUMN: usize = 48;

/// Returns the open scopes of every live thread, as text that ends in a newline.
pub fn stacks(snapshot: &Snapshot, state: ProcessState, ascii: bool) -> String {
    text_of(|out| write(out, snapshot, state, ascii))
}

fn write(out: &mut String, snapshot: &Snapshot, state: ProcessState, ascii: bool) -> fmt::Result {
    let functions = Functions::of(snapshot);
    let labels = labels(&functions, ascii);
    let shown: Vec<(u32, &Thread)> = (0..)
        .zip(&snapshot.threads)
        .filter(|(_, thread)| thread.state != ThreadState::Finished)
        .collect();
    let busy = shown.iter().filter(|(_, thread)| !thread.open.is_empty()).count();
    out.push_str(&heading("stacks", snapshot, state, ascii));
    let all = shown.len();
    let ended = match state {
        ProcessState::Exited | ProcessState::Crashed => true,
        ProcessState::Running | ProcessState::Stale => false,
        ProcessState::FromFile => snapshot.capture.kind == CaptureKind::Final,
    };
    if ended && busy == 0 {
        return writeln!(
            out,
            "\nthe program has ended; no thread was inside a scope at its end"
        );
    }
    if shown.is_empty() {
        return writeln!(out, "\nno live thread has entered a scope");
    }
    if ended {
        write!(
            out,
            "the program has ended; {busy} of {all} threads were inside a scope at its end"
        )?;
    } else {
        write!(out, "{busy} of {all} live threads inside a scope")?;
    }
    writeln!(out, "; outermost scope first, with its age")?;
    for (index, thread) in shown {
        // After the program has ended, the last known state of a thread is meaningless.
        let now = snapshot.waits_in.now_of(index).filter(|_| !ended);
        let label = |site: u32| {
            let function = functions.of_site.get(site as usize);
            function.map_or("?", |function| labels[function.index()].as_str())
        };
        thread_stack(out, snapshot, (thread, now), ascii, label)?;
    }
    Ok(())
}

fn thread_stack<'a>(
    out: &mut String,
    snapshot: &Snapshot,
    (thread, now): (&Thread, Option<Now<'_>>),
    ascii: bool,
    label: impl Fn(u32) -> &'a str,
) -> fmt::Result {
    let (name, state) = (visible(&thread.name, ascii), thread.state.words());
    let nowhere = if thread.open.is_empty() {
        ": in no scope"
    } else {
        ""
    };
    let doing = match now {
        Some(Now::In(call)) => format!(", waiting in {call}"),
        Some(now @ (Now::Running | Now::Ready)) => format!(", {}", now.word()),
        None => String::new(),
    };
    writeln!(out, "\n{name}, tid {}, {state}{nowhere}{doing}", thread.tid)?;
    let frames: Vec<(Option<u64>, u32)> = thread
        .open
        .iter()
        .filter_map(|frame| {
            let site = *snapshot.nodes.site.get(frame.node.index())?;
            // A frame may have opened after the snapshot's tick, while the snapshot was still being made. Its age is then 0.
            let age = snapshot.capture.tick.saturating_sub(frame.began_tick);
            Some(((frame.began_tick > 0).then(|| snapshot.nanos(age)), site))
        })
        .collect();
    let width = column_width("", frames.iter().map(|&(_, site)| label(site)), MAX_NAME_COLUMN);
    for (age, site) in frames {
        // If the clock was not read when the frame opened, its age is unknown.
        let age = age.map_or_else(|| "-".to_string(), number::duration);
        let age = number::in_charset(age, ascii);
        let place = snapshot
            .sites
            .get(site as usize)
            .map_or_else(|| "-".to_string(), |site| place(&site.file, site.line, ascii));
        writeln!(out, "  {age:>6}  {:<width$}  {place}", label(site))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use tickscope_testkit::fixture::programs as fixtures;

    use super::*;

    #[test]
    fn every_live_thread() {
        insta::assert_snapshot!(stacks(&fixtures::order_sim(), ProcessState::Running, false));
    }

    #[test]
    fn what_each_thread_does_now() {
        insta::assert_snapshot!(stacks(
            &tickscope_testkit::fixture::waiting(),
            ProcessState::Running,
            false
        ));
    }

    #[test]
    fn a_scope_without_a_clock_read_has_no_age() {
        let mut snapshot = fixtures::order_sim();
        snapshot.threads[0].open[1].began_tick = 0;
        let text = stacks(&snapshot, ProcessState::Running, false);
        assert!(text.contains("\n       -  match::step   engine/"), "{text}");
    }

    #[test]
    fn hostile_names_in_ascii() {
        let text = stacks(&fixtures::hostile(), ProcessState::Stale, true);
        assert!(text.is_ascii());
        insta::assert_snapshot!(text);
    }

    #[test]
    fn a_program_that_has_ended_has_no_live_threads() {
        let mut snapshot = fixtures::order_sim();
        let of = |snapshot: &Snapshot, state| stacks(snapshot, state, false);
        let text = of(&snapshot, ProcessState::Crashed);
        assert!(
            text.contains(" threads were inside a scope at its end; outermost scope first"),
            "{text}"
        );
        for thread in &mut snapshot.threads {
            thread.open.clear();
        }
        assert!(of(&snapshot, ProcessState::FromFile).contains("live threads"));
        snapshot.capture.kind = CaptureKind::Final;
        for state in [ProcessState::Exited, ProcessState::FromFile] {
            let text = of(&snapshot, state);
            assert!(
                text.ends_with("\n\nthe program has ended; no thread was inside a scope at its end\n"),
                "{text}"
            );
            assert!(!text.contains("live"), "{text}");
        }
        let text = of(&fixtures::empty(), ProcessState::Running);
        assert!(
            text.ends_with("\n\nno live thread has entered a scope\n"),
            "{text}"
        );
        // If all threads ended before the program, the text is the same.
        let text = of(&fixtures::empty(), ProcessState::Exited);
        assert!(text.contains("\nthe program has ended; no thread"), "{text}");
    }
}
