//! The errors that the attribute reports, each with the span of the offending token.

use proc_macro::{Delimiter, Span, TokenStream};

use crate::writer::Writer;

/// An error at the offending token. Its text says what was found and what was wanted.
pub(crate) struct Error {
    span: Span,
    text: String,
}

impl Error {
    pub(crate) fn new(span: Span, text: impl Into<String>) -> Self {
        Error {
            span,
            text: text.into(),
        }
    }

    /// Returns a new error as an `Err`.
    pub(crate) fn at<T>(span: Span, text: impl Into<String>) -> Result<T, Self> {
        Err(Error::new(span, text))
    }

    /// Returns `::core::compile_error! { "text" }`. With braces, a macro call needs no semicolon in any position where
    /// an item is allowed.
    pub(crate) fn into_tokens(self) -> TokenStream {
        let text = Writer::at(self.span).text(&self.text).done();
        Writer::at(self.span)
            .path("::core::compile_error")
            .puncts("!")
            .group(Delimiter::Brace, self.span, text)
            .done()
    }
}
