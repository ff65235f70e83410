//! Builds token streams, one token after another.

use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

/// Writes tokens that all have the same span.
pub(crate) struct Writer {
    span: Span,
    out: TokenStream,
}

impl Writer {
    pub(crate) fn at(span: Span) -> Self {
        Writer {
            span,
            out: TokenStream::new(),
        }
    }

    fn push(mut self, tree: impl Into<TokenTree>) -> Self {
        let mut tree = tree.into();
        tree.set_span(self.span);
        self.out.extend([tree]);
        self
    }

    pub(crate) fn word(self, word: &str) -> Self {
        let ident = Ident::new(word, self.span);
        self.push(ident)
    }

    /// Writes punctuation characters that form one operator, such as `::`.
    pub(crate) fn puncts(mut self, signs: &str) -> Self {
        for (at, sign) in signs.char_indices() {
            let last = at + sign.len_utf8() == signs.len();
            self = self.push(Punct::new(
                sign,
                if last { Spacing::Alone } else { Spacing::Joint },
            ));
        }
        self
    }

    /// Writes a path that begins with `::`.
    pub(crate) fn path(self, path: &str) -> Self {
        path.split("::")
            .skip(1)
            .fold(self, |writer, segment| writer.puncts("::").word(segment))
    }

    pub(crate) fn text(self, text: &str) -> Self {
        self.push(Literal::string(text))
    }

    /// Writes tokens that keep their own spans.
    pub(crate) fn kept(mut self, tokens: TokenStream) -> Self {
        self.out.extend(tokens);
        self
    }

    /// Writes a group whose delimiters have the given span.
    pub(crate) fn group(mut self, delimiter: Delimiter, span: Span, inside: TokenStream) -> Self {
        let mut group = Group::new(delimiter, inside);
        group.set_span(span);
        self.out.extend([TokenTree::Group(group)]);
        self
    }

    pub(crate) fn parentheses(self, inside: TokenStream) -> Self {
        let span = self.span;
        self.group(Delimiter::Parenthesis, span, inside)
    }

    pub(crate) fn done(self) -> TokenStream {
        self.out
    }
}
