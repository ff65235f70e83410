//! A site: the static descriptor of a place in the source that opens scopes or counts. Its address is its identity.

use tickscope_format::snapshot;

use crate::enabled::platform::sync::{AtomicU32, Ordering};
use crate::enabled::record::arena::Ref;

/// A place in the source. The macros make one per call site.
#[derive(Debug)]
pub struct Site {
    name: Name,
    module: &'static str,
    file: &'static str,
    line: u32,
    group: &'static str,
    /// Whether it counts without a clock, and opens no scopes.
    counter: bool,
    /// Whether its scopes count: a [`SiteState`].
    state: AtomicU32,
    /// Whether it is in the list of sites met: not 0.
    claimed: AtomicU32,
    /// Whether a rule switches it off: not 0.
    ruled_off: AtomicU32,
    /// In adaptive mode: one in 2^rate calls is enough, as far as their number goes; found by any thread.
    rate: AtomicU32,
    /// The site met before it.
    pub(crate) next: Ref<Site>,
}

/// Whether a site's scopes count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum SiteState {
    /// No scope of it has been met yet.
    New,
    Enabled,
    Disabled,
}

/// How a site is called.
#[derive(Debug)]
enum Name {
    /// As written.
    Given(&'static str),
    /// After the function it stands in: the path of an item inside that function, as the compiler prints it.
    Enclosing(fn() -> &'static str),
}

impl Site {
    /// A site with a name of its own.
    pub const fn named(name: &'static str, module: &'static str, file: &'static str, line: u32) -> Self {
        Self {
            name: Name::Given(name),
            module,
            file,
            line,
            group: "",
            counter: false,
            state: AtomicU32::new(SiteState::New as u32),
            claimed: AtomicU32::new(0),
            ruled_off: AtomicU32::new(0),
            rate: AtomicU32::new(0),
            next: Ref::none(),
        }
    }

    /// A site named after the function it stands in. `path` gives the type name of a function item declared in
    /// that function.
    pub const fn enclosing(
        path: fn() -> &'static str,
        module: &'static str,
        file: &'static str,
        line: u32,
    ) -> Self {
        Self {
            name: Name::Enclosing(path),
            module,
            file,
            line,
            group: "",
            counter: false,
            state: AtomicU32::new(SiteState::New as u32),
            claimed: AtomicU32::new(0),
            ruled_off: AtomicU32::new(0),
            rate: AtomicU32::new(0),
            next: Ref::none(),
        }
    }

    /// The same site in a group.
    pub const fn in_group(mut self, group: &'static str) -> Self {
        self.group = group;
        self
    }

    /// The same site as one that counts without a clock.
    pub const fn counting(mut self) -> Self {
        self.counter = true;
        self
    }

    /// Whether it counts without a clock.
    pub(crate) fn is_counter(&self) -> bool {
        self.counter
    }

    /// Whether it is in this state.
    #[inline(always)]
    pub(crate) fn is(&self, state: SiteState) -> bool {
        self.state.load(Ordering::Relaxed) == state as u32
    }

    pub(crate) fn set_state(&self, state: SiteState) {
        self.state.store(state as u32, Ordering::Relaxed);
    }

    /// In adaptive mode: one in 2^rate calls is enough for a thread that has timed so many, or for all before it.
    pub(crate) fn enough(&self, rate: u64) -> u64 {
        let known = self.rate.load(Ordering::Relaxed).into();
        if rate > known {
            self.rate.store(rate as u32, Ordering::Relaxed);
        }
        rate.max(known)
    }

    /// True for the one that is to put it into the list of sites met.
    pub(crate) fn claim(&self) -> bool {
        self.claimed.swap(1, Ordering::SeqCst) == 0
    }

    /// Whether a rule switches it off.
    pub(crate) fn is_ruled_off(&self) -> bool {
        self.ruled_off.load(Ordering::Relaxed) != 0
    }

    pub(crate) fn set_ruled_off(&self, off: bool) {
        self.ruled_off.store(u32::from(off), Ordering::Relaxed);
    }

    /// The site as snapshots show it.
    pub(crate) fn describe(&self) -> snapshot::Site {
        snapshot::Site {
            name: match self.name {
                Name::Given(name) => name.to_string(),
                Name::Enclosing(path) => plain_name(path(), self.module),
            },
            module: self.module.to_string(),
            file: self.file.to_string(),
            line: self.line,
            group: self.group.to_string(),
        }
    }
}

/// The plain name of a function from the type name of an item in it: `fib`, `Sq::area`.
///
/// The compiler prints `app::fib::here`, `app::Sq::area::here`, `<app::Sq as app::Shape>::area::here` and, for
/// an impl outside the type's module, `app::other::<impl app::Sq>::area::here`; closures and async bodies add
/// `{{closure}}`.
fn plain_name(item: &str, module: &str) -> String {
    let function = item.rsplit_once("::").map_or(item, |(function, _)| function);
    let function = function.replace("::{{closure}}", "");
    let in_module = function
        .strip_prefix(module)
        .and_then(|rest| rest.strip_prefix("::"));
    let name = in_module.unwrap_or(&function);
    let Some(inner) = name.strip_prefix('<') else {
        return without_arguments(name);
    };
    // The type an impl is for, up to the bracket that closes the first one.
    let mut depth = 1;
    let end = inner.char_indices().find(|&(at, c)| {
        match c {
            '<' => depth += 1,
            '>' if !inner[..at].ends_with('-') => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    let Some((end, _)) = end else {
        return name.to_string();
    };
    let head = inner[..end].strip_prefix("impl ").unwrap_or(&inner[..end]);
    let subject = match head.split_once(" for ") {
        Some((_, subject)) => subject,
        None => split_as(head),
    };
    format!(
        "{}{}",
        without_arguments(&short_paths(subject)),
        without_arguments(&inner[end + 1..])
    )
}

/// `T` of `T as Trait`, where the ` as ` is not within brackets of `T` itself.
fn split_as(head: &str) -> &str {
    let mut depth = 0i32;
    for (at, c) in head.char_indices() {
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' if head[..at].ends_with('-') => {}
            '>' | ')' | ']' => depth -= 1,
            ' ' if depth == 0 && head[at..].starts_with(" as ") => return &head[..at],
            _ => {}
        }
    }
    head
}

/// Every path in a type cut to its last part: `(u8, app::Sq)` becomes `(u8, Sq)`.
fn short_paths(text: &str) -> String {
    let mut short = String::new();
    let mut word = String::new();
    for c in text.chars() {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
        } else if c == ':' {
            word.clear();
        } else {
            short.push_str(&word);
            word.clear();
            short.push(c);
        }
    }
    short + &word
}

/// A path without generic arguments: all instances of a generic are one function.
fn without_arguments(path: &str) -> String {
    let mut depth = 0;
    let mut plain = String::new();
    for (at, c) in path.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if !path[..at].ends_with('-') => depth -= 1,
            _ if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain() {
        for (item, module, name) in [
            ("app::fib::here", "app", "fib"),
            ("app::outer::inner::here", "app", "outer::inner"),
            ("app::run::{{closure}}::here", "app", "run"),
            ("app::shapes::Sq::area::here", "app::shapes", "Sq::area"),
            ("app::shapes::Gen<_>::area::here", "app::shapes", "Gen::area"),
            (
                "<app::shapes::Sq as app::shapes::Shape>::area::here",
                "app::shapes",
                "Sq::area",
            ),
            (
                "<app::shapes::Gen<_> as app::shapes::Shape>::area::here",
                "app::shapes",
                "Gen::area",
            ),
            ("<[u8; 3] as app::Shape>::area::here", "app", "[u8; 3]::area"),
            (
                "<(u8, app::Sq) as app::Shape>::area::here",
                "app",
                "(u8, Sq)::area",
            ),
            (
                "app::other::<impl app::shapes::Sq>::far::here",
                "app::other",
                "Sq::far",
            ),
            (
                "app::other::<impl app::Shape for app::shapes::Sq>::far::here",
                "app::other",
                "Sq::far",
            ),
            (
                "<dyn core::ops::Fn(u8) -> app::Sq as app::Shape>::area::here",
                "app",
                "dyn Fn(u8) -> Sq::area",
            ),
        ] {
            assert_eq!(plain_name(item, module), name, "{item}");
        }
    }

    trait Shape {
        fn area(&self) -> String;
    }

    struct Sq;

    impl Shape for Sq {
        fn area(&self) -> String {
            fn here() {}
            plain_name(std::any::type_name_of_val(&here), module_path!())
        }
    }

    #[test]
    fn the_compiler_still_prints_what_is_expected() {
        fn here() {}
        assert_eq!(Sq.area(), "Sq::area");
        assert_eq!(
            plain_name(std::any::type_name_of_val(&here), module_path!()),
            "the_compiler_still_prints_what_is_expected"
        );
    }
}
