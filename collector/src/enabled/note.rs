//! Notes: keys and values that tell watched calls apart.

use std::fmt::{self, Write};

use crate::enabled::record::current_thread;

/// Maximum length of a key, in bytes.
const KEY_MAX: usize = 64;
/// Maximum length of a value, in bytes.
const VALUE_MAX: usize = 256;

/// Text that is truncated to the size of its buffer, at a character boundary.
struct Text {
    bytes: [u8; VALUE_MAX],
    length: usize,
    is_full: bool,
}

impl Write for Text {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        let space = if self.is_full { 0 } else { VALUE_MAX - self.length };
        self.is_full |= more.len() > space;
        let more = cut(more, space);
        if let Some(place) = self.bytes.get_mut(self.length..self.length + more.len()) {
            place.copy_from_slice(more.as_bytes());
            self.length += more.len();
        }
        Ok(())
    }
}

/// Truncates a text to at most `most` bytes, at a character boundary.
fn cut(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len()))
        .rev()
        .find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}

/// Attaches a key and a value to the watched call that is open on this thread, if there is one.
#[inline]
pub fn note(key: &str, value: fmt::Arguments<'_>) {
    if let Some(tree) = current_thread::hot()
        && tree.watching.is_open()
    {
        note_in(key, value);
    }
}

#[cold]
#[inline(never)]
fn note_in(key: &str, value: fmt::Arguments<'_>) {
    let mut text = Text {
        bytes: [0; VALUE_MAX],
        length: 0,
        is_full: false,
    };
    // If the value's `Display` fails, the text written before the error is used.
    let _ = text.write_fmt(value);
    // Formatting runs code of the program, which may have ended the call.
    if let Some(tree) = current_thread::hot()
        && let Ok(value) = std::str::from_utf8(&text.bytes[..text.length])
    {
        tree.note_value(cut(key, KEY_MAX), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_cut_between_two_characters() {
        assert_eq!(cut("abc", 64), "abc");
        assert_eq!(cut("a\u{e9}b", 2), "a");
        let mut text = Text {
            bytes: [0; VALUE_MAX],
            length: 0,
            is_full: false,
        };
        for more in ["x".repeat(VALUE_MAX - 1).as_str(), "\u{e9}", "y"] {
            text.write_str(more).unwrap();
        }
        assert_eq!(
            text.length,
            VALUE_MAX - 1,
            "nothing is added behind what is missing"
        );
    }
}
