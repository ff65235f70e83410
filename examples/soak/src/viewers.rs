//! Viewers in terminals: those that stay and get keys, and one that is killed and replaced all the time.

use std::time::Instant;

use fastrand::Rng;

use crate::process::{PATIENCE, Terminal};
use crate::soak::{Over, Soak, Tally, one_in, one_of};

/// Keys as a user presses them who explores the viewer: views, moving, folding, sorting, windows, moments, marks, resets and their
/// undo, dumps, kept snapshots, rates, themes. It leaves out quitting, the list of modes, switching sites, and the editor.
const KEYS: [&str; 83] = [
    "1", "2", "3", "4", "5", "6", "7", "7", "v", "v", "1", "2", "3", "4", "5", "\t", "\x1b[Z", "?", "\x1b[A",
    "\x1b[B", "k", "j", "j", "j", "\x1b[5~", "\x1b[6~", "g", "G", "z", "h", "l", "l", "l", "\r", "K", "J",
    "E", "C", "H", "t", "f", "F", "i", "c", "&", "#", "n", "N", "\\", "<", ">", "I", "%", "x", "b", "U", "w",
    "w", ",", ".", "(", ")", "{", "}", "L", "L", "m", "'", "a", "p", "r", "ry", "u", "d", "s", "[", "]", "T",
    "M", "\x0c", "/wide\r", "/c1\r", "\x1b",
];

/// Returns some keys at once. The last one closes what is on top.
fn burst(random: &mut Rng) -> String {
    let keys = (0..random.u32(1..=6))
        .map(|_| one_of(random, &KEYS))
        .collect::<String>();
    let follow = if one_in(random, 8) { "L" } else { "" };
    keys + follow + "\x1b"
}

/// Reports a viewer that has ended by itself. Returns whether it has.
pub(crate) fn is_gone(viewer: &mut Terminal, tally: &Tally) -> bool {
    let ended = viewer.has_ended();
    if let Some(status) = &ended {
        tally.error(format!("a viewer ended with {status}: {}", viewer.said()));
    }
    ended.is_some()
}

/// Presses keys so many times, or until the run is over. Returns whether the viewer still lives.
fn explore(soak: &Soak, viewer: &mut Terminal, random: &mut Rng, bursts: u32) -> bool {
    for _ in 0..bursts {
        if soak.over.sleep(random.u64(0..=1000)) || viewer.has_ended().is_some() {
            break;
        }
        viewer.send(&burst(random));
        soak.tally.did("bursts of keys", 1);
        if one_in(random, 20) {
            viewer.resize(random.u16(40..200), random.u16(10..70));
        }
    }
    !is_gone(viewer, &soak.tally)
}

/// Lets a viewer leave by Ctrl-C, which quits from everywhere. Directly after an Esc it would be read as part of another key.
fn leave(mut viewer: Terminal, tally: &Tally) {
    let begin = Instant::now();
    let status = loop {
        viewer.send("\x03");
        match viewer.has_ended() {
            Some(status) => break status,
            None if begin.elapsed() > PATIENCE => return tally.error("a viewer does not leave"),
            None => _ = Over::default().sleep(100),
        }
    };
    if !status.success() && status.signal().is_none() {
        tally.error(format!("a viewer left with {status}: {}", viewer.said()));
    }
}

/// Presses keys until the run is over, and then lets the viewer leave.
pub(crate) fn stay(soak: &Soak, mut viewer: Terminal, mut random: Rng) {
    if explore(soak, &mut viewer, &mut random, u32::MAX) {
        leave(viewer, &soak.tally);
    }
}

/// Starts viewers of a program one after another, presses some keys in each, and kills it or lets it leave.
pub(crate) fn come_and_go(soak: &Soak, pid: u32, mut random: Rng) {
    while !soak.over.is_set() {
        match soak.place.viewer_of(pid) {
            Ok(mut viewer) => {
                let bursts = random.u32(..8);
                let lives = explore(soak, &mut viewer, &mut random, bursts);
                if lives && one_in(&mut random, 4) {
                    leave(viewer, &soak.tally);
                } else if lives {
                    soak.tally.did("viewers killed", 1);
                }
            }
            Err(error) => {
                soak.tally.error(error);
                soak.over.sleep(1000);
            }
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
        assert_eq!(burst(&mut Rng::with_seed(1)).pop(), Some('\x1b'));
    }
}
