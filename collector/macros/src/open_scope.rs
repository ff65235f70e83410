//! Finds scopes that are still open at an `.await`.
//!
//! The guard of a scope belongs to the thread that opened it, and other tasks run on that thread while the function
//! waits. Only cases that are certain are reported. The search skips the arguments of other crates' macros, and
//! everything from an async closure to the end of its statement.

use proc_macro::{Delimiter, Group, Span, TokenStream, TokenTree};

use crate::error::Error;
use crate::tokens::{
    after_semicolon, collect, function_end, group_at, is_any_word, is_path_separator, is_punct, is_word,
};

/// A call of `scope!` or `time!` whose scope is open.
#[derive(Clone, Copy)]
struct Open {
    /// The span of the macro's name.
    place: Span,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    /// `scope!(..)`, which is open to the end of its block.
    Scope,
    /// `time!(.., expression)`, which is open while the expression is evaluated.
    Time,
}

/// A call of `scope!` or `time!`.
struct Call<'a> {
    open: Open,
    arguments: &'a Group,
    /// The index where the call begins.
    start: usize,
}

/// Returns an error for the first scope in a body that is open at an `.await`.
pub(crate) fn across_await(body: &Group) -> Option<Error> {
    search(&collect(body.stream()), None).map(Open::refusal)
}

impl Open {
    fn refusal(self) -> Error {
        let text = match self.kind {
            Kind::Scope => {
                "#[profile] found an `.await` while this scope is open, wanted a scope that ends before it: other \
                 tasks run on this thread during the wait. Close the scope before the `.await` by a block around it, or \
                 measure the polls: `tickscope::future!(\"name\", async { .. }).await`"
            }
            Kind::Time => {
                "#[profile] found an `.await` in `time!`, wanted an expression that does not wait: other tasks run on \
                 this thread during the wait. Measure the polls: `tickscope::future!(\"name\", future).await`"
            }
        };
        Error::new(self.place, text)
    }
}

/// Searches the tokens between two delimiters for an `.await` at which a scope is open, and returns the first such
/// scope. `open` is a scope that was opened outside of these delimiters.
fn search(trees: &[TokenTree], mut open: Option<Open>) -> Option<Open> {
    let mut at = 0;
    while let Some(tree) = trees.get(at) {
        if is_word(trees, at, "fn") {
            at = function_end(trees, at);
            continue;
        }
        if is_word(trees, at, "async") {
            // This only creates a future. It waits later, when it is polled, so the scopes that are open here do not
            // matter.
            let body = at + 1 + usize::from(is_word(trees, at + 1, "move"));
            if let Some(block) = group_at(trees, body, Delimiter::Brace) {
                if let Some(found) = search(&collect(block.stream()), None) {
                    return Some(found);
                }
                at = body + 1;
                continue;
            }
            if is_punct(trees, body, '|') {
                at = after_semicolon(trees, body);
                continue;
            }
        }
        if is_punct(trees, at, '.') && is_word(trees, at + 1, "await") && open.is_some() {
            return open;
        }
        if is_punct(trees, at, '!') && matches!(trees.get(at + 1), Some(TokenTree::Group(_))) {
            if let Some(call) = Call::of(trees, at) {
                match call.open.kind {
                    Kind::Scope if is_statement(trees, call.start) => open = open.or(Some(call.open)),
                    Kind::Scope => {}
                    Kind::Time => {
                        let arguments = collect(call.arguments.stream());
                        if let Some(found) = search(&arguments, open.or(Some(call.open))) {
                            return Some(found);
                        }
                    }
                }
            }
            at += 2;
            continue;
        }
        if let TokenTree::Group(group) = tree
            && let Some(found) = search(&collect(group.stream()), open)
        {
            return Some(found);
        }
        at += 1;
    }
    None
}

/// Returns whether a statement begins at `start`. A statement with an attribute is not recognized, because the attribute may be a
/// `cfg` that removes it.
fn is_statement(trees: &[TokenTree], start: usize) -> bool {
    match start.checked_sub(1) {
        None => true,
        Some(before) => is_punct(trees, before, ';') || group_at(trees, before, Delimiter::Brace).is_some(),
    }
}

impl<'a> Call<'a> {
    /// Returns the call whose `!` is at `sign`. A `scope!` without `tickscope::` in front must have arguments that fit
    /// tickscope's macro, because other crates have a macro of the same name.
    fn of(trees: &'a [TokenTree], sign: usize) -> Option<Self> {
        let name = sign.checked_sub(1)?;
        let kind = if is_word(trees, name, "scope") {
            Kind::Scope
        } else if is_word(trees, name, "time") {
            Kind::Time
        } else {
            return None;
        };
        let Some(TokenTree::Group(arguments)) = trees.get(sign + 1) else {
            return None;
        };
        let mut start = name;
        let ours = if is_path_before(trees, name) {
            start = name - 3;
            is_word(trees, start, "tickscope")
        } else {
            match kind {
                Kind::Scope => is_name_of_scope(arguments.stream()),
                Kind::Time => true,
            }
        };
        while is_path_before(trees, start) {
            start -= 3;
        }
        if start >= 2 && is_path_separator(trees, start - 2) {
            start -= 2;
        }
        let open = Open {
            place: trees[name].span(),
            kind,
        };
        ours.then_some(Call {
            open,
            arguments,
            start,
        })
    }
}

/// Returns whether `word::` comes before `at`.
fn is_path_before(trees: &[TokenTree], at: usize) -> bool {
    at >= 3 && is_path_separator(trees, at - 2) && is_any_word(trees, at - 3)
}

/// Returns whether the arguments of a `scope!` are empty, one literal or constant, or `group = ..`.
fn is_name_of_scope(arguments: TokenStream) -> bool {
    let trees = collect(arguments);
    trees.len() <= 1 || (is_word(&trees, 0, "group") && is_punct(&trees, 1, '='))
}
