//! Turns an async function into a function that returns its future, as the compiler does.
//!
//! If the function stayed async and awaited the profiled future in its body, each call would consist of two nested
//! futures. The compiler computes the layout of nested futures recursively, up to its recursion limit. Saving one
//! future per call nearly doubles the depth to which functions can await each other.

use proc_macro::{Group, Ident, Span, TokenStream, TokenTree};

use crate::function::Signature;
use crate::item::Item;
use crate::tokens::{collect, is_path_separator, is_punct, is_word, pieces, regrouped};
use crate::writer::Writer;

/// An async function, rewritten without the keyword `async`.
pub(crate) struct Plain {
    /// Everything before the body. The pattern of each argument is replaced with a name.
    pub(crate) head: TokenStream,
    /// Statements at the beginning of the future. They move all arguments into the future, in order, so that the future
    /// drops them when it ends.
    pub(crate) arguments: TokenStream,
}

/// Rewrites the function whose body is at the index `body`. Returns `None` if its signature cannot be written without
/// `async`.
pub(crate) fn of(item: &Item<'_>, body: usize) -> Option<Plain> {
    let (before, signature) = item.trees[..body].split_at(item.keyword);
    let parts = Signature::of(signature);
    let returned = parts.returned.clone().map_or(&[][..], |range| &signature[range]);
    // `!` is not allowed as a type argument.
    if returned.len() == 1 && is_punct(returned, 0, '!') {
        return None;
    }
    let at = parts.arguments?;
    let TokenTree::Group(group) = &signature[at] else {
        return None;
    };
    let arguments = Arguments::of(group)?;
    let before_arrow = parts.returned.map_or(parts.end, |range| range.start - 2);

    let mut head: TokenStream = before.iter().filter(|tree| !is_async(tree)).cloned().collect();
    head.extend(signature[..at].iter().cloned());
    head.extend([arguments.written]);
    head.extend(signature[at + 1..before_arrow].iter().cloned());
    // Compiler errors show the whole signature if its first and its last token both have spans of the function.
    let last = signature[..parts.end]
        .last()
        .map_or(Span::call_site(), TokenTree::span);
    head.extend(future_of(returned, last));
    head.extend(signature[parts.end..].iter().cloned());
    Some(Plain {
        head,
        arguments: arguments.taken,
    })
}

fn is_async(tree: &TokenTree) -> bool {
    matches!(tree, TokenTree::Ident(word) if word.to_string() == "async")
}

/// Writes `-> impl Future<Output = RETURNED>`. With this crate's spans, the type captures all lifetimes of the
/// signature, in every edition of the function.
fn future_of(returned: &[TokenTree], last: Span) -> TokenStream {
    let writer = || Writer::at(last.resolved_at(Span::mixed_site()));
    let output = match returned {
        [] => writer().parentheses(TokenStream::new()).done(),
        written => written.iter().cloned().collect(),
    };
    writer()
        .puncts("->")
        .word("impl")
        .path("::core::future::Future")
        .puncts("<")
        .word("Output")
        .puncts("=")
        .kept(output)
        .kept(Writer::at(last).puncts(">").done())
        .done()
}

/// Writes `let PATTERN = VALUE;`.
fn binding(pattern: TokenStream, value: TokenStream) -> TokenStream {
    Writer::at(Span::mixed_site())
        .word("let")
        .kept(pattern)
        .puncts("=")
        .kept(value)
        .puncts(";")
        .done()
}

struct Arguments {
    written: TokenTree,
    taken: TokenStream,
}

impl Arguments {
    /// Reads the arguments; returns `None` if an argument has an attribute, or cannot be read.
    fn of(group: &Group) -> Option<Self> {
        let trees = collect(group.stream());
        let writer = || Writer::at(Span::mixed_site());
        let (mut written, mut taken) = (TokenStream::new(), TokenStream::new());
        for (number, argument) in pieces(&trees, ',').into_iter().enumerate() {
            if is_punct(argument, 0, '#') {
                return None;
            }
            let colon = (0..argument.len()).find(|&at| {
                is_punct(argument, at, ':')
                    && !is_path_separator(argument, at)
                    && !(at > 0 && is_path_separator(argument, at - 1))
            });
            let pattern = &argument[..colon.unwrap_or(argument.len())];
            if let Some(receiver) = pattern
                .last()
                .filter(|_| is_word(pattern, pattern.len() - 1, "self"))
            {
                // The reference makes the future capture the whole receiver, even if the body uses only one of its
                // fields.
                let receiver = writer().puncts("&").kept(receiver.clone().into()).done();
                taken.extend(binding(writer().word("_").done(), receiver));
                written.extend(argument.iter().cloned());
            } else {
                let name = Ident::new(&format!("__tickscope_argument_{number}"), Span::mixed_site());
                let name = || TokenStream::from(TokenTree::Ident(name.clone()));
                // The whole argument is bound first. With the pattern alone, only the parts that it binds would move
                // into the future.
                taken.extend(binding(name(), name()));
                let is_silent =
                    matches!(pattern, [TokenTree::Ident(word)] if word.to_string().starts_with('_'));
                let value = if is_silent && !is_word(pattern, 0, "_") {
                    // Clippy objects to `let _name = value` if it has no effect.
                    writer()
                        .path("::core::convert::identity")
                        .parentheses(name())
                        .done()
                } else {
                    name()
                };
                taken.extend(binding(pattern.iter().cloned().collect(), value));
                written.extend(name());
                written.extend(argument[colon?..].iter().cloned());
            }
            written.extend(writer().puncts(",").done());
        }
        Some(Self {
            written: regrouped(group, written),
            taken,
        })
    }
}
