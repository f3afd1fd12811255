//! The marginal density against dense algebra, finite differences and symmetries.

use std::f64::consts::TAU;

use faer::Mat;
use lehr_density::job::{LogLikelihood, local_rows};
use lehr_density::{Density, Point};
use lehr_graph::{Graph, Plan};
use lehr_model::distribution::{
    Distribution, Exponential, HalfNormal, Laplace, LkjCholesky, Normal,
};
use lehr_model::{Bound, Model};
use lehr_numeric::dense::{inverse, log_determinant, quadratic_form};
use lehr_numeric::stream::Stream;
use lehr_rows::fold;
use lehr_table::Table;

use crate::group_integral::Accuracy;
use crate::marginal::MarginalDensity;
use crate::warm_start::WarmStart;

mod basis;
mod from_group_sums;
mod large;
mod other;
mod shape;

const ROWS: usize = 60;

/// Two crossed factors, one of them with slopes, weights and an offset.
struct Data {
    a: Vec<u32>,
    b: Vec<u32>,
    x: Vec<f64>,
    slope: Vec<f64>,
    weight: Vec<f64>,
    offset: Vec<f64>,
    y: Vec<f64>,
}

impl Data {
    fn new() -> Data {
        let mut random = Stream::new(5, "collapse", 0);
        let mut normals = |count: usize| {
            let mut values = vec![0.0; count];
            random.fill_normal(&mut values);
            values
        };
        let (x, offset, y) = (normals(ROWS), normals(ROWS), normals(ROWS));
        let z = normals(ROWS);
        Data {
            // Level 6 of a has no row, level 5 has one.
            a: (0..ROWS)
                .map(|n| if n == 7 { 5 } else { (n * 7 % 5) as u32 })
                .collect(),
            b: (0..ROWS).map(|n| (n * n % 4) as u32).collect(),
            slope: z.iter().flat_map(|z| [1.0, *z]).collect(),
            weight: (0..ROWS).map(|n| [1.0, 2.0, 0.5][n % 3]).collect(),
            x,
            offset,
            y,
        }
    }

    fn rows(&self) -> usize {
        self.y.len()
    }

    fn table(&self) -> Table {
        let levels = |count: usize| (0..count).map(|k| k.to_string()).collect::<Vec<String>>();
        Table::new()
            .with_number("y", self.y.clone())
            .and_then(|t| t.with_number("x", self.x.clone()))
            .and_then(|t| t.with_number("w", self.weight.clone()))
            .and_then(|t| t.with_number("o", self.offset.clone()))
            .and_then(|t| t.with_matrix("z", self.rows(), 2, self.slope.clone()))
            .and_then(|t| t.with_category("a", self.a.clone(), levels(7)))
            .and_then(|t| t.with_category("b", self.b.clone(), levels(4)))
            .unwrap()
    }

    /// The rows in another order, or a selection with repetition.
    fn at(&self, rows: &[usize]) -> Data {
        let pick = |values: &[f64]| rows.iter().map(|n| values[*n]).collect::<Vec<f64>>();
        Data {
            a: rows.iter().map(|n| self.a[*n]).collect(),
            b: rows.iter().map(|n| self.b[*n]).collect(),
            slope: rows
                .iter()
                .flat_map(|n| self.slope[2 * n..2 * n + 2].to_vec())
                .collect(),
            x: pick(&self.x),
            weight: pick(&self.weight),
            offset: pick(&self.offset),
            y: pick(&self.y),
        }
    }
}

/// The parametrisation of the effects of a.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Standard,
    Effect,
}

/// y ~ 1 + x + (1 + z | a) + (1 | b); in the standardised form the effects of a are correlated.
fn model(form: Form) -> Model {
    Model::new(move |m| {
        let beta = m.sample("beta", Normal::new(0.3, 2.0));
        let intercept = m.sample("intercept", Normal::new(beta * 0.5, 1.5));
        let spread = m.sample("sd_a", HalfNormal::new(1.0).expand([2]));
        let own = match form {
            Form::Standard => {
                let factor = m.sample("cor", LkjCholesky::new(2, 2.0));
                let standard = m.sample("a", Normal::new(0.0, 1.0).expand([7, 2]));
                (standard, Some(factor))
            }
            Form::Effect => (m.sample("a", Normal::new(0.0, spread).expand([7, 2])), None),
        };
        let sd_b = m.sample("sd_b", HalfNormal::new(1.0));
        let b = m.sample("b", Normal::new(0.0, sd_b).expand([4]));
        let noise = m.sample("noise", Exponential::new(1.0));
        m.rows(|row| {
            let group = own.0.at(row.index("a"));
            let group = own
                .1
                .map_or(group, |factor| group.dot(factor.transpose()) * spread);
            let mean = intercept
                + beta * row.number("x")
                + b.at(row.index("b"))
                + (group * row.matrix("z")).sum_axis(1)
                + row.offset("o");
            row.weight("w");
            row.observe("y", Normal::new(mean, noise));
        });
    })
}

fn bind(form: Form, data: &Data) -> Bound {
    model(form).bind(&data.table()).unwrap()
}

/// θ on the unconstrained scale, in the order of the model.
fn theta(form: Form) -> Vec<f64> {
    match form {
        Form::Standard => vec![-0.4, 0.3, 0.7, -0.2, 0.1],
        Form::Effect => vec![-0.4, 0.3, -0.2, 0.1],
    }
}

fn value(density: &dyn Density, theta: &[f64]) -> f64 {
    let marginal = MarginalDensity::new(density).unwrap();
    let mut work = marginal.workspace();
    marginal
        .evaluate(theta, &WarmStart::default(), Accuracy::Value, &mut work)
        .unwrap()
        .value
}

/// The log prior of the model at z.
fn prior_at(density: &dyn Density, z: &[f64]) -> f64 {
    let graph = Graph::new();
    let at = Point::new(graph.input("z", [z.len()]), graph.full([0], 0.0));
    let plan = Plan::new(&[density.log_prior(&at)], 1);
    let mut workspace = plan.workspace();
    workspace.set(plan.input(at.latents).unwrap(), z);
    plan.run(&mut workspace);
    workspace.output(0)[0]
}

/// The reason why the effects of a density cannot be integrated out.
fn refusal(density: &dyn Density) -> Option<String> {
    MarginalDensity::new(density)
        .err()
        .map(|error| error.to_string())
}

/// ln p(θ) by the model's own prior with all effects at 0, less the prior density of the effects
/// there.
fn log_prior(density: &dyn Density, theta: &[f64], at_zero: f64) -> f64 {
    let marginal = MarginalDensity::new(density).unwrap();
    let mut z = vec![0.0; density.latents().size()];
    marginal.model.place(theta, &mut z);
    prior_at(density, &z) - at_zero
}

/// ln N(y; Xb + o, A Σ Aᵀ + σ²/w), all rows at once.
fn dense(data: &Data, covariance: [f64; 3], sd_b: f64, noise: f64) -> f64 {
    let rows = data.rows();
    let [v0, v1, mixed] = covariance;
    // beta has mean 0.3 and variance 4; the intercept is ½beta plus a term of variance 2.25.
    let matrix = Mat::from_fn(rows, rows, |i, j| {
        let (x, s, t) = (
            data.x[i] * data.x[j],
            data.slope[2 * i + 1],
            data.slope[2 * j + 1],
        );
        let mut sum = 4.0 * (x + 0.5 * (data.x[i] + data.x[j]) + 0.25) + 2.25;
        if data.a[i] == data.a[j] {
            sum += v0 + mixed * (s + t) + v1 * s * t;
        }
        if data.b[i] == data.b[j] {
            sum += sd_b * sd_b;
        }
        sum + if i == j {
            noise * noise / data.weight[i]
        } else {
            0.0
        }
    });
    let rest = Mat::from_fn(rows, 1, |i, _| {
        data.y[i] - data.offset[i] - 0.3 * data.x[i] - 0.15
    });
    // A weighted row is not a normalised density: N(y; η, σ²)ʷ against N(y; η, σ²/w).
    let excess = |w: &f64| 0.5 * (1.0 - w) * (TAU * noise * noise).ln() - 0.5 * w.ln();
    -0.5 * (quadratic_form(&inverse(&matrix), &rest)
        + log_determinant(&matrix)
        + rows as f64 * TAU.ln())
        + data.weight.iter().map(excess).sum::<f64>()
}

#[test]
fn the_collapsed_density_is_that_of_all_rows_at_once() {
    let data = Data::new();
    for form in [Form::Standard, Form::Effect] {
        let (bound, theta) = (bind(form, &data), theta(form));
        let [s0, s1] = [theta[0].exp(), theta[1].exp()];
        let last = theta.len() - 2;
        let (sd_b, noise) = (theta[last].exp(), theta[last + 1].exp());
        let normal = |mean: f64, sd: f64| -0.5 * ((mean / sd).powi(2) + (TAU * sd * sd).ln());
        let effects = normal(0.3, 2.0)
            + normal(0.0, 1.5)
            + 4.0 * normal(0.0, sd_b)
            + match form {
                Form::Standard => 14.0 * normal(0.0, 1.0),
                Form::Effect => 7.0 * (normal(0.0, s0) + normal(0.0, s1)),
            };
        let correlation = if form == Form::Standard {
            theta[2].tanh()
        } else {
            0.0
        };
        let covariance = [s0 * s0, s1 * s1, correlation * s0 * s1];
        let expected = dense(&data, covariance, sd_b, noise) + log_prior(&bound, &theta, effects);
        let found = value(&bound, &theta);
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }
}

#[test]
fn slopes_are_differences_of_values() {
    let data = Data::new();
    for form in [Form::Standard, Form::Effect] {
        let (bound, theta) = (bind(form, &data), theta(form));
        let marginal = MarginalDensity::new(&bound).unwrap();
        let mut work = marginal.workspace();
        let (_, slope) = marginal
            .gradient(&theta, &WarmStart::default(), &mut work)
            .unwrap();
        for (k, found) in slope.iter().enumerate() {
            let mut side = |step: f64| {
                let mut moved = theta.clone();
                moved[k] += step;
                marginal
                    .evaluate(&moved, &WarmStart::default(), Accuracy::Value, &mut work)
                    .unwrap()
                    .value
            };
            let warm_start = (side(1e-4) - side(-1e-4)) / 2e-4;
            let far = (side(2e-4) - side(-2e-4)) / 4e-4;
            let expected = (4.0 * warm_start - far) / 3.0;
            assert!(
                (found - expected).abs() < 1e-7 * (1.0 + expected.abs()),
                "{k} {found} {expected}"
            );
        }
    }
}

#[test]
fn the_joint_density_of_a_draw_has_the_ratio_of_its_hyperparameters() {
    let data = Data::new();
    for form in [Form::Standard, Form::Effect] {
        let (bound, theta) = (bind(form, &data), theta(form));
        let marginal = MarginalDensity::new(&bound).unwrap();
        let mut work = marginal.workspace();
        let at = marginal
            .evaluate(&theta, &WarmStart::default(), Accuracy::Value, &mut work)
            .unwrap();
        // log p(D, u, θ) − ln N(u; û, Λ⁻¹) is the same for every u.
        let mut random = Stream::new(9, "joint", 0);
        for _ in 0..3 {
            let mut noise = crate::cross_products::Effects::zero(&marginal.order);
            random.fill_normal(&mut noise.own);
            random.fill_normal(&mut noise.others);
            let square = noise.dot(&noise);
            work.factor
                .colour_effects(std::slice::from_mut(&mut noise))
                .unwrap();
            let mut effects = noise;
            effects.add(1.0, &at.mean);
            let z = marginal.latents(at.theta_prior(), &effects);
            let joint = prior_at(&bound, &z) + log_likelihood(&bound, &z);
            let size = effects.len() as f64;
            let maps = marginal.model.blocks.iter().zip(&at.prior.blocks);
            let turned: f64 = maps
                .map(|(block, prior)| {
                    let (_, log_det) = lehr_numeric::dense::small::inverse(
                        &prior.inverse.matrix(block.width),
                        block.width,
                    )
                    .unwrap();
                    -(block.groups as f64) * log_det
                })
                .sum();
            let own = 0.5 * work.factor.log_det - 0.5 * square - 0.5 * size * TAU.ln() + turned;
            assert!(
                (joint - own - at.value).abs() < 1e-9,
                "{joint} {own} {}",
                at.value
            );
        }
    }
}

fn log_likelihood(density: &dyn Density, z: &[f64]) -> f64 {
    fold(&local_rows(density), &LogLikelihood::new(density, z, &[])).unwrap()[0]
}

#[test]
fn rows_in_another_order_and_rows_twice_are_the_same_as_weights() {
    let data = Data::new();
    let theta = theta(Form::Standard);
    let plain = value(&bind(Form::Standard, &data), &theta);
    let turned: Vec<usize> = (0..ROWS).map(|n| (n * 37 + 11) % ROWS).collect();
    let other = value(&bind(Form::Standard, &data.at(&turned)), &theta);
    assert!((plain - other).abs() < 1e-10, "{plain} {other}");
    let twice: Vec<usize> = (0..ROWS).chain([3, 20]).collect();
    let repeated = value(&bind(Form::Standard, &data.at(&twice)), &theta);
    let mut heavier = Data::new();
    heavier.weight[3] *= 2.0;
    heavier.weight[20] *= 2.0;
    let weighted = value(&bind(Form::Standard, &heavier), &theta);
    assert!((repeated - weighted).abs() < 1e-10, "{repeated} {weighted}");
}

#[test]
fn a_spread_near_zero_leaves_the_model_without_the_block() {
    let data = Data::new();
    let without = Model::new(|m| {
        let beta = m.sample("beta", Normal::new(0.3, 2.0));
        let intercept = m.sample("intercept", Normal::new(beta * 0.5, 1.5));
        let spread = m.sample("sd_a", HalfNormal::new(1.0).expand([2]));
        let a = m.sample("a", Normal::new(0.0, spread).expand([7, 2]));
        let noise = m.sample("noise", Exponential::new(1.0));
        m.rows(|row| {
            let mean = intercept
                + beta * row.number("x")
                + row.offset("o")
                + (a.at(row.index("a")) * row.matrix("z")).sum_axis(1);
            row.weight("w");
            row.observe("y", Normal::new(mean, noise));
        });
    });
    let without = without.bind(&data.table()).unwrap();
    let mut theta = theta(Form::Effect);
    theta[2] = 1e-6_f64.ln();
    let with = value(&bind(Form::Effect, &data), &theta);
    let spread = -0.5e-12 + (2.0 / TAU.sqrt()).ln() + theta[2];
    let alone = value(&without, &[theta[0], theta[1], theta[3]]);
    assert!((with - spread - alone).abs() < 1e-6, "{with} {alone}");
}

#[test]
fn a_factor_model_and_local_spreads_are_refused_in_words() {
    let data = Data::new();
    let refused = |model: Model| refusal(&model.bind(&data.table()).unwrap()).unwrap();
    let factors = refused(Model::new(|m| {
        let load = m.sample("load", Normal::new(0.0, 1.0).expand([4]));
        let score = m.sample("score", Normal::new(0.0, 1.0).expand([7]));
        let noise = m.sample("noise", Exponential::new(1.0));
        m.rows(|row| {
            let mean = load.at(row.index("b")) * score.at(row.index("a"));
            row.observe("y", Normal::new(mean, noise));
        });
    }));
    assert_eq!(
        factors,
        "no latents are Gaussian given the others and linear in the rows"
    );
    let plain = refused(Model::new(|m| {
        let beta = m.sample("beta", Normal::new(0.0, 1.0));
        let noise = m.sample("noise", Exponential::new(1.0));
        m.rows(|row| row.observe("y", Normal::new(beta * row.number("x"), noise)));
    }));
    assert_eq!(plain, "no effect varies by group");
    let group_rows = refused(Model::new(|m| {
        let spread = m.sample("spread", HalfNormal::new(1.0).expand([4]));
        let effect = m.sample("effect", Normal::new(0.0, spread).expand([4]));
        let noise = m.sample("noise", Exponential::new(1.0));
        m.rows(|row| row.observe("y", Normal::new(effect.at(row.index("b")), noise)));
    }));
    assert!(
        group_rows.starts_with("groups differ by more than their rows"),
        "{group_rows}"
    );
}

#[test]
fn a_coefficient_that_is_not_gaussian_and_moves_the_rows_is_refused() {
    let data = Data::new();
    let model = Model::new(|m| {
        let beta = m.sample("beta", Laplace::new(0.0, 1.0));
        let spread = m.sample("spread", HalfNormal::new(1.0));
        let effect = m.sample("effect", Normal::new(0.0, spread).expand([4]));
        let noise = m.sample("noise", Exponential::new(1.0));
        m.rows(|row| {
            let mean = beta * row.number("x") + effect.at(row.index("b"));
            row.observe("y", Normal::new(mean, noise));
        });
    });
    let why = refusal(&model.bind(&data.table()).unwrap()).unwrap();
    assert_eq!(
        why,
        "latents that are not Gaussian given the others move the predictor"
    );
}

#[test]
fn factors_that_group_the_rows_alike_are_named() {
    let mut data = Data::new();
    data.a = data.b.iter().map(|code| 3 - code).collect();
    let model = Model::new(|m| {
        let spread = m.sample("spread", HalfNormal::new(1.0));
        let a = m.sample("a", Normal::new(0.0, spread).expand([7]));
        let b = m.sample("b", Normal::new(0.0, spread).expand([4]));
        let noise = m.sample("noise", Exponential::new(1.0));
        m.rows(|row| {
            let mean = a.at(row.index("a")) + b.at(row.index("b"));
            row.observe("y", Normal::new(mean, noise));
        });
    });
    let bound = model.bind(&data.table()).unwrap();
    let marginal = MarginalDensity::new(&bound).unwrap();
    let name = |block: usize| marginal.model.blocks[block].name.as_str();
    let names = marginal
        .confounded
        .iter()
        .map(|pair| (name(pair.0), name(pair.1)));
    assert_eq!(names.collect::<Vec<_>>(), [("a", "b")]);
    assert!(
        MarginalDensity::new(&bind(Form::Effect, &data))
            .unwrap()
            .confounded
            .is_empty()
    );
}

#[test]
fn rows_one_by_one_say_of_a_normal_response_what_their_sums_do() {
    let data = Data::new();
    for form in [Form::Standard, Form::Effect] {
        let (bound, theta) = (bind(form, &data), theta(form));
        let exact = MarginalDensity::new(&bound).unwrap();
        let by_row = MarginalDensity::with_rows(&bound, true, None).unwrap();
        let slope = |marginal: &MarginalDensity<'_>| {
            let mut work = marginal.workspace();
            let found = marginal.gradient(&theta, &WarmStart::default(), &mut work);
            found.unwrap()
        };
        let ((value, slope), (other, other_slope)) = (slope(&exact), slope(&by_row));
        assert!((value - other).abs() < 1e-7, "{value} {other}");
        for (one, other) in slope.iter().zip(other_slope) {
            assert!((one - other).abs() < 1e-6, "{one} {other}");
        }
    }
}
