//! Decodes bytes from the terminal into keys.
//!
//! The usual decoder, which is part of crossterm, blocks in the middle of an escape sequence, drops bytes that do not
//! fit into its first read, and spins when the terminal is closed. This decoder does no I/O, so the event loop alone
//! decides when to read and when to wait.

/// A pressed key, or a mouse event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Code {
    /// A letter, digit or symbol.
    Char(char),
    /// A letter with Ctrl.
    Ctrl(char),
    Enter,
    Esc,
    Backspace,
    Delete,
    Tab,
    /// Shift-Tab.
    BackTab,
    Up,
    Down,
    Left,
    Right,
    ShiftLeft,
    ShiftRight,
    Home,
    End,
    PageUp,
    PageDown,
    F1,
    /// A mouse event at a cell: column and row, counted from 0.
    Mouse(Mouse, u16, u16),
    /// A key that the viewer does not use.
    Other,
}

/// What the mouse did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Mouse {
    /// The main button is pressed.
    Press,
    /// The mouse moves to another cell while its main button is held.
    Drag,
    WheelUp,
    WheelDown,
    /// The wheel moves one step to the left, or it moves one step up while Shift is held.
    WheelLeft,
    /// The wheel moves one step to the right, or it moves one step down while Shift is held.
    WheelRight,
    /// An event that the viewer does not use, such as another button or a release.
    Nothing,
}

/// Maximum length of a key's byte sequence. A longer sequence does not come from a keyboard.
const LONGEST: usize = 32;

/// Decodes bytes into keys. The bytes of an incomplete key are held back until the rest arrives.
#[derive(Debug, Default)]
pub(crate) struct Keyboard {
    held: Vec<u8>,
}

impl Keyboard {
    /// Appends `bytes` to those held back so far, and returns the keys that are now complete.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Vec<Code> {
        self.held.extend_from_slice(bytes);
        let mut keys = Vec::new();
        let mut at = 0;
        while at < self.held.len() {
            match parse(&self.held[at..]) {
                Some((key, used)) => {
                    keys.push(key);
                    at += used;
                }
                None if self.held.len() - at > LONGEST => {
                    keys.push(Code::Other);
                    at = self.held.len();
                }
                None => break,
            }
        }
        self.held.drain(..at);
        keys
    }

    /// Returns whether the bytes of an incomplete key are being held back.
    pub(crate) fn holds(&self) -> bool {
        !self.held.is_empty()
    }

    /// Gives up waiting for the rest of an incomplete key, and decodes the bytes held back on their own. A single
    /// Escape byte is the Escape key.
    pub(crate) fn give_up(&mut self) -> Vec<Code> {
        let held = std::mem::take(&mut self.held);
        match held.as_slice() {
            [] => Vec::new(),
            [0x1b] => vec![Code::Esc],
            [0x1b, rest @ ..] => {
                let mut keys = vec![Code::Esc];
                keys.extend(rest.iter().map(|&b| plain(b)));
                keys
            }
            _ => vec![Code::Other],
        }
    }
}

/// Decodes the first key. Returns it together with its length in bytes, or `None` if more bytes are needed.
fn parse(bytes: &[u8]) -> Option<(Code, usize)> {
    match *bytes {
        [0x1b] => None,
        [0x1b, b'[', ref rest @ ..] => control_sequence(rest).map(|(key, used)| (key, used + 2)),
        [0x1b, b'O'] => None,
        [0x1b, b'O', last, ..] if !last.is_ascii_control() => Some((named(last), 3)),
        [0x1b, ..] => Some((Code::Esc, 1)),
        [first, ..] if first < 0x80 => Some((plain(first), 1)),
        [first, ..] => {
            let wanted = match first {
                0xc2..=0xdf => 2,
                0xe0..=0xef => 3,
                0xf0..=0xf4 => 4,
                _ => return Some((Code::Other, 1)),
            };
            let follows = &bytes[1..wanted.min(bytes.len())];
            if follows.iter().any(|b| b & 0xc0 != 0x80) {
                return Some((Code::Other, 1));
            }
            let letter = bytes.get(..wanted)?;
            match std::str::from_utf8(letter).ok().and_then(|s| s.chars().next()) {
                Some(c) => Some((Code::Char(c), wanted)),
                None => Some((Code::Other, 1)),
            }
        }
        [] => None,
    }
}

fn control_sequence(rest: &[u8]) -> Option<(Code, usize)> {
    let end = rest
        .iter()
        .position(|b| (0x40..=0x7e).contains(b) || b.is_ascii_control())?;
    if rest[end].is_ascii_control() {
        // A control character cannot be part of a sequence, so it starts the next key, such as Ctrl-C.
        return Some((Code::Other, end));
    }
    if rest.first() == Some(&b'<') {
        return Some((mouse(&rest[1..end], rest[end]), end + 1));
    }
    let number = numbers(&rest[..end]).next().flatten();
    let key = match (rest[end], number) {
        (b'~', Some(1 | 7)) => Code::Home,
        (b'~', Some(4 | 8)) => Code::End,
        (b'~', Some(3)) => Code::Delete,
        (b'~', Some(5)) => Code::PageUp,
        (b'~', Some(6)) => Code::PageDown,
        (b'~', Some(11)) => Code::F1,
        (b'~', _) => Code::Other,
        // The Linux console sends its function keys as `CSI [ A`, `CSI [ B` and so on.
        (b'[', _) if end == 0 => {
            return rest.get(1).map(|&last| match last {
                b'A' => (Code::F1, 2),
                _ if last.is_ascii_control() => (Code::Other, 1),
                _ => (Code::Other, 2),
            });
        }
        // The second number gives the modifier: 2 is Shift.
        (b'D', _) if rest[..end].ends_with(b";2") => Code::ShiftLeft,
        (b'C', _) if rest[..end].ends_with(b";2") => Code::ShiftRight,
        (last, _) => named(last),
    };
    Some((key, end + 1))
}

/// Parses numbers separated by `;`. A part that is not a number yields `None`.
fn numbers(bytes: &[u8]) -> impl Iterator<Item = Option<u16>> {
    let parts = bytes.split(|&b| b == b';');
    parts.map(|digits| std::str::from_utf8(digits).ok()?.parse::<u16>().ok())
}

/// Parses a mouse event: `button;column;row` in `bytes`, followed by `last`, which is `M` for a press or `m` for a
/// release.
fn mouse(bytes: &[u8], last: u8) -> Code {
    let mut numbers = numbers(bytes);
    let (Some(Some(button)), Some(Some(x)), Some(Some(y))) = (numbers.next(), numbers.next(), numbers.next())
    else {
        return Code::Mouse(Mouse::Nothing, 0, 0);
    };
    let event = match (button, last) {
        (0, b'M') => Mouse::Press,
        // 32 is the bit for a move.
        (32, b'M') => Mouse::Drag,
        (64, b'M') => Mouse::WheelUp,
        (65, b'M') => Mouse::WheelDown,
        // 4 is the bit for Shift.
        (66 | 68, b'M') => Mouse::WheelLeft,
        (67 | 69, b'M') => Mouse::WheelRight,
        _ => Mouse::Nothing,
    };
    Code::Mouse(event, x.saturating_sub(1), y.saturating_sub(1))
}

fn named(last: u8) -> Code {
    match last {
        b'A' => Code::Up,
        b'B' => Code::Down,
        b'C' => Code::Right,
        b'D' => Code::Left,
        b'H' => Code::Home,
        b'F' => Code::End,
        b'P' => Code::F1,
        b'Z' => Code::BackTab,
        b'M' => Code::Enter,
        _ => Code::Other,
    }
}

fn plain(byte: u8) -> Code {
    match byte {
        b'\r' | b'\n' => Code::Enter,
        b'\t' => Code::Tab,
        0x08 | 0x7f => Code::Backspace,
        0x1b => Code::Esc,
        0x01..=0x1a => Code::Ctrl((byte + b'a' - 1) as char),
        0x1c..=0x1f | 0x00 => Code::Other,
        _ => Code::Char(byte as char),
    }
}

pub(crate) fn key_name(key: Code, ascii: bool) -> String {
    let arrow = |arrow: &'static str, word| if ascii { word } else { arrow };
    let name = match key {
        Code::Char(' ') => "Space",
        Code::Char(c) => return c.to_string(),
        Code::Ctrl(c) => return format!("Ctrl-{c}"),
        Code::Enter => "Enter",
        Code::Esc => "Esc",
        Code::Backspace => "Backspace",
        Code::Delete => "Delete",
        Code::Tab => "Tab",
        Code::BackTab => "Shift-Tab",
        Code::Up => arrow("↑", "Up"),
        Code::Down => arrow("↓", "Dn"),
        Code::Left => arrow("←", "Lt"),
        Code::Right => arrow("→", "Rt"),
        Code::ShiftLeft => arrow("⇧←", "S-Lt"),
        Code::ShiftRight => arrow("⇧→", "S-Rt"),
        Code::Home => "Home",
        Code::End => "End",
        Code::PageUp => "PgUp",
        Code::PageDown => "PgDn",
        Code::F1 => "F1",
        Code::Mouse(..) | Code::Other => "",
    };
    name.to_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn keys_are_read_whole_or_in_pieces() {
        let table: [(&[u8], &[Code]); 15] = [
            (
                b"\x1b[<0;3;5M\x1b[<0;3;5m\x1b[<65;9999;1M",
                &[
                    Code::Mouse(Mouse::Press, 2, 4),
                    Code::Mouse(Mouse::Nothing, 2, 4),
                    Code::Mouse(Mouse::WheelDown, 9998, 0),
                ],
            ),
            (
                b"\x1b[<66;3;5M\x1b[<69;3;5M\x1b[<68;1;1M\x1b[<64;2;1M",
                &[
                    Code::Mouse(Mouse::WheelLeft, 2, 4),
                    Code::Mouse(Mouse::WheelRight, 2, 4),
                    Code::Mouse(Mouse::WheelLeft, 0, 0),
                    Code::Mouse(Mouse::WheelUp, 1, 0),
                ],
            ),
            (b"j", &[Code::Char('j')]),
            (b"\x1b[A\x1bOB", &[Code::Up, Code::Down]),
            (
                b"\x1b[1;5C\x1b[5~\x1b[6~",
                &[Code::Right, Code::PageUp, Code::PageDown],
            ),
            (
                b"\x1b[H\x1b[F\x1b[1~\x1b[4~",
                &[Code::Home, Code::End, Code::Home, Code::End],
            ),
            (b"\x1b[Z\t\r", &[Code::BackTab, Code::Tab, Code::Enter]),
            (
                b"\x03\x0c\x7f",
                &[Code::Ctrl('c'), Code::Ctrl('l'), Code::Backspace],
            ),
            ("é漢".as_bytes(), &[Code::Char('é'), Code::Char('漢')]),
            (b"\x1bq", &[Code::Esc, Code::Char('q')]),
            (b"\x1bOP\x1b[11~\x1b[[A", &[Code::F1, Code::F1, Code::F1]),
            (
                b"\xe9\x03\x1b[[\x03",
                &[Code::Other, Code::Ctrl('c'), Code::Other, Code::Ctrl('c')],
            ),
            (b"\x1b\x03", &[Code::Esc, Code::Ctrl('c')]),
            (b"\x1bO\x03", &[Code::Esc, Code::Char('O'), Code::Ctrl('c')]),
            (
                b"\x1b[\x03\x1b[<0;3\x03\x1b[\x1b[A",
                &[
                    Code::Other,
                    Code::Ctrl('c'),
                    Code::Other,
                    Code::Ctrl('c'),
                    Code::Other,
                    Code::Up,
                ],
            ),
        ];
        for (bytes, keys) in table {
            assert_eq!(Keyboard::default().take(bytes), keys);
            let mut slow = Keyboard::default();
            let read: Vec<Code> = bytes.iter().flat_map(|&b| slow.take(&[b])).collect();
            assert_eq!(read, keys, "byte by byte");
            assert!(!slow.holds());
        }
    }

    #[test]
    fn a_lone_escape_is_held_until_nothing_follows() {
        let mut keyboard = Keyboard::default();
        assert!(keyboard.take(b"\x1b").is_empty() && keyboard.holds());
        assert_eq!(keyboard.give_up(), [Code::Esc]);
        assert!(!keyboard.holds());
    }

    proptest! {
        #[test]
        fn any_bytes_end_somewhere(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut keyboard = Keyboard::default();
            keyboard.take(&bytes);
            prop_assert!(keyboard.held.len() <= LONGEST);
            keyboard.give_up();
            prop_assert!(!keyboard.holds());
        }
    }
}
