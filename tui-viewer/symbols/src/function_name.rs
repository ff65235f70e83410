//! Readable names of functions, split into the module path and the name within the module.
//!
//! Names have the form in which users would name scopes by hand, such as `Searcher::search_path`: the method's type,
//! without its module path and without a trait, and then the method. Generic arguments are kept, because instances take
//! different amounts of time.

pub mod async_bodies;
mod text;
mod v0;

use std::fmt::Write as _;

use rustc_demangle::try_demangle;
use tickscope_format::path::{parts, subject_and_trait};

use crate::function_name::text::{AsyncBody, Shortener};
use crate::function_name::v0::{Base, TYPE, head};

/// Maximum length of a name, in characters.
const LONGEST: usize = 120;

/// Nesting depths of the generic arguments to keep. They are tried in this order until the name is short enough.
const DEPTHS: [usize; 6] = [32, 4, 3, 2, 1, 0];

/// Crates of the standard library.
const STD: [&str; 9] = [
    "alloc",
    "compiler_builtins",
    "core",
    "panic_abort",
    "panic_unwind",
    "proc_macro",
    "std",
    "std_detect",
    "test",
];

/// Name of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// Path of the module that contains the function, starting with the crate; empty if the symbol names no module.
    pub module: String,
    /// The function's name in the module.
    pub name: String,
    /// Whether the function is written in Rust.
    pub is_rust: bool,
}

/// Parts of a path.
struct Split<'a> {
    module: String,
    subject: Option<&'a str>,
    rest: String,
    /// Path that precedes `rest`, as written in debug information.
    parent: String,
}

impl Name {
    /// Splits the name of a symbol into module and name. `path` must be the result of [`rust_path`] for this symbol.
    pub fn of(symbol: &str, path: Option<&str>, async_body: AsyncBody<'_>) -> Self {
        let (module, name, is_rust) = if let Some(path) = path {
            let split = split(path, symbol);
            let name = limited(|depth| {
                let short = Shortener { depth, async_body };
                let subject = split.subject.map(|subject| short.of_type(subject) + "::");
                subject.unwrap_or_default() + &short.of_path(&split.rest, &split.parent)
            });
            (split.module, name, true)
        } else if let Some(path) = cpp_path(symbol) {
            let parts = cpp_parts(&path);
            let (module, names) = parts.split_at(first_of_function(&parts));
            let short = |part: &String, depth| {
                if part.starts_with("operator") {
                    part.clone()
                } else {
                    Shortener { depth, async_body }.of_type(part)
                }
            };
            let module: Vec<String> = module.iter().map(|part| short(part, 0)).collect();
            let name = limited(|depth| {
                let names: Vec<String> = names.iter().map(|part| short(&plain(part), depth)).collect();
                names.join("::")
            });
            (module.join("::"), name, false)
        } else {
            // Debug information names inlined functions the way the source code does: `get<app::Node, usize>`.
            let has_arguments = symbol.contains('<') && !symbol.starts_with("operator");
            let name = limited(|depth| match has_arguments {
                true => Shortener { depth, async_body }.of_type(symbol),
                false => symbol.to_string(),
            });
            (String::new(), name, false)
        };
        Self {
            module,
            name,
            is_rust,
        }
    }

    /// Returns a name for a function without a symbol: its address.
    pub fn of_address(address: u64) -> Self {
        Self {
            module: String::new(),
            name: format!("{address:#x}"),
            is_rust: false,
        }
    }

    /// Returns the crate of a Rust function.
    pub fn crate_name(&self) -> Option<&str> {
        self.is_rust.then(|| crate_of(&self.module))
    }
}

/// Demangles a Rust symbol to a readable path without hashes. Returns `None` for other symbols.
pub fn rust_path(symbol: &str) -> Option<String> {
    let path = try_demangle(symbol).ok()?;
    if symbol.starts_with("_ZN") && !has_hash(symbol) {
        return None;
    }
    let path = format!("{path:#}");
    // The compiler and the linker mark copies of a function with a suffix that starts with a dot.
    let copy = if symbol.starts_with("_R") {
        path.find('.')
    } else {
        None
    };
    Some(match copy {
        Some(at) if !path[at..].contains([':', '>']) => path[..at].to_string(),
        Some(_) | None => path,
    })
}

/// Returns the crate that a path begins with; for `<A as B>::f`, the crate of `A`.
pub fn crate_of(path: &str) -> &str {
    crates_in(path).next().unwrap_or_default()
}

/// Returns whether the crate belongs to the standard library.
pub fn is_std(crate_name: &str) -> bool {
    STD.contains(&crate_name)
}

/// Returns the crates that a name mentions: the first segment of each path in it.
pub fn crates_in(path: &str) -> impl Iterator<Item = &str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    path.split(move |c| !is_word(c) && c != ':')
        .filter(|word| !word.starts_with(':'))
        .filter_map(|word| word.split("::").next())
        .filter(|word| !word.is_empty() && !KEYWORDS.contains(word))
}

/// Keywords in types. They are not part of any path.
const KEYWORDS: [&str; 8] = ["as", "const", "dyn", "fn", "for", "impl", "mut", "unsafe"];

/// Returns whether a mangled name ends with a hash, as Rust's legacy names do. This distinguishes them from C++ names,
/// which also begin with `_ZN`.
fn has_hash(symbol: &str) -> bool {
    let end = symbol.rfind("17h").map(|at| &symbol[at + 3..]);
    end.is_some_and(|end| {
        let (hash, rest) = end.split_at_checked(16).unwrap_or(("", ""));
        !hash.is_empty() && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) && rest.starts_with('E')
    })
}

/// Demangles a C++ symbol to a readable path without parameters.
fn cpp_path(symbol: &str) -> Option<String> {
    let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type();
    let symbol = cpp_demangle::Symbol::new(symbol.strip_prefix("_Z").and(Some(symbol))?).ok()?;
    let path = symbol.demangle_with_options(&options).ok()?;
    Some(path.replace("(anonymous namespace)", "{anonymous}"))
}

/// Splits a C++ path into its parts. Lambdas are written like Rust closures, without their `operator()`.
fn cpp_parts(path: &str) -> Vec<String> {
    let path = path.trim_end_matches(['&', ' ']);
    let path = path.strip_suffix(" volatile").unwrap_or(path);
    let path = path.strip_suffix(" const").unwrap_or(path);
    let mut parts: Vec<String> = parts(path)
        .map(|part| lambda(part).unwrap_or_else(|| part.to_string()))
        .collect();
    if let [.., before, last] = &parts[..]
        && before.starts_with("{lambda#")
        && last == "operator()"
    {
        parts.pop();
    }
    parts
}

/// Converts a part of a path that is a lambda to the form `{lambda#0}`. Clang writes `$_0`, or `{lambda(int)#1}` for a
/// lambda that several files may contain. These three examples all stand for the first lambda of a function.
fn lambda(part: &str) -> Option<String> {
    let number = match part.strip_prefix("$_") {
        Some(number) => number.parse().ok(),
        None => {
            let rest = part.strip_prefix("{lambda(")?.strip_suffix('}')?;
            rest.rsplit_once('#')?.1.parse::<u32>().ok()?.checked_sub(1)
        }
    };
    Some(format!("{{lambda#{}}}", number?))
}

/// Returns the index of the first part that is a function. The parts before it are the module path.
fn first_of_function(parts: &[String]) -> usize {
    let encloses =
        |part: &String| part.ends_with(')') && !part.starts_with(['(', '{']) && part != "operator()";
    let last = parts.len().saturating_sub(1);
    parts.iter().position(encloses).unwrap_or(last).min(last)
}

/// Returns the name of a function without its parameters.
fn plain(part: &str) -> String {
    part.strip_suffix("()")
        .filter(|name| *name != "operator")
        .unwrap_or(part)
        .to_string()
}

/// Splits a path into its module and the rest.
fn split<'a>(path: &'a str, symbol: &str) -> Split<'a> {
    let parts: Vec<&str> = parts(path).collect();
    let head = head(symbol).filter(|head| head.kinds.len() + 1 == parts.len());
    let (first, rest) = parts.split_first().unwrap_or((&"", &[]));
    if let Some((subject, of)) = subject_and_trait(first) {
        let (module, parent) = match head.map(|head| head.base) {
            Some(Base::Impl(Some(place))) => (place.module, place.path),
            Some(Base::Provided) => {
                let of = without_arguments(of.unwrap_or_default());
                (parent_of(&of), of)
            }
            Some(Base::Crate | Base::Impl(None)) | None => (module_of_type(subject, of), String::new()),
        };
        return Split {
            module,
            subject: Some(subject),
            rest: rest.join("::"),
            parent,
        };
    }
    // Mangled names do not distinguish traits and types from modules, but the names of traits and types begin with a
    // capital letter.
    let is_module = |at: usize, part: &str| {
        let is_plain =
            !part.starts_with(|c: char| c.is_uppercase() || "{<".contains(c)) && !part.ends_with('>');
        is_plain && head.as_ref().is_none_or(|head| head.kinds[at] == TYPE)
    };
    let modules = rest
        .iter()
        .enumerate()
        .take_while(|(at, part)| is_module(*at, part));
    let mut modules = (modules.count() + 1).min(parts.len() - 1);
    // Legacy names do not say which parts are functions, but the part before a closure always is one.
    if head.is_none() && modules > 1 && parts[modules].starts_with('{') {
        modules -= 1;
    }
    let module = parts[..modules].join("::");
    // In a legacy name, an `impl` can be in the middle of a path: `app::other::<impl app::Shape for app::Sq>::far`.
    let inner = subject_and_trait(parts[modules]);
    Split {
        parent: module.clone(),
        module,
        subject: inner.map(|(subject, _)| subject),
        rest: parts[modules + usize::from(inner.is_some())..].join("::"),
    }
}

/// Guesses the module of an `impl`. An `impl` is in the crate of its type or of its trait, most likely in the module of
/// the type. The module of the trait is used if the type has no module, or if the type belongs to the standard library
/// and the trait does not.
fn module_of_type(subject: &str, of: Option<&str>) -> String {
    let subject = first_module(subject);
    let of = of.map(first_module).unwrap_or_default();
    let is_foreign = is_std(crate_of(&subject)) && !of.is_empty() && !is_std(crate_of(&of));
    if subject.is_empty() || is_foreign {
        of
    } else {
        subject
    }
}

/// Returns the module of the first path in a type.
fn first_module(text: &str) -> String {
    let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let paths = text.split(|c| !is_path(c)).filter(|path| path.contains("::"));
    let mut modules = paths.map(|path| parent_of(path.trim_end_matches(':')));
    modules.next().unwrap_or_default()
}

/// Returns the path without its last part.
fn parent_of(path: &str) -> String {
    path.rsplit_once("::")
        .map_or("", |(parent, _)| parent)
        .to_string()
}

/// Returns a path up to its generic arguments.
fn without_arguments(path: &str) -> String {
    path.split('<')
        .next()
        .unwrap_or_default()
        .trim_end_matches("::")
        .to_string()
}

/// Writes a name with as many levels of generic arguments as fit into [`LONGEST`] characters. If the name is too long
/// even without them, its middle is cut out.
fn limited(write: impl Fn(usize) -> String) -> String {
    let mut name = String::new();
    for depth in DEPTHS {
        name = write(depth);
        if name.chars().count() <= LONGEST {
            return name;
        }
    }
    let length = name.chars().count();
    let behind = LONGEST / 3;
    let mut short: String = name.chars().take(LONGEST - behind - 1).collect();
    let _ = write!(
        short,
        "…{}",
        name.chars().skip(length - behind).collect::<String>()
    );
    short
}

#[cfg(test)]
mod tests;
