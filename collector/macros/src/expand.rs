//! Expands the attribute: turns the options and the item into the measured item.

use proc_macro::{Delimiter, Group, Span, TokenStream, TokenTree};

use crate::emit;
use crate::error::Error;
use crate::function::{Promise, Return};
use crate::item::{Item, Kind, map_items};
use crate::open_scope;
use crate::options::Options;
use crate::plain;
use crate::tokens::{collect, group_at, regrouped};

const WANTED: &str = "wanted a fn with a body, an impl block, a trait or an inline module `mod m { .. }`";

/// Whether the program is measured at all. If not, items stay unchanged, and the functions below return only errors.
const MEASURES: bool = cfg!(feature = "enable");

/// Expands the attribute. If there is an error, the item follows it unchanged, so that code that uses the item causes
/// no further errors.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> TokenStream {
    let attempt = Options::parse(options).and_then(|options| direct(item.clone(), &options));
    let is_whole = MEASURES && attempt.is_ok();
    let mut out = attempt.unwrap_or_else(Error::into_tokens);
    if !is_whole {
        out.extend(item);
    }
    out
}

/// Returns tokens unchanged. If nothing is measured, returns no tokens, because `expand` then appends the whole item.
fn unchanged(trees: &[TokenTree]) -> TokenStream {
    trees.iter().filter(|_| MEASURES).cloned().collect()
}

/// Expands the item that has the attribute. If this item cannot be profiled, returns an error.
fn direct(stream: TokenStream, options: &Options) -> Result<TokenStream, Error> {
    let trees = collect(stream);
    // An item that was passed through a `macro_rules!` arrives as a single token.
    if let [TokenTree::Group(group)] = trees.as_slice()
        && group.delimiter() == Delimiter::None
    {
        return direct(group.stream(), options);
    }
    let item = Item::first(&trees);
    let span = trees.get(item.keyword).map_or(Span::call_site(), TokenTree::span);
    let found = item.kind.words();
    match item.kind {
        Kind::Fragment | Kind::Other(_) => {
            return Error::at(span, format!("#[profile] found {found}, {WANTED}"));
        }
        // With both attributes, each call would count twice.
        _ if item.speaks_for_itself => {
            return Error::at(
                Span::call_site(),
                format!("#[profile] found another profile attribute on {found}, wanted only one"),
            );
        }
        _ if options.skip => return Ok(unchanged(&trees)),
        Kind::Module if item.body.is_none() => {
            return Error::at(
                span,
                "#[profile] found a module in another file, wanted an inline module `mod m { .. }`: the attribute sees \
                 only this declaration. Put #[profile] on the functions, impl blocks and traits in that file",
            );
        }
        _ if item.body.is_none() => {
            return Error::at(span, format!("#[profile] found {found} without a body, {WANTED}"));
        }
        Kind::Function { is_const: true, .. } => {
            return Error::at(
                span,
                "#[profile] found a const fn, wanted a fn that runs at run time only: the compiler may call a \
                 const fn, and has no clock. Remove `const`, or profile the functions that call it",
            );
        }
        Kind::Function { is_async, .. } => {
            if let Some(word) = &options.task
                && !is_async
                && returned(&item, options).is_none()
            {
                return Error::at(
                    word.span(),
                    "found `task` on a fn that does not visibly return a future, wanted an async fn: a task is a future \
                     that an executor polls. For any other future, write `tickscope::task(\"name\", future)`",
                );
            }
        }
        Kind::Implementation | Kind::Trait | Kind::Module => {
            if let Some((word, _)) = &options.name {
                return Error::at(
                    word.span(),
                    format!("found `name` on {found}, wanted it on a single fn: each row has its own name"),
                );
            }
            if let Some(word) = &options.task {
                return Error::at(
                    word.span(),
                    format!("found `task` on {found}, wanted it on the async fn that is spawned"),
                );
            }
        }
    }
    Ok(profiled(&item, options, item.may_look_for_async))
}

/// Expands an item inside another item. Items that cannot be profiled stay unchanged. `stays_async` is true if an
/// attribute of an outer item may look for the keyword `async`.
fn member(item: &Item<'_>, options: &Options, stays_async: bool) -> TokenStream {
    let left_out = matches!(item.kind, Kind::Function { is_const: true, .. });
    if item.speaks_for_itself || left_out {
        return unchanged(item.trees);
    }
    profiled(item, options, stays_async || item.may_look_for_async)
}

fn profiled(item: &Item<'_>, options: &Options, stays_async: bool) -> TokenStream {
    match (&item.kind, &item.body) {
        (Kind::Function { is_async, .. }, Some((at, original))) => {
            let place = item.trees[item.keyword].span();
            // After an error, the function still follows, so that its callers cause no further errors.
            let refused = open_scope::across_await(original).map(Error::into_tokens);
            let mut out = refused.unwrap_or_default();
            if !MEASURES {
                return out;
            }
            let head = || item.trees[..*at].iter().cloned();
            if *is_async {
                let returns = Return::of(&item.trees[item.keyword..*at]);
                if let Some(plain) = plain::of(item, *at).filter(|_| !stays_async) {
                    out.extend(plain.head);
                    out.extend(emit::made(original, plain.arguments, &returns, options, place));
                } else {
                    out.extend(head());
                    out.extend(emit::polled(original, &returns, options, place));
                }
            } else {
                out.extend(head());
                let future = returned(item, options);
                out.extend(future.unwrap_or_else(|| emit::scoped(original, options, place)));
            }
            out
        }
        (Kind::Implementation | Kind::Trait | Kind::Module, Some((at, body))) => {
            let mut out = unchanged(&item.trees[..*at]);
            out.extend(members(body, options, stays_async));
            out
        }
        (Kind::Fragment, _) => (0..item.trees.len())
            .map(|at| match group_at(item.trees, at, Delimiter::None) {
                Some(fragment) => members(fragment, options, stays_async),
                None => unchanged(&item.trees[at..=at]),
            })
            .collect(),
        _ => unchanged(item.trees),
    }
}

/// Returns the profiled body of a function that visibly returns a future, or `None` for any other function.
fn returned(item: &Item<'_>, options: &Options) -> Option<TokenStream> {
    let (at, body) = item.body.as_ref()?;
    let promise = Promise::of(&item.trees[item.keyword..*at]);
    emit::returned(body, &promise, options, item.trees[item.keyword].span())
}

/// Profiles all items in a group.
fn members(group: &Group, options: &Options, stays_async: bool) -> TokenStream {
    let inside = map_items(group.stream(), |item| member(item, options, stays_async));
    if !MEASURES {
        return inside;
    }
    regrouped(group, inside).into()
}
