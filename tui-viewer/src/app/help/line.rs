//! A line of the help.

/// A line of the help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HelpLine {
    /// A heading.
    Title(&'static str),
    /// Keys and what they do.
    Keys(String, &'static str),
    /// A word or a mark on the screen and what it means.
    Word(String, &'static str),
    /// Nothing.
    Gap,
}
