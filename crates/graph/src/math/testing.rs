//! Exact values to test the vector functions: arithmetic on pairs of doubles, 106 bits wide.

use std::f64::consts::{LN_2, LOG2_E};

const LN_2_REST: f64 = 2.319_046_813_846_299_6e-17;

/// The unevaluated sum of two doubles, the second below half an ulp of the first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair(pub(super) f64, pub(super) f64);

impl Pair {
    pub(super) fn of_sum(a: f64, b: f64) -> Self {
        let sum = a + b;
        let taken = sum - a;
        Pair(sum, (a - (sum - taken)) + (b - taken))
    }

    pub(super) fn plus(self, other: Self) -> Self {
        let high = Self::of_sum(self.0, other.0);
        let low = Self::of_sum(self.1, other.1);
        let sum = Self::of_sum(high.0, high.1 + low.0);
        Self::of_sum(sum.0, sum.1 + low.1)
    }

    pub(super) fn times(self, other: Self) -> Self {
        let high = self.0 * other.0;
        let low = self.0.mul_add(other.0, -high);
        Self::of_sum(high, low + (self.0 * other.1 + self.1 * other.0))
    }

    pub(super) fn over(self, other: Self) -> Self {
        let first = Pair(self.0 / other.0, 0.0);
        let rest = self.plus(first.times(other).negated());
        let second = Pair(rest.0 / other.0, 0.0);
        let rest = rest.plus(second.times(other).negated());
        first.plus(second).plus(Pair(rest.0 / other.0, 0.0))
    }

    pub(super) fn negated(self) -> Self {
        Pair(-self.0, -self.1)
    }

    /// Times 2ⁿ, exact wherever the result is normal.
    pub(super) fn scaled(self, n: i32) -> Self {
        let half = 2.0_f64.powi(n / 2);
        let other = 2.0_f64.powi(n - n / 2);
        Pair(self.0 * half * other, self.1 * half * other)
    }
}

pub(super) const ONE: Pair = Pair(1.0, 0.0);

/// n and eʳ − 1 with x = n ln 2 + r.
fn reduce_argument(x: Pair) -> (i32, Pair) {
    let n = (x.0 * LOG2_E).round();
    let r = x.plus(Pair(LN_2, LN_2_REST).times(Pair(-n, 0.0)));
    let mut sum = ONE;
    for k in (2..27).rev() {
        sum = ONE.plus(sum.times(r).over(Pair(f64::from(k), 0.0)));
    }
    (n as i32, sum.times(r))
}

/// 2^shift·eˣ.
pub(super) fn exp(x: f64, shift: i32) -> Pair {
    let (n, excess) = reduce_argument(Pair(x, 0.0));
    ONE.plus(excess).scaled(n + shift)
}

/// eˣ − 1.
pub(super) fn expm1(x: f64) -> Pair {
    let (n, excess) = reduce_argument(Pair(x, 0.0));
    if n == 0 {
        return excess;
    }
    ONE.plus(excess).scaled(n).plus(ONE.negated())
}

/// ln(1 + x) for |x| < 2⁻²⁰.
fn log1p_series(x: Pair) -> Pair {
    let mut sum = Pair(0.0, 0.0);
    for k in (1..8).rev() {
        sum = ONE
            .over(Pair(f64::from(k), 0.0))
            .plus(sum.times(x).negated());
    }
    sum.times(x)
}

/// ln x by one step of Newton's method from the double nearest to it.
pub(super) fn ln(x: Pair) -> Pair {
    let distance = x.plus(ONE.negated());
    if distance.0.abs() < 1e-6 {
        return log1p_series(distance);
    }
    let guess = x.0.ln();
    let (n, excess) = reduce_argument(Pair(-guess, 0.0));
    let ratio = ONE.plus(excess).times(x.scaled(n));
    Pair(guess, 0.0).plus(log1p_series(ratio.plus(ONE.negated())))
}

/// ln(1 + x).
pub(super) fn log1p(x: Pair) -> Pair {
    if x.0.abs() < 1e-6 {
        return log1p_series(x);
    }
    ln(ONE.plus(x))
}

/// The distance of `got` from `exact`/2^shift, in units of the last place of `got`.
fn ulps(got: f64, exact: Pair, shift: i32) -> f64 {
    let size = got.abs().max(f64::MIN_POSITIVE);
    let place = Pair(size.next_up() - size, 0.0).scaled(shift).0;
    let difference = Pair(got, 0.0).scaled(shift).plus(exact.negated());
    (difference.0 / place).abs()
}

/// `count` numbers from `low` to `high`, equally far apart.
pub(super) fn even_grid(low: f64, high: f64, count: u32) -> Vec<f64> {
    let step = (high - low) / f64::from(count);
    (0..=count).map(|i| low + step * f64::from(i)).collect()
}

/// `count` positive numbers from `low` to `high`, equally many per power of two, with varied last
/// bits.
pub(super) fn ladder(low: f64, high: f64, count: u64) -> Vec<f64> {
    let (low, high) = (low.to_bits(), high.to_bits());
    let step = (high - low) / count;
    (0..=count)
        .map(|i| f64::from_bits(low + step * i))
        .collect()
}

/// The numbers and their negatives.
pub(super) fn both_signs(mut numbers: Vec<f64>) -> Vec<f64> {
    let negatives: Vec<f64> = numbers.iter().map(|x| -x).collect();
    numbers.extend(negatives);
    numbers
}

/// The largest error in ulps among the results of all instruction sets at `x`, and its place.
/// `exact` gives the value times 2^shift, and the shift.
pub(super) fn worst_error(
    x: &[f64],
    sets: &[Vec<f64>],
    exact: impl Fn(f64) -> (Pair, i32),
) -> (f64, f64) {
    let mut worst = (0.0, f64::NAN);
    for (i, &x) in x.iter().enumerate() {
        let (exact, shift) = exact(x);
        for got in sets.iter().map(|set| set[i]) {
            let error = ulps(got, exact, shift);
            assert!(!error.is_nan(), "no error can be told at {x:e}: {got:e}");
            if error > worst.0 {
                worst = (error, x);
            }
        }
    }
    worst
}

/// Applies a vector function with portable lanes, and with every instruction set of this machine.
macro_rules! on_every_set {
    ($function:expr, $x:expr) => {{
        struct Op<'a>(&'a [f64], &'a mut [f64]);
        impl pulp::WithSimd for Op<'_> {
            type Output = ();
            #[inline(always)]
            fn with_simd<S: pulp::Simd>(self, simd: S) {
                crate::math::map(
                    simd,
                    self.0,
                    self.1,
                    #[inline(always)]
                    |simd, x| $function(simd, x),
                );
            }
        }
        let x: &[f64] = $x;
        let mut portable = vec![f64::NAN; x.len()];
        pulp::WithSimd::with_simd(Op(x, &mut portable), pulp::Scalar256b);
        let mut results = vec![portable];
        let levels = crate::level::SimdLevel::all().into_iter();
        for arch in levels.filter_map(crate::level::SimdLevel::arch) {
            let mut own = vec![f64::NAN; x.len()];
            arch.dispatch(Op(x, &mut own));
            results.push(own);
        }
        results
    }};
}
pub(super) use on_every_set;
