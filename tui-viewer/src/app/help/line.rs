//! A line of the help.

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HelpLine {
    /// A heading.
    Title(&'static str),
    /// Keys and their effect.
    Keys(String, &'static str),
    /// A word or a mark on the screen and its meaning.
    Word(String, &'static str),
    /// An empty line.
    Gap,
}
