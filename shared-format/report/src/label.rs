//! Labels: names of functions that are short but still unique, such as `book::insert` in place of the full path.

use tickscope_analysis::functions::Functions;
use tickscope_analysis::names;

use crate::escape::visible;
use crate::glyphs::Glyphs;

/// Maximum width of a source path, in cells. A longer path is shortened by dropping its first directories.
const MAX_FILE_CELLS: usize = 32;

/// Returns the label of each function, by id. It is the label from [`names::labels`] with invisible characters escaped, and in
/// ASCII if `ascii` is true.
pub fn labels(functions: &Functions, ascii: bool) -> Vec<String> {
    let cut = Glyphs::of(ascii).cut;
    let shown = |label: String| {
        let label = label.replace(names::CUT, cut);
        names::cut_middle(&visible(&label, ascii)).replace(names::CUT, cut)
    };
    names::labels(functions).into_iter().map(shown).collect()
}

/// Returns the file and line of a function, such as `src/book.rs:20`, or `-` if there is no file. A long path is shortened by
/// dropping its first directories.
pub fn place(file: &str, line: u32, ascii: bool) -> String {
    if file.is_empty() {
        return "-".to_string();
    }
    let mut shown = visible(file, ascii).into_owned();
    if shown.chars().count() > MAX_FILE_CELLS
        && let Some((at, _)) = shown.rmatch_indices(['/', '\\']).nth(2)
        && at > 0
    {
        shown.replace_range(..at, Glyphs::of(ascii).cut);
    }
    if line > 0 {
        shown.push_str(&format!(":{line}"));
    }
    shown
}

/// Returns the width in cells of a column with this title and these texts, but at most `most`. A text wider than that pushes the
/// rest of its line to the right.
pub(crate) fn column_width(title: &str, texts: impl Iterator<Item = impl AsRef<str>>, most: usize) -> usize {
    let cells = texts.map(|text| text.as_ref().chars().count());
    cells.max().unwrap_or(0).clamp(title.len(), most)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tickscope_analysis::functions::FunctionId;
    use tickscope_testkit::fixture::programs as fixtures;

    use super::*;

    proptest! {
        /// A label copied from the screen or a report can be typed as a pattern, which then matches exactly the functions with
        /// that label.
        #[test]
        fn a_label_names_the_functions_that_have_it(snapshot in fixtures::any_snapshot(), ascii in any::<bool>()) {
            let functions = Functions::of(&snapshot);
            let labels = labels(&functions, ascii);
            for (function, label) in functions.list.iter().zip(&labels) {
                // In an ASCII label, `u` may also stand for the micro sign, which a `u` in a pattern does not match.
                if ascii && label.contains('u') {
                    continue;
                }
                let found = names::named(&functions, label);
                let shown = |id: &&FunctionId| labels[id.index()] == *label;
                prop_assert!(found.iter().all(|id| shown(&id)), "{} of {}", label, function.full_name());
                prop_assert_eq!(found.len(), labels.iter().filter(|other| *other == label).count(), "{}", label);
            }
        }
    }

    #[test]
    fn places_are_short() {
        let far = "/home/me/.cargo/registry/src/some-registry-0123/serde-1.0/src/lib.rs";
        let table = [
            (("src/main.rs", 5), "src/main.rs:5"),
            (("", 5), "-"),
            (("src/main.rs", 0), "src/main.rs"),
            ((far, 9), "…/serde-1.0/src/lib.rs:9"),
        ];
        for ((file, line), text) in table {
            assert_eq!(place(file, line, false), text);
        }
    }
}
