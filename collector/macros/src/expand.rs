//! Expands the attribute's two token streams into one.

use proc_macro::{Delimiter, Group, Span, TokenStream, TokenTree};

use crate::emit;
use crate::error::Error;
use crate::function::Return;
use crate::item::{Item, Kind, map_items};
use crate::open_scope;
use crate::options::Options;
use crate::tokens::{collect, group_at};

const WANTED: &str = "wanted a fn with a body, an impl block, a trait or an inline module `mod m { .. }`";

/// Expands the attribute. After an error the item follows unchanged, so that code that uses it does not fail as well.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> TokenStream {
    let attempt = Options::parse(options).and_then(|options| direct(item.clone(), &options));
    attempt.unwrap_or_else(|error| {
        let mut out = error.into_tokens();
        out.extend(item);
        out
    })
}

/// Expands the item that has the attribute. Anything that cannot be profiled is an error here.
fn direct(stream: TokenStream, options: &Options) -> Result<TokenStream, Error> {
    let trees = collect(stream.clone());
    // The item came through a `macro_rules!` as a whole.
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
            return Err(Error::new(span, format!("#[profile] found {found}, {WANTED}")));
        }
        // Both attributes would count each call.
        _ if item.speaks_for_itself => {
            return Err(Error::new(
                Span::call_site(),
                format!("#[profile] found another profile attribute on {found}, wanted only one"),
            ));
        }
        _ if options.skip => return Ok(stream),
        Kind::Module if item.body.is_none() => {
            return Err(Error::new(
                span,
                "#[profile] found a module in another file, wanted an inline module `mod m { .. }`: the attribute sees \
                 only this declaration. Put #[profile] on the functions, impl blocks and traits in that file",
            ));
        }
        _ if item.body.is_none() => {
            return Err(Error::new(
                span,
                format!("#[profile] found {found} without a body, {WANTED}"),
            ));
        }
        Kind::Function { is_const: true, .. } => {
            return Err(Error::new(
                span,
                "#[profile] found a const fn, wanted one that runs at run time alone: the compiler, which may \
                 call this one, has no clock. Take away `const`, or profile the functions that call it",
            ));
        }
        Kind::Function { is_async: true, .. } => {}
        Kind::Function { .. } => {
            if let Some(word) = &options.task {
                return Err(Error::new(
                    word.span(),
                    "found `task` on a fn that is not async, wanted an async fn: a task is a future that an executor \
                     polls. For a future that a plain fn returns, write `tickscope::task(\"name\", future)`",
                ));
            }
        }
        Kind::Implementation | Kind::Trait | Kind::Module => {
            if let Some((word, _)) = &options.name {
                return Err(Error::new(
                    word.span(),
                    format!("found `name` on {found}, wanted it on a single fn: each row has its own name"),
                ));
            }
            if let Some(word) = &options.task {
                return Err(Error::new(
                    word.span(),
                    format!("found `task` on {found}, wanted it on the async fn that is spawned"),
                ));
            }
        }
    }
    Ok(profiled(&item, options))
}

/// Expands an item inside another one. Anything that cannot be profiled stays unchanged.
fn member(item: &Item<'_>, options: &Options) -> TokenStream {
    let left_out = matches!(item.kind, Kind::Function { is_const: true, .. });
    if item.speaks_for_itself || left_out {
        return item.trees.iter().cloned().collect();
    }
    profiled(item, options)
}

fn profiled(item: &Item<'_>, options: &Options) -> TokenStream {
    match (&item.kind, &item.body) {
        (Kind::Function { is_async, .. }, Some((at, original))) => {
            let signature = &item.trees[item.keyword..*at];
            let place = item.trees[item.keyword].span();
            let body = if *is_async {
                emit::polled(original, &Return::of(signature), options, place)
            } else {
                emit::scoped(original, options, place)
            };
            // After an error the function follows unchanged, so that its callers do not fail as well.
            let refused = open_scope::across_await(original).map(Error::into_tokens);
            let head = item.trees[..*at].iter().cloned();
            refused.into_iter().flatten().chain(head).chain(body).collect()
        }
        (Kind::Implementation | Kind::Trait | Kind::Module, Some((at, body))) => item.trees[..*at]
            .iter()
            .cloned()
            .chain([members(body, options)])
            .collect(),
        (Kind::Fragment, _) => item
            .trees
            .iter()
            .enumerate()
            .map(|(at, tree)| {
                let fragment = group_at(item.trees, at, Delimiter::None);
                fragment.map_or_else(|| tree.clone(), |fragment| members(fragment, options))
            })
            .collect(),
        _ => item.trees.iter().cloned().collect(),
    }
}

/// Profiles everything in a group.
fn members(group: &Group, options: &Options) -> TokenTree {
    let inside = map_items(group.stream(), |item| member(item, options));
    let mut out = Group::new(group.delimiter(), inside);
    out.set_span(group.span());
    TokenTree::Group(out)
}
