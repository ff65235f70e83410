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
/// look the same, all parts where that is not enough. Generic arguments, traits of an `impl` and the numbers of closures are left out
/// where functions differ without them. Printable; ASCII if asked for.
pub fn labels(functions: &Functions, ascii: bool) -> Vec<String> {
    let names: Vec<String> = functions.list.iter().map(Function::full_name).collect();
    // A group's name is no path.
    let is_group = |index: usize| functions.list[index].is_group;
    let plain: Vec<Option<String>> = (0..names.len())
        .map(|index| {
            if is_group(index) {
                None
            } else {
                without_noise(&names[index])
            }
        })
        .collect();
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
    let labels = unlike(&tails, &plain).into_iter();
    labels
        .map(|label| cut_middle(&visible(label, ascii), Glyphs::of(ascii).cut))
        .collect()
}

/// The names of code that is no scope without generic arguments, traits of an `impl` and the numbers of closures, where they differ
/// without them; else as they are.
pub fn without_arguments_of(names: &[&str]) -> Vec<String> {
    let plain: Vec<Option<String>> = names.iter().map(|name| without_noise(name)).collect();
    let short = unlike(names, &plain).into_iter();
    short.map(str::to_owned).collect()
}

/// Names without noise, each where no other function has it.
fn unlike<'a>(names: &[&'a str], plain: &'a [Option<String>]) -> Vec<&'a str> {
    let mut seen: HashMap<&str, u32> = HashMap::with_capacity(names.len());
    for (name, plain) in names.iter().zip(plain) {
        *seen.entry(plain.as_deref().unwrap_or(name)).or_default() += 1;
    }
    let chosen = names.iter().zip(plain).map(|(name, plain)| match plain {
        Some(plain) if seen[plain.as_str()] == 1 => plain.as_str(),
        Some(_) | None => *name,
    });
    chosen.collect()
}

/// The last two parts of a path without generic arguments, with the type of an `impl` in place of the whole of it, and with closures
/// behind the function that they are in; none where nothing of that is in it.
fn without_noise(path: &str) -> Option<String> {
    if !path.contains(['<', '{']) {
        return None;
    }
    let mut kept: Vec<String> = Vec::new();
    let mut closures = 0;
    for part in parts(path).into_iter().rev() {
        let name = if part.starts_with('{') {
            closures += usize::from(kept.is_empty());
            continue;
        } else if part.starts_with('<') {
            // Any text may be the name of a scope.
            let inner = part.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
            let inner = inner.filter(|_| first_closed(part) == Some(part.len()))?;
            match inner.strip_prefix("impl ") {
                Some(of) => last_of_type(split_type(of, " for ").map_or(of, |(_, subject)| subject)),
                None => match split_type(inner, " as ") {
                    Some((subject, _)) => last_of_type(subject),
                    // Arguments of the function before it.
                    None => continue,
                },
            }
        } else {
            without_arguments(part)
        };
        if !name.is_empty() {
            kept.push(name);
        }
        if kept.len() == 2 {
            break;
        }
    }
    kept.reverse();
    let mut name = kept.join("::");
    if name.is_empty() {
        return None;
    }
    if closures > 0 {
        name.push_str("::{closure}");
    }
    Some(name)
}

/// The last part of a type's path without its arguments; of `&mut [T]` and others that are no path all of it.
fn last_of_type(text: &str) -> String {
    let is_path = text.starts_with(|c: char| c.is_alphabetic() || c == '_') && !text.starts_with("dyn ");
    match is_path {
        true => without_arguments(parts(text).last().copied().unwrap_or(text)),
        false => text.to_string(),
    }
}

/// A part of a path up to its arguments. Operators of C++ have the same sign in their names.
fn without_arguments(part: &str) -> String {
    match part.find('<') {
        Some(at) if at > 0 && first_closed(part) == Some(part.len()) => part[..at].to_string(),
        Some(_) | None => part.to_string(),
    }
}

/// Where the first angle bracket is closed.
fn first_closed(text: &str) -> Option<usize> {
    let opened = text.find('<')?;
    let mut ends = text.match_indices('>').map(|(at, _)| at + 1);
    ends.find(|&end| end > opened && depth(&text[..end]) == 0)
}

/// Splits at a word that is in no angle bracket.
fn split_type<'a>(text: &'a str, word: &str) -> Option<(&'a str, &'a str)> {
    let mut found = text.match_indices(word);
    let at = found.find(|&(at, _)| depth(&text[..at]) == 0)?.0;
    Some((&text[..at], &text[at + word.len()..]))
}

/// How many angle brackets are open behind a text.
fn depth(text: &str) -> usize {
    let mut before = ' ';
    let mut depth = 0usize;
    for c in text.chars() {
        match c {
            '<' => depth += 1,
            // The arrow of a function type closes nothing.
            '>' if before != '-' => depth = depth.saturating_sub(1),
            _ => {}
        }
        before = c;
    }
    depth
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

/// The last `count` parts of a path.
fn tail(path: &str, count: usize) -> &str {
    let starts = starts(path);
    &path[starts[starts.len().saturating_sub(count)]..]
}

/// All parts of a path.
fn parts(path: &str) -> Vec<&str> {
    let starts = starts(path);
    let ends = starts.iter().skip(1).map(|start| start - 2).chain([path.len()]);
    starts
        .iter()
        .zip(ends)
        .map(|(&start, end)| &path[start..end])
        .collect()
}

/// Where the parts of a path begin. `::` inside of angle brackets separates nothing.
fn starts(path: &str) -> Vec<usize> {
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
    starts
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
            "Vec::run",
            "fn(A) -> b::C",
        ];
        assert_eq!(labels, expected);
    }

    #[test]
    fn what_differs_is_seen_and_what_does_not_is_left_out() {
        let names = [
            (
                "tokio::io",
                "Registration::poll_io::<usize, Evented<Tcp>::poll_write::{closure}>",
            ),
            ("app::map", "Map<u8, String>::insert"),
            ("app::set", "Set<u8>::insert"),
            ("app::set", "Set<u16>::insert"),
            ("app", "work::{closure#0}"),
            ("app", "rest::{closure#0}"),
            ("app", "rest::{closure#1}"),
            ("app", "<impl app::Shape for app::other::Square>::area"),
            ("app", "<&mut [app::B] as c::D>::run"),
            ("app", "operator<<"),
            ("app", "{closure#0}"),
        ];
        let expected = [
            "Registration::poll_io",
            "Map::insert",
            "Set<u8>::insert",
            "Set<u16>::insert",
            "app::work::{closure}",
            "rest::{closure#0}",
            "rest::{closure#1}",
            "Square::area",
            "&mut [app::B]::run",
            "app::operator<<",
            "app::{closure}",
        ];
        assert_eq!(labels_of(&names), expected);
    }

    #[test]
    fn code_that_is_no_scope_is_told_apart_by_its_arguments_alone_where_need_be() {
        let names = [
            "<alloc::vec::Vec<T,A> as core::clone::Clone>::clone",
            "get<scene::Node, usize>",
            "store<u8>",
            "store<u16>",
            "operator<<",
            "memcpy",
            "map<core::option::Option<scene::Hit>, scene::{impl#0}::nearest::{closure_env#0}>",
        ];
        let expected = [
            "Vec::clone",
            "get",
            "store<u8>",
            "store<u16>",
            "operator<<",
            "memcpy",
            "map",
        ];
        assert_eq!(without_arguments_of(&names), expected);
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
