//! The numbers that `count!`, `value!` and `gauge!` take.

/// A number that [`count!`](crate::count!) adds or [`value!`](crate::value!) takes: `u8`, `u16`, `u32`, `u64`, `usize`,
/// or a `bool`, which is 0 or 1.
///
/// Only types that convert to `u64` without loss implement it. Convert signed numbers in the call:
///
/// ```
/// # fn read(_: &mut [u8]) -> isize { 3 }
/// let read = read(&mut [0; 16]);
/// tickscope::count!("bytes", read.unsigned_abs());
/// ```
#[diagnostic::on_unimplemented(
    message = "`count!` and `value!` take unsigned numbers of at most 64 bits, and `{Self}` is not one of them",
    label = "expected `u64`, `usize`, `u32`, `u16`, `u8` or `bool`"
)]
pub trait Amount {
    /// Returns the number.
    fn amount(self) -> u64;
}

/// A number to which [`gauge!`](crate::gauge!) sets a level: any integer of at most 64 bits, or a `bool`, which is 0 or
/// 1. A level is an `i64`; `u64` and `usize` above its largest value are taken as that.
///
/// A level that is no integer goes into a smaller unit:
///
/// ```
/// let load = 0.75;
/// tickscope::gauge!("load in permille", (load * 1000.0) as i64);
/// ```
#[diagnostic::on_unimplemented(
    message = "`gauge!` takes integers of at most 64 bits, and `{Self}` is not one of them",
    label = "expected an integer or `bool`"
)]
pub trait Level {
    /// Returns the number.
    fn level(self) -> i64;
}

/// Implements the traits for types that the standard library converts.
macro_rules! lossless {
    ($of:ident, $method:ident, $to:ty, $($number:ty),*) => {
        $(impl $of for $number {
            #[inline(always)]
            fn $method(self) -> $to {
                <$to>::from(self)
            }
        })*
    };
}

lossless!(Amount, amount, u64, bool, u8, u16, u32, u64);
lossless!(Level, level, i64, bool, u8, u16, u32, i8, i16, i32, i64);

impl Level for u64 {
    #[inline(always)]
    fn level(self) -> i64 {
        i64::try_from(self).unwrap_or(i64::MAX)
    }
}

impl Level for usize {
    #[inline(always)]
    fn level(self) -> i64 {
        (self as u64).level()
    }
}

impl Level for isize {
    #[inline(always)]
    fn level(self) -> i64 {
        // No target has addresses of more than 64 bits.
        self as i64
    }
}

impl Amount for usize {
    #[inline(always)]
    fn amount(self) -> u64 {
        // No target has addresses of more than 64 bits.
        self as u64
    }
}

/// A literal in a macro. Where its type is open it becomes that of the method, because the methods of this type are looked at
/// before those of `OfAnyType`.
#[derive(Debug)]
pub struct Literal<'a, T>(pub &'a T);

impl Literal<'_, u64> {
    /// Does nothing.
    #[inline(always)]
    pub fn is_u64(self) {}
}

impl Literal<'_, i64> {
    /// Does nothing.
    #[inline(always)]
    pub fn is_i64(self) {}
}

/// What a literal is that has another type.
#[derive(Debug)]
pub struct OfAnyType;

impl<T> std::ops::Deref for Literal<'_, T> {
    type Target = OfAnyType;

    #[inline(always)]
    fn deref(&self) -> &OfAnyType {
        &OfAnyType
    }
}

impl OfAnyType {
    /// Does nothing.
    #[inline(always)]
    pub fn is_u64(&self) {}

    /// Does nothing.
    #[inline(always)]
    pub fn is_i64(&self) {}
}
