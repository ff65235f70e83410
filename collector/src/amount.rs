//! What `count!` adds: numbers that are never below zero and fit into 64 bits.

/// A number that [`count!`](crate::count!) adds: `u8`, `u16`, `u32`, `u64`, `usize`, or a `bool`, which is 0 or 1.
/// None of them loses anything; what may be negative is to be converted by whoever counts it.
#[diagnostic::on_unimplemented(
    message = "`count!` adds unsigned numbers of at most 64 bits, and `{Self}` is none",
    label = "expected `u64`, `usize`, `u32`, `u16`, `u8` or `bool`"
)]
pub trait Amount {
    /// The number.
    fn amount(self) -> u64;
}

/// What the standard library converts.
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
        // No target has wider addresses.
        self as u64
    }
}
