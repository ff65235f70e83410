//! What the attribute refuses, and where.

use proc_macro::{Delimiter, Span, TokenStream};

use crate::emit::Writer;

/// A refusal: found and wanted in words, at the token that is to blame.
#[derive(Debug)]
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

    /// `::core::compile_error! { "text" }`: braces, because those need no semicolon wherever items may stand.
    pub(crate) fn into_tokens(self) -> TokenStream {
        let text = Writer::at(self.span).text(&self.text).done();
        Writer::at(self.span)
            .path("::core::compile_error")
            .puncts("!")
            .group(Delimiter::Brace, self.span, text)
            .done()
    }
}
