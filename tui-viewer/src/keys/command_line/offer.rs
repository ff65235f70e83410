//! What Tab puts in place of the word that is being typed.

use clap::{Arg, Command, CommandFactory};

use super::{CommandArgs, named};
use crate::text::words::{cut, last, quoted};

/// Names that the program on screen gives.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Patterns that choose something.
    pub(crate) patterns: Vec<String>,
    /// Functions by their full names.
    pub(crate) functions: Vec<String>,
}

/// What may stand in place of the last word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Offers {
    /// The first byte of that word.
    pub(crate) start: usize,
    /// The word so far.
    pub(crate) word: String,
    /// What it may become, as it is to be typed.
    pub(crate) list: Vec<String>,
}

impl Offers {
    /// What all offers begin with, where that is more than was typed.
    pub(crate) fn common(&self) -> Option<&str> {
        let (first, rest) = self.list.split_first()?;
        let mut end = first.len();
        for other in rest {
            let same = first.bytes().zip(other.bytes()).take_while(|(a, b)| a == b);
            end = end.min(same.count());
        }
        while !first.is_char_boundary(end) {
            end -= 1;
        }
        let common = &first[..end];
        (common.len() > self.word.len() && common.starts_with(&self.word)).then_some(common)
    }
}

/// What the last word of a line may become.
pub(crate) fn offers(line: &str, known: impl FnOnce() -> Known) -> Offers {
    let (all, words, word) = (CommandArgs::command(), cut(line), last(line));
    let begins = |list: Vec<String>| {
        let mut list = list;
        list.retain(|offer| offer.starts_with(&word.text));
        list
    };
    let list = match words.first().filter(|first| first.start < word.start) {
        None => begins(
            all.get_subcommands()
                .map(|command| command.get_name().to_string())
                .collect(),
        ),
        Some(first) => match named(&all, &first.text) {
            None => Vec::new(),
            Some(command) => {
                let before: Vec<&str> = words[1..]
                    .iter()
                    .filter(|other| other.start < word.start)
                    .map(|other| other.text.as_str())
                    .collect();
                match argument(command, &before, &word.text) {
                    Some(arg) => values(command, arg, &word.text, known),
                    None => begins(options(command, &before)),
                }
            }
        },
    };
    Offers {
        start: word.start,
        word: word.text,
        list,
    }
}

/// The argument that a word is the value of; none where it may be an option.
fn argument<'a>(command: &'a Command, before: &[&str], word: &str) -> Option<&'a Arg> {
    let option = |text: &str| {
        command.get_arguments().find(|arg| {
            let long = arg.get_long().is_some_and(|long| text == format!("--{long}"));
            let short = arg.get_short().is_some_and(|short| text == format!("-{short}"));
            (long || short) && arg.get_action().takes_values()
        })
    };
    if let Some(arg) = before.last().and_then(|text| option(text)) {
        return Some(arg);
    }
    if word.starts_with('-') {
        return None;
    }
    let taken = before.iter().enumerate().filter(|(at, text)| {
        let of_an_option = at.checked_sub(1).is_some_and(|at| option(before[at]).is_some());
        !text.starts_with('-') && !of_an_option
    });
    let arg = command.get_positionals().nth(taken.count())?;
    // A file is not completed: then the options are worth more.
    (arg.get_id() != "file").then_some(arg)
}

fn values(command: &Command, arg: &Arg, word: &str, known: impl FnOnce() -> Known) -> Vec<String> {
    let possible = arg.get_possible_values();
    if !possible.is_empty() {
        let names = possible.iter().map(|value| value.get_name().to_string());
        return names.filter(|name| name.starts_with(word)).collect();
    }
    let names = match (command.get_name(), arg.get_id().as_str()) {
        (_, "pattern") | ("watch" | "slow", "function") => known().patterns,
        ("function", _) => known().functions,
        _ => Vec::new(),
    };
    // Any part of a path may be typed: few users begin with the crate.
    let fits = |name: &String| {
        name.starts_with(word)
            || name
                .match_indices("::")
                .any(|(at, _)| name[at + 2..].starts_with(word))
    };
    names
        .iter()
        .filter(|name| fits(name))
        .map(|name| quoted(name))
        .collect()
}

fn options(command: &Command, before: &[&str]) -> Vec<String> {
    command
        .get_arguments()
        .filter_map(Arg::get_long)
        .map(|long| format!("--{long}"))
        .filter(|option| !before.contains(&option.as_str()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(line: &str) -> Vec<String> {
        let known = || Known {
            patterns: [
                "app::*",
                "app::alloc::*",
                "app::alloc::slab_get",
                "app::<A as B>::x",
            ]
            .map(String::from)
            .to_vec(),
            functions: ["app::main", "app::alloc::slab_get"].map(String::from).to_vec(),
        };
        offers(line, known).list
    }

    #[test]
    fn verbs_come_first() {
        assert_eq!(list("re"), ["reset", "report"]);
        assert_eq!(list("mode"), ["mode"]);
        assert!(list("").contains(&"undo".to_string()));
        assert!(list("nobody ").is_empty() && list("zzz").is_empty());
    }

    #[test]
    fn then_what_the_verb_takes() {
        assert_eq!(list("mode "), ["exact", "adaptive", "sampled", "off"]);
        assert_eq!(list("mode a"), ["adaptive"]);
        assert!(list("mode exact ").is_empty());
        assert_eq!(list("report "), ["--format", "--by"]);
        assert_eq!(list("report x.json --b"), ["--by"]);
        let forms = [
            "text",
            "html",
            "json",
            "folded",
            "speedscope",
            "pprof",
            "callgrind",
            "csv",
            "tks",
        ];
        assert_eq!(list("report --format "), forms);
        assert_eq!(list("report -f j"), ["json"]);
        assert!(list("theme ").contains(&"mono".to_string()));
        assert_eq!(list("function ma"), ["app::main"]);
        assert!(list("snapshot ").is_empty(), "files are not completed");
    }

    #[test]
    fn patterns_by_any_part_of_their_path() {
        assert_eq!(list("off slab"), ["app::alloc::slab_get"]);
        assert_eq!(list("on alloc"), ["app::alloc::*", "app::alloc::slab_get"]);
        assert_eq!(list("off <A"), ["'app::<A as B>::x'"]);
        assert_eq!(list("off ").len(), 4);
    }

    #[test]
    fn the_common_beginning_is_what_tab_adds() {
        let common = |line| offers(line, Known::default).common().map(String::from);
        assert_eq!(common("re"), None);
        assert_eq!(common("rep").as_deref(), Some("report"));
        assert_eq!(common("mode s").as_deref(), Some("sampled"));
        assert_eq!(common("report --").as_deref(), None);
        assert_eq!(common("report"), None);
    }
}
