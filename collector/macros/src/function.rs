//! The return type of a function.

use proc_macro::{Delimiter, TokenTree};

use crate::tokens::{Angles, group_at, is_arrow, is_punct, is_word, mentions};

/// What stands after the arrow.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Return<'a> {
    /// No arrow: `()`.
    Unit,
    /// `-> !`
    Never,
    /// A type with an `impl` in it, which may be written nowhere else.
    Opaque,
    /// A type that can be written again.
    Type(&'a [TokenTree]),
}

impl<'a> Return<'a> {
    /// Reads the signature that stands between the keyword `fn` and the body.
    pub(crate) fn of(signature: &'a [TokenTree]) -> Self {
        let mut angles = Angles::default();
        let mut arrow = None;
        let mut arguments = false;
        let mut end = signature.len();
        for at in 0..signature.len() {
            // Before the arrow is fed: arrows within `<..>` are those of bounds.
            if arguments && arrow.is_none() && angles.closed() && is_arrow(signature, at) {
                arrow = Some(at);
            }
            angles.feed(signature, at);
            if !angles.closed() {
                continue;
            }
            arguments |= group_at(signature, at, Delimiter::Parenthesis).is_some();
            if is_word(signature, at, "where") {
                end = at;
                break;
            }
        }
        let Some(arrow) = arrow else { return Return::Unit };
        let written = &signature[arrow + 2..end];
        if written.len() == 1 && is_punct(written, 0, '!') {
            Return::Never
        } else if mentions(written, "impl") {
            Return::Opaque
        } else {
            Return::Type(written)
        }
    }
}
