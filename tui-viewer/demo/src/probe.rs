//! Compiles the tracer with scopes or without them.

/// Decides at compile time whether the tracer's functions open scopes.
pub trait Probe: 'static {
    /// The guard of a scope.
    type Guard;

    /// Called at the start of the function `name`. Calling `open` opens the function's scope.
    fn begin(name: &'static str, open: impl FnOnce() -> tickscope::Scope) -> Self::Guard;
}

/// Opens tickscope scopes.
#[derive(Clone, Copy, Debug)]
pub struct Scoped;

/// Opens no scopes, so that the compiled code is the same as without a profiler.
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

/// Opens a scope that lasts until the end of the block, if the probe opens scopes.
#[macro_export]
macro_rules! probe {
    ($probe:ty, $name:literal) => {
        let _scope = <$probe as $crate::Probe>::begin($name, || tickscope::scope_guard!($name));
    };
}
