//! Keys as a user presses them who explores the viewer, without those that end or stop the viewer or make the program
//! count no calls.

use crate::random::Random;

/// Everything that is a single key: views, moving, folding, sorting, windows, moments, marks, resets and their undo,
/// dumps, kept snapshots, rates, themes. It leaves out quitting, the list of modes, switching sites, and the editor.
const KEYS: [&str; 83] = [
    "1", "2", "3", "4", "5", "6", "7", "7", "v", "v", "1", "2", "3", "4", "5", "\t", "\x1b[Z", "?", "\x1b[A",
    "\x1b[B", "k", "j", "j", "j", "\x1b[5~", "\x1b[6~", "g", "G", "z", "h", "l", "l", "l", "\r", "K", "J",
    "E", "C", "H", "t", "f", "F", "i", "c", "&", "#", "n", "N", "\\", "<", ">", "I", "%", "x", "b", "U", "w",
    "w", ",", ".", "(", ")", "{", "}", "L", "L", "m", "'", "a", "p", "r", "ry", "u", "d", "s", "[", "]", "T",
    "M", "\x0c", "/wide\r", "/c1\r", "\x1b",
];

/// Returns some keys at once. The last ones close what is on top and follow the program again.
pub(crate) fn burst(random: &mut Random) -> Vec<u8> {
    let mut keys = Vec::new();
    for _ in 0..=random.below(6) {
        keys.extend_from_slice(random.of(&KEYS).as_bytes());
    }
    if random.one_in(8) {
        keys.extend_from_slice(b"L");
    }
    keys.push(0x1b);
    keys
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
        assert_eq!(burst(&mut Random::new(1, 1)).last(), Some(&0x1b));
    }
}
