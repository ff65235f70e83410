//! Function paths: how they split into parts, and the plain form in which lists show them.
//!
//! A path has the form `module::name`, where the name is written as in a demangled symbol:
//! `<Vec<T> as Shape>::area::<u8>::{closure#0}`. But any text may occur as a path, because a scope may have any name.
//! Nothing in this module allocates.

use std::{iter, mem};

/// Last part of a plain path, which stands for all the closures and bodies of async functions at the end of the full
/// path.
const CLOSURE: &str = "{closure}";

/// Iterator over the parts of a path; see [`parts`].
#[derive(Clone, Debug)]
pub struct Parts<'a> {
    rest: Option<&'a str>,
}

/// Splits a path at each `::` that is not inside brackets. Generic arguments are not separated from the part that they
/// belong to.
///
/// # Examples
/// ```
/// use tickscope_format::path::parts;
///
/// assert!(parts("app::read::<io::File>::{closure#0}").eq(["app", "read::<io::File>", "{closure#0}"]));
/// ```
pub fn parts(path: &str) -> Parts<'_> {
    Parts { rest: Some(path) }
}

/// Returns the parts of a path in plain form: without generic arguments, with only the name of the type in place of an
/// `impl` or a `<T as Trait>`, and with a single `{closure}` in place of all closures at the end.
///
/// # Examples
/// ```
/// use tickscope_format::path::plain_parts;
///
/// let plain = |path| plain_parts(path).collect::<Vec<_>>().join("::");
/// assert_eq!(plain("<tokio::task::BlockingTask<T> as Future>::poll"), "BlockingTask::poll");
/// assert_eq!(plain("app::each::<u8>::{closure#1}::{closure#0}"), "app::each::{closure}");
/// ```
pub fn plain_parts(path: &str) -> impl Iterator<Item = &str> {
    // Whether closures follow the part that was returned last.
    let mut in_closure = false;
    let mut rest = parts(path);
    iter::from_fn(move || {
        for part in rest.by_ref() {
            if is_braced(part) {
                in_closure = true;
                continue;
            }
            let Some((subject, _)) = subject_and_trait(part) else {
                in_closure = false;
                return Some(without_arguments(part));
            };
            let of_type = tail(subject, 1);
            in_closure = parts(of_type).any(is_braced);
            return Some(last_of_type(of_type));
        }
        mem::take(&mut in_closure).then_some(CLOSURE)
    })
}

/// Returns whether the plain form of a path may differ from the path.
pub fn has_noise(path: &str) -> bool {
    path.contains(['<', '{'])
}

/// Returns the end of a path that contains the last `count` named parts. Closures have no name and are not counted, so
/// the function that contains them is kept as well.
pub fn tail(path: &str, count: usize) -> &str {
    let named = parts(path).filter(|part| !is_braced(part)).count();
    let Some(mut passed) = named.checked_sub(count).filter(|&passed| passed > 0) else {
        return path;
    };
    let mut behind = parts(path);
    while let Some(rest) = behind.rest {
        let is_named = behind.next().is_some_and(|part| !is_braced(part));
        if is_named && passed == 0 {
            return rest;
        }
        passed -= usize::from(is_named);
    }
    path
}

/// Returns `T` and `Trait` of `<T as Trait>` and of `<impl Trait for T>`, or only `T` of `<T>` and `<impl T>`.
pub fn subject_and_trait(part: &str) -> Option<(&str, Option<&str>)> {
    if step(part) < part.len() {
        return None;
    }
    let inner = part.strip_prefix('<')?.strip_suffix('>')?;
    if let Some(inner) = inner.strip_prefix("impl ") {
        return Some(match split_at(inner, " for ") {
            Some((of, subject)) => (subject, Some(of)),
            None => (inner, None),
        });
    }
    Some(match split_at(inner, " as ") {
        Some((subject, of)) => (subject, Some(of)),
        None => (inner, None),
    })
}

/// Splits a text at the first occurrence of `word` that is not inside brackets.
pub fn split_at<'a>(text: &'a str, word: &str) -> Option<(&'a str, &'a str)> {
    let mut at = 0;
    while at < text.len() {
        if let Some(behind) = text[at..].strip_prefix(word) {
            return Some((&text[..at], behind));
        }
        at += step(&text[at..]);
    }
    None
}

/// Returns the length in bytes of the first token of a text: a bracket with its contents, an arrow (`->`), or a
/// character.
pub fn step(text: &str) -> usize {
    let mut depth = 0usize;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '<' | '(' | '[' | '{' => depth += 1,
            // The `>` of an arrow in a function's type closes no bracket.
            '>' if before == '-' => {}
            '>' | ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && !(at == 0 && text.starts_with("->")) {
            return at + c.len_utf8();
        }
        before = c;
    }
    text.len()
}

impl<'a> Iterator for Parts<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let path = self.rest?;
        let mut at = 0;
        while at < path.len() {
            let rest = &path[at..];
            if let Some(behind) = rest.strip_prefix("::").filter(|behind| !has_arguments(behind)) {
                self.rest = Some(behind);
                return Some(&path[..at]);
            }
            at += step(rest);
        }
        self.rest = None;
        Some(path)
    }
}

/// Returns whether the text begins with generic arguments, and not with `<impl …>` or `<T as Trait>`.
fn has_arguments(text: &str) -> bool {
    text.starts_with('<')
        && !text.starts_with("<impl ")
        && !matches!(subject_and_trait(&text[..step(text)]), Some((_, Some(_))))
}

/// Returns whether a part is in braces, because it has no name: a closure, the body of an async function, or an `impl`.
fn is_braced(part: &str) -> bool {
    part.starts_with('{') && part.ends_with('}')
}

/// Returns the name of a type. `of_type` is the end of the type's path, starting at its last named part, or a type that
/// has no path, such as `&mut [T]`, which is returned as it is.
fn last_of_type(of_type: &str) -> &str {
    parts(of_type).next().map_or(of_type, without_arguments)
}

/// Returns a part without its generic arguments. The name of a C++ operator may itself contain `<`.
fn without_arguments(part: &str) -> &str {
    let is_name = |name: &str| {
        let is_letter = |c: char| c.is_alphanumeric() || "_$~".contains(c);
        !name.is_empty() && name != "operator" && name.chars().all(is_letter)
    };
    match part.find('<') {
        Some(at) if at + step(&part[at..]) == part.len() && part.ends_with('>') => {
            let name = part[..at].strip_suffix("::").unwrap_or(&part[..at]);
            if is_name(name) { name } else { part }
        }
        Some(_) | None => part,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plain(path: &str) -> String {
        plain_parts(path).collect::<Vec<_>>().join("::")
    }

    #[test]
    fn the_function_stays_and_its_instance_goes() {
        for (path, expected) in [
            ("app::main", "app::main"),
            ("app::map::Map<u8, String>::insert", "app::map::Map::insert"),
            ("app::apply::<u64, main::{closure#3}>", "app::apply"),
            (
                "<tokio::runtime::task::BlockingTask<T> as Future>::poll",
                "BlockingTask::poll",
            ),
            (
                "<jaq_core::filter::flat_map_then_with<A, B>::{closure#0}>",
                "flat_map_then_with::{closure}",
            ),
            (
                "<app::run<A>::{closure#0} as FnOnce<()>>::call_once",
                "run::call_once",
            ),
            (
                "<flat_map::<A>::{closure#0}>::{closure#10}",
                "flat_map::{closure}",
            ),
            (
                "jaq_core::filter::flat_map_then_with::<A, B::<C>>::{closure}::{closure}",
                "jaq_core::filter::flat_map_then_with::{closure}",
            ),
            (
                "app::other::<impl app::Shape for app::Sq>::far",
                "app::other::Sq::far",
            ),
            ("app::<&mut [app::B] as c::D>::run", "app::&mut [app::B]::run"),
            (
                "scene::{impl#0}::nearest::{closure_env#0}",
                "scene::nearest::{closure}",
            ),
            (
                "parser::fn(&str) -> Result<usize, E>::parse_ref",
                "parser::fn(&str) -> Result<usize, E>::parse_ref",
            ),
            ("app::(Ctx<D>, Val)::clone", "app::(Ctx<D>, Val)::clone"),
            ("get<scene::Node, usize>", "get"),
            ("big::int::operator<", "big::int::operator<"),
            ("big::int::operator<<", "big::int::operator<<"),
            ("big::int::operator<=>", "big::int::operator<=>"),
            ("big::int::operator->", "big::int::operator->"),
            ("operator<< <char>", "operator<< <char>"),
            ("Finder::operator()", "Finder::operator()"),
            ("app::{closure#0}", "app::{closure}"),
            ("a {b", "a {b"),
            ("<a>b", "<a>b"),
            ("", ""),
        ] {
            assert_eq!(plain(path), expected, "{path}");
        }
    }

    #[test]
    fn an_end_begins_at_a_name() {
        for (path, count, expected) in [
            ("a::b::c", 1, "c"),
            ("a::b::c", 2, "b::c"),
            ("a::b::c", 9, "a::b::c"),
            ("a::Map<b::C>::get::<d::E>", 2, "Map<b::C>::get::<d::E>"),
            (
                "a::work::{closure#0}::{closure#1}",
                1,
                "work::{closure#0}::{closure#1}",
            ),
            ("a::work::{closure#0}::inner", 1, "inner"),
            ("a::work::{closure#0}::inner", 2, "work::{closure#0}::inner"),
            ("{closure#0}", 1, "{closure#0}"),
            ("", 1, ""),
        ] {
            assert_eq!(tail(path, count), expected, "{path}");
        }
    }

    proptest! {
        #[test]
        fn any_text_has_parts(path in "[a-c<>:{}()#, -]{0,40}", count in 1usize..4) {
            prop_assert_eq!(parts(&path).collect::<Vec<_>>().join("::"), path.clone());
            prop_assert!(path.ends_with(tail(&path, count)));
            prop_assert!(plain(&path).len() <= path.len() + CLOSURE.len());
            if !has_noise(&path) {
                prop_assert_eq!(plain(&path), path);
            }
        }
    }
}
