//! Scopes and counters. Each place in the source has a `tickscope_site`, which points to the collector's site after the
//! first call.

use std::ffi::c_char;
use std::sync::atomic::{AtomicPtr, Ordering};

use tickscope::__private::foreign::{self, Open, Place};
use tickscope::__private::{self, Site};

use crate::name;
use crate::text::of_constant;

/// Makes a program that links only scopes from the static library also link the code that runs before `main`.
#[used]
static BEFORE_MAIN: &extern "C" fn() = &tickscope::__private::BEFORE_MAIN;

/// The `tickscope_site` of the header: a static variable at each call site.
#[repr(C)]
pub(crate) struct CSite {
    /// Name of the site, or the name of the function as the compiler prints it.
    name: *const c_char,
    file: *const c_char,
    group: *const c_char,
    line: u32,
    kind: u32,
    /// Null until the first call.
    made: AtomicPtr<Site>,
}

// SAFETY: the strings are constants, and the other fields are plain numbers and an atomic.
unsafe impl Sync for CSite {}

/// Flag of [`CSite::kind`]: `name` is the name of a function as the compiler prints it.
const FUNCTION: u32 = 16;

impl CSite {
    /// Returns the collector's site, or `None` before the first call.
    #[inline(always)]
    fn known(&self) -> Option<&'static Site> {
        // SAFETY: the pointer is null, or `meet` made it from a `&'static Site`. SYNC POINT: pairs with the exchange in
        // `meet`, so the site is complete once its pointer is visible.
        unsafe { self.made.load(Ordering::Acquire).as_ref() }
    }

    /// Returns the collector's site, and creates it at the first call. Returns `None` if there is no space for it.
    fn meet(&self) -> Option<&'static Site> {
        let kind: fn(Site) -> Site = match self.kind & !FUNCTION {
            1 => Site::watched,
            2 => Site::counting,
            3 => Site::of_value,
            4 => Site::of_gauge,
            _ => std::convert::identity,
        };
        let (given, file) = (of_constant(self.name)?, of_constant(self.file)?);
        let place = Place {
            name: if self.kind & FUNCTION == 0 {
                given
            } else {
                name::of_function(given)
            },
            module: name::of_file(file),
            file,
            line: self.line,
            group: of_constant(self.group)?,
        };
        let made = std::ptr::from_ref(foreign::site(kind, &place)?).cast_mut();
        let none = std::ptr::null_mut();
        // SYNC POINT: the site is complete before its pointer is stored. If two threads create the site at the same
        // time, both use the one whose pointer was stored first.
        let there = self
            .made
            .compare_exchange(none, made, Ordering::AcqRel, Ordering::Acquire);
        // SAFETY: both pointers, the stored one and `made`, come from `&'static Site`.
        unsafe { there.err().unwrap_or(made).as_ref() }
    }
}

// These functions are `extern "C-unwind"`, although they do not unwind. `extern "C"` would add a guard against
// unwinding. Without the guard, calls on the cold paths compile to plain jumps and save no registers. The functions for
// the macros accept no null pointers: a macro always passes the address of a variable, and ends a scope only if it has
// opened one.

#[unsafe(no_mangle)]
extern "C-unwind" fn tickscope_enter_(site: &CSite) -> Option<Open> {
    match site.known() {
        Some(site) => foreign::enter(site),
        None => first(site, foreign::enter),
    }
}

/// Opens a scope of a site, unless the pointer is null.
#[unsafe(no_mangle)]
extern "C-unwind" fn tickscope_enter(site: Option<&CSite>) -> Option<Open> {
    tickscope_enter_(site?)
}

#[unsafe(no_mangle)]
extern "C-unwind" fn tickscope_leave_(scope: Open) {
    foreign::leave(scope);
}

/// Ends a scope, unless the pointer is null.
#[unsafe(no_mangle)]
extern "C-unwind" fn tickscope_leave(scope: Option<Open>) {
    if let Some(scope) = scope {
        tickscope_leave_(scope);
    }
}

/// Defines two functions for each operation that takes a number: one for the macros, and one that also accepts a null
/// site.
macro_rules! take_numbers {
    ($($(#[$doc:meta])* $checked:ident, $unchecked:ident, $number:ty, $of:path;)*) => {$(
        $(#[$doc])*
        #[unsafe(no_mangle)]
        extern "C-unwind" fn $unchecked(site: &CSite, number: $number) {
            match site.known() {
                Some(site) => $of(site, number),
                None => first_number(site, number, $of),
            }
        }

        $(#[$doc])*
        #[unsafe(no_mangle)]
        extern "C-unwind" fn $checked(site: Option<&CSite>, number: $number) {
            if let Some(site) = site {
                $unchecked(site, number);
            }
        }
    )*};
}

take_numbers! {
    /// Adds an amount to a counter.
    tickscope_count, tickscope_count_, u64, __private::count;

    /// Records a number for a value.
    tickscope_value, tickscope_value_, u64, __private::value;

    /// Sets the level of a gauge.
    tickscope_gauge, tickscope_gauge_, i64, __private::gauge;
}

/// Handles the first call at a call site, which creates the site.
#[cold]
#[inline(never)]
fn first(site: &CSite, then: fn(&'static Site) -> Option<Open>) -> Option<Open> {
    then(site.meet()?)
}

/// Like [`first`], for an operation that takes a number.
#[cold]
#[inline(never)]
fn first_number<T>(site: &CSite, number: T, then: fn(&'static Site, T)) {
    if let Some(site) = site.meet() {
        then(site, number);
    }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;

    /// `tests/programs/every.c` checks the same layout in the header.
    #[test]
    fn a_site_is_laid_out_as_in_the_header() {
        assert_eq!((size_of::<CSite>(), offset_of!(CSite, made)), (40, 32));
        assert_eq!((offset_of!(CSite, name), offset_of!(CSite, file)), (0, 8));
        assert_eq!((offset_of!(CSite, group), offset_of!(CSite, line)), (16, 24));
        assert_eq!(offset_of!(CSite, kind), 28);
    }
}
