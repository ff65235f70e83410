//! Writes the log's lines to standard error on its own thread. If standard error is a pipe without a reader or a
//! stopped terminal, only this thread waits, while records and answers continue. Lines that do not fit into the buffer
//! are left out, and the log says how many.

use std::fmt::Write;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::enabled::capture::thread_lifecycle;
use crate::enabled::platform::{descriptors, threads};

/// Maximum number of buffered bytes while standard error accepts nothing.
const QUEUE_MAX: usize = 64 << 10;

/// How long to wait for the last lines to be written when the log ends.
const LAST_LINES: Duration = Duration::from_millis(500);

/// The lines that are waiting to be written.
struct Queue {
    text: String,
    /// Number of lines left out since the last written line.
    left_out: usize,
    has_thread: bool,
    /// Whether the last line has been queued.
    finished: bool,
    /// Whether standard error is closed.
    closed: bool,
}

static QUEUE: Mutex<Queue> = Mutex::new(Queue::EMPTY);

/// Signals that `QUEUE` has changed.
static CHANGED: Condvar = Condvar::new();

fn queue() -> MutexGuard<'static, Queue> {
    QUEUE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Begins a log.
pub(crate) fn open() {
    let mut queue = queue();
    queue.finished = false;
    queue.closed = false;
}

/// Queues lines, each with its newline. Returns false if they cannot be written.
pub(crate) fn put(lines: &str) -> bool {
    let mut queue = queue();
    if queue.closed {
        return false;
    }
    if !queue.has_thread {
        queue.has_thread = threads::spawn(write).is_ok();
    }
    queue.add(lines);
    CHANGED.notify_all();
    queue.has_thread
}

/// Ends the log: waits for the queued lines, but for a limited time.
pub(crate) fn close() {
    let begin = Instant::now();
    let mut queue = queue();
    queue.say_left_out();
    queue.finished = true;
    CHANGED.notify_all();
    while queue.has_thread {
        let left = LAST_LINES.saturating_sub(begin.elapsed());
        if left.is_zero() {
            break;
        }
        queue = CHANGED
            .wait_timeout(queue, left)
            .unwrap_or_else(PoisonError::into_inner)
            .0;
    }
}

/// Runs the writing thread.
fn write() {
    thread_lifecycle::exclude();
    threads::name_this_thread(c"tickscope-log");
    let mut queue = queue();
    loop {
        let text = std::mem::take(&mut queue.text);
        if !text.is_empty() {
            drop(queue);
            let written = descriptors::write_all(libc::STDERR_FILENO, text.as_bytes(), -1).is_ok();
            queue = self::queue();
            queue.closed |= !written;
        } else if !queue.finished {
            queue = CHANGED.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        if queue.closed || queue.finished && queue.text.is_empty() {
            break;
        }
    }
    queue.text.clear();
    queue.has_thread = false;
    CHANGED.notify_all();
}

impl Queue {
    const EMPTY: Self = Self {
        text: String::new(),
        left_out: 0,
        has_thread: false,
        finished: false,
        closed: false,
    };

    fn add(&mut self, lines: &str) {
        // Text that is longer than the whole buffer is accepted if the buffer is empty.
        if self.text.is_empty() || self.text.len() + lines.len() <= QUEUE_MAX {
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
                "({} lines were left out: standard error did not accept them)",
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
        let mut queue = Queue::EMPTY;
        let long = "x".repeat(QUEUE_MAX - 1) + "\n";
        queue.add(&long);
        queue.add("one\ntwo\n");
        queue.add("three\n");
        assert_eq!(queue.text, long);
        queue.text.clear();
        queue.add("four\n");
        assert_eq!(
            queue.text,
            "(3 lines were left out: standard error did not accept them)\nfour\n"
        );
    }
}
