//! Evaluates a polynomial with fixed coefficients.

use pulp::Simd;

/// Σ `coefficients[i]`·xⁱ, N ≥ 1, as a polynomial in x⁴ whose coefficients are cubics: the chain of
/// dependent products is a third as long as Horner's, so that neighbouring vectors overlap.
#[inline(always)]
pub(super) fn evaluate_polynomial<S: Simd, const N: usize>(
    simd: S,
    x: S::f64s,
    coefficients: &[f64; N],
) -> S::f64s {
    let square = simd.mul_f64s(x, x);
    let fourth = simd.mul_f64s(square, square);
    let mut start = (N - 1) / 4 * 4;
    let mut sum = evaluate_cubic(simd, x, square, &coefficients[start..]);
    while start > 0 {
        start -= 4;
        let part = evaluate_cubic(simd, x, square, &coefficients[start..start + 4]);
        sum = simd.mul_add_e_f64s(sum, fourth, part);
    }
    sum
}

/// Σ cᵢ·xⁱ of at most four terms.
#[inline(always)]
fn evaluate_cubic<S: Simd>(simd: S, x: S::f64s, square: S::f64s, c: &[f64]) -> S::f64s {
    match *c {
        [a] => simd.splat_f64s(a),
        [a, b] => evaluate_line(simd, x, a, b),
        [a, b, c] => simd.mul_add_e_f64s(simd.splat_f64s(c), square, evaluate_line(simd, x, a, b)),
        [a, b, c, d] => simd.mul_add_e_f64s(
            evaluate_line(simd, x, c, d),
            square,
            evaluate_line(simd, x, a, b),
        ),
        _ => unreachable!("a cubic has one to four coefficients"),
    }
}

#[inline(always)]
fn evaluate_line<S: Simd>(simd: S, x: S::f64s, a: f64, b: f64) -> S::f64s {
    simd.mul_add_e_f64s(simd.splat_f64s(b), x, simd.splat_f64s(a))
}
