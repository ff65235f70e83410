//! Words that were meant where others were typed.

/// The one of these names that is meant by a word that is none of them; none where it is unlike all.
pub(crate) fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let names = names.into_iter().map(|name| (distance(word, name), name));
    names
        .min()
        .filter(|(away, _)| is_near(word, *away))
        .map(|(_, name)| name)
}

/// One letter in three may be wrong.
fn is_near(word: &str, away: usize) -> bool {
    (1..=word.chars().count() / 3).contains(&away)
}

/// Letters to change, add, leave out, or swap with the next one, between two words.
pub(crate) fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let (mut before, mut last): (Vec<usize>, Vec<usize>) = (Vec::new(), (0..=b.len()).collect());
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let change = last[j] + usize::from(a[i] != b[j]);
            let mut least = change.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (a, b, letters) in [
            ("", "abc", 3),
            ("rset", "reset", 1),
            ("kitten", "sitting", 3),
            ("x", "x", 0),
            ("reprot", "report", 1),
            ("lsit", "list", 1),
        ] {
            assert_eq!(distance(a, b), letters, "{a} {b}");
        }
    }

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
