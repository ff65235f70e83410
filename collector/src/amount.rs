//! The amounts that `count!` adds: numbers that are never negative and fit into 64 bits.

/// A number that [`count!`](crate::count!) adds: `u8`, `u16`, `u32`, `u64`, `usize`, or a `bool`, which is 0 or 1.
///
/// Only types that convert to `u64` without loss implement it. Convert signed numbers in the call:
///
/// ```
/// # fn read(_: &mut [u8]) -> isize { 3 }
/// let read = read(&mut [0; 16]);
/// tickscope::count!("bytes", read.unsigned_abs());
/// ```
#[diagnostic::on_unimplemented(
    message = "`count!` adds unsigned numbers of at most 64 bits, and `{Self}` is not one of them",
    label = "expected `u64`, `usize`, `u32`, `u16`, `u8` or `bool`"
)]
pub trait Amount {
    /// Returns the number.
    fn amount(self) -> u64;
}

/// Implements the trait for types that the standard library converts.
macro_rules! lossless {
    ($($number:ty),*) => {
        $(impl Amount for $number {
            #[inline(always)]
            fn amount(self) -> u64 {
                u64::from(self)
            }
        })*
    };
}

lossless!(bool, u8, u16, u32, u64);

impl Amount for usize {
    #[inline(always)]
    fn amount(self) -> u64 {
        // No target has addresses of more than 64 bits.
        self as u64
    }
}
