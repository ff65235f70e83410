//! Finds items, their keywords and the braces of their bodies.

use proc_macro::{Delimiter, Group, TokenStream, TokenTree};

use crate::attribute;
use crate::tokens::{
    Angles, after_semicolon, braces_at, collect, group_at, is_any_word, is_punct, is_word, last_of_path,
    opened,
};

/// The kind of an item, as far as it matters to the attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Function {
        is_const: bool,
        is_async: bool,
    },
    Implementation,
    Trait,
    Module,
    /// An invisible group that contains items: an `$item:item` of a `macro_rules!`.
    Fragment,
    /// Any other kind, as a noun with its article, for messages.
    Other(&'static str),
}

impl Kind {
    /// Returns the kind in words, for messages.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Kind::Function { is_const: true, .. } => "a const fn",
            Kind::Function { .. } => "a fn",
            Kind::Implementation => "an impl block",
            Kind::Trait => "a trait",
            Kind::Module => "a module",
            Kind::Fragment => "several items",
            Kind::Other(words) => words,
        }
    }
}

const MACRO_CALL: Kind = Kind::Other("a macro call");
/// Kind of anything that is not an item.
const STATEMENT: Kind = Kind::Other("something else");

pub(crate) struct Item<'a> {
    /// All tokens of the item, attributes included. Empty only at the end of the input.
    pub(crate) trees: &'a [TokenTree],
    pub(crate) kind: Kind,
    /// The index of `fn`, `impl`, `struct` and so on. It is in range unless the input ends within the item.
    pub(crate) keyword: usize,
    /// Whether the item has its own `profile` attribute.
    pub(crate) speaks_for_itself: bool,
    /// Whether one of the item's attributes may look for the word `async`, as `#[async_trait]` does.
    pub(crate) may_look_for_async: bool,
    /// The braces that end the item, and their index; `None` for an item that ends with something else, such as
    /// `fn f();` or `mod m;`.
    pub(crate) body: Option<(usize, Group)>,
}

/// Where an item ends.
enum End {
    /// At the first braces outside of `<..>`, or at a semicolon before them.
    Braces,
    /// At the semicolon, after any braces.
    Semicolon,
    /// At the macro's own braces, or at the semicolon.
    Macro,
    /// Right after the token tree at the index of the keyword.
    Here,
}

impl<'a> Item<'a> {
    /// Reads the first item of `trees`.
    pub(crate) fn first(trees: &'a [TokenTree]) -> Self {
        let attributes = attribute::leading(trees);
        let start = visibility_end(trees, attributes.end);
        let (kind, keyword, end) = classify(trees, start);
        let (length, body) = match end {
            End::Braces => braces_end(trees, keyword),
            End::Semicolon => (after_semicolon(trees, keyword), None),
            End::Macro => (macro_end(trees, keyword), None),
            End::Here => ((keyword + 1).min(trees.len()), None),
        };
        Item {
            trees: &trees[..length],
            kind,
            keyword,
            speaks_for_itself: attributes.profile,
            may_look_for_async: attributes.may_look_for_async,
            body,
        }
    }
}

/// Skips `pub`, `pub(..)`, or a `$vis:vis` in its invisible group.
fn visibility_end(trees: &[TokenTree], at: usize) -> usize {
    if let Some(group) = group_at(trees, at, Delimiter::None) {
        return if is_visibility(group.stream()) { at + 1 } else { at };
    }
    if !is_word(trees, at, "pub") {
        return at;
    }
    match group_at(trees, at + 1, Delimiter::Parenthesis) {
        Some(_) => at + 2,
        None => at + 1,
    }
}

fn is_visibility(stream: TokenStream) -> bool {
    let inside = opened(stream);
    inside.is_empty() || (is_word(&inside, 0, "pub") && visibility_end(&inside, 0) == inside.len())
}

/// Returns the kind of the item at `at`, the index of its keyword, and how it ends.
fn classify(trees: &[TokenTree], mut at: usize) -> (Kind, usize, End) {
    if let Some(sign) = macro_sign(trees, at) {
        return (MACRO_CALL, sign, End::Macro);
    }
    if group_at(trees, at, Delimiter::None).is_some() {
        return (Kind::Fragment, at, End::Here);
    }

    let (mut is_const, mut is_async, mut is_extern) = (false, false, false);
    loop {
        if is_word(trees, at, "const") {
            is_const = true;
        } else if is_word(trees, at, "async") {
            is_async = true;
        } else if is_word(trees, at, "extern") {
            is_extern = true;
            // An ABI may follow: a literal, or a `$abi:literal` in its invisible group.
            if matches!(trees.get(at + 1), Some(TokenTree::Literal(_)))
                || group_at(trees, at + 1, Delimiter::None).is_some()
            {
                at += 1;
            }
        } else if !["default", "safe", "unsafe", "auto"]
            .iter()
            .any(|word| is_word(trees, at, word))
        {
            break;
        }
        at += 1;
    }

    let word = match trees.get(at) {
        Some(TokenTree::Ident(ident)) => ident.to_string(),
        _ => String::new(),
    };
    let (kind, end) = match word.as_str() {
        "fn" => (Kind::Function { is_const, is_async }, End::Braces),
        "impl" => (Kind::Implementation, End::Braces),
        "trait" => (Kind::Trait, End::Braces),
        "mod" => (Kind::Module, End::Braces),
        // Checked before the keywords below, because a constant may have any name, even `union`.
        _ if is_const => (Kind::Other("a const"), End::Semicolon),
        "crate" if is_extern => (Kind::Other("an extern crate"), End::Semicolon),
        _ if is_extern => (Kind::Other("an extern block"), End::Braces),
        "struct" => (Kind::Other("a struct"), End::Braces),
        "enum" => (Kind::Other("an enum"), End::Braces),
        "union" => (Kind::Other("a union"), End::Braces),
        "macro" => (Kind::Other("a macro"), End::Braces),
        "static" => (Kind::Other("a static"), End::Semicolon),
        "type" => (Kind::Other("a type alias"), End::Semicolon),
        "use" => (Kind::Other("a use"), End::Semicolon),
        _ => (STATEMENT, End::Semicolon),
    };
    (kind, at, end)
}

/// Returns the index of the `!` of a macro call `a::b! ..`, if one begins at `at`.
fn macro_sign(trees: &[TokenTree], at: usize) -> Option<usize> {
    let at = last_of_path(trees, at);
    (is_any_word(trees, at) && is_punct(trees, at + 1, '!')).then_some(at + 1)
}

fn braces_end(trees: &[TokenTree], keyword: usize) -> (usize, Option<(usize, Group)>) {
    let mut angles = Angles::default();
    for at in keyword..trees.len() {
        angles.feed(trees, at);
        if !angles.closed() {
            continue;
        }
        if is_punct(trees, at, ';') {
            return (at + 1, None);
        }
        // In `-> bytes! { 3 } { body }` the first braces belong to the type; in `-> ! { body }` they do not.
        let of_a_macro = at >= 2 && is_punct(trees, at - 1, '!') && is_any_word(trees, at - 2);
        if let Some(body) = braces_at(trees, at).filter(|_| !of_a_macro) {
            return (at + 1, Some((at, body)));
        }
    }
    (trees.len(), None)
}

fn macro_end(trees: &[TokenTree], sign: usize) -> usize {
    // In `macro_rules! name { .. }`, a name comes before the group.
    let group = if is_any_word(trees, sign + 1) {
        sign + 2
    } else {
        sign + 1
    };
    match group_at(trees, group, Delimiter::Brace) {
        Some(_) => group + 1,
        None => after_semicolon(trees, sign),
    }
}

/// Returns whether a body begins with an item. It may return true for a statement that begins with the same word, such
/// as `const { .. }`, but never false for an item. Macro calls count as statements.
pub(crate) fn opens_with_item(trees: &[TokenTree]) -> bool {
    !matches!(
        classify(trees, visibility_end(trees, attribute::leading(trees).end)).0,
        STATEMENT | MACRO_CALL
    )
}

/// Calls `each` for every item and joins the results.
pub(crate) fn map_items(stream: TokenStream, mut each: impl FnMut(&Item<'_>) -> TokenStream) -> TokenStream {
    let trees = collect(stream);
    let mut rest = trees.as_slice();
    let mut out = TokenStream::new();
    while !rest.is_empty() {
        let item = Item::first(rest);
        // With an empty item, this loop would never end.
        let length = item.trees.len().max(1);
        out.extend(each(&item));
        rest = &rest[length..];
    }
    out
}
