//! Normalises the names of functions, so that a function has the same name in perf and in tickscope.

use tickscope_format::path::split_at;

/// Primitive types. At the beginning of a path they are types and not modules.
const PRIMITIVES: [&str; 17] = [
    "bool", "char", "f32", "f64", "i128", "i16", "i32", "i64", "i8", "isize", "str", "u128", "u16", "u32",
    "u64", "u8", "usize",
];

/// Demangles a symbol. The number that the linker appends where several symbols have the same name is left out. Symbols that
/// are not mangled are returned as they are.
pub(crate) fn demangled(symbol: &str) -> String {
    let Ok(path) = rustc_demangle::try_demangle(symbol) else {
        return symbol.to_owned();
    };
    let path = format!("{path:#}");
    match path.rsplit_once('.') {
        Some((unnumbered, number)) if number.parse::<u64>().is_ok() => unnumbered.to_owned(),
        _ => path,
    }
}

/// Splits a text at each separator that is outside of brackets.
fn split<'a>(text: &'a str, separator: &str) -> Vec<&'a str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((part, behind)) = split_at(rest, separator) {
        parts.push(part);
        rest = behind;
    }
    parts.push(rest);
    parts
}

/// Returns a type without its module path and generic arguments.
fn short_type(of: &str) -> String {
    let of = of.trim_start_matches(['&', '*']);
    let of = ["mut ", "const "]
        .iter()
        .fold(of, |of, word| of.strip_prefix(word).unwrap_or(of));
    match of.chars().next() {
        Some('[') => "[]".into(),
        Some('(') => "()".into(),
        _ => match of.strip_prefix("dyn ") {
            Some(of) => short_type(split(of, " + ")[0]),
            None => short_part(split(of, "::").last().unwrap_or(&of)),
        },
    }
}

/// Returns a part of a path without generic arguments and closure numbers.
fn short_part(part: &str) -> String {
    if let Some(inner) = part.strip_prefix('<').and_then(|part| part.strip_suffix('>')) {
        let inner = inner.strip_prefix("impl ").map_or_else(
            || split(inner, " as ")[0],
            |inner| split(inner, " for ").last().copied().unwrap_or(inner),
        );
        return short_type(inner);
    }
    let before = |mark: char| part.split(mark).next().unwrap_or(part);
    match part.starts_with('{') {
        true => format!("{}}}", before('#').trim_end_matches('}')),
        false => before('<').to_owned(),
    }
}

/// Returns the name under which a function is looked up both in perf and in tickscope. For a method, this is its type
/// and its own name; for any other function, it is its path. Generic arguments, traits, closure numbers and the
/// symbol's hash are left out. So are leading underscores of C functions, because a library may have several such names
/// for one function.
pub(crate) fn key(path: &str) -> String {
    let parts = split(path, "::");
    if let [name] = parts[..]
        && !name.starts_with('<')
    {
        let name = name.split('@').next().unwrap_or(name);
        let name = name.strip_prefix("__GI_").unwrap_or(name);
        let name = name.strip_prefix("__libc_").unwrap_or(name);
        let plain = name.trim_start_matches('_');
        return if plain.is_empty() { name } else { plain }.to_owned();
    }
    let is_type = |part: &&str| {
        part.starts_with(|c: char| c.is_uppercase() || "&*[(<".contains(c))
            || part.starts_with("dyn ")
            || PRIMITIVES.contains(part)
    };
    // The last part is the name of the function. A part `<T>` after it has the function's generic arguments.
    let is_argument = |at: usize| at > 0 && parts[at].starts_with('<') && !parts[at].starts_with("<impl ");
    let first = (0..parts.len()).find(|&at| is_type(&parts[at]) && !is_argument(at));
    let kept = (first.unwrap_or(0)..parts.len()).filter(|&at| !is_argument(at));
    let names: Vec<String> = kept
        .map(|at| match is_type(&parts[at]) && !parts[at].starts_with('<') {
            true => short_type(parts[at]),
            false => short_part(parts[at]),
        })
        .collect();
    names.join("::")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_symbol_is_not_part_of_its_name() {
        assert_eq!(demangled("_RNvC3app4main.4271"), "app::main");
        assert_eq!(demangled("_RNvC3app4main.llvm.13387335448442655507"), "app::main");
        assert_eq!(demangled("_RNvC3app4main"), "app::main");
        assert_eq!(demangled("unlink_chunk.constprop.0"), "unlink_chunk.constprop.0");
    }

    #[test]
    fn a_function_has_one_name_on_both_sides() {
        for (symbol, row) in [
            ("<jaq_json::Val as core::cmp::PartialEq>::eq", "jaq_json::Val::eq"),
            (
                "jaq_core::filter::pipe::<jaq_json::Kind, <jaq_core::Id>::run::{closure#8}>",
                "jaq_core::filter::pipe::<Kind, Id::run::{closure#8}>",
            ),
            (
                "<indexmap::map::IndexMap<a::Val, b::Val>>::get_index_of::<a::Val>",
                "indexmap::map::IndexMap<Val, Val>::get_index_of::<Val>",
            ),
            (
                "a::then::<(a::Ctx, b::Val), alloc::boxed::Box<dyn Fn(u8) -> a::T>>::{closure#3}",
                "a::then::<(Ctx, Val), Box<dyn Fn(…) -> …>>::{closure}",
            ),
            ("<u8 as a::Read>::read", "a::u8::read"),
            ("<&mut [a::Val] as b::Sort>::sort", "b::[Val]::sort"),
            ("<(a::X, a::Y) as b::Pair>::left", "b::(X, Y)::left"),
            ("<dyn a::Draw as b::Show>::show", "b::dyn Draw::show"),
            ("core::str::<impl str>::trim", "core::str::str::trim"),
            ("app::outer::inner", "app::outer::inner"),
            ("__GI___libc_read", "read"),
            (
                "__memmove_avx_unaligned_erms@@GLIBC_2",
                "memmove_avx_unaligned_erms",
            ),
        ] {
            assert_eq!(key(symbol), key(row), "{symbol} and {row}");
        }
        assert_eq!(key("app::a::run"), "app::a::run");
        assert_ne!(key("app::a::run"), key("app::b::run"));
        assert_eq!(key(&demangled("_ZN3app3run17h0123456789abcdefE")), "app::run");
    }
}
