//! Writes the log's lines to standard error on its own thread. If standard error is a pipe without a reader or a
//! stopped terminal, only this thread waits, and records and answers go on. Lines that do not fit into the buffer are
//! left out, and the log says how many.

use std::fmt::Write;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::enabled::capture::thread_lifecycle;
use crate::enabled::platform::os;

/// How many bytes are buffered while standard error accepts nothing.
const HELD_MAX: usize = 64 << 10;

/// How long the end of the log waits for the last lines.
const LAST_LINES: Duration = Duration::from_millis(500);

/// The lines that are waiting to be written.
struct Held {
    text: String,
    /// How many lines were left out since the last one that was not.
    left_out: usize,
    /// Whether the writing thread exists.
    at_work: bool,
    /// Whether no more lines are coming.
    over: bool,
    /// Whether standard error is closed.
    deaf: bool,
}

static HELD: Mutex<Held> = Mutex::new(Held {
    text: String::new(),
    left_out: 0,
    at_work: false,
    over: false,
    deaf: false,
});

/// Signals that `QUEUE` has changed.
static CHANGED: Condvar = Condvar::new();

fn held() -> MutexGuard<'static, Held> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Begins a log.
pub(crate) fn open() {
    let mut held = held();
    held.over = false;
    held.deaf = false;
}

/// Queues lines, each with its newline. Returns false if they cannot be written.
pub(crate) fn put(lines: &str) -> bool {
    let mut held = held();
    if held.deaf {
        return false;
    }
    if !held.at_work {
        held.at_work = os::spawn(write).is_ok();
    }
    held.add(lines);
    CHANGED.notify_all();
    held.at_work
}

/// Ends the log: waits for the queued lines, but for a limited time.
pub(crate) fn close() {
    let begin = Instant::now();
    let mut held = held();
    held.say_left_out();
    held.over = true;
    CHANGED.notify_all();
    while held.at_work {
        let left = LAST_LINES.saturating_sub(begin.elapsed());
        if left.is_zero() {
            break;
        }
        held = CHANGED
            .wait_timeout(held, left)
            .unwrap_or_else(PoisonError::into_inner)
            .0;
    }
}

/// Runs the writing thread.
fn write() {
    thread_lifecycle::exclude();
    os::name_this_thread(c"tickscope-log");
    let mut held = held();
    loop {
        let text = std::mem::take(&mut held.text);
        if !text.is_empty() {
            drop(held);
            let heard = os::write_all(libc::STDERR_FILENO, text.as_bytes(), -1).is_ok();
            held = self::held();
            held.deaf |= !heard;
        } else if !held.over {
            held = CHANGED.wait(held).unwrap_or_else(PoisonError::into_inner);
        }
        if held.deaf || held.over && held.text.is_empty() {
            break;
        }
    }
    held.text.clear();
    held.at_work = false;
    CHANGED.notify_all();
}

impl Held {
    fn add(&mut self, lines: &str) {
        // Text that is longer than the whole buffer is accepted if the buffer is empty.
        if self.text.is_empty() || self.text.len() + lines.len() <= HELD_MAX {
            self.say_left_out();
            self.text.push_str(lines);
        } else {
            self.left_out += lines.lines().count();
        }
    }

    fn say_left_out(&mut self) {
        if self.left_out > 0 {
            // Writing into a String does not fail.
            let _ = writeln!(
                self.text,
                "({} lines were left out: standard error took none)",
                std::mem::take(&mut self.left_out)
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_counted_and_said() {
        let mut held = Held {
            text: String::new(),
            left_out: 0,
            at_work: false,
            over: false,
            deaf: false,
        };
        let long = "x".repeat(HELD_MAX - 1) + "\n";
        held.add(&long);
        held.add("one\ntwo\n");
        held.add("three\n");
        assert_eq!(held.text, long);
        held.text.clear();
        held.add("four\n");
        assert_eq!(
            held.text,
            "(3 lines were left out: standard error took none)\nfour\n"
        );
    }
}
