//! Makes text from a profiled program safe to print: the text cannot move the cursor, change colours or reorder a line.

use std::borrow::Cow;
use std::fmt::{self, Write};

use crate::number;

/// Returns the text with invisible characters replaced by escapes such as `\n`, `\u{1b}` or `\u{202e}`. For ASCII output, all
/// characters outside ASCII are replaced as well.
pub(crate) fn visible(text: &str, ascii: bool) -> Cow<'_, str> {
    let is_hidden = |c: char| shapeless(c) || (ascii && !c.is_ascii());
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let text = number::in_charset(text.to_owned(), ascii);
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_hidden(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Returns whether a character is invisible: a control character, a line or paragraph separator, a zero-width or directional
/// mark, or a tag character.
pub(crate) fn shapeless(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// Displays text as a JSON string for an HTML page. `<`, `>` and `&` are escaped, so the text can neither close the script
/// element nor open a tag.
pub(crate) struct Json<T>(pub(crate) T);

impl<T: AsRef<str>> fmt::Display for Json<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for c in self.0.as_ref().chars() {
            match c {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                '<' | '>' | '&' => write!(f, "\\u{:04x}", u32::from(c))?,
                c if shapeless(c) => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        write!(f, "\\u{unit:04x}")?;
                    }
                }
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_without_a_shape_gets_through() {
        let table = [
            ("book::insert", "book::insert", "book::insert"),
            ("a\nb\t\u{1b}[31m", r"a\nb\t\u{1b}[31m", r"a\nb\t\u{1b}[31m"),
            ("x\u{202e}y\u{2066}", r"x\u{202e}y\u{2066}", r"x\u{202e}y\u{2066}"),
            ("größe 5µs", "größe 5µs", r"gr\u{f6}\u{df}e 5us"),
        ];
        for (text, unicode, ascii) in table {
            assert_eq!(visible(text, false), unicode);
            assert_eq!(visible(text, true), ascii);
        }
    }
}
