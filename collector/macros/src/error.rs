//! The errors of the attribute, each with the span of the token that causes it.

use proc_macro::{Delimiter, Span, TokenStream};

use crate::writer::Writer;

/// An error at the token that causes it. Its text names the token found and the tokens wanted.
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

    /// Returns an error as the result of a function.
    pub(crate) fn at<T>(span: Span, text: impl Into<String>) -> Result<T, Self> {
        Err(Error::new(span, text))
    }

    /// Returns `::core::compile_error! { "text" }`. A macro call with braces needs no semicolon, wherever an item may
    /// be.
    pub(crate) fn into_tokens(self) -> TokenStream {
        let text = Writer::at(self.span).text(&self.text).done();
        Writer::at(self.span)
            .path("::core::compile_error")
            .puncts("!")
            .group(Delimiter::Brace, self.span, text)
            .done()
    }
}
