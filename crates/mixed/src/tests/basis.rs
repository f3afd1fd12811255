//! Basis functions: each coefficient has a scale of its own, from 1 to nearly 0.

use std::f64::consts::TAU;

use faer::Mat;
use lehr_model::distribution::{Distribution, Exponential, HalfNormal, LogNormal, Normal, Poisson};
use lehr_model::gp::{BasisAxis, GpBasis, Kernel};
use lehr_model::{Bound, Model};
use lehr_numeric::dense::{inverse, log_determinant, quadratic_form};
use lehr_numeric::stream::Stream;
use lehr_table::Table;

use super::{log_prior, value};
use crate::effect_draws::DrawPlan;
use crate::effect_structure::EffectCovariance;
use crate::group_integral::Accuracy;
use crate::hyperparameter_map::HyperparameterMap;
use crate::marginal::MarginalDensity;
use crate::proposal::ProposalKind;
use crate::warm_start::WarmStart;

const ROWS: usize = 60;
/// The weights have the prior standard deviation a^SHARE for an amplitude a, and a^(1 − SHARE)
/// multiplies them.
const SHARE: f64 = 0.4;

/// The domain of a function.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Line,
    Plane,
    Circle,
    /// Each of three levels has its own.
    Levels,
}

const KINDS: [Kind; 4] = [Kind::Line, Kind::Plane, Kind::Circle, Kind::Levels];

/// The distribution of the rows given their predictors.
#[derive(Clone, Copy, PartialEq)]
enum Response {
    Normal,
    Counts,
}

struct Data {
    kind: Kind,
    basis: GpBasis,
    columns: Vec<Vec<f64>>,
    level: Vec<u32>,
    y: Vec<f64>,
}

impl Data {
    fn new(kind: Kind, response: Response) -> Data {
        let mut random = Stream::new(41, "functions", 0);
        let mut uniform = || (0..ROWS).map(|_| random.uniform()).collect::<Vec<f64>>();
        let (x, other) = (uniform(), uniform());
        let range = |v: &[f64]| {
            let low = v.iter().copied().fold(f64::INFINITY, f64::min);
            [low, v.iter().copied().fold(low, f64::max)]
        };
        let axis =
            |v: &[f64], least: f64| BasisAxis::on_interval(Kernel::Rbf, range(v), [least, 1.0]);
        let (axes, columns) = match kind {
            Kind::Line | Kind::Levels => (vec![axis(&x, 0.2)], vec![x.clone()]),
            Kind::Plane => {
                let axes = vec![axis(&x, 0.4), axis(&other, 0.4)];
                (axes, vec![x.clone(), other])
            }
            Kind::Circle => (
                vec![BasisAxis::on_circle(Kernel::Rbf, 0.8, 0.1)],
                vec![x.clone()],
            ),
        };
        let mean = |x: f64| (6.0 * x).sin();
        let y = x.iter().map(|x| match response {
            Response::Normal => mean(*x) + 0.4 * random.normal(),
            Response::Counts => (2.0 * mean(*x) + 2.0 + random.normal()).max(0.0).round(),
        });
        Data {
            kind,
            basis: GpBasis::new(Kernel::Rbf, axes),
            y: y.collect(),
            columns,
            level: (0..ROWS).map(|n| (n * n % 3) as u32).collect(),
        }
    }

    fn bind(&self, response: Response) -> Bound {
        let (basis, kind) = (self.basis.clone(), self.kind);
        let model = Model::new(move |m| {
            let intercept = m.sample("intercept", Normal::new(0.0, 2.0));
            let scale = m.sample("scale", HalfNormal::new(1.0));
            let count = basis.axes().len();
            let lengthscale = m.sample("lengthscale", LogNormal::new(-0.5, 0.5).expand([count]));
            let amplitudes = basis.log_amplitudes(scale, lengthscale);
            let prior = Normal::new(0.0, (amplitudes * SHARE).exp());
            let width = basis.width();
            let weight = match kind {
                Kind::Levels => m.sample("weight", prior.expand([3, width])),
                _ => m.sample("weight", prior.expand([width])),
            };
            let coefficient = weight * (amplitudes * (1.0 - SHARE)).exp();
            let noise =
                (response == Response::Normal).then(|| m.sample("noise", Exponential::new(1.0)));
            m.rows(|row| {
                let features = row.matrix("basis");
                let function = match kind {
                    Kind::Levels => (features * coefficient.at(row.index("level"))).sum_axis(1),
                    _ => features.dot(coefficient),
                };
                match noise {
                    Some(noise) => row.observe("y", Normal::new(intercept + function, noise)),
                    None => row.observe("y", Poisson::with_log_rate(intercept + function)),
                }
            });
        });
        let levels = ["a", "b", "c"].map(String::from).to_vec();
        let table = Table::new()
            .with_number("y", self.y.clone())
            .and_then(|t| t.with_category("level", self.level.clone(), levels))
            .and_then(|t| {
                let features = self.basis.features(&self.columns);
                t.with_matrix("basis", ROWS, self.basis.width(), features)
            });
        model.bind(&table.unwrap()).unwrap()
    }

    /// ln √G of each function, by its definition.
    fn log_amplitudes(&self, scale: f64, lengthscales: &[f64]) -> Vec<f64> {
        let axes = self.basis.axes();
        let width = self.basis.width();
        let frequency = |axis: &BasisAxis, k: usize| match axis.boundary {
            Some(boundary) => 0.25 * TAU * (k + 1) as f64 / boundary,
            None => 0.5 * TAU * (k / 2 + 1) as f64,
        };
        let exponent = |function: usize| {
            let mut stride = width;
            let squares = axes.iter().zip(lengthscales).map(|(axis, lengthscale)| {
                stride /= axis.width();
                let own = frequency(axis, function / stride % axis.width());
                (own * lengthscale).powi(2)
            });
            -0.5 * squares.sum::<f64>()
        };
        let logs: Vec<f64> = (0..width).map(exponent).collect();
        let size: f64 = if self.kind == Kind::Circle {
            let top = logs[0];
            let total: f64 = logs.iter().map(|log| (log - top).exp()).sum();
            2.0_f64.ln() - top - total.ln()
        } else {
            let each = lengthscales.iter();
            each.map(|l| 0.5 * TAU.ln() + l.ln()).sum()
        };
        let log = |log: &f64| (0.5 * (log + size)).max(-60.0) + scale.ln();
        logs.iter().map(log).collect()
    }

    /// The covariance of the rows' predictors.
    fn covariance(&self, amplitudes: &[f64]) -> Mat<f64> {
        let features = self.basis.features(&self.columns);
        let width = self.basis.width();
        Mat::from_fn(ROWS, ROWS, |i, j| {
            let terms = (0..width).map(|k| {
                features[i * width + k] * features[j * width + k] * (2.0 * amplitudes[k]).exp()
            });
            let apart = self.kind == Kind::Levels && self.level[i] != self.level[j];
            4.0 + if apart { 0.0 } else { terms.sum::<f64>() }
        })
    }

    /// ln p(y, θ) from the covariance of all rows.
    fn dense(&self, bound: &Bound, theta: &[f64]) -> f64 {
        let amplitudes = self.amplitudes(theta);
        let noise = theta[theta.len() - 1].exp();
        let mut matrix = self.covariance(&amplitudes);
        (0..ROWS).for_each(|i| matrix[(i, i)] += noise * noise);
        let y = Mat::from_fn(ROWS, 1, |i, _| self.y[i]);
        let rows = quadratic_form(&inverse(&matrix), &y)
            + log_determinant(&matrix)
            + ROWS as f64 * TAU.ln();
        let at_zero = |log_sd: f64| -log_sd - 0.5 * TAU.ln();
        let groups = if self.kind == Kind::Levels { 3.0 } else { 1.0 };
        let weights = amplitudes.iter().map(|log| at_zero(SHARE * log));
        let effects = at_zero(2.0_f64.ln()) + groups * weights.sum::<f64>();
        log_prior(bound, theta, effects) - 0.5 * rows
    }

    fn amplitudes(&self, theta: &[f64]) -> Vec<f64> {
        let count = self.basis.axes().len();
        let lengthscales: Vec<f64> = theta[1..=count].iter().map(|log| log.exp()).collect();
        self.log_amplitudes(theta[0].exp(), &lengthscales)
    }

    /// θ at a given lengthscale.
    fn theta(&self, lengthscale: f64, response: Response) -> Vec<f64> {
        let mut theta = vec![0.2];
        let count = self.basis.axes().len();
        theta.extend((0..count).map(|k| lengthscale.ln() + 0.1 * k as f64));
        if response == Response::Normal {
            theta.push(-0.8);
        }
        theta
    }
}

#[test]
fn coefficients_with_factors_of_their_own_are_known_for_it() {
    for kind in KINDS {
        let bound = Data::new(kind, Response::Normal).bind(Response::Normal);
        let marginal = MarginalDensity::new(&bound).unwrap();
        let block = &marginal.model.blocks[0];
        assert!(
            matches!(block.theta_map, HyperparameterMap::Scaled(_)),
            "{kind:?}"
        );
        assert_eq!(block.covariance, EffectCovariance::Independent);
    }
}

#[test]
fn the_collapsed_density_of_a_function_is_that_of_all_rows_at_once() {
    for kind in KINDS {
        let data = Data::new(kind, Response::Normal);
        let bound = data.bind(Response::Normal);
        for lengthscale in [0.1, 0.5, 4.0, 60.0, 1e4] {
            let theta = data.theta(lengthscale, Response::Normal);
            let (found, expected) = (value(&bound, &theta), data.dense(&bound, &theta));
            let close = (found - expected).abs() < 1e-9 * (1.0 + expected.abs());
            assert!(close, "{kind:?} {lengthscale} {found} {expected}");
        }
    }
}

#[test]
fn a_function_that_nothing_is_left_of_leaves_the_model_without_it() {
    let data = Data::new(Kind::Line, Response::Normal);
    let bound = data.bind(Response::Normal);
    let theta = data.theta(1e5, Response::Normal);
    let noise = theta[2].exp();
    let rows = ROWS as f64;
    let (sum, squares) = data
        .y
        .iter()
        .fold((0.0, 0.0), |(s, q), y| (s + y, q + y * y));
    let spread = noise * noise + 4.0 * rows;
    let quadratic = (squares - 4.0 * sum * sum / spread) / (noise * noise);
    let volume = 2.0 * (rows - 1.0) * noise.ln() + spread.ln() + rows * TAU.ln();
    let at_zero = |log_sd: f64| -log_sd - 0.5 * TAU.ln();
    let weights = data
        .amplitudes(&theta)
        .iter()
        .map(|log| at_zero(SHARE * log))
        .sum::<f64>();
    let expected =
        log_prior(&bound, &theta, at_zero(2.0_f64.ln()) + weights) - 0.5 * (quadratic + volume);
    let found = value(&bound, &theta);
    assert!(
        (found - expected).abs() < 1e-9 * expected.abs(),
        "{found} {expected}"
    );
}

/// The largest error of a gradient compared with finite differences.
fn worst_slope(marginal: &MarginalDensity<'_>, theta: &[f64]) -> f64 {
    let mut work = marginal.workspace();
    let warm_start = WarmStart::default();
    let (_, slope) = marginal.gradient(theta, &warm_start, &mut work).unwrap();
    let mut worst = 0.0_f64;
    for (k, found) in slope.iter().enumerate() {
        let mut side = |step: f64| {
            let mut moved = theta.to_vec();
            moved[k] += step;
            marginal
                .evaluate(&moved, &warm_start, Accuracy::Slope, &mut work)
                .unwrap()
                .value
        };
        let close = (side(1e-3) - side(-1e-3)) / 2e-3;
        let far = (side(2e-3) - side(-2e-3)) / 4e-3;
        let expected = (4.0 * close - far) / 3.0;
        worst = worst.max((found - expected).abs() / (1.0 + expected.abs()));
    }
    worst
}

#[test]
fn slopes_of_functions_are_differences_of_values_at_any_lengthscale() {
    for kind in KINDS {
        let data = Data::new(kind, Response::Normal);
        let bound = data.bind(Response::Normal);
        let marginal = MarginalDensity::new(&bound).unwrap();
        for lengthscale in [0.1, 0.5, 4.0, 60.0, 1e4] {
            let theta = data.theta(lengthscale, Response::Normal);
            let worst = worst_slope(&marginal, &theta);
            assert!(worst < 1e-6, "{kind:?} {lengthscale} {worst}");
        }
    }
}

#[test]
fn slopes_of_functions_of_counts_are_differences_of_values() {
    for kind in KINDS {
        let data = Data::new(kind, Response::Counts);
        let bound = data.bind(Response::Counts);
        let marginal = MarginalDensity::new(&bound).unwrap();
        for lengthscale in [0.3, 3.0, 1e3] {
            let theta = data.theta(lengthscale, Response::Counts);
            let worst = worst_slope(&marginal, &theta);
            assert!(worst < 1e-3, "{kind:?} {lengthscale} {worst}");
        }
    }
}

#[test]
fn rows_one_by_one_say_of_a_function_what_their_sums_say() {
    for kind in KINDS {
        let data = Data::new(kind, Response::Normal);
        let bound = data.bind(Response::Normal);
        let by_row = MarginalDensity::with_rows(&bound, true, None).unwrap();
        let theta = data.theta(0.5, Response::Normal);
        let mut work = by_row.workspace();
        let at = by_row.evaluate(&theta, &WarmStart::default(), Accuracy::Slope, &mut work);
        let (found, expected) = (at.unwrap().value, value(&bound, &theta));
        assert!(
            (found - expected).abs() < 1e-7,
            "{kind:?} {found} {expected}"
        );
    }
}

/// Draws at one θ have the mean and the variances of the function's posterior given all rows.
#[test]
fn draws_of_a_function_are_of_its_posterior() {
    const DRAWS: usize = 4000;
    for kind in KINDS {
        let data = Data::new(kind, Response::Normal);
        let bound = data.bind(Response::Normal);
        let marginal = MarginalDensity::new(&bound).unwrap();
        let theta = data.theta(0.5, Response::Normal);
        let mut work = marginal.workspace();
        let at = marginal
            .evaluate(&theta, &WarmStart::default(), Accuracy::Value, &mut work)
            .unwrap();
        let mut random = Stream::new(8, "draws of a function", 0);
        let how = DrawPlan {
            kind: ProposalKind::Gaussian,
            count: DRAWS,
        };
        let draws = marginal.draw_effects(&at, how, &mut random, &mut work);
        let draws = draws.unwrap();
        let amplitudes = data.amplitudes(&theta);
        let mut prior = data.covariance(&amplitudes);
        let own = prior.clone();
        let noise = theta[theta.len() - 1].exp();
        (0..ROWS).for_each(|i| prior[(i, i)] += noise * noise);
        let gain = own.as_ref() * inverse(&prior);
        let mean = gain.as_ref() * Mat::from_fn(ROWS, 1, |i, _| data.y[i]);
        let covariance = &own - gain.as_ref() * own.as_ref();
        let features = data.basis.features(&data.columns);
        let (width, size) = (amplitudes.len(), draws.z.len() / DRAWS);
        let block = &marginal.model.blocks[0];
        for row in [0, 17, 41] {
            let group = if kind == Kind::Levels {
                data.level[row] as usize
            } else {
                0
            };
            let values: Vec<f64> = (draws.z.chunks_exact(size))
                .map(|z| {
                    let weights = &z[block.places.start + group * width..][..width];
                    let terms = (0..width).map(|k| {
                        features[row * width + k]
                            * weights[k]
                            * ((1.0 - SHARE) * amplitudes[k]).exp()
                    });
                    z[0] + terms.sum::<f64>()
                })
                .collect();
            let found = values.iter().sum::<f64>() / DRAWS as f64;
            let squares = values.iter().map(|v| (v - found).powi(2));
            let variance = squares.sum::<f64>() / DRAWS as f64;
            let error = (covariance[(row, row)] / DRAWS as f64).sqrt();
            let off = (found - mean[(row, 0)]) / error;
            assert!(off.abs() < 4.0, "{kind:?} {row} {off}");
            let ratio = variance / covariance[(row, row)] - 1.0;
            assert!(
                ratio.abs() < 4.0 * (2.0 / DRAWS as f64).sqrt(),
                "{kind:?} {row} {ratio}"
            );
        }
    }
}
