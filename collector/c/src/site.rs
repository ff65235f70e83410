//! Scopes and counters: each place in the source has a `tickscope_site`, which leads to its site once it was met.

use std::ffi::c_char;
use std::sync::atomic::{AtomicPtr, Ordering};

use tickscope::__private::foreign::{self, Kind, Open, Place};
use tickscope::__private::{self, Site};

use crate::name;
use crate::text::of_constant;

/// `tickscope_site` of the header: a static variable at each call site.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct CSite {
    /// Its name, or that of the function as the compiler prints it.
    name: *const c_char,
    file: *const c_char,
    group: *const c_char,
    line: u32,
    kind: u32,
    /// Null until it is met.
    made: AtomicPtr<Site>,
}

// SAFETY: the texts are constants, and the rest is a number or an atomic.
unsafe impl Sync for CSite {}

/// The name is that of a function.
const FUNCTION: u32 = 16;

impl CSite {
    /// Returns the site, which is made at the first call.
    #[inline(always)]
    fn get(&self) -> Option<&'static Site> {
        // SAFETY: the pointer is null, or `meet` made it from a reference that lives for ever. SYNC POINT: the site before it.
        match unsafe { self.made.load(Ordering::Acquire).as_ref() } {
            Some(site) => Some(site),
            None => self.meet(),
        }
    }

    #[cold]
    #[inline(never)]
    fn meet(&self) -> Option<&'static Site> {
        let kind = match self.kind & !FUNCTION {
            1 => Kind::WatchedScope,
            2 => Kind::Counter,
            3 => Kind::Value,
            4 => Kind::Gauge,
            _ => Kind::Scope,
        };
        let (given, file) = (of_constant(self.name), of_constant(self.file));
        let place = Place {
            name: if self.kind & FUNCTION == 0 {
                given
            } else {
                name::of_function(given)
            },
            module: name::of_file(file),
            file,
            line: self.line,
            group: of_constant(self.group),
        };
        let made = std::ptr::from_ref(foreign::site(kind, &place)?).cast_mut();
        let none = std::ptr::null_mut();
        // SYNC POINT: the site before the pointer to it. Two threads may meet it at once; the first one's is taken.
        let there = self
            .made
            .compare_exchange(none, made, Ordering::AcqRel, Ordering::Acquire);
        // SAFETY: what is there was made from a reference that lives for ever.
        unsafe { there.err().unwrap_or(made).as_ref() }
    }
}

/// Opens a scope.
#[unsafe(no_mangle)]
extern "C" fn tickscope_enter(site: &CSite) -> Option<Open> {
    foreign::enter(site.get()?)
}

/// Ends a scope.
#[unsafe(no_mangle)]
extern "C" fn tickscope_leave(scope: Option<Open>) {
    if let Some(scope) = scope {
        foreign::leave(scope);
    }
}

/// Adds to a counter.
#[unsafe(no_mangle)]
extern "C" fn tickscope_count(site: &CSite, amount: u64) {
    if let Some(site) = site.get() {
        __private::count(site, amount);
    }
}

/// Keeps a number.
#[unsafe(no_mangle)]
extern "C" fn tickscope_value(site: &CSite, number: u64) {
    if let Some(site) = site.get() {
        __private::value(site, number);
    }
}

/// Sets a level.
#[unsafe(no_mangle)]
extern "C" fn tickscope_gauge(site: &CSite, level: i64) {
    if let Some(site) = site.get() {
        __private::gauge(site, level);
    }
}
