//! Suggests a known word in place of an unknown one.

use strsim::osa_distance;

use crate::console::printable;

/// Returns the name that is most similar to a word, or `None` if the word is itself a name, or no name is similar enough.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // The distance counts letters that are changed, missing, added, or swapped with a neighbour.
    let names = names.into_iter().map(|name| (osa_distance(word, name), name));
    names
        .min()
        .filter(|(away, _)| is_near(word, *away))
        .map(|(_, name)| name)
}

/// Returns ` (did you mean NAME?)` with the name that is most similar to a word; empty if no name is similar enough.
pub fn hint(word: &str, names: &[&str]) -> String {
    nearest(word, names.iter().copied()).map_or(String::new(), |near| {
        format!(" (did you mean {}?)", printable(near))
    })
}

/// Returns whether the number of wrong letters, `away`, is at least 1 and at most a third of the word's length.
fn is_near(word: &str, away: usize) -> bool {
    (1..=word.chars().count() / 3).contains(&away)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_meant_is_close_and_not_the_same() {
        let of = |word| nearest(word, ["report", "record", "list", "ls"]);
        assert_eq!(of("reprot"), Some("report"));
        assert_eq!(of("recordd"), Some("record"));
        assert_eq!(of("lits"), Some("list"));
        for other in ["report", "ps", "order-book", ""] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
