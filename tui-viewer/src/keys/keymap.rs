//! The key bindings. They are all in one table, from which key dispatch, the footer, the help and the table in the
//! documentation are derived.

mod table;

use crate::keys::action::{Action, Binding, Context, Section};
use crate::keys::decoder::{Code, key_name};
pub(crate) use table::KEYS;

/// Returns the action that a key triggers in a context.
pub(crate) fn lookup(context: Context, key: Code) -> Option<Action> {
    lines(context)
        .flat_map(|line| line.keys())
        .find(|(code, _)| *code == key)
        .map(|&(_, action)| action)
}

/// Returns the bindings that work in a context.
pub(crate) fn lines(context: Context) -> impl Iterator<Item = &'static Binding> {
    KEYS.iter().filter(move |line| line.works_in(context))
}

/// Returns the key binding table in Markdown, for the documentation.
pub fn markdown() -> String {
    let mut out = String::from("| keys | what they do |\n| --- | --- |\n");
    for section in Section::ALL {
        for line in KEYS.iter().filter(|line| line.section == section) {
            let keys: Vec<String> = line
                .keys()
                .iter()
                .map(|&(key, _)| format!("`{}`", key_name(key, false).replace('|', "\\|")))
                .collect();
            // On the screen, a heading above these bindings names the view. The documentation has no such headings, so
            // the name is added here.
            let place = if line.views == table::TREE {
                " (in Tree)"
            } else {
                ""
            };
            out.push_str(&format!(
                "| {} | {}{}{place} |\n",
                keys.join(" "),
                line.help,
                line.note
            ));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::table::EVERYWHERE;
    use super::*;
    use crate::keys::view::View;

    fn contexts() -> impl Iterator<Item = Context> {
        EVERYWHERE.iter().copied().chain(View::ALL.map(Context::In))
    }

    #[test]
    fn no_key_stands_twice_in_one_context() {
        for context in contexts() {
            let mut seen = HashSet::new();
            for (key, _) in lines(context).flat_map(|line| line.keys()) {
                assert!(seen.insert(key), "{key:?} twice in {context:?}");
                assert_ne!(key_name(*key, false), "");
            }
        }
    }

    #[test]
    fn every_line_says_what_it_does() {
        for line in KEYS.iter() {
            assert!(!line.help.is_empty() && !line.keys().is_empty());
            assert!(!line.views.is_empty() || !line.others.is_empty());
            assert!(line.help.is_ascii(), "{}", line.help);
            let marked = markdown();
            assert!(marked.contains(line.help), "{} is in no list", line.help);
        }
    }

    #[test]
    fn quitting_and_going_back_work_everywhere() {
        for context in contexts() {
            assert_eq!(lookup(context, Code::Ctrl('c')), Some(Action::Quit));
            assert_eq!(lookup(context, Code::Esc), Some(Action::Back));
        }
        assert_eq!(
            lookup(Context::Typing, Code::Char('q')),
            None,
            "q is a letter there"
        );
    }

    #[test]
    fn hints_are_short() {
        for line in KEYS.iter().filter(|line| line.hint.is_some()) {
            assert!(line.hint_keys(false).chars().count() <= 5, "{}", line.help);
        }
    }
}
