//! The return type of a function.

use proc_macro::{Delimiter, Group, Ident, TokenTree};

use crate::tokens::{Angles, collect, group_at, is_arrow, is_punct, is_word};

/// The return type in a signature.
#[derive(Debug)]
pub(crate) enum Return {
    /// There is no arrow: `()`.
    Unit,
    /// `-> !`
    Never,
    /// `-> impl Bounds`, which cannot be written again in a body.
    Opaque,
    /// A type as it can be written in a body, with `_` for each `impl Bounds` in it.
    Type(Vec<TokenTree>),
}

impl Return {
    /// Reads the signature between the keyword `fn` and the body.
    pub(crate) fn of(signature: &[TokenTree]) -> Self {
        let mut angles = Angles::default();
        let mut arrow = None;
        let mut arguments = false;
        let mut end = signature.len();
        for at in 0..signature.len() {
            // Arrows before the arguments belong to bounds.
            if arguments && arrow.is_none() && is_arrow(signature, at) {
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
            return Return::Never;
        }
        let written = without_opaque(written);
        if written.len() == 1 && is_word(&written, 0, "_") {
            Return::Opaque
        } else {
            Return::Type(written)
        }
    }
}

/// Replaces each `impl Bounds` by `_`, because it is only allowed in signatures.
fn without_opaque(written: &[TokenTree]) -> Vec<TokenTree> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(tree) = written.get(at) {
        if is_word(written, at, "impl") {
            out.push(TokenTree::Ident(Ident::new("_", tree.span())));
            at = bounds_end(written, at);
            continue;
        }
        out.push(match tree {
            TokenTree::Group(group) => {
                let inside = without_opaque(&collect(group.stream()));
                let mut again = Group::new(group.delimiter(), inside.into_iter().collect());
                again.set_span(group.span());
                TokenTree::Group(again)
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => tree.clone(),
        });
        at += 1;
    }
    out
}

/// Returns the end of the bounds that begin at `from`, which is the token that separates or closes the types around
/// them.
fn bounds_end(written: &[TokenTree], from: usize) -> usize {
    let mut angles = Angles::default();
    for at in from..written.len() {
        let ends = [',', ';', '>'].iter().any(|&sign| is_punct(written, at, sign));
        if ends && angles.closed() && !angles.in_arrow() {
            return at;
        }
        angles.feed(written, at);
    }
    written.len()
}
