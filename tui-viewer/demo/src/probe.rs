//! What a scope costs the tracer: something or nothing, decided at compile time.

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

/// To the end of the block: a scope, if the probe opens any.
#[macro_export]
macro_rules! probe {
    ($probe:ty, $name:literal) => {
        let _scope = <$probe as $crate::Probe>::begin($name, || tickscope::scope_guard!($name));
    };
}
