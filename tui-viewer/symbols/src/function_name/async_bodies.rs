//! Bodies of `async fn`, async blocks and async closures: finding out which closures in the symbols are such bodies,
//! and naming them.

use std::collections::HashMap;

use memchr::memmem;

/// Suffix that the body of an async function adds to the function's name.
const ASYNC_FN: &str = "::{async_fn}";

/// Suffixes in the names of the bodies of async blocks and async closures.
const OTHER_BODIES: [&str; 2] = ["{async_block}", "{async_closure}"];

/// Suffix for the name of an async body whose row counts polls instead of calls.
const POLL: &str = "::{poll}";

/// Returns the name to show for a function or an async body. `{async_fn}` is left out, so that the body of an async
/// function has the name of its function. Unless the row of a body counts calls (`is_certain`), the name of the body
/// says that polls are counted.
pub fn name_of_body(name: &str, is_certain: bool) -> String {
    let is_function = name.ends_with(ASYNC_FN);
    let is_body = is_function || OTHER_BODIES.iter().any(|body| name.ends_with(body));
    let poll = if is_body && !is_certain { POLL } else { "" };
    name.replace(ASYNC_FN, "") + poll
}

/// Finds async bodies by the names in debug information, where the type of a body has a name such as
/// `app::fetch::{async_fn_env#0}<u8>`. Returns the names of the bodies, keyed by their paths in symbols, where each
/// body is just a closure.
pub fn async_bodies(names: &[u8]) -> HashMap<String, String> {
    let mut found = HashMap::new();
    for at in memmem::find_iter(names, b"::{async_") {
        let is_path = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_:{}#".contains(byte) || **byte >= 0x80;
        let before = names[..at].iter().rev().take_while(is_path).count();
        let behind = names[at..].iter().take_while(is_path).count();
        let Ok(path) = std::str::from_utf8(&names[at - before..at + behind]) else {
            continue;
        };
        let mut plain = String::new();
        for (index, part) in path.split("::").enumerate() {
            if index > 0 {
                plain.push_str("::");
            }
            let Some((kind, number)) = part
                .strip_prefix('{')
                .and_then(|part| part.strip_suffix('}')?.split_once('#'))
                .filter(|(kind, _)| *kind != "impl")
            else {
                plain.push_str(part);
                continue;
            };
            plain.push_str(&format!("{{closure#{number}}}"));
            let kind = kind.strip_suffix("_env").unwrap_or(kind);
            if kind.starts_with("async_") {
                found.insert(plain.clone(), format!("{{{kind}#{number}}}"));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn async_bodies_are_found_in_names_of_types() {
        let names = b"pin<a::fetch::{async_fn_env#0}<u8>>\0a::B\0\
            drop_in_place<a::outer::{async_fn#0}::{async_block_env#1}>\0a::{impl#2}::go::{closure_env#1}::{async_block#0}\0";
        let mut found: Vec<_> = async_bodies(names).into_iter().collect();
        found.sort();
        let wanted = [
            ("a::fetch::{closure#0}", "{async_fn#0}"),
            ("a::outer::{closure#0}", "{async_fn#0}"),
            ("a::outer::{closure#0}::{closure#1}", "{async_block#1}"),
            ("a::{impl#2}::go::{closure#1}::{closure#0}", "{async_block#0}"),
        ];
        assert_eq!(
            found,
            wanted.map(|(path, kind)| (path.to_string(), kind.to_string()))
        );
    }
}
