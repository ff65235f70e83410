//! What a scope costs the tracer: something or nothing, decided at compile time.

use std::hint::black_box;

/// Opens the scopes of the tracer's functions, or does not.
pub trait Probe: 'static {
    /// What lives as long as the scope.
    type Guard;

    /// A function called `name` begins; `open` opens its scope.
    fn begin(name: &'static str, open: impl FnOnce() -> tickscope::Scope) -> Self::Guard;
}

/// Opens tickscope scopes.
#[derive(Clone, Copy, Debug)]
pub struct Scoped;

/// Opens nothing: the same program without a profiler.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

impl Probe for Scoped {
    type Guard = tickscope::Scope;

    #[inline(always)]
    fn begin(_: &'static str, open: impl FnOnce() -> tickscope::Scope) -> tickscope::Scope {
        open()
    }
}

impl Probe for Plain {
    type Guard = ();

    #[inline(always)]
    fn begin(_: &'static str, _: impl FnOnce() -> tickscope::Scope) {}
}

/// Reads the time stamp counter at the beginning and the end, and forgets what it read: the floor of what a scope costs.
#[derive(Clone, Copy, Debug)]
pub struct Floor;

/// Reads the clock when it goes.
#[derive(Debug)]
pub struct Read;

impl Probe for Floor {
    type Guard = Read;

    #[inline(always)]
    fn begin(_: &'static str, _: impl FnOnce() -> tickscope::Scope) -> Read {
        black_box(tickscope::__private::tsc());
        Read
    }
}

impl Drop for Read {
    #[inline(always)]
    fn drop(&mut self) {
        black_box(tickscope::__private::tsc());
    }
}

/// To the end of the block: a scope, if the probe opens any.
#[macro_export]
macro_rules! probe {
    ($probe:ty, $name:literal) => {
        let _scope = <$probe as $crate::Probe>::begin($name, || tickscope::scope_guard!($name));
    };
}
