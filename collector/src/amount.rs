//! The numbers that `count!`, `value!` and `gauge!` take.

/// A number that [`count!`](crate::count!) adds or [`value!`](crate::value!) takes: any integer, or a `bool`, which is 0 or 1. It
/// becomes a `u64`: a number below zero becomes 0, and a number above the largest `u64` becomes the largest `u64`.
///
/// Convert a number that is not an integer to a smaller unit:
///
/// ```
/// let seconds = 0.75;
/// tickscope::value!("delay ms", (seconds * 1000.0) as u64);
/// ```
#[diagnostic::on_unimplemented(
    message = "`count!` and `value!` take integers, and `{Self}` is not one of them",
    label = "expected an integer or `bool`"
)]
pub trait Amount {
    /// Returns the amount as a `u64`.
    fn amount(self) -> u64;
}

/// A number that [`gauge!`](crate::gauge!) can be set to: any integer, or a `bool`, which is 0 or 1. It becomes an `i64`: a
/// number outside the range of `i64` becomes the nearest number in that range.
///
/// Convert a level that is not an integer to a smaller unit:
///
/// ```
/// let load = 0.75;
/// tickscope::gauge!("load in permille", (load * 1000.0) as i64);
/// ```
#[diagnostic::on_unimplemented(
    message = "`gauge!` takes integers, and `{Self}` is not one of them",
    label = "expected an integer or `bool`"
)]
pub trait Level {
    /// Returns the level as an `i64`.
    fn level(self) -> i64;
}

macro_rules! integers {
    ($($integer:ty)*) => {
        $(
            impl Amount for $integer {
                #[inline(always)]
                fn amount(self) -> u64 {
                    u64::try_from(self.max(0)).unwrap_or(u64::MAX)
                }
            }

            impl Level for $integer {
                #[inline(always)]
                fn level(self) -> i64 {
                    i64::try_from(self).unwrap_or(if self > 0 { i64::MAX } else { i64::MIN })
                }
            }
        )*
    };
}

integers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

impl Amount for bool {
    #[inline(always)]
    fn amount(self) -> u64 {
        self.into()
    }
}

impl Level for bool {
    #[inline(always)]
    fn level(self) -> i64 {
        self.into()
    }
}

/// A literal in a macro's argument. If it has no suffix, calling `is_u64` or `is_i64` on it makes it a `u64` or an
/// `i64`, because the compiler finds the methods of `Literal` before the methods of `OfAnyType`.
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

/// Provides the same methods for literals of all other types.
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

#[cfg(test)]
mod tests {
    use super::{Amount, Level};

    #[test]
    fn what_does_not_fit_is_taken_as_the_nearest() {
        let amounts = [
            true.amount(),
            7u8.amount(),
            (-1i8).amount(),
            i64::MIN.amount(),
            usize::MAX.amount(),
        ];
        assert_eq!(amounts, [1, 7, 0, 0, u64::MAX]);
        assert_eq!(
            [u128::MAX.amount(), i128::MAX.amount(), i128::MIN.amount()],
            [u64::MAX, u64::MAX, 0]
        );
        let levels = [
            true.level(),
            (-1i8).level(),
            i64::MIN.level(),
            u64::MAX.level(),
            isize::MIN.level(),
        ];
        assert_eq!(levels, [1, -1, i64::MIN, i64::MAX, i64::MIN]);
        assert_eq!(
            [u128::MAX.level(), i128::MAX.level(), i128::MIN.level()],
            [i64::MAX, i64::MAX, i64::MIN]
        );
    }
}
