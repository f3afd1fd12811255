//! Local latents without a closed-form integral, compared with simple sums over a fine grid.

use lehr_infer::local::IntegratedDensity;
use lehr_model::Model;
use lehr_model::distribution::{Binomial, HalfNormal, Normal, Poisson};

use crate::{apart, bind, found};

/// log ∫ N(w; 0, 1) e^f(scale·w) dw by 40,000 equal steps.
fn plain(scale: f64, f: impl Fn(f64) -> f64) -> f64 {
    const STEPS: usize = 40_000;
    let step = 24.0 / STEPS as f64;
    let terms: Vec<f64> = (0..=STEPS)
        .map(|k| {
            let w = k as f64 * step - 12.0;
            f(scale * w) - 0.5 * w * w
        })
        .collect();
    let largest = terms.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
    let sum: f64 = terms.iter().map(|term| (term - largest).exp()).sum();
    largest + (sum * step / std::f64::consts::TAU.sqrt()).ln()
}

/// Gradient and Hessian of a function of two numbers by central differences.
fn differences(f: impl Fn(f64, f64) -> f64, at: [f64; 2]) -> ([f64; 2], [f64; 4]) {
    let h = 2e-3;
    let g = |i: f64, j: f64| f(at[0] + i * h, at[1] + j * h);
    let here = g(0.0, 0.0);
    let mixed = (g(1.0, 1.0) - g(1.0, -1.0) - g(-1.0, 1.0) + g(-1.0, -1.0)) / (4.0 * h * h);
    let own = |a: f64, b: f64| (a - 2.0 * here + b) / (h * h);
    (
        [
            (g(1.0, 0.0) - g(-1.0, 0.0)) / (2.0 * h),
            (g(0.0, 1.0) - g(0.0, -1.0)) / (2.0 * h),
        ],
        [
            own(g(1.0, 0.0), g(-1.0, 0.0)),
            mixed,
            mixed,
            own(g(0.0, 1.0), g(0.0, -1.0)),
        ],
    )
}

/// Compares the integral of a model with latents (centre, ln scale) with a simple sum.
fn compare(model: &Model, columns: &[(&str, &[f64])], row: impl Fn(usize, f64) -> f64 + Copy) {
    let bound = bind(model, columns);
    let integrated = IntegratedDensity::of(&bound).unwrap();
    let rows = columns[0].1.len();
    for z in [[0.5, -0.7], [1.2, 0.3]] {
        let found = found(&integrated, &z);
        let one = |n: usize, z: [f64; 2]| plain(z[1].exp(), |w| row(n, z[0] + w));
        let truth: Vec<f64> = (0..rows).map(|n| one(n, z)).collect();
        assert!(
            apart(&found.rows, &truth) < 1e-5,
            "{:?}\n{truth:?}",
            found.rows
        );
        let all = |a: f64, b: f64| (0..rows).map(|n| one(n, [a, b])).sum::<f64>();
        let (gradient, hessian) = differences(all, z);
        assert!(apart(&found.gradient, &gradient) < 1e-4 * 10.0);
        assert!(apart(&found.hessian, &hessian) < 1e-4 * 50.0);
    }
}

fn log_factorial(n: f64) -> f64 {
    (1..=n as u32).map(|k| f64::from(k).ln()).sum()
}

#[test]
fn counts_with_a_normal_latent_on_the_log_scale() {
    let y = [0.0, 1.0, 3.0, 12.0, 60.0];
    let model = Model::new(|m| {
        let centre = m.sample("centre", Normal::new(0.0, 2.0));
        let scale = m.sample("scale", HalfNormal::new(1.0));
        m.rows(|row| {
            let own = row.local("own", Normal::new(0.0, scale));
            row.observe("y", Poisson::with_log_rate(centre + own));
        });
    });
    compare(&model, &[("y", &y)], |n, eta| {
        y[n] * eta - eta.exp() - log_factorial(y[n])
    });
}

#[test]
fn shares_with_a_normal_latent_on_the_logit_scale() {
    let y = [0.0, 1.0, 5.0, 9.0, 10.0];
    let model = Model::new(|m| {
        let centre = m.sample("centre", Normal::new(0.0, 2.0));
        let scale = m.sample("scale", HalfNormal::new(1.0));
        m.rows(|row| {
            let own = row.local("own", Normal::new(0.0, scale));
            row.observe("y", Binomial::with_logit(10.0, centre + own));
        });
    });
    compare(&model, &[("y", &y)], |n, eta| {
        let choose = log_factorial(10.0) - log_factorial(y[n]) - log_factorial(10.0 - y[n]);
        choose + y[n] * eta - 10.0 * (1.0 + eta.exp()).ln()
    });
}
