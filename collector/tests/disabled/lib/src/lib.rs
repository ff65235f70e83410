//! A library that uses tickscope and leaves it to the application to enable measuring.

pub mod user;

/// The same work without scopes and with scopes. Without the feature `enable` both compile to the same instructions.
pub mod pair {
    use std::hint::black_box;

    #[inline(never)]
    #[unsafe(no_mangle)]
    pub fn pair_plain(values: &[u64]) -> u64 {
        let mut sum = 0u64;
        for value in values {
            sum = black_box(sum.rotate_left(7) ^ step_plain(*value));
        }
        sum
    }

    fn step_plain(value: u64) -> u64 {
        value.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    #[tickscope::profile]
    #[inline(never)]
    #[unsafe(no_mangle)]
    pub fn pair_scoped(values: &[u64]) -> u64 {
        tickscope::scope!("whole");
        let mut sum = 0u64;
        for value in values {
            tickscope::scope!();
            let _pause = tickscope::pause();
            let guard = tickscope::scope_guard!("guarded");
            sum = tickscope::time!("expression", black_box(sum.rotate_left(7) ^ step_scoped(*value)));
            drop(guard);
            tickscope::count!("counted");
            tickscope::count!("sum", sum);
        }
        sum
    }

    #[tickscope::profile(name = "step")]
    fn step_scoped(value: u64) -> u64 {
        value.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}
