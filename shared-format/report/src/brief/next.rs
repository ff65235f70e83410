//! Commands that an answer suggests to its reader as the next step.

use serde_json::json;

use super::fit::NAME_BYTES;

/// Syntax of the suggested commands, and the target that they refer to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// As shell commands. The target is quoted, and `--dir` is added if it is needed.
    Shell {
        /// The target, such as `order-book`, `4711` or `./run.tks`.
        target: String,
        /// Whether the target is a running program.
        is_live: bool,
    },
    /// As tool calls for a client of `tickscope mcp`. The target is not quoted.
    Tools {
        /// The target.
        target: String,
        /// Whether the target is a running program.
        is_live: bool,
        /// Whether the client may watch functions.
        may_watch: bool,
    },
}

impl Next {
    fn is_live(&self) -> bool {
        match self {
            Self::Shell { is_live, .. } | Self::Tools { is_live, .. } => *is_live,
        }
    }

    /// Returns the command that explains why calls of a function are slow. Returns `None` if the program has ended, if the client
    /// may not watch functions, or if the name of the function is too long for an answer.
    pub(crate) fn why(&self, function: &str) -> Option<String> {
        if !self.is_live() || function.len() > NAME_BYTES {
            return None;
        }
        Some(match self {
            Self::Shell { target, .. } => {
                format!("tickscope why {} {target} --for 10s --json", shell_word(function))
            }
            Self::Tools { may_watch: false, .. } => return None,
            Self::Tools { target, .. } => {
                let arguments = json!({ "function": function, "target": target, "seconds": 10 });
                format!("why {arguments}")
            }
        })
    }

    /// Returns the command that saves the current counts for a later comparison.
    pub(crate) fn keep(&self) -> Option<String> {
        self.is_live().then(|| match self {
            Self::Shell { target, .. } => format!("tickscope snapshot {target} -o before.tks"),
            Self::Tools { target, .. } => format!("mark {}", json!({ "target": target })),
        })
    }

    /// Returns the command that compares with the saved counts. For a client of `tickscope mcp` this is `None`, because the
    /// answer to `mark` already suggests it.
    pub(crate) fn compare(&self) -> Option<String> {
        match self {
            Self::Shell {
                target,
                is_live: true,
            } => Some(format!("tickscope diff before.tks {target}")),
            Self::Shell { target, .. } => Some(format!("tickscope diff {target} after.tks")),
            Self::Tools { .. } => None,
        }
    }

    /// Returns `command` with `TARGET` replaced by the target. For a client of `tickscope mcp` this is `None`, because it does
    /// not run shell commands.
    pub(crate) fn all(&self, command: &str) -> Option<String> {
        match self {
            Self::Shell { target, .. } => Some(command.replace("TARGET", target)),
            Self::Tools { .. } => None,
        }
    }

    /// Returns the command that shows the functions with the most time.
    pub(crate) fn top(&self) -> String {
        match self {
            // Without `-p`, a target that begins with a digit could be read as a number of functions.
            Self::Shell { target, .. } if target.starts_with(|c: char| c.is_ascii_digit()) => {
                format!("tickscope top -p {target} --json")
            }
            Self::Shell { target, .. } => format!("tickscope top {target} --json"),
            Self::Tools { target, .. } => format!("top {}", json!({ "target": target })),
        }
    }
}

/// Returns the text as a single word for a POSIX shell, quoted if necessary.
pub fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:,+@%^".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_shell() {
        assert_eq!(shell_word("book::insert"), "book::insert");
        assert_eq!(shell_word("<Vec as It>::run"), "'<Vec as It>::run'");
        assert_eq!(shell_word("it's"), r"'it'\''s'");
        assert_eq!(shell_word(""), "''");
        assert_eq!(shell_word("$(rm -r x)"), "'$(rm -r x)'");
    }

    #[test]
    fn what_is_kept_in_a_file_cannot_be_watched() {
        let next = Next::Shell {
            target: "./run.tks".into(),
            is_live: false,
        };
        assert_eq!((next.why("parse"), next.keep()), (None, None));
        assert_eq!(next.compare().unwrap(), "tickscope diff ./run.tks after.tks");
    }
}
