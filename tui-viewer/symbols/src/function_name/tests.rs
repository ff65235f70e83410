//! Names of real symbols: from ripgrep, from a program with tokio, and from small programs.

use super::*;

fn name_of(symbol: &str) -> (String, String) {
    let asyncs = |path: &str| match path {
        "a::outer::{closure#0}" => Some("{async_fn#0}"),
        "a::outer::{closure#0}::{closure#0}" => Some("{async_block#0}"),
        "tok::{impl#0}::send::{closure#0}" => Some("{async_fn#0}"),
        _ => None,
    };
    let path = rust_path(symbol);
    let name = Name::of(symbol, path.as_deref(), &asyncs);
    (name.module, name.name)
}

/// Checks a table in which each line has a symbol and the module and name expected for it.
#[track_caller]
fn check(table: &str) {
    let lines = table.lines().map(str::trim);
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let parts: Vec<&str> = line.split(" | ").collect();
        let &[symbol, module, name] = &parts[..] else {
            panic!("{line}")
        };
        assert_eq!(
            name_of(symbol),
            (module.to_string(), name.to_string()),
            "{symbol}"
        );
    }
}

#[test]
fn plain_functions_and_methods() {
    check(
        "
        _RNvCscJVax90fX6l_2rg3run | rg | run
        _RNvNtCsgEmfK2I1SDS_4core3fmt5write | core::fmt | write
        _RNvMCs8UIEt1t3IXH_6lexoptNtB2_6Parser5value | lexopt | Parser::value
        _RNvNvCs6xxl1lAjzDf_1a10with_inner5inner | a | with_inner::inner
        _RNvMNtCsgEmfK2I1SDS_4core3stre12escape_debug | core::str | str::escape_debug
        # A name that begins with a digit or `_` has one between it and its length.
        _RNvCs1_3app5___run | app | __run
        ",
    );
}

#[test]
fn copies_have_the_name_of_what_they_copy() {
    check(
        "
        _RNvMs5_NtNtCsjrHSEGnQ3l9_3std2io5errorNtB5_5Error4kind.llvm.4685914737999523926 | std::io::error | Error::kind
        _RNvCscJVax90fX6l_2rg3run.cold | rg | run
        _RNvXsf_NtCsgEmfK2I1SDS_4core3fmtbNtB5_5Debug3fmt | core::fmt | bool::fmt
        ",
    );
}

#[test]
fn methods_of_traits_belong_to_their_type_and_stand_where_their_impl_does() {
    check(
        "
        # <alloc::vec::Vec<a::shapes::Sq> as a::shapes::deep::Sorted>::sorted
        _RNvXNtNtCs6xxl1lAjzDf_1a6shapes4deepINtNtCslNYArtu3iFV_5alloc3vec3VecNtB4_2SqENtB2_6Sorted6sortedB6_ | a::shapes::deep | Vec<Sq>::sorted
        # One that the trait provides stands in the trait's module.
        _RNvYNtNtCs6xxl1lAjzDf_1a6shapes2SqNtB4_5Shape5twiceB6_ | a::shapes | Sq::twice
        _RNvYjNtNtCsgEmfK2I1SDS_4core3cmp3Ord3maxCs8ckfZAskTDa_7memmap2 | core::cmp | usize::max
        _RNvXs4_NtCsgEmfK2I1SDS_4core7convertRShINtB5_7TryIntoAhj10_E8try_intoCs8atdGQGgUuo_14regex_automata | core::convert | &[u8]::try_into
        _RNvXs1_NtCsgEmfK2I1SDS_4core3anyDNtB5_3AnyNtNtB7_6marker4SyncNtBG_4SendEL_NtNtB7_3fmt5Debug3fmt | core::any | dyn Any + Sync + Send::fmt
        ",
    );
}

#[test]
fn impls_in_functions_belong_to_the_module_of_the_function() {
    check(
        "
        _RNvXNvNtNtCscdP7BmvHO1C_5tokio4task4coop11with_budgetNtB2_10ResetGuardNtNtNtCsgEmfK2I1SDS_4core3ops4drop4Drop4drop | tokio::task::coop | ResetGuard::drop
        # In a method of another impl.
        _RNvXs_NvMs_NtNtCslNYArtu3iFV_5alloc3ffi5c_strNtB9_7CString3newRShNtB4_11SpecNewImpl13spec_new_impl | alloc::ffi::c_str | &[u8]::spec_new_impl
        _RNvXNvMNtNtCsjrHSEGnQ3l9_3std3sys9backtraceNtB5_13BacktraceLock5printNtB2_16DisplayBacktraceNtNtCsgEmfK2I1SDS_4core3fmt7Display3fmt | std::sys::backtrace | DisplayBacktrace::fmt
        ",
    );
}

#[test]
fn generic_arguments_are_short() {
    check(
        "
        _RINvMNtCsgEmfK2I1SDS_4core3stre5parsemECscJVax90fX6l_2rg | core::str | str::parse::<u32>
        _RINvMs2_NtCsgEmfK2I1SDS_4core3fmtNtB6_9Arguments3newKj11_Kj5_ECscJVax90fX6l_2rg | core::fmt | Arguments::new::<17, 5>
        _RNvMNtCsgEmfK2I1SDS_4core6optionINtB2_6OptionRSTReBK_EE7is_someCscNQ3WraX4cu_10grep_regex | core::option | Option<&[(&str, &str)]>::is_some
        _RINvNtCsgEmfK2I1SDS_4core3ptr13drop_in_placeINtNtCslNYArtu3iFV_5alloc5boxed3BoxDINtNtNtB4_3ops8function6FnOnceuEp6OutputuNtNtB4_6marker4SendEL_EECs6xxl1lAjzDf_1a | core::ptr | drop_in_place::<Box<dyn FnOnce() + Send>>
        ",
    );
}

#[test]
fn closures_follow_what_they_stand_in() {
    check(
        "
        _RNCNvCscJVax90fX6l_2rg15search_parallel0B3_ | rg | search_parallel::{closure}
        _RNCNvCscJVax90fX6l_2rg14files_parallels_0B3_ | rg | files_parallel::{closure#1}
        _RNCNCNvCscJVax90fX6l_2rg14files_parallels_00B5_ | rg | files_parallel::{closure#1}::{closure}
        _RINvCs6xxl1lAjzDf_1a5applyyNCNvB2_4mains1_0EB2_ | a | apply::<u64, main::{closure#3}>
        _RNCINvMNtNtCsgEmfK2I1SDS_4core3net6parserNtB5_6Parser11read_numbertE0B9_ | core::net::parser | Parser::read_number::<u16>::{closure}
        _RNSNvYNCNvCs6xxl1lAjzDf_1a4mains_0INtNtNtCsgEmfK2I1SDS_4core3ops8function6FnOnceTyEE9call_once6vtableB8_ | core::ops::function | main::{closure#1}::call_once::{shim:vtable}
        ",
    );
}

#[test]
fn bodies_of_async_functions_are_told_from_closures() {
    check(
        "
        _RNCNvCs6xxl1lAjzDf_1a5outer0B3_ | a | outer::{async_fn}
        _RNCNCNvCs6xxl1lAjzDf_1a5outer00B5_ | a | outer::{async_fn}::{async_block}
        _RINvNtCsgEmfK2I1SDS_4core3ptr13drop_in_placeNCNCNvCs6xxl1lAjzDf_1a5outer00EBM_ | core::ptr | drop_in_place::<outer::{async_fn}::{async_block}>
        # <tok::Client>::send::<alloc::vec::Vec<u8>>::{closure#0}, which debug information calls {impl#0}::send.
        _RNCINvMCs1_3tokNtB5_6Client4sendINtNtCs2_5alloc3vec3VechEE0B5_ | tok | Client::send::<Vec<u8>>::{async_fn}
        ",
    );
}

#[test]
fn the_old_scheme_reads_alike() {
    check(
        "
        _ZN3app6shapes2Sq4area17h0123456789abcdefE | app::shapes | Sq::area
        _ZN3app3run28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE | app | run::{closure}
        _ZN54_$LT$app..shapes..Sq$u20$as$u20$app..shapes..Shape$GT$4area17h0123456789abcdefE | app::shapes | Sq::area
        _ZN3app5other33_$LT$impl$u20$app..shapes..Sq$GT$3far17h0123456789abcdefE | app::other | Sq::far
        _ZN3app5other56_$LT$impl$u20$app..Shape$u20$for$u20$app..shapes..Sq$GT$3far17h0123456789abcdefE | app::other | Sq::far
        _ZN4core3ptr46drop_in_place$LT$alloc..vec..Vec$LT$u8$GT$$GT$17h0123456789abcdefE.llvm.1234 | core::ptr | drop_in_place<Vec<u8>>
        ",
    );
}

#[test]
fn names_of_c_and_cpp() {
    check(
        "
        deflate_fast |  | deflate_fast
        _ZN4zopf5Block4packEii | zopf::Block | pack
        _Z4packRKSt6vectorIiSaIiEE |  | pack
        _ZN12_GLOBAL__N_14packEv | {anonymous} | pack
        _ZNK3vecIiE3getEv | vec<…> | get
        _ZN3big3intltERKS0_ | big::int | operator<
        _ZZN3zoo9templatesEvENK3$_0clEl | zoo | templates::{lambda}
        _ZZN3zoo3runEvENKUliE_clEi | zoo | run::{lambda}
        _ZZN3zoo3runEvEN5Local2goEv | zoo | run::Local::go
        _ZNK3zoo6FinderclEi | zoo::Finder | operator()
        ",
    );
}

#[test]
fn names_that_only_debug_information_has_are_short_as_well() {
    check(
        "
        get<tickscope_demo::scene::Node, usize> |  | get<Node, usize>
        fold<core::option::Option<demo::Hit>, core::slice::iter::Iter<demo::Node>, demo::scene::{impl#0}::nearest::{closure_env#0}> |  | fold<Option<Hit>, Iter<Node>, nearest::{closure_env}>
        operator<< <char> |  | operator<< <char>
        memcpy@plt |  | memcpy@plt
        ",
    );
}

#[test]
fn long_names_lose_inner_arguments_first() {
    let inner = "a::Long0123456789<b::Long0123456789<c::Long0123456789<d::Long0123456789>>>";
    let short = |text: &str, times: usize| {
        let path = vec![text; times].join(", ");
        limited(|depth| {
            let async_body: AsyncBody<'_> = &|_| None;
            Shortener { depth, async_body }.of_path(&format!("run::<{path}>"), "app")
        })
    };
    let whole = "Long0123456789<Long0123456789<Long0123456789<Long0123456789>>>";
    assert_eq!(short(inner, 1), format!("run::<{whole}>"));
    let cut = "Long0123456789<Long0123456789<…>>";
    assert_eq!(short(inner, 3), format!("run::<{cut}, {cut}, {cut}>"));
    assert_eq!(
        short(inner, 5),
        ["run::<", &["Long0123456789<…>"; 5].join(", "), ">"].concat()
    );
    assert_eq!(short(inner, 50), "run::<…>");
    let long = limited(|_| "é".repeat(500));
    assert_eq!(long.chars().count(), LONGEST);
    assert!(long.contains("é…é"), "{long}");
}

#[test]
fn types_are_short() {
    let async_body: AsyncBody<'_> = &|_| None;
    let short = Shortener {
        depth: 32,
        async_body,
    };
    let table = r#"
        &'a mut app::Sq | &mut Sq
        (u8, app::Sq) | (u8, Sq)
        [core::option::Option<app::Sq>; 3] | [Option<Sq>; 3]
        *const [app::Sq] | *const [Sq]
        for<'a, 'b> fn(&'a app::Sq, &'b u8) -> app::Tri | fn(&Sq, &u8) -> Tri
        unsafe extern "C" fn(*mut core::ffi::c_void) | unsafe extern "C" fn(*mut c_void)
        dyn for<'a> core::ops::function::Fn<(&'a app::Sq, u8), Output = app::Tri> + core::marker::Send | dyn Fn(&Sq, u8) -> Tri + Send
        <app::Sq as app::Shape>::Side | Sq::Side
        <app::Sq>::sides::<u8>::{closure#0} | Sq::sides::{closure}
        app::walk::<app::Sq, u8>::{closure#2} | walk::{closure#2}
        app::At<'<', "a>b"> | At<'<', "a>b">
        ! | !
        app::Weird< | Weird<
    "#;
    for line in table.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (text, expected) = line.split_once(" | ").unwrap();
        assert_eq!(short.of_type(text), expected, "{text}");
    }
    for text in [">", "app::"] {
        assert_eq!(short.of_type(text), "", "{text}");
    }
}

proptest::proptest! {
    /// Checks with generated symbols that naming always terminates, and that no name is too long.
    #[test]
    fn any_symbol_gets_a_name(
        symbol in "(_R|_ZN|_Z)?[NICvtMXYBsCE0-9a-c_<>:{}#, ().-]{0,60}",
        path in "[a-b<>:{}\\[\\]()#'\"&, é-]{0,60}",
    ) {
        let (_, name) = name_of(&symbol);
        proptest::prop_assert!(name.chars().count() <= LONGEST);
        let name = Name::of(&symbol, Some(&path), &|_| None);
        proptest::prop_assert!(name.name.chars().count() <= LONGEST);
    }
}
