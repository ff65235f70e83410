//! Short, unique names for functions: `book::insert` instead of the whole path.

use std::collections::HashMap;

use tickscope_analysis::functions::{Function, Functions};

use crate::escape::visible;
use crate::glyphs::Glyphs;

/// Longer labels are cut in the middle: a scope's name may be any text.
const MAX_CELLS: usize = 64;

/// Source paths longer than this lose their first folders.
const MAX_FILE_CELLS: usize = 32;

/// The label of every function, by its id: the last two parts of its path, three where two functions would
/// look the same, all parts where that is not enough. Printable; ASCII if asked for.
pub fn labels(functions: &Functions, ascii: bool) -> Vec<String> {
    let names: Vec<String> = functions.list.iter().map(Function::full_name).collect();
    // A group's name is no path.
    let is_group = |index: usize| functions.list[index].is_group;
    let mut tails: Vec<&str> = names.iter().map(|name| tail(name, 2)).collect();
    for index in (0..names.len()).filter(|&index| is_group(index)) {
        tails[index] = &names[index];
    }
    for parts in [3, usize::MAX] {
        let mut seen: HashMap<&str, u32> = HashMap::with_capacity(tails.len());
        for tail in &tails {
            *seen.entry(tail).or_default() += 1;
        }
        let alike: Vec<bool> = tails.iter().map(|tail| seen[tail] > 1).collect();
        let alike = alike.iter().enumerate().filter(|(_, alike)| **alike);
        for (index, _) in alike.filter(|&(index, _)| !is_group(index)) {
            tails[index] = tail(&names[index], parts);
        }
    }
    tails
        .into_iter()
        .map(|tail| cut_middle(&visible(tail, ascii), Glyphs::of(ascii).cut))
        .collect()
}

/// Where a function stands: `src/book.rs:20`, of a long path the last three parts, `-` if unknown.
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

/// The last `parts` of a path. `::` inside of angle brackets separates nothing.
fn tail(path: &str, parts: usize) -> &str {
    let bytes = path.as_bytes();
    let mut starts = vec![0];
    let mut depth = 0u32;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'<' => depth += 1,
            // The arrow of a function type closes nothing.
            b'>' if at == 0 || bytes[at - 1] != b'-' => depth = depth.saturating_sub(1),
            b':' if depth == 0 && bytes.get(at + 1) == Some(&b':') => {
                starts.push(at + 2);
                at += 1;
            }
            _ => {}
        }
        at += 1;
    }
    &path[starts[starts.len().saturating_sub(parts)]..]
}

fn cut_middle(text: &str, cut: &str) -> String {
    let cells = text.chars().count();
    if cells <= MAX_CELLS {
        return text.to_owned();
    }
    // The tail tells more: it is the function itself.
    let head = MAX_CELLS / 3;
    let tail = MAX_CELLS - head - cut.chars().count();
    let mut out: String = text.chars().take(head).collect();
    out.push_str(cut);
    out.extend(text.chars().skip(cells - tail));
    out
}

#[cfg(test)]
mod tests {
    use tickscope_format::snapshot::{Site, Snapshot};

    use super::*;

    fn labels_of(names: &[(&str, &str)]) -> Vec<String> {
        let site = |(module, name): &(&str, &str)| Site {
            module: (*module).into(),
            name: (*name).into(),
            ..Site::default()
        };
        let snapshot = Snapshot {
            sites: names.iter().map(site).collect(),
            ..Snapshot::default()
        };
        labels(&Functions::of(&snapshot), false)
    }

    #[test]
    fn two_parts_and_more_where_they_look_the_same() {
        let names = [
            ("", "main"),
            ("app", "main"),
            ("app::order::book", "insert"),
            ("app::order::book", "Tree::insert"),
            ("app::old::set", "add"),
            ("app::new::set", "add"),
            ("one::a::b", "f"),
            ("two::a::b", "f"),
            ("app", "<Vec<a::B> as c::D>::run"),
            ("app", "fn(A) -> b::C"),
        ];
        let labels = labels_of(&names);
        let expected = [
            "main",
            "app::main",
            "book::insert",
            "Tree::insert",
            "old::set::add",
            "new::set::add",
            "one::a::b::f",
            "two::a::b::f",
            "<Vec<a::B> as c::D>::run",
            "fn(A) -> b::C",
        ];
        assert_eq!(labels, expected);
    }

    #[test]
    fn long_ones_keep_their_tail() {
        let labels = labels_of(&[("m", &format!("{}_the_end", "x".repeat(200)))]);
        assert_eq!(labels[0].chars().count(), MAX_CELLS);
        assert!(labels[0].ends_with("_the_end"), "{}", labels[0]);
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
