//! Row integrals over Gaussian processes against fine sums.

use lehr_graph::reference::{InputValues, evaluate};
use lehr_graph::{Expr, Graph};
use lehr_model::distribution::{Distribution, NoisyBernoulli, NoisyStudentT, StudentT};

/// ln ∫ exp(of(f)) N(f; mean, variance) df by equal steps, in units of the narrower scale.
fn integral(mean: f64, deviation: f64, narrow: f64, of: impl Fn(f64) -> f64) -> f64 {
    let step = deviation.min(narrow) / 25.0;
    let count = (12.0 * deviation / step).ceil() as i32;
    let term = |k: i32| {
        let t = f64::from(k) * step / deviation;
        of(mean + t * deviation) - 0.5 * t * t
    };
    let largest = (-count..=count).map(term).fold(f64::MIN, f64::max);
    let sum: f64 = (-count..=count).map(|k| (term(k) - largest).exp()).sum();
    largest + (sum * step / deviation).ln() - 0.5 * std::f64::consts::TAU.ln()
}

/// A log density at numbers, and its gradient in its parameters.
fn value(
    numbers: &[f64],
    y: f64,
    of: impl for<'g> Fn(&[Expr<'g>], Expr<'g>) -> Expr<'g>,
) -> (f64, Vec<f64>) {
    let graph = Graph::new();
    let inputs: Vec<Expr<'_>> = (0..numbers.len())
        .map(|k| graph.input(&format!("p{k}"), ()))
        .collect();
    let density = of(&inputs, graph.constant([1], &[y])).sum();
    let mut asked = vec![density];
    asked.extend(graph.grad(density, &inputs));
    let mut values = InputValues::new();
    for (input, number) in inputs.iter().zip(numbers) {
        values = values.with(*input, &[*number]);
    }
    let found = evaluate(&asked, &values, 1);
    (found[0][0], found[1..].iter().map(|v| v[0]).collect())
}

fn noisy_t<'g>(p: &[Expr<'g>], y: Expr<'g>) -> Expr<'g> {
    NoisyStudentT::new(p[0], p[1], p[2], p[3]).log_density(y)
}

fn noisy_outcome<'g>(p: &[Expr<'g>], y: Expr<'g>) -> Expr<'g> {
    NoisyBernoulli::new(p[0], p[1]).log_density(y)
}

/// The density of a t as numbers.
fn student(df: f64) -> impl Fn(f64) -> f64 {
    let constant = value(&[df], 0.0, |p, y| {
        StudentT::new(p[0], 0.0, 1.0).log_density(y)
    })
    .0;
    move |z| constant - 0.5 * (df + 1.0) * (z * z / df).ln_1p()
}

/// METHODS: an error of at most 5·10⁻⁵, outliers of 30 σ included.
#[test]
fn a_noisy_t_is_the_integral_over_its_location() {
    for df in [2.1, 4.0, 9.0, 20.0] {
        let density = student(df);
        for deviation in [0.03, 0.3, 1.0, 3.0, 10.0, 30.0] {
            for y in [0.0, 0.7, 3.0, -12.0, 30.0] {
                let known = integral(0.0, deviation, 1.0, |f| density(y - f));
                let found = value(&[df, 0.0, 1.0, deviation * deviation], y, noisy_t).0;
                let error = (found - known).abs();
                assert!(error < 6e-5, "df {df}, sd {deviation}, y {y}: {error}");
            }
        }
    }
}

#[test]
fn a_noisy_outcome_is_the_integral_over_its_logit() {
    for deviation in [0.03, 0.1, 1.0, 3.0, 30.0, 300.0] {
        for (mean, promise) in [
            (-6.0, 1e-8),
            (0.0, 1e-8),
            (2.5, 1e-8),
            (9.0, 1e-8),
            (-14.0, 1e-6),
            (20.0, 2e-5),
            (-29.0, 3e-3),
        ] {
            for y in [0.0, 1.0] {
                let sign = 2.0 * y - 1.0;
                let known = integral(mean, deviation, 1.0, |f| -(-sign * f).exp().ln_1p());
                let variance = deviation * deviation;
                let found = value(&[mean, variance], y, noisy_outcome).0;
                let error = (found - known).abs();
                assert!(error < promise, "sd {deviation}, mean {mean}: {error}");
            }
        }
    }
}

#[test]
fn slopes_of_row_integrals_are_central_differences() {
    let cases: [(&[f64], f64, bool); 4] = [
        (&[4.0, 0.3, 0.8, 0.5], 1.9, true),
        (&[2.6, -0.3, 0.1, 2.0], -9.0, true),
        (&[0.4, 1.7], 1.0, false),
        (&[-2.0, 0.01], 0.0, false),
    ];
    for (numbers, y, is_t) in cases {
        let at = |numbers: &[f64]| {
            if is_t {
                value(numbers, y, noisy_t)
            } else {
                value(numbers, y, noisy_outcome)
            }
        };
        let slopes = at(numbers).1;
        for (place, slope) in slopes.iter().enumerate() {
            let moved = |step: f64| {
                let mut moved = numbers.to_vec();
                moved[place] += step;
                at(&moved).0
            };
            let known = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            // The nodes move with df, which the gradient ignores. Both errors are within the stated
            // bounds.
            let close = if is_t && place == 0 { 5e-4 } else { 1e-6 };
            assert!(
                (slope - known).abs() < close * (1.0 + known.abs()),
                "{numbers:?} {place}"
            );
        }
    }
}
