//! Finds the attributes at the start of an item or of a body.

use proc_macro::{Delimiter, TokenTree};

use crate::tokens::{collect, group_at, is_path_separator, is_punct, is_word, last_of_path, opened};

/// The attributes at the start of an item.
pub(crate) struct Attributes {
    /// The index after the last attribute.
    pub(crate) end: usize,
    /// Whether one of the attributes is a `profile` attribute, or may turn into one through `cfg_attr`.
    pub(crate) profile: bool,
    /// Whether one of the attributes may be a macro, or may have another meaning on a function that is not async.
    pub(crate) may_look_for_async: bool,
}

/// Built-in attributes that have the same meaning on an async function and on a function that returns a future.
const ALIKE: [&str; 8] = ["allow", "cfg", "cold", "deny", "doc", "forbid", "inline", "warn"];

/// Parses the attributes `#[..]` and `#![..]` at the start of `trees`. Doc comments are such attributes, too.
pub(crate) fn leading(trees: &[TokenTree]) -> Attributes {
    let mut attributes = Attributes {
        end: inner_end(trees),
        profile: false,
        may_look_for_async: false,
    };
    while is_punct(trees, attributes.end, '#') {
        let Some(group) = group_at(trees, attributes.end + 1, Delimiter::Bracket) else {
            break;
        };
        let meta = opened(group.stream());
        attributes.profile |= is_profile(&meta);
        attributes.may_look_for_async |=
            is_path_separator(&meta, 1) || !ALIKE.iter().any(|word| is_word(&meta, 0, word));
        attributes.end += 2;
    }
    attributes
}

/// Returns the index after the inner attributes `#![..]`.
pub(crate) fn inner_end(trees: &[TokenTree]) -> usize {
    let mut at = 0;
    while is_punct(trees, at, '#')
        && is_punct(trees, at + 1, '!')
        && group_at(trees, at + 2, Delimiter::Bracket).is_some()
    {
        at += 3;
    }
    at
}

/// Returns whether the path of the attribute ends in `profile`. The condition of `cfg_attr(condition, a, b)` cannot be
/// evaluated here and is assumed to be true: it is better to leave out a function than to measure it twice.
fn is_profile(meta: &[TokenTree]) -> bool {
    let last = last_of_path(meta, 0);
    if is_word(meta, last, "profile") {
        return true;
    }
    let Some(inside) = group_at(meta, last + 1, Delimiter::Parenthesis) else {
        return false;
    };
    is_word(meta, last, "cfg_attr")
        && collect(inside.stream())
            .split(|tree| matches!(tree, TokenTree::Punct(punct) if punct.as_char() == ','))
            .skip(1)
            .any(|part| is_profile(&opened(part.iter().cloned().collect())))
}
