//! Escapes names and sentences for Markdown.

use crate::escape::visible;

/// Formats a name as code. If the name could end the code or a table cell, or could be read as HTML, it is put between `<code>`
/// tags and most of its punctuation is written as character entities. Then Markdown finds no markup in the name, and GitHub does
/// not mistake a part of it for a user.
pub(crate) fn code(name: &str) -> String {
    let name = visible(name, false);
    let plain = |c: char| !matches!(c, '|' | '`' | '<' | '&' | '\\');
    if !name.is_empty() && name.trim() == name && name.chars().all(plain) {
        return format!("`{name}`");
    }
    let mut out = String::from("<code>");
    for c in name.chars() {
        entity(&mut out, c);
    }
    out.push_str("</code>");
    out
}

/// Escapes text that may contain names from the program.
pub(crate) fn words(text: &str) -> String {
    let mut out = String::new();
    for c in visible(text, false).chars() {
        match c {
            '|' | '`' | '<' | '>' | '&' | '\\' | '*' | '_' | '[' | ']' | '~' | '@' | '#' => {
                entity(&mut out, c);
            }
            c => out.push(c),
        }
    }
    out
}

/// Appends a character. ASCII punctuation that could be markup becomes an entity.
fn entity(out: &mut String, c: char) {
    if c.is_ascii_punctuation() && !matches!(c, ':' | ',' | '.' | '(' | ')') {
        out.push_str(&format!("&#{};", u32::from(c)));
    } else {
        out.push(c);
    }
}
