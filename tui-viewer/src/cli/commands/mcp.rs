//! `tickscope mcp`: answers a client of the Model Context Protocol on standard input and output.
//!
//! This server implements the protocol itself, with serde_json: it needs only five methods, and the maintained crates
//! for the protocol bring an async runtime. `input` reads lines of limited length, `message` parses them, and
//! `protocol` answers them, both for clients that begin with `initialize` and for clients that repeat the version in
//! each request. `tools` implements the six tools, and `marks` stores the snapshots taken with the `mark` tool.

mod input;
mod marks;
mod message;
mod protocol;
mod schema;
mod tools;

use tickscope_command::console;
use tickscope_programs::target;

use self::input::Input;
use self::protocol::Server;
use crate::cli::args::McpArgs;

/// Exit code after a signal: 128 + SIGTERM, as in a shell.
const BY_SIGNAL: u8 = 143;

/// Answers until the client closes standard input or a signal arrives.
///
/// # Errors
/// The directory cannot be read, or reading or writing fails.
pub fn run(args: &McpArgs) -> anyhow::Result<u8> {
    target::check_dir(args.dir.as_deref())?;
    let (stop, inputs) = input::start()?;
    let mut server = Server::new(args, stop);
    for input in inputs {
        let answer = match input {
            Input::Line(line) => server.answer(&line),
            Input::TooLong => Some(message::too_long()),
            Input::Signal => return Ok(BY_SIGNAL),
            Input::End(None) => break,
            Input::End(Some(error)) => {
                return Err(anyhow::Error::new(error).context("cannot read standard input"));
            }
        };
        // JSON escapes control characters in strings, so an answer is one line.
        if let Some(answer) = answer
            && !console::put(&format!("{answer}\n"))?
        {
            break;
        }
    }
    Ok(console::DONE)
}
