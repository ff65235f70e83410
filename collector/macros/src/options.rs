//! The options in the parentheses of `#[profile(..)]`.

use proc_macro::{Ident, Literal, Span, TokenStream, TokenTree};

use crate::error::Error;
use crate::tokens::{is_any_word, is_punct, last_of_path, opened};

const WANTED: &str = "wanted `name = \"...\"`, `group = \"...\"`, `crate = path`, `task`, `watch` or `skip`";

#[derive(Debug, Default)]
pub(crate) struct Options {
    /// The name of the row, and the token `name` of the option, for messages.
    pub(crate) name: Option<(Ident, Literal)>,
    pub(crate) group: Option<Literal>,
    /// Path that replaces `::tickscope`, from the option `crate`.
    pub(crate) root: Option<TokenStream>,
    /// The token of the option `task`: the function's future is run as a task.
    pub(crate) task: Option<Ident>,
    /// Whether the option `watch` is given: slow calls of the function are kept, to compare them with typical calls.
    pub(crate) watch: bool,
    pub(crate) skip: bool,
}

impl Options {
    /// Reads the options.
    ///
    /// # Errors
    ///
    /// Returns an error if a token is not allowed by the table in the crate's documentation. The error has the span of
    /// this token.
    pub(crate) fn parse(stream: TokenStream) -> Result<Self, Error> {
        // Fragments of a `macro_rules!`, as in `name = $name`, arrive in invisible groups.
        let trees = opened(stream);
        let mut options = Options::default();
        let mut given: Vec<Ident> = Vec::new();
        let comma = |tree: &TokenTree| matches!(tree, TokenTree::Punct(punct) if punct.as_char() == ',');

        let mut parts: Vec<&[TokenTree]> = trees.split(comma).collect();
        // The last part is empty after a trailing comma, and if there are no options.
        if parts.last().is_some_and(|part| part.is_empty()) {
            parts.pop();
        }
        for part in parts {
            let word = match part.first() {
                Some(TokenTree::Ident(word)) => word.clone(),
                Some(other) => return Error::at(other.span(), format!("found `{other}`, {WANTED}")),
                None => return Error::at(Span::call_site(), format!("found an extra comma, {WANTED}")),
            };
            let key = word.to_string();
            if given.iter().any(|earlier| earlier.to_string() == key) {
                return Error::at(
                    word.span(),
                    format!("found `{key}` twice, wanted it at most once"),
                );
            }
            match key.as_str() {
                "name" => options.name = Some((word.clone(), text(&word, &part[1..])?)),
                "group" => options.group = Some(text(&word, &part[1..])?),
                "crate" => options.root = Some(path(&word, &part[1..])?),
                "task" | "watch" | "skip" => {
                    if let Some(extra) = part.get(1) {
                        return Error::at(
                            extra.span(),
                            format!("found `{extra}` after `{key}`, wanted nothing"),
                        );
                    }
                    match key.as_str() {
                        "task" => options.task = Some(word.clone()),
                        "watch" => options.watch = true,
                        _ => options.skip = true,
                    }
                }
                _ => return Error::at(word.span(), format!("found the option `{key}`, {WANTED}")),
            }
            given.push(word);
        }
        match given.iter().find(|word| word.to_string() != "skip") {
            Some(other) if options.skip => Error::at(
                other.span(),
                format!(
                    "found `{other}` beside `skip`, wanted `skip` alone, because the item stays unchanged"
                ),
            ),
            _ => Ok(options),
        }
    }
}

/// Returns the value of `word = ..`: the tokens after the `=`.
fn value<'a>(word: &Ident, rest: &'a [TokenTree], wanted: &str) -> Result<&'a [TokenTree], Error> {
    let wanted = format!("wanted `{word} = {wanted}`");
    match rest {
        [] => Error::at(word.span(), format!("found `{word}` without a value, {wanted}")),
        [sign] if is_punct(rest, 0, '=') => {
            Error::at(sign.span(), format!("found nothing after `{word} =`, {wanted}"))
        }
        [_, value @ ..] if is_punct(rest, 0, '=') => Ok(value),
        [other, ..] => Error::at(other.span(), format!("found `{other}` after `{word}`, {wanted}")),
    }
}

fn text(word: &Ident, rest: &[TokenTree]) -> Result<Literal, Error> {
    let trees = value(word, rest, "\"...\"")?;
    let Some(TokenTree::Literal(literal)) = trees.first() else {
        let found = &trees[0];
        return Error::at(
            found.span(),
            format!("found `{found}`, wanted a string: `{word} = \"...\"`"),
        );
    };
    let source = literal.to_string();
    let raw = source.strip_prefix('r').map(|raw| raw.trim_matches('#'));
    let Some(content) = raw
        .unwrap_or(&source)
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
    else {
        return Error::at(
            literal.span(),
            format!("found `{source}`, wanted a string: `{word} = \"...\"`"),
        );
    };
    if content.trim().is_empty() {
        return Error::at(
            literal.span(),
            format!("found an empty {word}, wanted at least one letter, or no `{word}` at all"),
        );
    }
    if let Some(extra) = trees.get(1) {
        return Error::at(
            extra.span(),
            format!("found `{extra}` after the value of `{word}`, wanted a comma"),
        );
    }
    Ok(literal.clone())
}

fn path(word: &Ident, rest: &[TokenTree]) -> Result<TokenStream, Error> {
    let trees = value(word, rest, "path")?;
    let wanted = "wanted a path such as `crate::mock` or `::other::tickscope`";
    let at = last_of_path(trees, 0);
    if !is_any_word(trees, at) {
        // If the path ends too early, the error points at the option's keyword.
        let span = trees.get(at).map_or(word.span(), TokenTree::span);
        let found = trees
            .get(at)
            .map_or("no name at the end of the path".to_owned(), |tree| {
                format!("`{tree}`")
            });
        return Error::at(span, format!("found {found}, {wanted}"));
    }
    match trees.get(at + 1) {
        Some(extra) => Error::at(extra.span(), format!("found `{extra}` in the path, {wanted}")),
        None => Ok(trees.iter().cloned().collect()),
    }
}
