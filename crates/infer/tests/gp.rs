//! Gaussian processes by inducing points: natural gradients, fits, and the cost of a step.

use std::sync::Arc;
use std::time::Duration;

use lehr_density::{Density, Support};
use lehr_infer::annealed::{AnnealedGuide, AnnealedStart, Drive, Momentum};
use lehr_infer::fit::Fit;
use lehr_infer::fixed::DensityAtParams;
use lehr_infer::guide::{LearnedBlocks, MeanField, RowInput, all_blocks};
use lehr_infer::method;
use lehr_infer::objective::{Score, weigh};
use lehr_infer::observer::{Observer, Progress, Wish};
use lehr_infer::program::compile;
use lehr_infer::run::{Checkpoint, ExistingCheckpoint};
use lehr_infer::start::natural::{NaturalSteps, applies};
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

/// A function of one column with seven inducing points; its noise is a parameter or a latent.
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
            let f = gp.marginal_at(row.matrix("x")).plus(level);
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

/// ln N(y; 0, AAᵀ + 1 + diag(r + σ²)) of the model with normal noise at θ, by simple loops. The
/// intercept adds 1 to every covariance.
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

/// At the exact posterior the gradient of the bound in θ is that of the evidence.
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

/// METHODS2 §3.8, 2: the bound of a full-rank Gaussian reaches the evidence.
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

/// METHODS2 §3.8, 7: quantities that do not depend on latents are computed once, however long the
/// chain is.
#[test]
fn the_solve_is_planned_once_and_not_for_every_step_of_a_chain() {
    let density = bound(30, Noise::Student);
    let all = Score {
        rows: RowInput::All,
        control: None,
    };
    let counts = |steps: usize| {
        let guide = AnnealedGuide {
            // A base without triangular solves.
            base: Arc::new(MeanField { start_scale: 0.4 }),
            drive: Drive::FullData,
            steps,
            momentum: Momentum::Diagonal,
            start: AnnealedStart::default(),
        };
        let learned = LearnedBlocks::new(all_blocks(&density, &guide));
        let program = compile(&density, &learned, (2, 4), |context| {
            let weighed = weigh(context, &guide, &all);
            let bound = weighed.log_weight.mean_lanes();
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
    // A forward and a backward solve for the rows that drive the chain and for those that score it,
    // which are separate inputs, and two backward solves through the factor.
    assert_eq!(one[1], 6, "solves");
}

/// METHODS2 §3.8, 1: with a point in every row the posterior of the function is that of the dense process,
/// by importance sampling around its Laplace approximation.
#[test]
fn with_a_point_in_every_row_outcomes_have_the_posterior_of_the_dense_process() {
    const ROWS: usize = 9;
    let x: [f64; ROWS] = std::array::from_fn(|n| 0.7 * n as f64 - 2.8);
    let y = [1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0];
    let model = Model::new(move |m| {
        let scale = m.param("scale", 1.5, Support::Positive);
        let points = m.graph().constant([ROWS, 1], &x);
        let gp = InducedGp::new(m, "f", Rbf::new(scale, 1.2), points);
        m.rows(|row| row.observe("y", gp.marginal_at(row.matrix("x")).bernoulli()));
    });
    let table = Table::new().with_number("y", y.to_vec()).unwrap();
    let density = model.bind(&table.with_number("x", x.to_vec()).unwrap());
    let density = density.unwrap();
    // The predictor is found although nothing is added to it.
    assert!(applies(&density));
    let fixed = DensityAtParams::new(&density, density.params().start());
    let fit = Fit::new(method::FullRank::default()).unexamined().seed(2);
    let posterior = fit.draws(20_000).run(&fixed).unwrap();
    let own = |i: usize, j: usize| if i == j { 2.25e-6 } else { 0.0 };
    let lower = factor(ROWS, |i, j| {
        2.25 * (-0.5 * ((x[i] - x[j]) / 1.2).powi(2)).exp() + own(i, j)
    });
    let weights = &posterior.importance().unwrap().pareto.log_weights;
    let found: Vec<f64> = (0..ROWS)
        .map(|n| {
            let draws = posterior.draws.chunks_exact(ROWS).zip(weights);
            let value = |e: &[f64]| lower[n].iter().zip(e).map(|(l, e)| l * e).sum::<f64>();
            draws.map(|(e, log)| log.exp() * value(e)).sum()
        })
        .collect();
    let known = dense_means(&lower, &y);
    for (n, (found, known)) in found.iter().zip(&known).enumerate() {
        // 20,000 draws of each, with standard deviations below 1.3.
        assert!((found - known).abs() < 0.05, "row {n}: {found} {known}");
    }
}

/// The posterior means of f = L e for logits, by draws around the mode of e.
fn dense_means(lower: &[Vec<f64>], y: &[f64]) -> Vec<f64> {
    let size = y.len();
    let value = |e: &[f64]| -> Vec<f64> {
        let dot = |row: &Vec<f64>| row.iter().zip(e).map(|(l, e)| l * e).sum();
        lower.iter().map(dot).collect()
    };
    let share = |f: f64| 1.0 / (1.0 + (-f).exp());
    let entry = |n: usize, i: usize| lower[n].get(i).copied().unwrap_or(0.0);
    let curve = |e: &[f64]| {
        let f = value(e);
        let weight: Vec<f64> = f.iter().map(|f| share(*f) * (1.0 - share(*f))).collect();
        factor(size, |i, j| {
            let rows = (0..size).map(|n| entry(n, i) * weight[n] * entry(n, j));
            rows.sum::<f64>() + if i == j { 1.0 } else { 0.0 }
        })
    };
    let mut mode = vec![0.0; size];
    for _ in 0..30 {
        let f = value(&mode);
        let slope: Vec<f64> = (0..size)
            .map(|i| {
                let rows = (0..size).map(|n| entry(n, i) * (y[n] - share(f[n])));
                rows.sum::<f64>() - mode[i]
            })
            .collect();
        let precision = curve(&mode);
        let step = solve_transposed(&precision, &solve(&precision, &slope));
        mode.iter_mut().zip(&step).for_each(|(e, step)| *e += step);
    }
    let precision = curve(&mode);
    let mut stream = Stream::new(11, "dense", 0);
    let (mut total, mut sums) = (0.0, vec![0.0; size]);
    for _ in 0..20_000 {
        let white: Vec<f64> = (0..size).map(|_| stream.normal()).collect();
        let step = solve_transposed(&precision, &white);
        let e: Vec<f64> = mode.iter().zip(&step).map(|(m, s)| m + s).collect();
        let f = value(&e);
        let signs = f.iter().zip(y).map(|(f, y)| (2.0 * y - 1.0) * f);
        let rows: f64 = signs.map(|logit| -(-logit).exp().ln_1p()).sum();
        let prior: f64 = e.iter().map(|e| -0.5 * e * e).sum();
        let own: f64 = white.iter().map(|w| -0.5 * w * w).sum();
        let weight = (rows + prior - own).exp();
        total += weight;
        sums.iter_mut()
            .zip(&f)
            .for_each(|(sum, f)| *sum += weight * f);
    }
    sums.iter().map(|sum| sum / total).collect()
}

fn solve_transposed(lower: &[Vec<f64>], right: &[f64]) -> Vec<f64> {
    let mut x = right.to_vec();
    for i in (0..x.len()).rev() {
        x[i] /= lower[i][i];
        for j in 0..i {
            x[j] -= lower[i][j] * x[i];
        }
    }
    x
}

/// Lengthscales so short that squared distances overflow and no covariance can be factorised.
#[test]
fn a_covariance_that_cannot_be_factorised_ends_in_words() {
    let model = Model::new(|m| {
        let lengthscale = m.param("gp(x).lengthscale", 1e-200, Support::Positive);
        let points = m.graph().constant([3, 1], &[-1.0, 0.0, 1.0]);
        let gp = InducedGp::new(m, "gp(x).weight", Rbf::new(1.0, lengthscale), points);
        m.rows(|row| row.observe("y", gp.marginal_at(row.matrix("x")).normal(0.3)));
    });
    let density = model.bind(&table(60)).unwrap();
    let told = |fit: Fit<'_>| fit.run(&density).unwrap_err().to_string();
    let natural = told(Fit::new(method::FullRank::default()));
    let expected = "full-rank: the bound is not finite after 0 steps, at gp(x).lengthscale = \
                    1.000e-200\n  \
                    hint: the covariance of the inducing points cannot be factorised there, or a \
                    row is impossible: ask for fewer points with k";
    assert!(natural.starts_with(expected), "{natural}");
    let plain = Fit::new(method::FullRank::default()).set("start", "zero");
    let plain = told(plain.unwrap().set("iterations", "200").unwrap());
    assert!(plain.contains("steps were not finite"), "{plain}");
    assert!(plain.contains("gp(x).weight"), "{plain}");
}

/// Records the step at which it is first called, and returns a fixed answer.
struct Witness {
    first: Option<u64>,
    says: Wish,
}

impl Observer for Witness {
    fn progress(&mut self, progress: &Progress) -> Wish {
        self.first.get_or_insert(progress.step);
        self.says
    }
}

#[test]
fn natural_steps_that_were_stopped_go_on_with_the_same_bits() {
    let density = bound(150, Noise::Student);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fit.checkpoint");
    let plain = || Fit::new(method::FullRank::default()).unexamined();
    let fit = || plain().seed(5).draws(100);
    let checkpoint = || Checkpoint {
        path: path.clone(),
        every: Duration::from_secs(3600),
        older: ExistingCheckpoint::Resume,
    };
    let saved = || fit().checkpoint(checkpoint());
    let whole = fit().run(&density).unwrap();
    let watched = |says: Wish| Witness { first: None, says };
    let mut impatient = watched(Wish::Stop);
    let stopped = saved().observer(&mut impatient).run(&density).unwrap_err();
    let words = stopped.to_string();
    assert!(
        words.starts_with("finding a start: stopped after"),
        "{words}"
    );
    assert_eq!(impatient.first, Some(25));
    assert!(path.exists());
    let mut patient = watched(Wish::Continue);
    let resumed = saved().observer(&mut patient).run(&density).unwrap();
    assert_eq!(
        patient.first,
        Some(50),
        "steps that were saved are not taken again"
    );
    assert_eq!(resumed.param_values, whole.param_values);
    assert_eq!(resumed.draws, whole.draws);
    // Another seed is another fit.
    let other = plain().seed(6).draws(100);
    let other = other.checkpoint(checkpoint()).run(&density).unwrap_err();
    assert!(other.to_string().contains("another model"), "{other}");
}
