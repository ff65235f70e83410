//! Names of sites. A name is given in the source, or comes from the enclosing function, the function at an address, a lock or a
//! task.

use std::fmt::{self, Write};

#[cfg(all(feature = "hooks", target_arch = "x86_64"))]
use tickscope_format::snapshot;

/// The name of a site.
#[derive(Debug)]
pub(crate) enum Name {
    /// The name as written.
    Given(&'static str),
    /// The name of the enclosing function. It is taken from the path of an item in that function, as printed by the compiler.
    Enclosing(fn() -> &'static str),
    /// The function at an address. Its name is looked up only when the site is shown, because the search reads files.
    #[cfg(all(feature = "hooks", target_arch = "x86_64"))]
    OfFunction(u64, fn(u64) -> snapshot::Site),
    /// The name of a lock or a task. If it has no name, the place in the source where it was made is shown instead.
    WithLabel(Labelled, Option<&'static str>),
}

/// Kind of a site with a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Labelled {
    Mutex,
    Read,
    Write,
    Condvar,
    Task,
}

impl Name {
    /// Writes the name of a site that is in this module and on this line of a file. Parts of the name are assembled in buffers of
    /// type `T`.
    pub(crate) fn write<T: Text>(
        &self,
        module: &str,
        (file, line): (&str, u32),
        out: &mut impl Write,
    ) -> fmt::Result {
        match *self {
            #[cfg(all(feature = "hooks", target_arch = "x86_64"))]
            Self::OfFunction(..) => Ok(()),
            Self::Given(name) => out.write_str(name),
            Self::Enclosing(path) => write_plain_name::<T>(path(), module, out),
            Self::WithLabel(kind, name) => {
                let (before, after) = match kind {
                    Labelled::Mutex => ("[lock] ", ""),
                    Labelled::Read => ("[lock] ", " (read)"),
                    Labelled::Write => ("[lock] ", " (write)"),
                    Labelled::Condvar => ("[condvar] ", ""),
                    Labelled::Task => ("", ""),
                };
                out.write_str(before)?;
                match name {
                    Some(name) => out.write_str(name)?,
                    None => write!(out, "{}:{line}", short_file(file))?,
                }
                out.write_str(after)
            }
        }
    }
}

/// A buffer for parts of names.
pub(crate) trait Text: Write + AsRef<str> + Default {}

impl<T: Write + AsRef<str> + Default> Text for T {}

/// A short text, stored without an allocation.
pub(crate) struct ShortText {
    bytes: [u8; SHORT_TEXT_BYTES],
    length: usize,
}

/// Capacity of a [`ShortText`] in bytes: enough for most paths, and small enough for the stack of a signal handler.
const SHORT_TEXT_BYTES: usize = 384;

impl Default for ShortText {
    fn default() -> Self {
        Self {
            bytes: [0; SHORT_TEXT_BYTES],
            length: 0,
        }
    }
}

impl AsRef<str> for ShortText {
    fn as_ref(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }
}

impl Write for ShortText {
    /// Fails if the text becomes too long.
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.length + text.len();
        let place = self.bytes.get_mut(self.length..end).ok_or(fmt::Error)?;
        place.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

/// Shortens the path of a file: removes everything through `src/` or, if there is no such folder, all folders.
fn short_file(file: &str) -> &str {
    match file.rfind("src/") {
        Some(at) => &file[at + "src/".len()..],
        None => file.rsplit('/').next().unwrap_or(file),
    }
}

/// Writes the plain name of a function, such as `fib` or `Sq::area`, given the type name of an item in the function.
///
/// The compiler prints `app::fib::here`, `app::Sq::area::here`, `<app::Sq as app::Shape>::area::here` and, for an impl outside
/// the type's module, `app::other::<impl app::Sq>::area::here`. Closures and async bodies add `{{closure}}`.
///
/// Parts of the name are assembled in buffers of type `T`.
fn write_plain_name<T: Text>(item: &str, module: &str, out: &mut impl Write) -> fmt::Result {
    let path = item.rsplit_once("::").map_or(item, |(function, _)| function);
    let mut function = T::default();
    for part in path.split("::{{closure}}") {
        function.write_str(part)?;
    }
    let function = function.as_ref();
    let in_module = function
        .strip_prefix(module)
        .and_then(|rest| rest.strip_prefix("::"));
    let name = in_module.unwrap_or(function);
    let Some(inner) = name.strip_prefix('<') else {
        return write_without_arguments(name, out);
    };
    // Find the bracket that closes the first one. The type of the impl ends there.
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
        return out.write_str(name);
    };
    let head = inner[..end].strip_prefix("impl ").unwrap_or(&inner[..end]);
    let subject = match head.split_once(" for ") {
        Some((_, subject)) => subject,
        None => split_as(head),
    };
    let mut short = T::default();
    write_short_paths(subject, &mut short)?;
    write_without_arguments(short.as_ref(), out)?;
    write_without_arguments(&inner[end + 1..], out)
}

/// Returns the `T` from `T as Trait`. An ` as ` inside brackets belongs to `T`.
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

/// Shortens every path in a type to its last part: `(u8, app::Sq)` becomes `(u8, Sq)`.
fn write_short_paths(text: &str, out: &mut impl Write) -> fmt::Result {
    let is_other = |c: char| !(c.is_alphanumeric() || c == '_' || c == ':');
    for path in text.split_inclusive(is_other) {
        out.write_str(path.rsplit(':').next().unwrap_or(path))?;
    }
    Ok(())
}

/// Removes generic arguments from a path, because all instances of a generic are one function.
fn write_without_arguments(path: &str, out: &mut impl Write) -> fmt::Result {
    let mut depth = 0;
    for (at, c) in path.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if !path[..at].ends_with('-') => depth -= 1,
            _ if depth == 0 => out.write_char(c)?,
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain_name(item: &str, module: &str) -> String {
        let (mut long, mut short) = (String::new(), ShortText::default());
        write_plain_name::<String>(item, module, &mut long).unwrap();
        write_plain_name::<ShortText>(item, module, &mut short).unwrap();
        assert_eq!(short.as_ref(), long);
        long
    }

    #[test]
    fn names_are_plain() {
        // The path of an item in the function, the module, and the plain name.
        let table = "
            app::fib::here | app | fib
            app::outer::inner::here | app | outer::inner
            app::run::{{closure}}::here | app | run
            app::shapes::Sq::area::here | app::shapes | Sq::area
            app::shapes::Gen<_>::area::here | app::shapes | Gen::area
            <app::shapes::Sq as app::shapes::Shape>::area::here | app::shapes | Sq::area
            <app::shapes::Gen<_> as app::shapes::Shape>::area::here | app::shapes | Gen::area
            <[u8; 3] as app::Shape>::area::here | app | [u8; 3]::area
            <(u8, app::Sq) as app::Shape>::area::here | app | (u8, Sq)::area
            app::other::<impl app::shapes::Sq>::far::here | app::other | Sq::far
            app::other::<impl app::Shape for app::shapes::Sq>::far::here | app::other | Sq::far
            <dyn core::ops::Fn(u8) -> app::Sq as app::Shape>::area::here | app | dyn Fn(u8) -> Sq::area
        ";
        for line in table.trim().lines() {
            let [item, module, name] = line.trim().split(" | ").collect::<Vec<_>>()[..] else {
                panic!("{line}");
            };
            assert_eq!(plain_name(item, module), name, "{item}");
        }
    }

    #[test]
    fn locks_are_called_by_their_name_or_their_place() {
        let name = |kind, name, file| {
            let mut text = String::new();
            let written = Name::WithLabel(kind, name).write::<String>("", (file, 41), &mut text);
            written.map(|()| text).unwrap()
        };
        assert_eq!(name(Labelled::Mutex, Some("cache"), "src/a.rs"), "[lock] cache");
        assert_eq!(
            name(Labelled::Read, None, "app/src/store/cache.rs"),
            "[lock] store/cache.rs:41 (read)"
        );
        assert_eq!(name(Labelled::Write, Some("x"), "src/a.rs"), "[lock] x (write)");
        assert_eq!(
            name(Labelled::Condvar, None, "/home/me/app/tests/it.rs"),
            "[condvar] it.rs:41"
        );
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
