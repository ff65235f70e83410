//! Viewers of the long-lived program. Some stay attached for the whole run and receive keys; another one is killed and
//! replaced again and again. Commands also run on the program, and some of them are killed before they finish.

use anyhow::Result;

use crate::process::{CTRL_C, Process};
use crate::soak::{Soak, one_in};

/// Keys that a user might press while exploring the viewer. They change views, move around, fold, sort, open windows,
/// step through time, set marks, reset and undo, dump, keep snapshots, and change rates and themes. There are no keys
/// that quit, open the list of modes, switch sites on or off, or open the editor.
const KEYS: [&str; 83] = [
    "1", "2", "3", "4", "5", "6", "7", "7", "v", "v", "1", "2", "3", "4", "5", "\t", "\x1b[Z", "?", "\x1b[A",
    "\x1b[B", "k", "j", "j", "j", "\x1b[5~", "\x1b[6~", "g", "G", "z", "h", "l", "l", "l", "\r", "K", "J",
    "E", "C", "H", "t", "f", "F", "i", "c", "&", "#", "n", "N", "\\", "<", ">", "I", "%", "x", "b", "U", "w",
    "w", ",", ".", "(", ")", "{", "}", "L", "L", "m", "'", "a", "p", "r", "ry", "u", "d", "s", "[", "]", "T",
    "M", "\x0c", "/wide\r", "/c1\r", "\x1b",
];

/// Arguments of `tickscope`. `PID` stands for the program's id, and `NEW` for the name of a file that does not exist
/// yet.
const COMMANDS: [&str; 18] = [
    "report --pid PID",
    "report --pid PID -f json -o NEW.json",
    "report --pid PID -f html -o NEW.html",
    "report --pid PID -f folded",
    "list",
    "list --json",
    "stacks --pid PID",
    "stacks --tasks --pid PID",
    "sites --pid PID",
    "snapshot --pid PID -o NEW.tks",
    "record --pid PID -d 500ms -o NEW.tks",
    "record --pid PID -d 1s --rate 50 -o NEW.tks",
    "log --pid PID -d 1s --every 100ms --function wide",
    "reset --pid PID",
    "reset --pid PID --after 200ms",
    "mode exact --pid PID",
    "mode adaptive --pid PID",
    "mode sampled --pid PID",
];

/// Returns some random keys that are sent together, followed by Esc to close the topmost window.
fn burst() -> String {
    let keys = (0..fastrand::u32(1..=6)).filter_map(|_| fastrand::choice(KEYS));
    keys.chain(["\x1b"]).collect()
}

/// Sends `bursts` bursts of keys, or fewer if the run ends first.
fn explore(soak: &Soak, viewer: &mut Process, bursts: u32) -> Result<()> {
    for _ in 0..bursts {
        if soak.over.sleep(fastrand::u64(0..=1000)) {
            break;
        }
        viewer.lives()?;
        viewer.send(&burst());
        soak.tally.did("bursts of keys", 1);
        if one_in(20) {
            viewer.resize(fastrand::u16(40..200), fastrand::u16(10..70));
        }
    }
    viewer.lives()
}

/// Sends keys until the run is over, and then quits the viewer.
pub(crate) fn stay(soak: &Soak, mut viewer: Process) {
    let explored = explore(soak, &mut viewer, u32::MAX);
    let left = explored.and_then(|()| viewer.end(CTRL_C));
    soak.tally.check("viewers that stayed", left);
}

/// Starts viewers of a program one after another, sends some keys to each, and then kills it or quits it.
pub(crate) fn come_and_go(soak: &Soak, pid: u32) {
    let visit = || -> Result<()> {
        let mut viewer = soak.place.tickscope(&format!("--pid {pid}"))?;
        explore(soak, &mut viewer, fastrand::u32(..8))?;
        if one_in(4) {
            viewer.end(CTRL_C)?;
        }
        Ok(())
    };
    while !soak.over.sleep(0) {
        soak.tally.check("viewers that came and went", visit());
    }
}

/// Runs one command after another until the run is over.
pub(crate) fn commands(soak: &Soak, pid: u32) {
    let mut number = 0;
    while !soak.over.sleep(fastrand::u64(50..=400)) {
        number += 1;
        let line = COMMANDS[fastrand::usize(..COMMANDS.len())].replace("PID", &pid.to_string());
        let line = line.replace("NEW", &format!("command-{number}"));
        let command = soak.place.tickscope(&line);
        if one_in(5) {
            soak.over.sleep(fastrand::u64(0..=300));
            soak.tally.check("commands killed", command);
        } else {
            soak.tally
                .check("commands", command.and_then(|command| command.end("")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_ends_the_viewer() {
        for key in KEYS {
            assert!(
                !key.contains(['q', 'o', 'e', ' ', ':', '\x03', '\x1a']) || key.starts_with('/'),
                "{key:?}"
            );
        }
        assert_eq!(burst().pop(), Some('\x1b'));
    }
}
