//! Groups: the time spent on reading and writing, and on processing text, summed over all functions of each group.
//! `TICKSCOPE=log groups` logs it every second; `tickscope log groups` does the same for a program that is already
//! running.
#![allow(clippy::print_stdout, reason = "a program that speaks to its user")]

use std::error::Error;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

/// Reads the next line; returns `None` at the end. This mostly waits, and waiting is part of the group's time.
#[tickscope::profile(group = "io")]
fn read_line(from: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = String::new();
    Ok((from.read_line(&mut line)? > 0).then_some(line))
}

#[tickscope::profile(group = "io")]
fn write_lines(to: &mut impl Write, lines: &[String]) -> io::Result<()> {
    // `write_line` is in the same group, so its time is not counted twice.
    lines
        .iter()
        .try_for_each(|line| tickscope::time!(group = "io", "write_line", to.write_all(line.as_bytes())))
}

#[tickscope::profile(group = "text")]
fn digits(line: &str) -> u64 {
    line.bytes().filter(u8::is_ascii_digit).map(u64::from).sum()
}

fn main() -> Result<(), Box<dyn Error>> {
    let seconds = std::env::args().nth(1).unwrap_or("10".to_owned());
    let seconds = seconds
        .parse()
        .map_err(|_| format!("usage: groups [SECONDS], not `{seconds}`"))?;
    let _tickscope = tickscope::start("groups");
    println!("Working for {seconds} s. To look inside, in another terminal: tickscope log groups");
    let end = Instant::now() + Duration::from_secs(seconds);

    let (mut sender, receiver) = UnixStream::pair()?;
    let reader = Builder::new().name("reader".to_owned()).spawn(move || {
        let mut receiver = BufReader::new(receiver);
        let mut sum = 0;
        while let Some(line) = read_line(&mut receiver)? {
            sum += digits(&line);
        }
        Ok::<u64, io::Error>(sum)
    })?;
    while Instant::now() < end {
        let lines: Vec<String> = (0..500)
            .map(|n| tickscope::time!(group = "text", "format", format!("line {n}\n")))
            .collect();
        write_lines(&mut sender, &lines)?;
        thread::sleep(Duration::from_millis(20));
    }
    drop(sender);
    let sum = reader.join().map_err(|_| "the reader panicked")??;
    println!("The digits of all lines add up to {sum}.");
    Ok(())
}
