//! Input of the server: lines of bounded length, the end of the input, and signals.

use std::io;
use std::io::BufRead;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Longest line that is accepted, in bytes. A longer one is dropped and answered with an error.
pub(super) const LINE_MAX: usize = 1 << 20;

/// Number of lines that may be queued in memory. Further lines stay in the pipe.
const WAITING: usize = 4;

/// What the input threads send to the server.
#[derive(Debug)]
pub(super) enum Input {
    /// A line without its newline.
    Line(Vec<u8>),
    /// A line of more than [`LINE_MAX`] bytes.
    TooLong,
    /// The end of the input, with the error if reading failed.
    End(Option<io::Error>),
    /// A signal that ends the process.
    Signal,
}

/// Starts to read standard input. The returned flag is set when a slow tool has to stop early.
///
/// # Errors
/// The system refuses to register signals or start threads.
pub(super) fn start() -> anyhow::Result<(Arc<AtomicBool>, Receiver<Input>)> {
    let stop = Arc::new(AtomicBool::new(false));
    let (sender, receiver) = sync_channel(WAITING);
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let (of_signals, flag) = (sender.clone(), Arc::clone(&stop));
    thread::Builder::new().name("signals".into()).spawn(move || {
        if signals.forever().next().is_some() {
            flag.store(true, Ordering::Relaxed);
            // The server stops at the signal, so lines queued behind it get no answer.
            let _ = of_signals.send(Input::Signal);
        }
    })?;
    let flag = Arc::clone(&stop);
    thread::Builder::new()
        .name("input".into())
        .spawn(move || read(&mut io::stdin().lock(), &sender, &flag))?;
    Ok((stop, receiver))
}

/// Reads lines and sends them to the server. Sets `stop` at the end of the input.
fn read(input: &mut impl BufRead, sender: &SyncSender<Input>, stop: &AtomicBool) {
    loop {
        let next = line(input).unwrap_or_else(|error| Input::End(Some(error)));
        let is_end = matches!(next, Input::End(_));
        if is_end {
            stop.store(true, Ordering::Relaxed);
        }
        if sender.send(next).is_err() || is_end {
            return;
        }
    }
}

/// Reads the next line. If it has more than [`LINE_MAX`] bytes, the whole line is skipped, without keeping it in memory.
fn line(input: &mut impl BufRead) -> io::Result<Input> {
    let (mut line, mut is_long) = (Vec::new(), false);
    loop {
        let there = match input.fill_buf() {
            Ok(there) => there,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let end = memchr::memchr(b'\n', there);
        let part = &there[..end.unwrap_or(there.len())];
        is_long |= line.len() + part.len() > LINE_MAX;
        if is_long {
            line = Vec::new();
        } else {
            line.extend_from_slice(part);
        }
        let (is_end, used) = (there.is_empty(), part.len() + usize::from(end.is_some()));
        input.consume(used);
        if end.is_none() && !is_end {
            continue;
        }
        return Ok(match (is_long, is_end && line.is_empty()) {
            (true, _) => Input::TooLong,
            (false, true) => Input::End(None),
            (false, false) => Input::Line(line),
        });
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Read};

    use super::*;

    fn lines(input: impl Read) -> Vec<String> {
        let mut input = BufReader::with_capacity(7, input);
        let mut all = Vec::new();
        loop {
            all.push(match line(&mut input).unwrap() {
                Input::Line(line) => String::from_utf8(line).unwrap(),
                Input::TooLong => "(too long)".into(),
                Input::End(_) => return all,
                Input::Signal => unreachable!("a reader gets no signals"),
            });
        }
    }

    #[test]
    fn lines_are_read_whole_and_the_last_one_needs_no_end() {
        assert_eq!(
            lines(&b"one\n\nthree is longer\nlast"[..]),
            ["one", "", "three is longer", "last"]
        );
        assert_eq!(lines(&b""[..]), Vec::<String>::new());
    }

    #[test]
    fn a_line_without_an_end_takes_no_memory_and_the_next_one_is_read() {
        let most = std::io::repeat(b'x').take(LINE_MAX as u64);
        assert_eq!(lines(most.chain(&b"\nnext"[..]))[0].len(), LINE_MAX);
        let long = std::io::repeat(b'x').take(4 * LINE_MAX as u64);
        assert_eq!(lines(long.chain(&b"\nnext\n"[..])), ["(too long)", "next"]);
    }
}
