//! Gaussian processes by inducing points: natural gradients, the fit, and what a step computes.

use std::sync::Arc;

use lehr_density::{Density, Support};
use lehr_infer::annealed::{Annealed, AnnealedStart, Drive, Momentum};
use lehr_infer::fit::Fit;
use lehr_infer::guide::{Feed, Gradient, Learned, MeanField, all_blocks};
use lehr_infer::method;
use lehr_infer::natural::{NaturalSteps, applies};
use lehr_infer::train::{Objective, Score, compile, weigh};
use lehr_model::distribution::{HalfNormal, Normal};
use lehr_model::gp::{InducedGp, Rbf};
use lehr_model::{Bound, Model};
use lehr_numeric::stream::Stream;
use lehr_table::Table;

const POINTS: usize = 7;

fn table(rows: usize) -> Table {
    let mut stream = Stream::new(3, "gp", 0);
    let x: Vec<f64> = (0..rows).map(|_| 6.0 * stream.uniform() - 3.0).collect();
    let y = x.iter().map(|x| (1.7 * x).sin() + 0.3 * stream.normal());
    let table = Table::new().with_number("y", y.collect());
    table.unwrap().with_number("x", x).unwrap()
}

/// A function of one column by seven points; its noise learned or a latent.
fn bound(rows: usize, noise: Noise) -> Bound {
    let model = Model::new(move |m| {
        let scale = m.param("scale", 1.0, Support::Positive);
        let lengthscale = m.param("lengthscale", 1.0, Support::Positive);
        let places: [f64; POINTS] = std::array::from_fn(|k| k as f64 - 3.0);
        let places = m.graph().constant([POINTS, 1], &places);
        let places = m.param("points", places, Support::Real);
        let spread = match noise {
            Noise::Latent => m.sample("noise", HalfNormal::new(1.0)),
            _ => m.param("noise", 0.5, Support::Positive),
        };
        let gp = InducedGp::new(m, "f", Rbf::new(scale, lengthscale), places);
        let level = m.sample("level", Normal::new(0.0, 1.0));
        m.rows(|row| {
            let f = gp.at(row.matrix("x")).plus(level);
            match noise {
                Noise::Student => row.observe("y", f.student_t(4.0, spread)),
                _ => row.observe("y", f.normal(spread)),
            }
        });
    });
    model.bind(&table(rows)).unwrap()
}

#[derive(Clone, Copy, PartialEq)]
enum Noise {
    Normal,
    Student,
    Latent,
}

/// ln N(y; 0, AAᵀ + 1 + diag(r + σ²)) of the model with normal noise at θ, by plain loops. The level
/// adds 1 to every covariance.
fn evidence(rows: usize, theta: &[f64]) -> f64 {
    let (scale, lengthscale, noise) = (theta[0].exp(), theta[1].exp(), theta[9].exp());
    let places = &theta[2..9];
    let table = table(rows);
    let column = |name: &str| table.number(name).unwrap().to_vec();
    let (x, y) = (column("x"), column("y"));
    let kernel = |a: f64, b: f64| scale * scale * (-0.5 * ((a - b) / lengthscale).powi(2)).exp();
    let jitter = 1e-6 * scale * scale;
    let own = |i: usize, j: usize| if i == j { jitter } else { 0.0 };
    let lower = factor(POINTS, |i, j| kernel(places[i], places[j]) + own(i, j));
    let a: Vec<Vec<f64>> = (x.iter())
        .map(|x| {
            solve(
                &lower,
                &places.iter().map(|z| kernel(*x, *z)).collect::<Vec<f64>>(),
            )
        })
        .collect();
    let dot = |i: usize, j: usize| a[i].iter().zip(&a[j]).map(|(p, q)| p * q).sum::<f64>();
    let whole = factor(rows, |i, j| {
        let rest = (scale * scale - dot(i, i)).max(1e-12 * scale * scale);
        dot(i, j) + 1.0 + if i == j { rest + noise * noise } else { 0.0 }
    });
    let white = solve(&whole, &y);
    let terms = (0..rows).map(|n| 0.5 * white[n].powi(2) + whole[n][n].ln());
    -terms.sum::<f64>() - 0.5 * rows as f64 * std::f64::consts::TAU.ln()
}

fn factor(size: usize, entry: impl Fn(usize, usize) -> f64) -> Vec<Vec<f64>> {
    let mut lower: Vec<Vec<f64>> = Vec::with_capacity(size);
    for i in 0..size {
        let mut row: Vec<f64> = Vec::with_capacity(i + 1);
        for j in 0..=i {
            let known = if i == j { &row } else { &lower[j] };
            let sum: f64 = row[..j].iter().zip(known).map(|(a, b)| a * b).sum();
            let rest = entry(i, j) - sum;
            row.push(if i == j {
                rest.sqrt()
            } else {
                rest / lower[j][j]
            });
        }
        lower.push(row);
    }
    lower
}

fn solve(lower: &[Vec<f64>], right: &[f64]) -> Vec<f64> {
    let mut x: Vec<f64> = Vec::with_capacity(right.len());
    for (row, right) in lower.iter().zip(right) {
        let sum: f64 = row.iter().zip(&x).map(|(l, x)| l * x).sum();
        x.push((right - sum) / row[x.len()]);
    }
    x
}

/// METHODS2 §3.8, 5.
#[test]
fn a_whole_natural_step_on_normal_rows_lands_on_the_posterior() {
    let density = bound(80, Noise::Normal);
    assert!(applies(&density));
    let mut steps = NaturalSteps::new(&density, 80, 1).unwrap();
    let first = steps.step(0, 1.0, 0.0).unwrap();
    let landed = steps.state.clone();
    let second = steps.step(1, 1.0, 0.0).unwrap();
    let known = evidence(80, density.params().start());
    assert!(first < known - 1.0, "{first} {known}");
    assert!((second - known).abs() < 1e-7, "{second} {known}");
    for (a, b) in landed.mean.iter().zip(&steps.state.mean) {
        assert!((a - b).abs() < 1e-8, "{a} {b}");
    }
}

/// At the exact posterior the slope of the bound in θ is that of the evidence.
#[test]
fn what_is_learned_moves_along_the_slope_of_the_evidence() {
    let density = bound(40, Noise::Normal);
    let start = density.params().start().to_vec();
    for place in 0..start.len() {
        let at = |step: f64| {
            let mut moved = start.clone();
            moved[place] += step;
            evidence(40, &moved)
        };
        let known = (at(1e-4) - at(-1e-4)) / 2e-4;
        let mut steps = NaturalSteps::new(&density, 40, 1).unwrap();
        steps.step(0, 1.0, 0.0).unwrap();
        steps.step(1, 1.0, 0.0).unwrap();
        let found = steps.slope()[place];
        let close = 1e-5 * (1.0 + known.abs());
        assert!((found - known).abs() < close, "{place}: {found} {known}");
    }
}

/// METHODS2 §3.8, 2: full rank reaches the evidence.
#[test]
fn full_rank_ends_at_the_evidence_of_what_it_learned() {
    let rows = 120;
    let density = bound(rows, Noise::Normal);
    let before = evidence(rows, density.params().start());
    let fit = Fit::new(method::FullRank::default()).seed(5).draws(400);
    let posterior = fit.run(&density).unwrap();
    let known = evidence(rows, &posterior.param_values);
    assert!(known > before + 1.0, "learned {before} -> {known}");
    let found = posterior.evidence.unwrap().bound.unwrap();
    let close = 1e-3 + 4.0 * found.error;
    assert!((found.mean - known).abs() < close, "{found:?} {known}");
    assert!(found.error < 1e-3, "{found:?}");
}

#[test]
fn noise_may_be_a_latent_that_all_rows_share_and_heavy_tailed() {
    for noise in [Noise::Latent, Noise::Student] {
        let density = bound(150, noise);
        assert!(applies(&density));
        let fit = Fit::new(method::FullRank::default()).seed(5).draws(400);
        let posterior = fit.run(&density).unwrap();
        let bound = posterior.evidence.as_ref().unwrap().bound.unwrap();
        assert!(bound.mean.is_finite());
        let start = posterior.choices.iter().find(|(what, _)| what == "start");
        assert!(
            start.is_some_and(|(_, how)| how.contains("natural")),
            "{start:?}"
        );
    }
}

/// METHODS2 §3.8, 7: what does not depend on latents is computed once, however long the chain is.
#[test]
fn the_solve_is_planned_once_and_not_for_every_step_of_a_chain() {
    let density = bound(30, Noise::Student);
    let all = Score {
        rows: Feed::All,
        control: None,
    };
    let counts = |steps: usize| {
        let guide = Annealed {
            // Without triangular solves of its own.
            base: Arc::new(MeanField { start_scale: 0.4 }),
            drive: Drive::FullData,
            steps,
            momentum: Momentum::Diagonal,
            start: AnnealedStart::default(),
        };
        let learned = Learned::new(all_blocks(&density, &guide));
        let program = compile(&density, &learned, (2, 4), |context| {
            let weighed = weigh(context, &guide, Gradient::Total, &all);
            let bound = Objective::Elbo.of(weighed.log_weight);
            let blocks = learned.blocks().iter();
            let inputs: Vec<_> = blocks.map(|block| context.learned(block)).collect();
            let mut outputs = vec![bound];
            outputs.extend(context.graph().grad(bound, &inputs));
            outputs
        });
        let report = program.unwrap().plan().report();
        ["cholesky", "solve"].map(|name| report.kernels.get(name).copied().unwrap_or(0))
    };
    let [one, four] = [1, 4].map(counts);
    assert_eq!(one, four);
    assert_eq!(one[0], 1, "one factorisation");
    // Forwards, back through it and through the factor, as rows stream twice.
    assert!(one[1] <= 6, "{} solves", one[1]);
}
