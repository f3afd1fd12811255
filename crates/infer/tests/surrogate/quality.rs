//! Predicted quality compared with the exact divergence in models with a closed form.

use lehr_density::Density;
use lehr_infer::expansion::Mode;
use lehr_infer::surrogate::{RowSurrogate, Taylor, predicted_quality};

use crate::proposition::{determinant, inverse, multiply, trace};
use crate::{Likelihood, WIDTH, rich, some_mode, starts};

const LIKELIHOOD: Likelihood = Likelihood::Linear;
const PRIOR_PRECISION: f64 = 1.0 / (1.5 * 1.5);

/// A Gaussian posterior by its mean and precision.
struct Posterior {
    mean: Vec<f64>,
    precision: Vec<f64>,
}

/// The exact posterior of the linear regression with weighted rows.
fn posterior(density: &dyn Density, weights: &[f64]) -> Posterior {
    let at_zero = LIKELIHOOD.expansion(density, &[0.0; WIDTH], weights);
    let mut precision: Vec<f64> = at_zero.hessian.iter().map(|h| -h).collect();
    (0..WIDTH).for_each(|i| precision[i * WIDTH + i] += PRIOR_PRECISION);
    let mean = multiply(&inverse(&precision, WIDTH), &at_zero.gradient, WIDTH);
    Posterior { mean, precision }
}

/// KL(a ‖ b) of two Gaussians.
fn divergence(a: &Posterior, b: &Posterior) -> f64 {
    let ratio = multiply(&b.precision, &inverse(&a.precision, WIDTH), WIDTH);
    let apart: Vec<f64> = a.mean.iter().zip(&b.mean).map(|(a, b)| a - b).collect();
    let pulled = multiply(&b.precision, &apart, WIDTH);
    let distance: f64 = apart.iter().zip(&pulled).map(|(a, b)| a * b).sum();
    let log_ratio = determinant(&ratio, WIDTH).ln();
    0.5 * (trace(&ratio, WIDTH) - WIDTH as f64 - log_ratio + distance)
}

#[test]
fn predicted_quality_is_the_divergence_of_nearly_right_weights() {
    let density = LIKELIHOOD.bind(40, 12);
    let rows: Vec<usize> = (0..40).collect();
    let exact = posterior(&density, &[1.0; 40]);
    let mode = LIKELIHOOD.mode(&density, &exact.mean);
    for size in [1e-2, 1e-3] {
        let wave = |n: &usize| 1.0 + size * (1.7 * *n as f64).sin() + 0.3 * size;
        let weights: Vec<f64> = rows.iter().map(wave).collect();
        let surrogate = RowSurrogate::with_weights(&density, &rows, &weights);
        let learned = starts(&density, &surrogate);
        let quality = predicted_quality(&density, &surrogate, &learned, &mode).unwrap();
        let truth = divergence(&posterior(&density, &weights), &exact);
        let error = (quality.divergence() / truth - 1.0).abs();
        assert!(error < 3.0 * size, "{quality:?} for {truth}");
        assert!(quality.curvature > 0.1 * truth && quality.shift > 0.1 * truth);
    }
}

#[test]
fn taylor_is_predicted_to_be_exact() {
    let density = LIKELIHOOD.bind(40, 12);
    let mode = LIKELIHOOD.mode(&density, &posterior(&density, &[1.0; 40]).mean);
    let rows = [1, 5, 9];
    let random = RowSurrogate::on_rows(&density, &rows);
    let taylor = Taylor::on_rows(&density, &rows, &mode);
    let quality = |mode: &Mode| {
        let of = |surrogate: &dyn lehr_infer::surrogate::Surrogate| {
            let learned = starts(&density, surrogate);
            predicted_quality(&density, surrogate, &learned, mode).unwrap()
        };
        (of(&random).divergence(), of(&taylor).divergence())
    };
    let (of_random, of_taylor) = quality(&mode);
    assert!(
        of_random > 0.5 && of_taylor < 1e-20,
        "{of_random} {of_taylor}"
    );
    let diagonal = Mode {
        hessian: mode.diagonal(),
        ..mode
    };
    let (of_random, of_taylor) = quality(&diagonal);
    assert!(
        of_random > 0.1 && of_taylor < 1e-20,
        "{of_random} {of_taylor}"
    );
}

#[test]
fn parameters_are_those_of_the_mode() {
    let density = rich(14);
    let mut mode = some_mode(&density);
    mode.params[0] += 0.3;
    let taylor = Taylor::on_rows(&density, &[1, 5, 9], &mode);
    let learned = starts(&density, &taylor);
    let quality = predicted_quality(&density, &taylor, &learned, &mode).unwrap();
    assert!(quality.divergence() < 1e-20, "{quality:?}");
}
