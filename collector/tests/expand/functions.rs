//! Tests `#[profile]` on a single function that is not async.

use std::fmt::Display;

use tickscope_macros::profile;

use crate::mock::{log_of, logged, note};

#[profile]
fn plain() {
    note("body");
}

#[test]
fn a_scope_surrounds_the_body() {
    assert_eq!(log_of(plain), "+plain body -plain");
}

#[profile(name = "the name")]
fn named() {}

#[profile(group = "io")]
fn grouped() {}

#[profile(group = "io", name = r#"both"#)]
fn grouped_and_named() {}

#[profile(crate = crate::mock)]
fn elsewhere() {}

#[profile(crate = ::tickscope, name = "by its path")]
fn by_path() {}

#[profile()]
fn nothing_said() {}

#[profile(skip)]
fn skipped() {
    note("body");
}

#[profile(skip)]
const fn skipped_const() -> u8 {
    3
}
const _: () = assert!(skipped_const() == 3);

#[test]
fn options_reach_the_scope() {
    assert_eq!(log_of(named), "+the name -the name");
    assert_eq!(log_of(grouped), "+io/grouped -io/grouped");
    assert_eq!(log_of(grouped_and_named), "+io/both -io/both");
    assert_eq!(log_of(elsewhere), "+elsewhere -elsewhere");
    assert_eq!(log_of(by_path), "+by its path -by its path");
    assert_eq!(log_of(nothing_said), "+nothing_said -nothing_said");
    assert_eq!(log_of(skipped), "body");
}

/// Stands in for another crate: the function below gives the path of `mock` in the option `crate`.
mod other {
    pub(super) mod mock {
        macro_rules! scope_ {
            () => {
                $crate::mock::note("other")
            };
        }
        pub(crate) use scope_ as scope;
    }
}

#[profile(crate = crate::functions::other::mock)]
fn of_another_crate() {}

#[test]
fn the_crate_option_replaces_the_root() {
    assert_eq!(log_of(of_another_crate), "other");
}

#[allow(unused_braces)] // the test needs braces before the braces of the body
#[profile]
pub(crate) fn generic<T: Display, F: Fn(u8) -> u8, const N: usize>(
    value: T,
    f: F,
    bytes: [u8; { N }],
) -> String
where
    Box<dyn Fn(u8) -> u8>: Sized,
    [(); { N }]: Sized,
    for<'a> &'a T: Display,
{
    format!("{value} {}", bytes.iter().map(|&byte| f(byte)).sum::<u8>())
}

struct Sized3<const N: usize = { 1 + 2 }>;

#[profile]
fn braces_before_the_body<T>(_: T) -> Sized3<{ 1 + 2 }>
where
    Sized3<{ 1 + 2 }>: Sized,
    T: Iterator<Item = Vec<Vec<u8>>>,
{
    note("body");
    Sized3
}

macro_rules! byte {
    {} => { u8 };
}

#[rustfmt::skip]
#[profile]
fn a_macro_for_a_type() -> byte! {} {
    7
}

#[profile]
fn qualified<T: Iterator<Item = u8>>(mut it: T) -> Option<<T as Iterator>::Item> {
    it.next()
}

#[profile]
fn higher() -> fn(fn(u8) -> u8) -> u8 {
    |f| f(2)
}

#[test]
fn signatures_of_all_sorts() {
    let (text, log) = logged(|| generic("x", |byte| byte * 2, [1, 2]));
    assert_eq!((text.as_str(), log), ("x 6", "+generic -generic"));
    let log = log_of(|| braces_before_the_body(std::iter::empty::<Vec<Vec<u8>>>()));
    assert_eq!(log, "+braces_before_the_body body -braces_before_the_body");
    assert_eq!(
        logged(a_macro_for_a_type),
        (7, "+a_macro_for_a_type -a_macro_for_a_type")
    );
    assert_eq!(logged(|| qualified([9].into_iter())).0, Some(9));
    let (f, log) = logged(higher);
    assert_eq!((f(|x| x + 1), log), (3, "+higher -higher"));
}

#[profile]
unsafe fn no_contract() -> u8 {
    1
}

#[profile]
extern "C" fn called_from_c(x: u8) -> u8 {
    x
}

#[profile]
pub(crate) unsafe extern "C" fn both(x: u8) -> u8 {
    x
}

#[profile]
fn r#match() {}

#[test]
fn qualifiers_stay() {
    let no_contract: unsafe fn() -> u8 = no_contract;
    let called_from_c: extern "C" fn(u8) -> u8 = called_from_c;
    let both: unsafe extern "C" fn(u8) -> u8 = both;
    // SAFETY: the function has no safety requirements.
    let first = logged(|| unsafe { no_contract() });
    assert_eq!(first, (1, "+no_contract -no_contract"));
    assert_eq!(logged(|| called_from_c(2)), (2, "+called_from_c -called_from_c"));
    // SAFETY: the function has no safety requirements.
    let last = logged(|| unsafe { both(3) });
    assert_eq!(last, (3, "+both -both"));
    assert_eq!(log_of(r#match), "+match -match");
}

// There are attributes outside and inside of the function, to test that both kinds stay where they are.
#[allow(clippy::mixed_attributes_style)]
/// Documented.
#[inline(never)]
#[profile]
#[cold]
#[cfg(feature = "enable")]
fn with_attributes<'a>(text: &'a str, _: &u8) -> impl Iterator<Item = char> + 'a {
    #![allow(non_snake_case)]
    //! Documented inside.
    let Reversed = text.chars().rev();
    Reversed.fuse()
}

#[profile]
#[cfg(any())]
fn absent() -> NoSuchType {}

/// If the `cfg` above were lost, this second function of the same name would not compile.
fn absent() {}

#[test]
#[profile]
fn attributes_stay() {
    assert_eq!(logged(|| with_attributes("ab", &0).collect::<String>()).0, "ba");
    absent();
}

#[profile]
#[test]
#[should_panic(expected = "as it should")]
fn a_test_below_stays_a_test() {
    panic!("as it should");
}

#[profile]
fn diverges() -> ! {
    std::panic::resume_unwind(Box::new("gone"))
}

#[test]
fn a_panic_closes_the_scope() {
    let log = log_of(|| std::panic::catch_unwind(|| diverges()).unwrap_err());
    assert_eq!(log, "+diverges -diverges");
}

struct Noisy(&'static str);

impl Drop for Noisy {
    fn drop(&mut self) {
        note(self.0);
    }
}

#[profile]
fn drops(_argument: Noisy) -> u8 {
    let _local = Noisy("local");
    1
}

#[test]
fn the_guard_outlives_the_locals_and_not_the_arguments() {
    assert_eq!(
        log_of(|| drops(Noisy("argument"))),
        "+drops local -drops argument"
    );
}

/// The arguments have names that the expansion itself might use.
#[profile]
fn same_names(_guard: u8, value: u8) -> u8 {
    _guard + value
}

#[profile]
fn early(flag: bool) -> Result<u8, std::num::ParseIntError> {
    if flag {
        return Ok(1);
    }
    "x".parse::<u8>()?;
    Ok(2)
}

#[test]
fn locals_and_early_returns() {
    assert_eq!(logged(|| same_names(1, 2)), (3, "+same_names -same_names"));
    assert_eq!(logged(|| early(true)), (Ok(1), "+early -early"));
    let (result, log) = logged(|| early(false));
    assert!(result.is_err());
    assert_eq!(log, "+early -early");
}

#[profile]
fn items_first() -> u8 {
    use std::cell::Cell;
    #[profile]
    fn inner() -> u8 {
        1
    }
    Cell::new(inner()).get()
}

#[test]
fn a_body_that_opens_with_items() {
    let log = "+items_first +inner -inner -items_first";
    assert_eq!(logged(items_first), (1, log));
}

#[test]
fn a_nested_function() {
    fn plain() {
        #[profile]
        fn inner() {}
        inner();
    }
    assert_eq!(log_of(plain), "+inner -inner");
}

struct Stack(Vec<u8>);

impl Stack {
    #[profile]
    fn push(&mut self, byte: u8) -> &mut Self {
        self.0.push(byte);
        self
    }

    #[profile(name = "taken")]
    fn take(self: Box<Self>) -> Box<Self> {
        self
    }
}

#[test]
fn methods() {
    let mut stack = Box::new(Stack(Vec::new()));
    assert_eq!(
        log_of(|| stack.push(1).push(2).0.len()),
        "+push -push +push -push"
    );
    assert_eq!(logged(|| stack.take().0), (vec![1, 2], "+taken -taken"));
}
