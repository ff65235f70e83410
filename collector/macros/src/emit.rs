//! Writes the code that is put around the body of a function.

use proc_macro::{Delimiter, Group, Span, TokenStream, TokenTree};

use crate::attribute::inner_end;
use crate::exits::{self, Around};
use crate::function::{Promise, Return};
use crate::item::opens_with_item;
use crate::options::Options;
use crate::tokens::collect;
use crate::writer::Writer;

/// Returns a writer whose locals are invisible to the user's code and whose paths resolve at the attribute.
fn writer() -> Writer {
    Writer::at(Span::mixed_site())
}

/// Returns `::tickscope`, or the value of the option `crate`.
fn root(options: &Options, span: Span) -> TokenStream {
    match &options.root {
        Some(path) => path.clone(),
        None => Writer::at(span).path("::tickscope").done(),
    }
}

/// Writes `ROOT::NAME!(..)`. Its span is the beginning of the function, because `line!()` returns the line of the macro
/// call. With the span of the attribute, all functions of an annotated block would have the same line.
fn site_macro(name: &str, options: &Options, place: Span) -> Writer {
    Writer::at(place)
        .kept(root(options, place))
        .path(name)
        .puncts("!")
        .parentheses(site_arguments(options))
}

/// Returns the arguments of `scope!` and `__site!`: `watch, group = "..", ".."`, without the options that were not
/// given.
fn site_arguments(options: &Options) -> TokenStream {
    let mut out = writer();
    if options.watch {
        out = out.word("watch").puncts(",");
    }
    if let Some(group) = &options.group {
        out = out
            .word("group")
            .puncts("=")
            .kept(TokenTree::from(group.clone()).into());
    }
    if let Some((_, name)) = &options.name {
        if options.group.is_some() {
            out = out.puncts(",");
        }
        out = out.kept(TokenTree::from(name.clone()).into());
    }
    out.done()
}

/// A body without its braces.
struct Body {
    /// Inner attributes, which are allowed only in the function's outermost braces.
    attributes: TokenStream,
    rest: Vec<TokenTree>,
    /// The span of the original braces, which all braces around the user's code keep. Its edition decides how long
    /// temporaries live, and it lets the compiler explain a missing return value as in an ordinary function.
    span: Span,
}

impl Body {
    fn of(body: &Group) -> Self {
        let mut trees = collect(body.stream());
        let rest = trees.split_off(inner_end(&trees));
        Body {
            attributes: trees.into_iter().collect(),
            rest,
            span: body.span(),
        }
    }

    /// Writes the rest of the body so that it can follow an inserted statement.
    ///
    /// A body that begins with items is put into braces of its own. Otherwise its items would follow the inserted
    /// statement, to which `clippy::items_after_statements` objects. Other bodies get no braces, because the compiler
    /// would warn that braces around a short body are unnecessary.
    fn behind_statement(&self, rest: TokenStream) -> TokenStream {
        if opens_with_item(&self.rest) {
            return self.braces(rest);
        }
        rest
    }

    fn rest(&self) -> TokenStream {
        self.rest.iter().cloned().collect()
    }

    fn braces(&self, inside: TokenStream) -> TokenStream {
        writer().group(Delimiter::Brace, self.span, inside).done()
    }

    /// Writes the function's outermost braces around the user's code.
    fn outermost(&self, inside: TokenStream) -> TokenStream {
        self.braces(writer().kept(self.attributes.clone()).kept(inside).done())
    }

    /// Writes the function's outermost braces around a value that generated code returns. The braces have this crate's
    /// span, so that clippy does not ask for a `return`.
    fn value(&self, value: TokenStream) -> TokenStream {
        let inside = writer().kept(self.attributes.clone()).kept(value).done();
        writer().group(Delimiter::Brace, self.own_span(), inside).done()
    }

    /// Returns the span for braces that this crate adds. Code with this span is compiled in the edition of this crate.
    fn own_span(&self) -> Span {
        self.span.resolved_at(Span::mixed_site())
    }
}

/// Writes `{ scope!(..); BODY }` for a function that begins at `place`.
pub(crate) fn scoped(body: &Group, options: &Options, place: Span) -> TokenStream {
    let body = Body::of(body);
    let scope = site_macro("::scope", options, place).puncts(";").done();
    let rest = body.behind_statement(body.rest());
    body.outermost(writer().kept(scope).kept(rest).done())
}

/// Writes `{ profile_future(__site!(..), async move { HINT BODY }).await }`, or `profile_task`, for a function that begins
/// at `place` and stays async.
pub(crate) fn polled(body: &Group, returns: &Return, options: &Options, place: Span) -> TokenStream {
    let body = Body::of(body);
    let rest = body.behind_statement(body.rest());
    let block = writer().kept(hint(returns)).kept(rest).done();
    let site = site_macro("::__site", options, place).done();
    let call = writer()
        .kept(future(options, site, async_block(body.span, block)))
        .puncts(".")
        .word("await")
        .done();
    let inside = match returns {
        // Because of the hint, the value is an `Infallible`. An empty `match` turns it into `!` again.
        Return::Never => writer()
            .word("match")
            .kept(call)
            .kept(body.braces(TokenStream::new()))
            .done(),
        Return::Unit | Return::Opaque | Return::Type(_) => call,
    };
    body.value(inside)
}

/// Writes `{ profile_future(__site!(..), async move { ARGUMENTS { HINT BODY } }) }` for a function that was async and now returns
/// its future.
pub(crate) fn made(
    body: &Group,
    arguments: TokenStream,
    returns: &Return,
    options: &Options,
    place: Span,
) -> TokenStream {
    let body = Body::of(body);
    let mut first = hint(returns);
    if first.is_empty() {
        // The block needs a statement, because the compiler warns about braces around a single expression.
        first = writer()
            .word("let")
            .parentheses(TokenStream::new())
            .puncts("=")
            .parentheses(TokenStream::new())
            .puncts(";")
            .done();
    }
    let mut block = writer()
        .kept(first)
        .kept(body.behind_statement(body.rest()))
        .done();
    let block = if arguments.is_empty() {
        async_block(body.span, block)
    } else {
        if !body.rest.is_empty() {
            block = body.braces(block);
        }
        // The block has the edition of this crate, in which the temporaries of the last expression are dropped before
        // the arguments.
        async_block(body.own_span(), writer().kept(arguments).kept(block).done())
    };
    let site = site_macro("::__site", options, place).done();
    body.value(future(options, site, block))
}

/// Writes `{ let site = __site!(..); BODY }`, in which each future that the function returns is wrapped in
/// `profile_future(site, FUTURE)`. Returns `None` if the function does not visibly return a future.
pub(crate) fn returned(
    body: &Group,
    promise: &Promise,
    options: &Options,
    place: Span,
) -> Option<TokenStream> {
    let body = Body::of(body);
    let site = || writer().word("__tickscope_site").done();
    // The braces have this crate's span. With the user's span, the compiler would warn that braces around a short value
    // are unnecessary.
    let braces = |inside| writer().group(Delimiter::Brace, body.own_span(), inside).done();
    let around = Around {
        future: &|value| future(options, site(), value),
        body: &|value| future(options, site(), braces(value)),
        boxed: &|written, value| {
            // Writes out the type of the boxed future, because the compiler cannot infer it from the rest of the code.
            let name = || writer().word("__tickscope_future").done();
            let pinned = writer()
                .word("let")
                .kept(name())
                .puncts(":")
                .kept(written.iter().cloned().collect())
                .puncts("=")
                .kept(braces(value))
                .puncts(";")
                .path("::std::boxed::Box::pin")
                .parentheses(future(options, site(), name()))
                .done();
            writer()
                .group(Delimiter::Brace, Span::mixed_site(), pinned)
                .done()
        },
    };
    let rest = body.behind_statement(exits::changed(&body.rest, promise, around)?);
    let inside = writer()
        .word("let")
        .kept(site())
        .puncts("=")
        .kept(site_macro("::__site", options, place).puncts(";").done())
        .kept(rest)
        .done();
    Some(body.value(inside))
}

fn async_block(span: Span, inside: TokenStream) -> TokenStream {
    writer()
        .word("async")
        .word("move")
        .group(Delimiter::Brace, span, inside)
        .done()
}

/// Writes `ROOT::__private::profile_future(SITE, VALUE)`, or `profile_task`.
fn future(options: &Options, site: TokenStream, value: TokenStream) -> TokenStream {
    writer()
        .kept(root(options, Span::mixed_site()))
        .path(match options.task {
            Some(_) => "::__private::profile_task",
            None => "::__private::profile_future",
        })
        .parentheses(writer().kept(site).puncts(",").kept(value).done())
        .done()
}

/// Writes `if let Some(value) = None::<RETURN TYPE> { return value; }`.
///
/// An async block cannot declare its return type, so the compiler could not infer the types of `?` and `.into()` in it.
/// This statement tells it the type. The statement never runs and causes no warning. It uses no `allow` for that,
/// because a crate that forbids the lint would reject it.
fn hint(returns: &Return) -> TokenStream {
    let written = match returns {
        Return::Opaque => return TokenStream::new(),
        Return::Unit => writer().parentheses(TokenStream::new()).done(),
        Return::Never => writer().path("::core::convert::Infallible").done(),
        Return::Type(trees) => trees.iter().cloned().collect(),
    };
    // Compiler errors point to this `return` as the code that determines the type, so it gets the span of the return
    // type.
    let span = match returns {
        Return::Type(written) => {
            let first = written.first().map_or(Span::mixed_site(), TokenTree::span);
            first.resolved_at(Span::mixed_site())
        }
        Return::Unit | Return::Opaque | Return::Never => Span::mixed_site(),
    };
    let writer = || Writer::at(span);
    // The name is unusual, because the pattern would compare instead of bind if the user's code had a constant of the
    // same name.
    let value = || writer().word("__tickscope_return").done();
    writer()
        .word("if")
        .word("let")
        .path("::core::option::Option::Some")
        .parentheses(value())
        .puncts("=")
        .path("::core::option::Option")
        .puncts("::")
        .puncts("<")
        .kept(written)
        .puncts(">")
        .path("::None")
        .group(
            Delimiter::Brace,
            span,
            writer().word("return").kept(value()).puncts(";").done(),
        )
        .done()
}
