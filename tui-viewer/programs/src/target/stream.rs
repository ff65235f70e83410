//! Reads a recording from standard input, as written by `tickscope record -o -`.

use std::fs::File;
use std::io;
use std::io::{BufReader, IsTerminal};
use std::os::fd::AsFd;

use anyhow::{anyhow, bail};
use tickscope_command::console::{Misuse, say};
use tickscope_format::Snapshot;
use tickscope_format::addresses::Addresses;
use tickscope_format::codec;
use tickscope_format::recording::{Piece, Stream};

/// Maximum size in bytes of a record in a stream, packed or unpacked. It limits how much memory is allocated for a record.
const RECORD_MAX: u64 = 64 << 20;

/// Command suggested by error messages.
const HOW: &str = "ssh HOST tickscope record -o - NAME | tickscope -";

/// Starts reading standard input.
///
/// # Errors
/// Returns an error if standard input is a terminal, or if its descriptor cannot be copied.
pub(crate) fn open() -> anyhow::Result<Stream<BufReader<File>>> {
    let input = io::stdin();
    if input.is_terminal() {
        return Err(Misuse(format!("standard input is a terminal, wanted a recording: {HOW}")).into());
    }
    // Read from a copy of the descriptor, because the standard library's lock on standard input cannot move to another thread.
    let file = File::from(input.as_fd().try_clone_to_owned()?);
    Ok(Stream::new(BufReader::new(file), RECORD_MAX))
}

/// Returns the error for a stream without any data.
pub(crate) fn nothing_came() -> anyhow::Error {
    anyhow!("standard input ended before a recording began; is there an error above? wanted: {HOW}")
}

/// Reads standard input to its end. Returns the newest snapshot, and the functions and line numbers that the stream
/// contains for code addresses.
///
/// # Errors
/// Returns an error if there is no snapshot, or if the input is not a recording.
pub(crate) fn newest() -> anyhow::Result<(Snapshot, Addresses)> {
    let mut stream = open()?;
    let (mut newest, mut has_begun) = (None, false);
    let mut named = Addresses::default();
    loop {
        match stream.next_piece() {
            Ok(Piece::Begin) => has_begun = true,
            Ok(Piece::Record(record)) => {
                named.extend(record.addresses);
                newest = Some(record.payload);
            }
            Ok(Piece::End { torn }) => {
                let Some(payload) = &newest else {
                    if has_begun {
                        bail!("standard input ended before a whole record came; record for longer");
                    }
                    return Err(nothing_came());
                };
                if torn > 0 {
                    say(&broke_off(torn));
                }
                let snapshot = codec::decode(payload).map_err(|error| anyhow!("standard input: {error}"))?;
                return Ok((snapshot, named));
            }
            Err(error) => bail!("standard input: {error}"),
        }
    }
}

/// Returns the message for a stream that ended in the middle of a record.
pub(crate) fn broke_off(bytes: u64) -> String {
    format!("standard input broke off within a record; its {bytes} bytes are left out")
}
