use proptest::prelude::*;
use tickscope_format::snapshot::Snapshot;
use tickscope_testkit::fixture::site;

use super::*;

fn functions(names: &[(&str, &str)]) -> Functions {
    let mut snapshot = Snapshot::default();
    let sites = names.iter().map(|(module, name)| site(module, name, 0));
    snapshot.sites.extend(sites);
    Functions::of(&snapshot)
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

/// Generates names like those in symbol tables.
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
    let closure = prop::sample::select(vec!["{closure}", "{closure#1}", "{async_fn}"]).prop_map(String::from);
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
            // A function whose whole path equals the label is preferred to other functions with this label.
            let whole = |id: &FunctionId| functions.get(*id).full_name() == *label;
            if !found.iter().any(whole) || with_it.iter().any(whole) {
                prop_assert_eq!(&found, &with_it, "{}", label);
            }
        }
    }
}
