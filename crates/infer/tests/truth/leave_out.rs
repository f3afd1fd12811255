//! Rows left out of a linear regression with known noise, whose predictive density has a closed
//! form.

use lehr_infer::leave_one_out::{WeightedDraws, leave_each_out};

use crate::linear::{Gaussian, Linear, NOISE};
use crate::{estimate, normals};

const ROWS: usize = 60;
const WIDTH: usize = 3;
const DRAWS: usize = 1000;

/// Σ log p(yₙ | the other rows): N((ŷ − h y)/(1 − h), noise²/(1 − h)) with h = x·Σx/noise².
fn exact(linear: &Linear, posterior: &Gaussian) -> f64 {
    let row = |n: usize| {
        let x = |i: usize| linear.x[(n, i)];
        let fitted: f64 = (0..WIDTH).map(|i| x(i) * posterior.mean[(i, 0)]).sum();
        let pairs = (0..WIDTH).flat_map(|i| (0..WIDTH).map(move |j| (i, j)));
        let spread: f64 = pairs
            .map(|(i, j)| x(i) * posterior.covariance[(i, j)] * x(j))
            .sum();
        let h = spread / NOISE.powi(2);
        let y = linear.y[(n, 0)];
        let mean = (fitted - h * y) / (1.0 - h);
        let variance = NOISE.powi(2) / (1.0 - h);
        -0.5 * ((y - mean).powi(2) / variance + (std::f64::consts::TAU * variance).ln())
    };
    (0..ROWS).map(row).sum()
}

/// Draws from a Gaussian `width` times as wide as the posterior, and their weights.
fn drawn(posterior: &Gaussian, width: f64, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let factor = posterior.covariance.llt(faer::Side::Lower).unwrap();
    let noise = normals(DRAWS * WIDTH, seed);
    let (mut latents, mut weights) = (Vec::new(), Vec::new());
    for own in noise.chunks(WIDTH) {
        let step = |i: usize| -> f64 { (0..=i).map(|j| factor.L()[(i, j)] * own[j]).sum() };
        latents.extend((0..WIDTH).map(|i| posterior.mean[(i, 0)] + width * step(i)));
        let square: f64 = own.iter().map(|e| e * e).sum();
        weights.push((-0.5 * square * (width * width - 1.0)).exp());
    }
    let total: f64 = weights.iter().sum();
    for weight in &mut weights {
        *weight /= total;
    }
    (latents, weights)
}

#[test]
fn rows_left_out_are_predicted_as_the_closed_form_says() {
    let linear = Linear::new(ROWS, WIDTH, 5);
    let density = linear.bind();
    let posterior = linear.posterior();
    let truth = exact(&linear, &posterior);
    for width in [1.0, 1.4] {
        let totals: Vec<f64> = (0..8)
            .map(|seed| {
                let (latents, weights) = drawn(&posterior, width, 70 + seed);
                let draws = WeightedDraws {
                    latents: &latents,
                    params: &[],
                    weights: &weights,
                };
                let left = leave_each_out(&density, draws).unwrap();
                assert!(left.iter().all(|row| row.shape < 0.7 && row.elpd < row.lpd));
                left.iter().map(|row| row.elpd).sum()
            })
            .collect();
        let (mean, error) = estimate(&totals);
        assert!(error < 0.1, "{error}");
        assert!(
            (mean - truth).abs() < 4.0 * error,
            "{mean} ± {error}, exactly {truth}"
        );
    }
}
