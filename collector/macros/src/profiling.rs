//! The attributes of the crate `profiling`, for `tickscope-profiling`. They put `#[profile]` on their item.

use std::iter::once;

use proc_macro::{Delimiter, TokenStream, TokenTree};

use crate::tokens::{group_at, is_punct, is_word, regrouped};

/// Path of tickscope inside `tickscope-profiling`, which programs use under the name `profiling`.
const ROOT: &str = "::profiling::__private::tickscope";

/// Puts `#[profile]` in front of an item.
pub(crate) fn marked(item: TokenStream) -> TokenStream {
    let mut marked = attribute(&format!("crate = {ROOT}"));
    marked.extend(item);
    marked
}

/// Puts `#[profile]` in front of an `impl` block. Functions in it that have `#[profiling::skip]` or `#[skip]` are left
/// out.
pub(crate) fn all_marked(item: TokenStream) -> TokenStream {
    let mut trees: Vec<TokenTree> = item.into_iter().collect();
    if let Some(last) = trees.last_mut()
        && let TokenTree::Group(group) = &*last
        && group.delimiter() == Delimiter::Brace
    {
        *last = regrouped(group, with_skips(group.stream()));
    }
    marked(trees.into_iter().collect())
}

/// Replaces each `skip` attribute with `#[profile(skip)]`.
fn with_skips(body: TokenStream) -> TokenStream {
    let trees: Vec<TokenTree> = body.into_iter().collect();
    let is_skip = |at: usize| {
        let inside = group_at(&trees, at + 1, Delimiter::Bracket).filter(|_| is_punct(&trees, at, '#'))?;
        let path: Vec<TokenTree> = inside.stream().into_iter().collect();
        let is_path = path
            .iter()
            .all(|tree| matches!(tree, TokenTree::Ident(_) | TokenTree::Punct(_)));
        Some(is_path && is_word(&path, path.len().checked_sub(1)?, "skip"))
    };
    let mut out = TokenStream::new();
    let mut at = 0;
    while at < trees.len() {
        if is_skip(at) == Some(true) {
            out.extend(attribute("skip"));
            at += 2;
        } else {
            out.extend(once(trees[at].clone()));
            at += 1;
        }
    }
    out
}

fn attribute(options: &str) -> TokenStream {
    let text = format!("#[{ROOT}::profile({options})]");
    // The text contains only a path and words, so it always parses.
    text.parse().unwrap_or_default()
}
