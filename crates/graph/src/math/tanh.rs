//! The hyperbolic tangent.

use super::choose::choose_lanes;
use super::exp::{Power, power};
use super::exponent::{power_of_two, power_origin};
use pulp::Simd;

/// Beyond this magnitude the tangent rounds to one.
const ONE_ABOVE: f64 = 25.0;

/// tanh x = −(e^−2|x| − 1)/(e^−2|x| + 1) with the sign of x. Both sums come from the same reduced
/// exponential 2ⁿ(1 + excess), so neither cancels.
#[inline(always)]
pub fn tanh<S: Simd>(simd: S, x: S::f64s) -> S::f64s {
    let one = simd.splat_f64s(1.0);
    let highest = simd.splat_f64s(ONE_ABOVE);
    let size = simd.abs_f64s(x);
    let size = choose_lanes(simd, simd.greater_than_f64s(size, highest), highest, size);
    let Power { n, excess } = power(simd, simd.mul_f64s(size, simd.splat_f64s(-2.0)));
    let scale = power_of_two(simd, n, simd.splat_f64s(power_origin(0.0)));
    let above = simd.mul_add_e_f64s(scale, excess, simd.sub_f64s(scale, one));
    let below = simd.mul_add_e_f64s(scale, excess, simd.add_f64s(scale, one));
    let ratio = simd.abs_f64s(simd.div_f64s(above, below));
    simd.or_f64s(ratio, simd.and_f64s(x, simd.splat_f64s(-0.0)))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{self, Pair, both_signs, even_grid, ladder};
    use super::super::testing::{on_every_set, worst_error};
    use super::tanh;

    #[test]
    fn tanh_is_within_nine_quarters_of_an_ulp() {
        let mut x = even_grid(-30.0, 30.0, 100_000);
        x.extend(even_grid(-1.0, 1.0, 100_000));
        x.extend(both_signs(ladder(1e-280, 30.0, 20_000)));
        let (error, at) = worst_error(&x, &on_every_set!(tanh, &x), |x| {
            let excess = testing::expm1(2.0 * x);
            (excess.over(excess.plus(Pair(2.0, 0.0))), 0)
        });
        assert!(error <= 2.25, "{error} ulp at {at:e}");
    }

    #[test]
    fn tanh_keeps_signed_zero_subnormals_and_infinity() {
        let inf = f64::INFINITY;
        for got in on_every_set!(tanh, &[inf, -inf, 1e300, -25.5, 400.0]) {
            assert_eq!(got, [1.0, -1.0, 1.0, -1.0, 1.0]);
        }
        for got in on_every_set!(tanh, &[f64::NAN, -f64::NAN]) {
            assert!(got.iter().all(|y| y.is_nan()));
        }
        let mut same = both_signs(ladder(f64::from_bits(1), 1e-17, 1_000));
        same.extend([0.0, -0.0]);
        for got in on_every_set!(tanh, &same) {
            assert!(
                got.iter()
                    .zip(&same)
                    .all(|(y, x)| y.to_bits() == x.to_bits())
            );
        }
    }
}
