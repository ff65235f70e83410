//! Finds the futures that a function returns without being async: its last expression, and the values of `return`.

use std::cell::Cell;

use proc_macro::{Delimiter, Group, TokenStream, TokenTree};

use crate::function::Promise;
use crate::tokens::{
    Angles, async_block_end, collect, function_end, group_at, is_any_word, is_path_separator, is_punct,
    is_word, regrouped,
};

/// Functions that wrap futures in measuring code.
#[derive(Clone, Copy)]
pub(crate) struct Around<'a> {
    /// Wraps an expression that is a future.
    pub(crate) future: &'a dyn Fn(TokenStream) -> TokenStream,
    /// Wraps statements followed by an expression that is a future.
    pub(crate) body: &'a dyn Fn(TokenStream) -> TokenStream,
    /// Wraps statements followed by an expression that is a boxed future of the given type.
    pub(crate) boxed: &'a dyn Fn(&[TokenTree], TokenStream) -> TokenStream,
}

/// Wraps each future that a function body returns. Returns `None` if no returned future is recognized.
pub(crate) fn changed(body: &[TokenTree], promise: &Promise, around: Around<'_>) -> Option<TokenStream> {
    let mut exits = Exits {
        promise,
        around,
        pins: matches!(promise, Promise::Boxed(_)),
        found: Cell::new(false),
    };
    let first = exits.body(body);
    if exits.pins || !exits.found.get() {
        return first;
    }
    // An async block shows that the function returns a future, so each `Box::pin(..)` that it returns is a future, too.
    exits.pins = true;
    exits.body(body)
}

/// Returns the index after the last semicolon.
fn last_statement(body: &[TokenTree]) -> usize {
    (0..body.len())
        .rfind(|&at| is_punct(body, at, ';'))
        .map_or(0, |semicolon| semicolon + 1)
}

/// Returns the indices at which a statement or the last expression may begin: `from`, and after each braced block that
/// follows `from`.
fn beginnings(body: &[TokenTree], from: usize) -> impl Iterator<Item = usize> {
    (from..body.len()).filter(move |&at| at == from || group_at(body, at - 1, Delimiter::Brace).is_some())
}

/// Returns the index at which the last statement begins, in a body that ends with a semicolon.
fn before_last(body: &[TokenTree]) -> usize {
    last_statement(&body[..body.len().saturating_sub(1)])
}

/// Returns whether the last statement is a `return`, in a body that ends with a semicolon.
fn returns_last(body: &[TokenTree]) -> bool {
    beginnings(body, before_last(body)).any(|at| is_word(body, at, "return"))
}

/// Returns whether a statement is a call of a macro that never returns, such as `panic!`. Code after it would be
/// unreachable.
fn ends_in_panic(statement: &[TokenTree]) -> bool {
    let sign = (0..statement.len()).find(|&at| is_punct(statement, at, '!'));
    let is_panic = |sign: usize| {
        ["panic", "todo", "unimplemented", "unreachable"]
            .iter()
            .any(|name| sign > 0 && is_word(statement, sign - 1, name))
    };
    sign.is_some_and(|sign| {
        let path = &statement[..sign];
        is_panic(sign)
            && path
                .iter()
                .all(|tree| matches!(tree, TokenTree::Ident(_) | TokenTree::Punct(_)))
    })
}

struct Exits<'a> {
    promise: &'a Promise,
    around: Around<'a>,
    /// Whether each returned `Box::pin(..)` is known to be a future, even if its content is unknown.
    pins: bool,
    /// Whether an async block was found.
    found: Cell<bool>,
}

impl Exits<'_> {
    fn body(&self, body: &[TokenTree]) -> Option<TokenStream> {
        let last = last_statement(body);
        let tail = beginnings(body, last).find(|&at| self.seen(&body[at..]).is_some());
        if let Some(tail) = tail {
            let mut out: TokenStream = self.returns(&body[..tail]).into_iter().collect();
            out.extend(self.seen(&body[tail..])?);
            return Some(out);
        }
        if ends_in_panic(&body[last..]) || last == body.len() && ends_in_panic(&body[before_last(body)..]) {
            return None;
        }
        let out = self.returns(body).into_iter().collect();
        if last == body.len() && returns_last(body) {
            return self.promised(TokenStream::new()).map(|_| out);
        }
        self.promised(out)
    }

    /// Wraps an expression that can be recognized as a future even if the signature names none: an async block, or a
    /// future in `Box::pin(..)`.
    fn seen(&self, value: &[TokenTree]) -> Option<TokenStream> {
        if let Some(end) = async_block_end(value, 0)
            && (end == value.len() || is_punct(value, end, '.') && self.is_future(value))
        {
            self.found.set(true);
            let mut out = (self.around.future)(value[..end].iter().cloned().collect());
            out.extend(value[end..].iter().cloned());
            return Some(out);
        }
        let at = pin_argument(value)?;
        let group = group_at(value, at, Delimiter::Parenthesis)?;
        let argument = collect(group.stream());
        let argument = match argument.split_last() {
            Some((_, before)) if is_punct(&argument, before.len(), ',') => before,
            _ => &argument,
        };
        if async_block_end(argument, 0).is_some() {
            self.found.set(true);
        } else if !self.pins {
            return None;
        }
        let future = (self.around.future)(argument.iter().cloned().collect());
        let mut out: TokenStream = value[..at].iter().cloned().collect();
        out.extend([regrouped(group, future)]);
        out.extend(value[at + 1..].iter().cloned());
        Some(out)
    }

    /// Returns whether a chain of method calls on an async block returns a future. It does if the signature names a
    /// future, or if the last method is `boxed` or `boxed_local`. Any other method may consume the future.
    fn is_future(&self, value: &[TokenTree]) -> bool {
        let boxes = |method| value.len() > 1 && is_word(value, value.len() - 2, method);
        !matches!(self.promise, Promise::None) || boxes("boxed") || boxes("boxed_local")
    }

    /// Wraps a value that is a future according to the signature.
    fn promised(&self, value: TokenStream) -> Option<TokenStream> {
        match self.promise {
            Promise::Opaque => Some((self.around.body)(value)),
            Promise::Boxed(written) => Some((self.around.boxed)(written, value)),
            Promise::None => None,
        }
    }

    /// Wraps the value of each `return` that leaves the function itself.
    fn returns(&self, trees: &[TokenTree]) -> Vec<TokenTree> {
        let mut out = Vec::new();
        let mut at = 0;
        while at < trees.len() {
            let end = inner_end(trees, at).unwrap_or(at + 1);
            if is_word(trees, at, "return") {
                let end = value_end(trees, at + 1);
                let value = &trees[at + 1..end];
                let changed = self
                    .seen(value)
                    .or_else(|| self.promised(value.iter().cloned().collect()));
                out.push(trees[at].clone());
                out.extend(changed.unwrap_or_else(|| value.iter().cloned().collect()));
                at = end;
                continue;
            }
            if let TokenTree::Group(group) = &trees[at]
                && has_return(group)
            {
                let inside = self.returns(&collect(group.stream()));
                out.push(regrouped(group, inside.into_iter().collect()));
            } else {
                out.extend(trees[at..end].iter().cloned());
            }
            at = end;
        }
        out
    }
}

/// Returns the index of the parentheses in `Box::pin(..)`. Any path may come before it, and `as ..` after it.
fn pin_argument(value: &[TokenTree]) -> Option<usize> {
    let mut at = if is_path_separator(value, 0) { 2 } else { 0 };
    while is_any_word(value, at + 3) && is_path_separator(value, at + 1) {
        at += 3;
    }
    let is_pin = at >= 3 && is_word(value, at - 3, "Box") && is_word(value, at, "pin");
    let is_all = at + 2 == value.len() || is_word(value, at + 2, "as");
    (is_pin && is_all && group_at(value, at + 1, Delimiter::Parenthesis).is_some()).then_some(at + 1)
}

/// If a function, an async block, a closure or a macro call begins at `at`, returns its end. A `return` inside must
/// stay as it is: it does not leave the outer function or, in a macro call, its meaning is unknown.
fn inner_end(trees: &[TokenTree], at: usize) -> Option<usize> {
    if let Some(end) = async_block_end(trees, at) {
        return Some(end);
    }
    if is_word(trees, at, "fn") {
        return Some(function_end(trees, at));
    }
    if is_punct(trees, at, '!') && matches!(trees.get(at + 1), Some(TokenTree::Group(_))) {
        return Some(at + 2);
    }
    if is_punct(trees, at, '|') && !ends_operand(trees, at) {
        let behind = (at + 1..trees.len()).find(|&at| is_punct(trees, at, '|'))? + 1;
        return Some(value_end(trees, behind));
    }
    None
}

/// Returns whether an operand ends before `at`, so that a `|` there is an operator and not the start of a closure.
fn ends_operand(trees: &[TokenTree], at: usize) -> bool {
    const BEFORE_VALUES: [&str; 9] = [
        "async", "break", "else", "if", "in", "match", "move", "return", "while",
    ];
    match at.checked_sub(1).map(|before| &trees[before]) {
        None => false,
        Some(TokenTree::Punct(punct)) => punct.as_char() == '?',
        Some(TokenTree::Ident(word)) => !BEFORE_VALUES.contains(&word.to_string().as_str()),
        Some(TokenTree::Group(_) | TokenTree::Literal(_)) => true,
    }
}

/// Returns the end of the expression that begins at `from`: the next semicolon, or the next comma outside of `<..>`. A
/// `<` that is a comparison is taken for an opening bracket, so a comma after it does not end the expression.
fn value_end(trees: &[TokenTree], from: usize) -> usize {
    let mut angles = Angles::default();
    (from..trees.len())
        .find(|&at| {
            angles.feed(trees, at);
            is_punct(trees, at, ';') || angles.closed() && is_punct(trees, at, ',')
        })
        .unwrap_or(trees.len())
}

fn has_return(group: &Group) -> bool {
    collect(group.stream()).iter().any(|tree| match tree {
        TokenTree::Ident(word) => word.to_string() == "return",
        TokenTree::Group(group) => has_return(group),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}
