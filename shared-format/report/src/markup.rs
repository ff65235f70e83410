//! Makes names and sentences safe in Markdown.

use crate::escape::visible;

/// Formats a name as code. A name that would end the code or the cell, or that could be read as HTML, is written as
/// entities between tags. Markdown then finds no markup in the name, and GitHub no mention of a user.
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

/// Escapes words that may contain parts of names.
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

/// Appends a letter or digit as it is, and a sign as an entity.
fn entity(out: &mut String, c: char) {
    if c.is_ascii_punctuation() && !matches!(c, ':' | ',' | '.' | '(' | ')') {
        out.push_str(&format!("&#{};", u32::from(c)));
    } else {
        out.push(c);
    }
}
