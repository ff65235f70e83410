//! Reads from mangled v0 names what their readable form does not tell: which parts of a path are modules, and where an
//! `impl` is located.
//!
//! A name begins with the kinds of its parts, the last part first: `NvNtC3app3lib3run` is the function (`v`) `run` in
//! the type or module (`t`) `lib` of the crate `app`.

/// Beginning of a mangled name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// Kinds of the parts after the base, the outermost first.
    pub(crate) kinds: Vec<u8>,
    /// What the path begins with.
    pub(crate) base: Base,
}

/// What a path begins with.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Base {
    /// A crate.
    Crate,
    /// An `impl`, with its path unless the path is too complex to be read.
    Impl(Option<ImplPath>),
    /// A trait: the method is one of its provided methods.
    Provided,
}

/// Path of an `impl`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ImplPath {
    /// Module that contains the `impl`.
    pub(crate) module: String,
    /// Path of the `impl` as written in debug information, such as `app::shapes::{impl#1}`; empty if the `impl` is
    /// inside a generic function or another `impl`.
    pub(crate) path: String,
}

/// Kind of a part that is a type, a trait or a module.
pub(crate) const TYPE: u8 = b't';

/// How far a path was read.
enum End {
    /// To its end.
    Whole,
    /// Up to its first generic arguments.
    Generic,
    /// Only the `impl` with which the path begins.
    Impl(ImplPath),
}

/// The part of a mangled name that is still to be read.
struct Rest<'a>(&'a [u8]);

/// Reads the beginning of a mangled name.
pub(crate) fn head(symbol: &str) -> Option<Head> {
    let mut rest = Rest(symbol.strip_prefix("_R")?.as_bytes());
    let mut kinds = Vec::new();
    let base = loop {
        match rest.next()? {
            // `I` stands for generic arguments, which follow after the path.
            b'I' => {}
            b'N' => kinds.push(rest.next()?),
            b'C' => break Base::Crate,
            b'M' | b'X' => break Base::Impl(rest.impl_path()),
            b'Y' => break Base::Provided,
            _ => return None,
        }
    };
    kinds.reverse();
    Some(Head { kinds, base })
}

impl Rest<'_> {
    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn impl_path(&mut self) -> Option<ImplPath> {
        let number = self.disambiguator()?;
        let mut parts = Vec::new();
        let inner = self.path(&mut parts)?;
        let path: Vec<&str> = parts.iter().map(|(_, name)| name.as_str()).collect();
        let modules = parts.iter().take_while(|(kind, _)| *kind == TYPE).count();
        let module = path[..modules].join("::");
        let (module, path) = match inner {
            End::Whole => (module, format!("{}::{{impl#{number}}}", path.join("::"))),
            End::Generic => (module, String::new()),
            End::Impl(inner) => (inner.module, String::new()),
        };
        Some(ImplPath { module, path })
    }

    /// Reads the parts of a path, up to generic arguments or another `impl`. No part that follows those is a module.
    fn path(&mut self, parts: &mut Vec<(u8, String)>) -> Option<End> {
        let kind = match self.next()? {
            b'C' => TYPE,
            b'N' => {
                let kind = self.next()?;
                match self.path(parts)? {
                    End::Whole => kind,
                    end @ (End::Generic | End::Impl(_)) => return Some(end),
                }
            }
            b'I' => {
                return Some(match self.path(parts)? {
                    End::Whole => End::Generic,
                    end @ (End::Generic | End::Impl(_)) => end,
                });
            }
            b'M' | b'X' => return Some(End::Impl(self.impl_path()?)),
            _ => return None,
        };
        self.disambiguator()?;
        parts.push((kind, self.identifier()?));
        Some(End::Whole)
    }

    /// Reads the number that distinguishes items with the same name: `s_` stands for the second, `s0_` for the third.
    fn disambiguator(&mut self) -> Option<u64> {
        if self.0.first() != Some(&b's') {
            return Some(0);
        }
        self.next();
        let mut number = 0u64;
        let mut first = true;
        loop {
            let digit = match self.next()? {
                b'_' => return number.checked_add(if first { 1 } else { 2 }),
                digit @ b'0'..=b'9' => digit - b'0',
                digit @ b'a'..=b'z' => digit - b'a' + 10,
                digit @ b'A'..=b'Z' => digit - b'A' + 36,
                _ => return None,
            };
            first = false;
            number = number.checked_mul(62)?.checked_add(digit.into())?;
        }
    }

    fn identifier(&mut self) -> Option<String> {
        let mut length = 0usize;
        while let Some(digit @ b'0'..=b'9') = self.0.first() {
            length = length.checked_mul(10)?.checked_add(usize::from(digit - b'0'))?;
            self.next();
        }
        // `_` separates a length from a name that begins with a digit or with `_`.
        if self.0.first() == Some(&b'_') {
            self.next();
        }
        let (name, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(std::str::from_utf8(name).ok()?.to_string()).filter(|name| !name.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_parts_and_places_of_impls_are_read() {
        // Each line has a symbol, the kinds of its parts, and its base. For a base that is an `impl`, the module and
        // the path of the `impl` are given.
        let table = "
            _RNvCs6xxl1lAjzDf_1a5fetch | v Crate
            _RNCNvCs6xxl1lAjzDf_1a4mains0_0B3_ | vC Crate
            _RINvNtCsgEmfK2I1SDS_4core3ptr13drop_in_placehECs1_1a | tv Crate
            _RNvMs3_NtNtCsgEmfK2I1SDS_4core3ffi5c_strNtB5_4CStr19from_bytes_with_nul | v core::ffi::c_str core::ffi::c_str::{impl#5}
            _RNvXsr_NtCsgEmfK2I1SDS_4core4cellNtB5_14BorrowMutErrorNtNtB7_3fmt7Display3fmt | v core::cell core::cell::{impl#29}
            _RNvXNvCs6xxl1lAjzDf_1a10with_innerNtB2_5LocalNtNtNtCs2_4core3ops4drop4Drop4drop | v a a::with_inner::{impl#0}
            _RNSNvYNCNvCs6xxl1lAjzDf_1a4mains_0INtNtNtCs2_4core3ops8function6FnOnceTyEE9call_once6vtableB8_ | vS Provided
            _RNvXINvNtCs1_1a1b1fhENtB2_1S | v a::b
            _RNvXNvMs_NtCs1_1a1bNtB2_1S1fNtB2_1T | v a::b
            _RNvXs | v Impl(None)
        ";
        for line in table.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (symbol, expected) = line.split_once(" | ").unwrap();
            let Head { kinds, base } = head(symbol).unwrap();
            let base = match &base {
                Base::Impl(Some(place)) => format!("{} {}", place.module, place.path),
                Base::Crate | Base::Impl(None) | Base::Provided => format!("{base:?}"),
            };
            let found = format!("{} {base}", String::from_utf8(kinds).unwrap());
            assert_eq!(found.trim_end(), expected, "{symbol}");
        }
        for symbol in ["_ZN1a1bE", "_R", "_RN"] {
            assert_eq!(head(symbol), None, "{symbol}");
        }
    }
}
