//! Draws of single numbers that the families build on.

use rand::{Rng, RngExt};
use rand_distr::{Distribution as _, Exp1, Gamma, Poisson, StandardNormal};

/// A draw of N(0, 1).
pub(super) fn standard_normal(rng: &mut dyn Rng) -> f64 {
    StandardNormal.sample(rng)
}

/// A draw of the exponential distribution with rate 1.
pub(super) fn standard_exponential(rng: &mut dyn Rng) -> f64 {
    Exp1.sample(rng)
}

/// A number between 0 and 1, ends excluded.
pub(super) fn sample_uniform(rng: &mut dyn Rng) -> f64 {
    rand_distr::Open01.sample(rng)
}

/// −1 or 1.
pub(super) fn sample_sign(rng: &mut dyn Rng) -> f64 {
    if rng.random() { 1.0 } else { -1.0 }
}

/// The logarithm of a draw of Gamma(shape, 1), computed so that small shapes do not underflow.
pub(super) fn log_gamma(shape: f64, rng: &mut dyn Rng) -> f64 {
    // G(a) = G(a + 1) U^(1/a)
    if shape < 1.0 {
        let above = sample_gamma(shape + 1.0, rng).ln();
        return above - standard_exponential(rng) / shape;
    }
    sample_gamma(shape, rng).ln()
}

/// A draw of Gamma(shape, 1).
pub(super) fn sample_gamma(shape: f64, rng: &mut dyn Rng) -> f64 {
    match Gamma::new(shape, 1.0) {
        Ok(gamma) if shape.is_finite() => gamma.sample(rng),
        _ => f64::NAN,
    }
}

/// A draw of Beta(a, b), as a logit.
pub(super) fn beta_logit(a: f64, b: f64, rng: &mut dyn Rng) -> f64 {
    log_gamma(a, rng) - log_gamma(b, rng)
}

/// The number, clamped to the positive doubles in case of underflow or overflow.
pub(super) fn positive(x: f64) -> f64 {
    x.clamp(f64::MIN_POSITIVE, f64::MAX)
}

/// The number, rounded into the open unit interval.
pub(super) fn inside_unit(x: f64) -> f64 {
    x.clamp(f64::MIN_POSITIVE, 1.0 - 0.5 * f64::EPSILON)
}

/// 1/(1 + e^−logit).
pub(super) fn sigmoid(logit: f64) -> f64 {
    1.0 / (1.0 + (-logit).exp())
}

/// A draw of Student's t with `df` degrees of freedom.
pub(super) fn student_t(df: f64, rng: &mut dyn Rng) -> f64 {
    let normal = standard_normal(rng);
    normal * (0.5 * (df.ln() - std::f64::consts::LN_2 - log_gamma(0.5 * df, rng))).exp()
}

/// A draw of the standard Cauchy distribution.
pub(super) fn standard_cauchy(rng: &mut dyn Rng) -> f64 {
    (std::f64::consts::PI * (sample_uniform(rng) - 0.5)).tan()
}

/// A draw of the Poisson distribution; of its normal limit if counts exceed 2⁵³.
pub(super) fn sample_poisson(rate: f64, rng: &mut dyn Rng) -> f64 {
    if rate == 0.0 {
        return 0.0;
    }
    if rate > 1e16 {
        return (rate + rate.sqrt() * standard_normal(rng)).round();
    }
    Poisson::new(rate).map_or(f64::NAN, |poisson| poisson.sample(rng))
}

/// 1 with probability 1/(1 + e^−logit), else 0.
pub(super) fn sample_bernoulli(logit: f64, rng: &mut dyn Rng) -> f64 {
    let uniform: f64 = rng.random();
    if logit.is_nan() {
        return f64::NAN;
    }
    f64::from(uniform < sigmoid(logit))
}
