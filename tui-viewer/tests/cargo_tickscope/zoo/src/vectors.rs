//! Functions that pass arguments and results in vector registers, including the upper halves of the registers.

use std::arch::x86_64::{
    __m256i, _mm256_add_epi64, _mm256_extract_epi64, _mm256_set_epi64x, _mm256_set1_epi64x,
};
use std::hint::black_box;

#[inline(never)]
#[target_feature(enable = "avx2")]
#[allow(improper_ctypes_definitions)]
extern "C" fn add(a: __m256i, b: __m256i, c: __m256i, d: __m256i) -> __m256i {
    let sum = _mm256_add_epi64(_mm256_add_epi64(a, b), _mm256_add_epi64(c, d));
    black_box(sum)
}

#[inline(never)]
#[target_feature(enable = "avx2")]
fn sums() -> u64 {
    let mut sum = _mm256_set1_epi64x(0);
    for n in 0..10 {
        let n = black_box(n);
        let lanes = _mm256_set_epi64x(n, n + 1, n + 2, n + 3);
        sum = add(sum, lanes, _mm256_set1_epi64x(n), lanes);
    }
    (_mm256_extract_epi64::<0>(sum)
        + _mm256_extract_epi64::<1>(sum)
        + _mm256_extract_epi64::<2>(sum)
        + _mm256_extract_epi64::<3>(sum)) as u64
}

#[inline(never)]
fn floats(a: f64, b: f32, c: f64, d: f32, e: f64, f: f32, g: f64, h: f32) -> f64 {
    black_box(a) + f64::from(b) + c + f64::from(d) + e + f64::from(f) + g + f64::from(h)
}

#[inline(never)]
pub fn act() -> u64 {
    let sum = floats(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0) as u64;
    if std::is_x86_feature_detected!("avx2") {
        // SAFETY: the CPU has AVX2.
        unsafe { sums() + u64::from(sum != 36) }
    } else {
        660
    }
}
