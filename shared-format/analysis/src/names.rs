//! The short names of functions, and the functions that a name may mean.
//!
//! Screens and reports show [`labels`]; [`named`] finds the functions again, by a label or by any other end of their paths. So
//! any shown name may be typed.

use std::borrow::Cow;
use std::collections::HashMap;

use tickscope_format::path::{has_noise, plain_parts, split_at, step, tail};
use tickscope_format::pattern::{Pattern, unescaped};

use crate::functions::{Function, FunctionId, Functions};

/// Maximum length of a label in characters, because a scope's name may be any text.
const LONGEST: usize = 72;

/// Text in place of a part that was cut.
pub const CUT: &str = "…";

/// Number of names that a message lists where one name is not enough.
pub(crate) const TOLD: usize = 4;

/// Cuts of generic arguments, the most telling first.
const CUTS: [Cut; 11] = [
    Cut::to(4),
    Cut::to(3),
    Cut::to(2),
    Cut::to(1),
    Cut::to(2).to_last_arguments(),
    Cut::to(1).to_last_arguments(),
    Cut::to(2).to_last_bracket(),
    Cut::to(1).to_last_bracket(),
    Cut::to(2).to_last_bracket().to_last_arguments(),
    Cut::to(1).to_last_bracket().to_last_arguments(),
    Cut::to(0),
];

/// Choice of the generic arguments of a name that stay; `…` stands for the others.
#[derive(Clone, Copy)]
struct Cut {
    /// Maximum depth of brackets whose arguments stay.
    depth: usize,
    /// Whether only the last of several arguments in an outermost bracket stays, because closures stand there.
    last_arguments: bool,
    /// Whether only the last bracket keeps its arguments, because it is the function's own.
    last_bracket: bool,
}

impl Cut {
    const fn to(depth: usize) -> Self {
        Self {
            depth,
            last_arguments: false,
            last_bracket: false,
        }
    }

    const fn to_last_arguments(self) -> Self {
        Self {
            last_arguments: true,
            ..self
        }
    }

    const fn to_last_bracket(self) -> Self {
        Self {
            last_bracket: true,
            ..self
        }
    }
}

/// Returns the label of every function by its id: the last two parts of its plain path, or three or all of them where two
/// functions would look the same. Where that is not enough, parts keep their generic arguments and the numbers of closures.
pub fn labels(functions: &Functions) -> Vec<String> {
    let names: Vec<String> = functions.list.iter().map(Function::full_name).collect();
    // A group's name is no path.
    let is_path = |index: usize| !functions.list[index].is_group;
    let forms = [2, 3, usize::MAX].map(|parts| (parts, false));
    let forms = forms
        .into_iter()
        .chain([2, 3, usize::MAX].map(|parts| (parts, true)));
    let forms = forms.map(|(parts, is_whole)| {
        let names = &names;
        move |index: usize| match (is_path(index), is_whole) {
            (false, _) => names[index].clone(),
            (true, false) => plain(&names[index], parts),
            (true, true) => tail(&names[index], parts).to_owned(),
        }
    });
    let labels = first_unlike(names.len(), usize::MAX, forms, |index| names[index].clone());
    let is_long = |index: usize| is_path(index) && labels[index].chars().count() > LONGEST;
    if !(0..names.len()).any(is_long) {
        return labels;
    }
    // Long labels then lose the module or the type.
    let cuts = [usize::MAX, 1].map(|parts| CUTS.map(|cut| (parts, cut)));
    let cuts = cuts.into_iter().flatten().map(|(parts, cut)| {
        let (labels, is_long) = (&labels, &is_long);
        move |index: usize| match is_long(index) {
            true => with_cut(tail(&labels[index], parts), cut),
            false => labels[index].clone(),
        }
    });
    first_unlike(names.len(), LONGEST, cuts, |index| cut_middle(&labels[index]))
}

/// Returns the names of code that is no scope without generic arguments, traits of an `impl` and the numbers of closures. A name
/// that would equal another name stays as it is.
pub fn without_arguments_of(names: &[&str]) -> Vec<String> {
    let short = |index: usize| match has_noise(names[index]) {
        true => plain(names[index], 2),
        false => names[index].to_owned(),
    };
    first_unlike(names.len(), usize::MAX, [short], |index| names[index].to_owned())
}

/// Returns the functions whose whole path or label is this name. Without one, returns the functions whose path ends in it, as it
/// is or in its plain form. A `*` in it stands for any text.
pub fn named(functions: &Functions, name: &str) -> Vec<FunctionId> {
    let ids = || (0..functions.list.len() as u32).map(FunctionId);
    let full = |id: &FunctionId| functions.get(*id).full_name();
    let whole: Vec<FunctionId> = ids().filter(|id| full(id) == name).collect();
    if !whole.is_empty() {
        return whole;
    }
    let Ok(pattern) = Pattern::typed(name) else {
        return Vec::new();
    };
    let ends: Vec<FunctionId> = ids().filter(|id| pattern.names(&full(id))).collect();
    if ends.len() < 2 {
        return ends;
    }
    let labels = labels(functions);
    let label = name.replace("...", CUT);
    let written = [&label, &unescaped(&label)];
    let shown = ids().filter(|id| written.contains(&&labels[id.index()]));
    let shown: Vec<FunctionId> = shown.collect();
    if shown.is_empty() { ends } else { shown }
}

/// Returns the full names of functions for a message that asks for one of them: a few names, and the number of the others.
pub fn told(functions: &Functions, ids: &[FunctionId]) -> String {
    let shown = ids.iter().take(TOLD).map(|&id| functions.get(id).full_name());
    let shown = shown.collect::<Vec<_>>().join(", ");
    match ids.len() {
        0 => "nothing".into(),
        all if all > TOLD => format!("{shown} and {} more", all - TOLD),
        _ => shown,
    }
}

/// Returns for each name its first form that is unique and has at most `longest` characters, or its `last` form.
fn first_unlike<F: Fn(usize) -> String>(
    count: usize,
    longest: usize,
    forms: impl IntoIterator<Item = F>,
    last: impl Fn(usize) -> String,
) -> Vec<String> {
    let mut chosen: Vec<Option<String>> = vec![None; count];
    for form in forms {
        if chosen.iter().all(Option::is_some) {
            break;
        }
        let names: Vec<String> = (0..count).map(form).collect();
        let mut seen: HashMap<&str, u32> = HashMap::with_capacity(count);
        for name in &names {
            *seen.entry(name).or_default() += 1;
        }
        for (chosen, name) in chosen.iter_mut().zip(&names) {
            if chosen.is_none() && seen[name.as_str()] == 1 && name.chars().count() <= longest {
                *chosen = Some(name.clone());
            }
        }
    }
    let numbered = chosen.into_iter().enumerate();
    numbered
        .map(|(index, chosen)| chosen.unwrap_or_else(|| last(index)))
        .collect()
}

/// Returns the last parts of a path in its plain form, or the whole path if its plain form is empty.
fn plain(path: &str, parts: usize) -> String {
    let whole = plain_parts(path).collect::<Vec<_>>().join("::");
    match whole.is_empty() {
        true => path.to_owned(),
        false => tail(&whole, parts).to_owned(),
    }
}

/// Returns a name with fewer generic arguments.
fn with_cut(name: &str, cut: Cut) -> String {
    if !is_balanced(name) {
        return name.to_owned();
    }
    let brackets: Vec<&str> = pieces(name).filter(|piece| is_bracket(piece)).collect();
    let mut out = String::with_capacity(name.len());
    let mut number = 0;
    for piece in pieces(name) {
        if !is_bracket(piece) {
            out.push_str(piece);
            continue;
        }
        number += 1;
        let depth = match cut.last_bracket && number < brackets.len() {
            true => 0,
            false => cut.depth,
        };
        let last = if cut.last_arguments {
            last_argument(piece)
        } else {
            None
        };
        let piece = last.map_or(Cow::Borrowed(piece), |last| Cow::Owned(format!("<{CUT}, {last}")));
        push_to_depth(&mut out, &piece, depth);
    }
    out
}

/// Returns the pieces of a name: each bracket with its contents, and the text between brackets.
fn pieces(name: &str) -> impl Iterator<Item = &str> {
    let mut rest = name;
    std::iter::from_fn(move || {
        let length = rest.chars().next().map(|_| step(rest))?;
        let (piece, behind) = rest.split_at(length);
        rest = behind;
        Some(piece)
    })
}

fn is_bracket(piece: &str) -> bool {
    piece.len() > 1 && piece.starts_with('<')
}

/// Returns the last of several generic arguments, with the closing bracket.
fn last_argument(bracket: &str) -> Option<&str> {
    let mut last = None;
    let mut rest = &bracket[1..];
    while let Some((_, behind)) = split_at(rest, ", ") {
        last = Some(behind);
        rest = behind;
    }
    last
}

/// Writes a bracket with `…` in place of the text that is deeper than `depth` brackets.
fn push_to_depth(out: &mut String, bracket: &str, depth: usize) {
    let (mut open, mut before) = (0_usize, ' ');
    for c in bracket.chars() {
        let closes = c == '>' && before != '-';
        open += usize::from(c == '<');
        // The brackets around a cut stay.
        if open <= depth || open == depth + 1 && (c == '<' || closes) {
            out.push(c);
        }
        if open == depth + 1 && c == '<' {
            out.push_str(CUT);
        }
        open = open.saturating_sub(usize::from(closes));
        before = c;
    }
}

/// Returns whether each angle bracket of a name has its partner. Operators of C++ have a single bracket.
fn is_balanced(name: &str) -> bool {
    let (mut open, mut before) = (0_usize, ' ');
    for c in name.chars() {
        match c {
            '<' => open += 1,
            '>' if before != '-' => match open.checked_sub(1) {
                Some(less) => open = less,
                None => return false,
            },
            _ => {}
        }
        before = c;
    }
    open == 0
}

/// Cuts a name in the middle if it is longer than a label may be.
pub fn cut_middle(name: &str) -> String {
    let cells = name.chars().count();
    if cells <= LONGEST {
        return name.to_owned();
    }
    // The tail tells more, except that the function's name stands in front of generic arguments.
    let function = name.chars().take(2 * LONGEST / 3).position(|c| c == '<');
    let head = function.map_or(LONGEST / 3, |at| at + 1).max(LONGEST / 3);
    let tail = LONGEST - head - CUT.chars().count();
    let mut out: String = name.chars().take(head).collect();
    out.push_str(CUT);
    out.extend(name.chars().skip(cells - tail));
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tickscope_format::snapshot::{Site, Snapshot};

    use super::*;

    fn functions(names: &[(&str, &str)]) -> Functions {
        let site = |(module, name): &(&str, &str)| Site {
            module: (*module).into(),
            name: (*name).into(),
            ..Site::default()
        };
        Functions::of(&Snapshot {
            sites: names.iter().map(site).collect(),
            ..Snapshot::default()
        })
    }

    fn labels_of(names: &[(&str, &str)]) -> Vec<String> {
        labels(&functions(names))
    }

    #[test]
    fn a_path_is_one_function_wherever_its_module_ends() {
        let functions = functions(&[("app::outer", "inner"), ("app", "outer::inner")]);
        assert_eq!(named(&functions, "outer::inner"), [FunctionId(0)]);
        assert_eq!(functions.list.len(), 1);
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
        assert_eq!(labels_of(&names), expected);
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
            ("app::args", "Args::one::<u8>"),
            ("app::args", "Args::one::<u16>"),
            ("flavors::array", "Channel<Batch>::recv"),
            ("flavors::list", "Channel<Batch>::recv"),
            ("app", "work::{closure#0}"),
            ("app", "rest::{closure#0}"),
            ("app", "rest::{closure#1}"),
            ("app", "<impl app::Shape for app::other::Square>::area"),
            ("app", "<&mut [app::B] as c::D>::run"),
            ("app", "operator<<"),
            ("app", "{closure#0}"),
            ("tokio::task", "<tokio::task::BlockingTask<T> as Future>::poll"),
            ("", "<jaq_core::filter::flat_map_then_with<A, B>::{closure#0}>"),
        ];
        let expected = [
            "Registration::poll_io",
            "Map::insert",
            "Set<u8>::insert",
            "Set<u16>::insert",
            "Args::one::<u8>",
            "Args::one::<u16>",
            "array::Channel::recv",
            "list::Channel::recv",
            "app::work::{closure}",
            "app::rest::{closure#0}",
            "app::rest::{closure#1}",
            "Square::area",
            "&mut [app::B]::run",
            "app::operator<<",
            "app::{closure}",
            "BlockingTask::poll",
            "flat_map_then_with::{closure}",
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
    fn long_names_keep_the_function_and_lose_inner_arguments_first() {
        let long = |last: &str| {
            format!(
                "flat_map_then_with::<(Ctx<Data>, Val), Exn<Val, Vec<Vec<u8>>>, Box<dyn Iterator<Item = Val>>, {last}>"
            )
        };
        let names = [
            long("pipe::{closure}"),
            long("TermId::run::{closure#10}"),
            long("TermId::run::{closure#10}") + "::{closure#1}",
            format!(
                "IntoIter<{}>::drop",
                ["Part<Either<Once<Result<Val>>>>"; 9].join(", ")
            ),
            format!("IntoIter<{}>::drop", ["Part<Val>"; 9].join(", ")),
            format!(
                "Map<{}>::from_iter::<Iter<u8>, args::{{closure#1}}>",
                ["Val"; 20].join(", ")
            ),
            format!(
                "Map<{}>::from_iter::<Vec<u8>, args::{{closure#1}}>",
                ["Val"; 20].join(", ")
            ),
            format!("{}<{}>", "f".repeat(30), "a".repeat(100)),
            format!("{}<b{}>", "f".repeat(30), "a".repeat(99)),
            format!("m::{}_the_end", "x".repeat(200)),
        ];
        let labels = labels_of(&names.each_ref().map(|name| ("jaq_core::filter", name.as_str())));
        let expected = [
            "filter::flat_map_then_with::<…, pipe::{closure}>",
            "filter::flat_map_then_with::<…, TermId::run::{closure#10}>",
            "filter::flat_map_then_with::{closure}",
            "IntoIter<…, Part<Either<…>>>::drop",
            "IntoIter<…, Part<Val>>::drop",
            "Map<…>::from_iter::<Iter<u8>, args::{closure#1}>",
            "Map<…>::from_iter::<Vec<u8>, args::{closure#1}>",
            "filter::ffffffffffffffffffffffffffffff<…aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa>",
            "filter::ffffffffffffffffffffffffffffff<…aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa>",
            "m::xxxxxxxxxxxxxxxxxxxxx…xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_the_end",
        ];
        assert_eq!(labels, expected);
    }

    #[test]
    fn a_name_is_an_end_of_a_path_or_a_label() {
        let functions = functions(&[
            ("app", "main"),
            ("", "main"),
            ("app::set", "Set<u8>::insert"),
            ("app::set", "Set<u16>::insert"),
            ("app::book", "insert"),
            ("app::call", "Service<T>::call::{closure#0}"),
        ]);
        let found = |name: &str| -> Vec<u32> { named(&functions, name).iter().map(|id| id.0).collect() };
        assert_eq!(found("main"), [1], "the whole path goes before ends");
        assert_eq!(found("app::main"), [0]);
        assert_eq!(found("insert"), [2, 3, 4]);
        assert_eq!(found("Set::insert"), [2, 3]);
        assert_eq!(found("Set<u8>::insert"), [2]);
        assert_eq!(found("Set<...>::insert"), [2, 3]);
        assert_eq!(found("Service::call::{closure}"), [5]);
        assert_eq!(found("ain"), [] as [u32; 0]);
        assert_eq!(
            told(&functions, &named(&functions, "Set::insert")),
            "app::set::Set<u8>::insert, app::set::Set<u16>::insert"
        );
        assert_eq!(
            told(&functions, &named(&functions, "*")),
            "app::main, main, app::set::Set<u8>::insert, app::set::Set<u16>::insert and 2 more"
        );
    }

    /// Returns names in the form of symbols.
    fn any_name() -> impl Strategy<Value = String> {
        let leaf = prop::sample::select(vec![
            "u8",
            "Val",
            "app::Node",
            "run::{closure#0}",
            "&mut [u8]",
            "(A, B)",
        ])
        .prop_map(String::from);
        let argument = leaf.prop_recursive(3, 8, 3, |inner| {
            (
                prop::sample::select(vec!["Box", "app::Map", "dyn Fn"]),
                prop::collection::vec(inner, 1..4),
            )
                .prop_map(|(name, of)| format!("{name}<{}>", of.join(", ")))
        });
        let part = (
            prop::sample::select(vec!["run", "Set", "poll", "operator<<"]),
            prop::option::of(argument.clone()),
        )
            .prop_map(|(name, of)| match of {
                Some(of) if name == "run" => format!("{name}::<{of}>"),
                Some(of) => format!("{name}<{of}>"),
                None => name.to_string(),
            });
        let impls = argument.prop_map(|of| format!("<{of} as app::Shape>"));
        let closure =
            prop::sample::select(vec!["{closure}", "{closure#1}", "{async_fn}"]).prop_map(String::from);
        prop::collection::vec(prop_oneof![4 => part, 1 => impls, 1 => closure], 1..4)
            .prop_map(|parts| parts.join("::"))
    }

    proptest! {
        #[test]
        fn labels_are_short_and_name_the_functions_that_have_them(
            names in prop::collection::vec(("(app|app::a|b)?", prop_oneof![3 => any_name(), 1 => "[ab<>:{}* -]{1,8}"]), 1..9),
        ) {
            let names: Vec<(&str, &str)> = names.iter().map(|(module, name)| (module.as_str(), name.as_str())).collect();
            let functions = functions(&names);
            let labels = labels(&functions);
            for label in &labels {
                prop_assert!(label.chars().count() <= LONGEST, "{}", label);
                let with_it = (0u32..).zip(&labels).filter(|(_, other)| *other == label);
                let with_it: Vec<FunctionId> = with_it.map(|(at, _)| FunctionId(at)).collect();
                let found = named(&functions, label);
                // A function whose whole path is the label goes first.
                let whole = |id: &FunctionId| functions.get(*id).full_name() == *label;
                if !found.iter().any(whole) || with_it.iter().any(whole) {
                    prop_assert_eq!(&found, &with_it, "{}", label);
                }
            }
        }
    }
}
