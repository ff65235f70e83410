//! Helper functions for token trees.

use proc_macro::{Delimiter, Group, Spacing, TokenStream, TokenTree};

/// Returns whether the tree at `at` is the identifier or keyword `word`. `r#fn` is not `fn`.
pub(crate) fn is_word(trees: &[TokenTree], at: usize, word: &str) -> bool {
    matches!(trees.get(at), Some(TokenTree::Ident(ident)) if ident.to_string() == word)
}

/// Returns whether the tree at `at` is an identifier or a keyword.
pub(crate) fn is_any_word(trees: &[TokenTree], at: usize) -> bool {
    matches!(trees.get(at), Some(TokenTree::Ident(_)))
}

/// Returns whether the tree at `at` is the punctuation character `sign`.
pub(crate) fn is_punct(trees: &[TokenTree], at: usize, sign: char) -> bool {
    matches!(trees.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
}

/// Returns whether `::` begins at `at`.
pub(crate) fn is_path_separator(trees: &[TokenTree], at: usize) -> bool {
    is_punct(trees, at, ':') && is_joint(trees, at) && is_punct(trees, at + 1, ':')
}

/// Returns whether `->` begins at `at`.
pub(crate) fn is_arrow(trees: &[TokenTree], at: usize) -> bool {
    is_punct(trees, at, '-') && is_joint(trees, at) && is_punct(trees, at + 1, '>')
}

/// Returns the index of the last segment of the path `a::b` or `::a::b` that begins at `at`.
pub(crate) fn last_of_path(trees: &[TokenTree], mut at: usize) -> usize {
    if is_path_separator(trees, at) {
        at += 2;
    }
    while is_any_word(trees, at) && is_path_separator(trees, at + 1) {
        at += 3;
    }
    at
}

fn is_joint(trees: &[TokenTree], at: usize) -> bool {
    matches!(trees.get(at), Some(TokenTree::Punct(punct)) if punct.spacing() == Spacing::Joint)
}

/// Returns the group at `at` if it has the given delimiter.
pub(crate) fn group_at(trees: &[TokenTree], at: usize, delimiter: Delimiter) -> Option<&Group> {
    match trees.get(at) {
        Some(TokenTree::Group(group)) if group.delimiter() == delimiter => Some(group),
        _ => None,
    }
}

/// Returns a group with the delimiters and the span of another group.
pub(crate) fn regrouped(group: &Group, inside: TokenStream) -> TokenTree {
    let mut again = Group::new(group.delimiter(), inside);
    again.set_span(group.span());
    TokenTree::Group(again)
}

/// Returns the braces at `at`, even if they are inside an invisible group, as for a `macro_rules!` fragment such as
/// `$body:block`.
pub(crate) fn braces_at(trees: &[TokenTree], at: usize) -> Option<Group> {
    if let Some(braces) = group_at(trees, at, Delimiter::Brace) {
        return Some(braces.clone());
    }
    let inside = collect(group_at(trees, at, Delimiter::None)?.stream());
    if inside.len() == 1 {
        braces_at(&inside, 0)
    } else {
        None
    }
}

/// Replaces every invisible group with its contents. The result is only for parsing. Code must not be generated from
/// it, because without these groups operators may bind differently.
pub(crate) fn opened(stream: TokenStream) -> Vec<TokenTree> {
    let mut trees = Vec::new();
    for tree in stream {
        if let TokenTree::Group(group) = &tree
            && group.delimiter() == Delimiter::None
        {
            trees.extend(opened(group.stream()));
        } else {
            trees.push(tree);
        }
    }
    trees
}

/// Collects the trees of a stream into a vector, so that the caller can look ahead.
pub(crate) fn collect(stream: TokenStream) -> Vec<TokenTree> {
    stream.into_iter().collect()
}

/// Returns the index after the first semicolon from `from` on, or the number of trees if there is none.
pub(crate) fn after_semicolon(trees: &[TokenTree], from: usize) -> usize {
    (from..trees.len())
        .find(|&at| is_punct(trees, at, ';'))
        .map_or(trees.len(), |at| at + 1)
}

/// The nesting depth of `<..>`, updated token by token. In a signature, a `<` is never a comparison, because
/// expressions there are in braces.
#[derive(Debug, Default)]
pub(crate) struct Angles {
    depth: usize,
    /// Whether the last token was the `-` of an arrow `->`.
    pub(crate) in_arrow: bool,
}

impl Angles {
    pub(crate) fn feed(&mut self, trees: &[TokenTree], at: usize) {
        if self.in_arrow {
            self.in_arrow = false;
        } else if is_arrow(trees, at) {
            self.in_arrow = true;
        } else if is_punct(trees, at, '<') {
            self.depth += 1;
        } else if is_punct(trees, at, '>') {
            self.depth = self.depth.saturating_sub(1);
        }
    }

    /// Returns whether the position is outside of all angle brackets.
    pub(crate) fn closed(&self) -> bool {
        self.depth == 0
    }
}

/// Splits the trees at each `sign` outside of `<..>`. There is no empty piece after a trailing `sign`.
pub(crate) fn pieces(trees: &[TokenTree], sign: char) -> Vec<&[TokenTree]> {
    let mut angles = Angles::default();
    let mut pieces = Vec::new();
    let mut from = 0;
    for at in 0..trees.len() {
        angles.feed(trees, at);
        if angles.closed() && is_punct(trees, at, sign) {
            pieces.push(&trees[from..at]);
            from = at + 1;
        }
    }
    if from < trees.len() {
        pieces.push(&trees[from..]);
    }
    pieces
}

/// Returns the index after the body of the function whose `fn` is at `keyword`. If `fn(..) -> T` is the type of a
/// local, returns the index after the semicolon or braces that follow.
pub(crate) fn function_end(trees: &[TokenTree], keyword: usize) -> usize {
    (keyword..trees.len())
        .find(|&at| group_at(trees, at, Delimiter::Brace).is_some() || is_punct(trees, at, ';'))
        .map_or(trees.len(), |at| at + 1)
}

/// Returns the index after the block if `async { .. }` or `async move { .. }` begins at `at`.
pub(crate) fn async_block_end(trees: &[TokenTree], at: usize) -> Option<usize> {
    let block = at + 1 + usize::from(is_word(trees, at + 1, "move"));
    (is_word(trees, at, "async") && group_at(trees, block, Delimiter::Brace).is_some()).then_some(block + 1)
}
