//! Names of functions and files for line-based formats, in which some characters are not allowed.

use std::collections::HashSet;

use tickscope_analysis::functions::{Function, Functions};

use crate::escape::visible;

/// Replaces an empty name.
const UNNAMED: &str = "(unnamed)";

/// Returns the full name of each function, by id. Names are unique, not empty, and without line breaks. `tame` must replace the
/// characters that the format does not allow.
pub(crate) fn full_names(functions: &Functions, tame: impl Fn(&str) -> String) -> Vec<String> {
    let mut taken: HashSet<String> = HashSet::with_capacity(functions.list.len());
    functions
        .list
        .iter()
        .map(Function::full_name)
        .map(|name| unlike(&mut taken, tame(&in_one_line(&name, UNNAMED))))
        .collect()
}

/// Escapes invisible characters in the text and trims it. If nothing is left, returns `if_empty`.
pub(crate) fn in_one_line(text: &str, if_empty: &str) -> String {
    match visible(text, false).trim() {
        "" => if_empty.to_string(),
        text => text.to_string(),
    }
}

/// Returns the name, with a number appended if another function already has that name.
fn unlike(taken: &mut HashSet<String>, name: String) -> String {
    let mut free = name.clone();
    let mut number = 1;
    while !taken.insert(free.clone()) {
        number += 1;
        free = format!("{name}#{number}");
    }
    free
}

#[cfg(test)]
mod tests {
    use tickscope_format::snapshot::{Site, Snapshot};

    use super::*;

    #[test]
    fn names_stay_apart_and_in_their_line() {
        let sites = ["", " ", "a\nb", r"a\nb", "a;b", "a:b", "größe <script>"];
        let snapshot = Snapshot {
            sites: sites
                .map(|name| Site {
                    name: name.into(),
                    ..Site::default()
                })
                .into(),
            ..Snapshot::default()
        };
        let names = full_names(&Functions::of(&snapshot), |name| name.replace(';', ":"));
        let expected = [
            "(unnamed)",
            "(unnamed)#2",
            r"a\nb",
            r"a\nb#2",
            "a:b",
            "a:b#2",
            "größe <script>",
        ];
        assert_eq!(names, expected);
    }
}
