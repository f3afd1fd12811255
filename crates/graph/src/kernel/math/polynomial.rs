//! Evaluates a polynomial with fixed coefficients.

use pulp::Simd;

/// Σ `coefficients[i]`·xⁱ, even and odd powers apart: two short chains of products overlap where
/// one long chain would wait for itself.
#[inline(always)]
pub(super) fn polynomial<S: Simd, const N: usize>(
    simd: S,
    x: S::f64s,
    coefficients: &[f64; N],
) -> S::f64s {
    let square = simd.mul_f64s(x, x);
    let mut leading = simd.splat_f64s(coefficients[N - 1]);
    let mut other = simd.splat_f64s(coefficients[N - 2]);
    let mut i = N - 2;
    while i >= 2 {
        leading = simd.mul_add_e_f64s(leading, square, simd.splat_f64s(coefficients[i - 1]));
        other = simd.mul_add_e_f64s(other, square, simd.splat_f64s(coefficients[i - 2]));
        i -= 2;
    }
    if i == 1 {
        leading = simd.mul_add_e_f64s(leading, square, simd.splat_f64s(coefficients[0]));
        return simd.mul_add_e_f64s(other, x, leading);
    }
    simd.mul_add_e_f64s(leading, x, other)
}
