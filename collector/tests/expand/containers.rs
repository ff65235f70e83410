//! Tests `#[profile]` on `impl`, `trait` and `mod`.

use tickscope_macros::profile;

use crate::mock::{log_of, logged, note};

macro_rules! make {
    ($($tokens:tt)*) => { $($tokens)* };
}

#[derive(Default)]
struct Table(Vec<u8>);

#[profile(group = "table")]
impl Table {
    const DOUBLE: fn(u8) -> u8 = |x| x + x;
    const LESS: bool = 1 < 2;

    fn after_less() {}

    /// Documented.
    #[must_use]
    pub(crate) const fn new() -> Self {
        Table(Vec::new())
    }

    pub(crate) fn push(&mut self, byte: u8) {
        self.0
            .push(Self::DOUBLE(byte) + Self::quiet() + Self::made() + u8::from(Self::LESS));
    }

    #[profile(skip)]
    fn quiet() -> u8 {
        0
    }

    #[tickscope_macros::profile(name = "own")]
    fn named() {}

    #[cfg_attr(all(), tickscope_macros::profile(skip))]
    fn quiet_on_a_condition() {}

    #[inline]
    unsafe fn bare() {
        note("bare");
    }

    extern "C" fn of_c() {}

    make! { fn made() -> u8 { note("made"); 0 } }

    async fn later(&self) -> usize {
        self.0.len()
    }
}

#[test]
fn an_impl_block() {
    let mut table = Table::new();
    assert_eq!(log_of(|| table.push(2)), "+table/push made -table/push");
    assert_eq!(table.0, [5]);
    assert_eq!(log_of(Table::after_less), "+table/after_less -table/after_less");
    assert_eq!(log_of(Table::named), "+own -own");
    assert_eq!(log_of(Table::quiet_on_a_condition), "");
    // SAFETY: the function has no safety requirements.
    let log = log_of(|| unsafe { Table::bare() });
    assert_eq!(log, "+table/bare bare -table/bare");
    assert_eq!(log_of(|| Table::of_c()), "+table/of_c -table/of_c");
    let future = std::pin::pin!(table.later());
    let log = log_of(|| future.poll(&mut std::task::Context::from_waker(std::task::Waker::noop())));
    assert_eq!(log, "*table/later +table/later -table/later");
}

struct Wrapper<T, const N: usize>(T);

trait Shape {
    type Callback;
    const SIDES: u8;
    fn area(&self) -> u8;
    fn r#type(&self) -> u8;
}

#[allow(unused_braces)] // the test needs braces before the braces of the body
#[profile]
impl<T: Fn(u8) -> u8, const N: usize> Shape for Wrapper<T, { N }>
where
    [(); { N }]: Sized,
{
    type Callback = fn() -> u8;
    const SIDES: u8 = {
        const fn four() -> u8 {
            4
        }
        four()
    };

    fn area(&self) -> u8 {
        (self.0)(1)
    }
    fn r#type(&self) -> u8 {
        Self::SIDES
    }
}

trait Marked {
    fn mark(&self) {}
}

#[profile]
impl Marked for fn(u8) -> u8 {
    fn mark(&self) {
        note(self(1).to_string());
    }
}

/// # Safety
/// There are no requirements.
unsafe trait Unsafe {
    fn go();
}

#[profile]
// SAFETY: the trait has no safety requirements.
unsafe impl Unsafe for Table {
    fn go() {}
}

#[test]
fn trait_impls() {
    type Plain = fn(u8) -> u8;

    let wrapper = Wrapper::<_, 3>(|x| x + 1);
    assert_eq!(logged(|| wrapper.area()), (2, "+area -area"));
    assert_eq!(logged(|| wrapper.r#type()), (4, "+type -type"));
    let callback: <Wrapper<Plain, 3> as Shape>::Callback = || 1;
    assert_eq!(callback(), 1);
    let f: Plain = |x| x + 6;
    assert_eq!(log_of(|| f.mark()), "+mark 7 -mark");
    assert_eq!(log_of(Table::go), "+go -go");
}

#[profile]
trait Greet {
    const WORD: &'static str = { "hello" };
    fn name(&self) -> String;
    fn greet(&self) -> String {
        format!("{} {}", Self::WORD, self.name())
    }
    #[profile(skip)]
    fn quiet(&self) {}
}

impl Greet for Table {
    fn name(&self) -> String {
        "table".into()
    }
}

#[test]
fn defaults_of_a_trait() {
    assert_eq!(
        logged(|| Table::default().greet()),
        ("hello table".to_owned(), "+greet -greet")
    );
    assert_eq!(log_of(|| Table::default().quiet()), "");
}

#[profile(group = "m", crate = crate::mock)]
pub(crate) mod module {
    //! Documented.
    #![allow(non_snake_case)]

    use std::fmt::{self, Debug};
    use {crate::mock::note, tickscope_macros::profile};

    pub(crate) static TEXT: &str = {
        const fn text() -> &'static str {
            "text"
        }
        text()
    };
    pub(crate) const NEXT: fn(u8) -> u8 = {
        fn next(x: u8) -> u8 {
            x + 1
        }
        next
    };
    pub(crate) static LESS: bool = 1 < 2;
    pub(crate) fn after_less() {}

    pub(crate) type Function = fn(u8) -> u8;

    #[derive(Clone, Copy)]
    pub(crate) struct Holder {
        pub(crate) f: Function,
    }
    pub(crate) struct Unit;
    pub(crate) struct Tuple(pub(crate) fn() -> u8);
    pub(crate) enum Choice {
        One = {
            const fn one() -> isize {
                1
            }
            one()
        },
    }

    macro_rules! untouched {
        () => {
            pub(crate) fn from_macro() {
                note("from_macro");
            }
        };
    }
    pub(crate) fn after_macro_rules() {}
    untouched!();
    untouched_brackets![
        fn from_brackets() {}
    ];

    unsafe extern "C" {
        #[link_name = "abs"]
        safe fn absolute(x: i32) -> i32;
    }

    pub(crate) fn Free() -> i32 {
        fn inner() {
            note("inner");
        }
        inner();
        absolute(-3)
    }

    pub(crate) extern "C" fn of_c() {}

    #[profile(skip)]
    pub(crate) fn quiet() {}

    pub(crate) const fn constant() -> u8 {
        2
    }

    pub(crate) trait Default2 {
        fn required(&self);
        fn provided(&self) {
            self.required();
        }
    }

    impl Default2 for Unit {
        fn required(&self) {}
    }

    #[profile(skip)]
    impl Unit {
        pub(crate) fn quiet(&self) {}
    }

    impl Debug for Holder {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("Holder")
        }
    }

    pub(crate) mod nested {
        pub(crate) fn deep() {}

        #[tickscope_macros::profile(group = "own")]
        pub(crate) mod own {
            pub(crate) fn deeper() {}
        }
    }

    use make2 as untouched_brackets;
    macro_rules! make2_ {
        ($($tokens:tt)*) => { pub(crate) $($tokens)* };
    }
    use make2_ as make2;
}

#[test]
fn a_module() {
    use module::Default2;
    const CONSTANT: u8 = module::constant();

    assert_eq!(logged(module::Free), (3, "+m/Free inner -m/Free"));
    assert_eq!(log_of(|| module::of_c()), "+m/of_c -m/of_c");
    assert_eq!(log_of(module::quiet), "");
    assert_eq!(log_of(module::after_less), "+m/after_less -m/after_less");
    assert!(module::LESS);
    assert_eq!(
        log_of(module::after_macro_rules),
        "+m/after_macro_rules -m/after_macro_rules"
    );
    assert_eq!(log_of(module::from_macro), "from_macro");
    assert_eq!(log_of(module::from_brackets), "");
    assert_eq!(
        log_of(|| module::Unit.provided()),
        "+m/provided +m/required -m/required -m/provided"
    );
    assert_eq!(log_of(|| module::Unit.quiet()), "");
    let holder = module::Holder { f: module::NEXT };
    assert_eq!(
        logged(|| format!("{holder:?}")),
        ("Holder".to_owned(), "+m/fmt -m/fmt")
    );
    assert_eq!(logged(|| (holder.f)(1)), (2, ""));
    assert_eq!(log_of(module::nested::deep), "+m/deep -m/deep");
    assert_eq!(log_of(module::nested::own::deeper), "+own/deeper -own/deeper");
    assert_eq!(CONSTANT, 2);
    assert_eq!(module::TEXT, "text");
    assert_eq!(module::Choice::One as u8, 1);
    assert_eq!((module::Tuple(|| 5).0)(), 5);
}

#[profile]
mod empty {
    //! Nothing but this line.
}
