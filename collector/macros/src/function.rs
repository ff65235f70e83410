//! The signature of a function: its arguments and its return type.

use std::ops::Range;

use proc_macro::{Delimiter, Ident, TokenTree};

use crate::tokens::{
    Angles, collect, group_at, is_any_word, is_arrow, is_punct, is_word, last_of_path, opened, pieces,
    regrouped,
};

/// Indices of the parts of a signature, between the keyword `fn` and the body.
pub(crate) struct Signature {
    /// The index of the arguments' parentheses, if there are any.
    pub(crate) arguments: Option<usize>,
    /// The return type after its arrow.
    pub(crate) returned: Option<Range<usize>>,
    /// The index of `where`, or the end of the signature.
    pub(crate) end: usize,
}

impl Signature {
    pub(crate) fn of(trees: &[TokenTree]) -> Self {
        let mut angles = Angles::default();
        let mut arrow = None;
        let mut arguments = None;
        let mut end = trees.len();
        for at in 0..trees.len() {
            // Arrows before the arguments belong to bounds on generic parameters.
            if arguments.is_some() && arrow.is_none() && is_arrow(trees, at) {
                arrow = Some(at);
            }
            angles.feed(trees, at);
            if !angles.closed() {
                continue;
            }
            if arguments.is_none() && group_at(trees, at, Delimiter::Parenthesis).is_some() {
                arguments = Some(at);
            }
            if is_word(trees, at, "where") {
                end = at;
                break;
            }
        }
        Signature {
            arguments,
            returned: arrow.map(|arrow| arrow + 2..end),
            end,
        }
    }
}

/// The return type in a signature.
pub(crate) enum Return {
    /// There is no arrow: `()`.
    Unit,
    /// `-> !`
    Never,
    /// `-> impl Bounds`, which cannot be written in a body.
    Opaque,
    /// Any other type, as it can be written in a body: `_` replaces each `impl Bounds` in it.
    Type(Vec<TokenTree>),
}

impl Return {
    /// Reads the return type from a signature.
    pub(crate) fn of(signature: &[TokenTree]) -> Self {
        let Some(returned) = Signature::of(signature).returned else {
            return Return::Unit;
        };
        let written = &signature[returned];
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

/// Replaces each `impl Bounds` with `_`, because `impl Bounds` is allowed only in signatures.
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
                regrouped(group, inside.into_iter().collect())
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => tree.clone(),
        });
        at += 1;
    }
    out
}

/// Returns the end of the bounds that begin at `from`: the index of the first `,`, `;` or `>` that does not belong to
/// them.
fn bounds_end(written: &[TokenTree], from: usize) -> usize {
    let mut angles = Angles::default();
    for at in from..written.len() {
        let ends = [',', ';', '>'].iter().any(|&sign| is_punct(written, at, sign));
        if ends && angles.closed() && !angles.in_arrow {
            return at;
        }
        angles.feed(written, at);
    }
    written.len()
}

/// The future in a return type, if it is recognized.
pub(crate) enum Promise {
    /// `impl Future<..>`, possibly with further bounds that the profiled future satisfies as well, such as `Send`.
    Opaque,
    /// `Pin<Box<dyn Future<..> + ..>>`, as it can be written in a body.
    Boxed(Vec<TokenTree>),
    /// Any other type, possibly a type alias of a future.
    None,
}

impl Promise {
    /// Reads the future from the return type of a function that is not async.
    pub(crate) fn of(signature: &[TokenTree]) -> Self {
        let Some(returned) = Signature::of(signature).returned else {
            return Promise::None;
        };
        let written = opened(signature[returned.clone()].iter().cloned().collect());
        if is_word(&written, 0, "impl") && is_future(&written[1..]) {
            return Promise::Opaque;
        }
        if boxed_bounds(&written).is_some_and(is_future) {
            return Promise::Boxed(without_opaque(&signature[returned]));
        }
        Promise::None
    }
}

/// Returns the bounds in `Pin<Box<dyn Bounds>>`.
fn boxed_bounds(written: &[TokenTree]) -> Option<&[TokenTree]> {
    let pin =
        path_end(written, 0).filter(|&at| is_word(written, at, "Pin") && is_punct(written, at + 1, '<'))?;
    let boxed = path_end(written, pin + 2)
        .filter(|&at| is_word(written, at, "Box") && is_punct(written, at + 1, '<'))?;
    let inside = written.get(boxed + 2..)?.split_last()?.1.split_last()?.1;
    is_word(inside, 0, "dyn").then(|| &inside[1..])
}

/// Returns the index of the last word of the path that begins at `at`.
fn path_end(trees: &[TokenTree], at: usize) -> Option<usize> {
    Some(last_of_path(trees, at)).filter(|&last| is_any_word(trees, last))
}

/// Returns whether the bounds include `Future`, and besides it only bounds that a profiled future satisfies as well.
fn is_future(bounds: &[TokenTree]) -> bool {
    let mut has_future = false;
    for bound in pieces(bounds, '+') {
        let is_lifetime = is_punct(bound, 0, '\'') || is_word(bound, 0, "use");
        let last = path_end(bound, 0);
        let is = |name| last.is_some_and(|at| is_word(bound, at, name));
        if is("Future") {
            has_future = true;
        } else if !is_lifetime && !["Send", "Sync", "Unpin"].into_iter().any(is) {
            return false;
        }
    }
    has_future
}
