//! What a scope costs the tracer: something or nothing, decided at compile time.

/// One method for each function of the tracer that is measured; it runs the function's body.
///
/// A body and not a guard: `scope!` belongs to a block, and a call site of its own per name is what makes
/// six rows in the tree instead of one.
pub trait Probe: 'static {
    /// A sphere and all that grows on it.
    fn create<R>(body: impl FnOnce() -> R) -> R;
    /// The frame of axes around a sphere that has children.
    fn basis<R>(body: impl FnOnce() -> R) -> R;
    /// The brightness along one ray.
    fn ray_trace<R>(body: impl FnOnce() -> R) -> R;
    /// The nearest sphere along a ray from the camera.
    fn intersect_primary<R>(body: impl FnOnce() -> R) -> R;
    /// Any sphere between a lit point and the light.
    fn intersect_shadow<R>(body: impl FnOnce() -> R) -> R;
    /// One thread's share of a frame.
    fn worker<R>(body: impl FnOnce() -> R) -> R;
}

/// Opens tickscope scopes.
#[derive(Clone, Copy, Debug)]
pub struct Scoped;

/// Opens nothing: the same program without a profiler.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

/// Both probes from one list, so that neither can have a function the other lacks.
macro_rules! probes {
    ($($function:ident)*) => {
        impl Probe for Scoped {
            $(#[inline(always)]
            fn $function<R>(body: impl FnOnce() -> R) -> R {
                tickscope::scope!(stringify!($function));
                body()
            })*
        }

        impl Probe for Plain {
            $(#[inline(always)]
            fn $function<R>(body: impl FnOnce() -> R) -> R {
                body()
            })*
        }
    };
}

probes! { create basis ray_trace intersect_primary intersect_shadow worker }
