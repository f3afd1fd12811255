//! Surrogates: their identities, their derivatives, their error messages and their stored data.

#[path = "../fixture/mod.rs"]
mod fixture;

mod gradient;
mod keep;
mod law;
mod proposition;
mod quality;
mod refusal;
mod taylor;

use std::sync::Arc;

use lehr_density::{Density, RowSet, Support};
use lehr_infer::expansion::Mode;
use lehr_infer::guide::{LearnedBlocks, RowInput, Whitening, params_block};
use lehr_infer::objective::Score;
use lehr_infer::program::compile;
use lehr_infer::surrogate::{Setup, Surrogate, SurrogateKind, SurrogateSettings};
use lehr_model::distribution::{Bernoulli, Distribution, Normal, Poisson};
use lehr_model::{Bound, Model};
use lehr_numeric::stream::Stream;
use lehr_table::Table;

/// Columns of x in every model.
const WIDTH: usize = 3;

/// Covariates with an intercept.
fn covariates(rows: usize, seed: u64) -> Vec<f64> {
    let mut x = vec![0.0; rows * WIDTH];
    Stream::new(seed, "covariates", 0).fill_normal(&mut x);
    x.chunks_exact_mut(WIDTH).for_each(|row| row[0] = 1.0);
    x
}

fn predictors(x: &[f64], weight: &[f64]) -> Vec<f64> {
    let dot = |row: &[f64]| row.iter().zip(weight).map(|(x, w)| x * w).sum();
    x.chunks_exact(WIDTH).map(dot).collect()
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// A generated regression of one of three kinds.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Likelihood {
    Logistic,
    Linear,
    Poisson,
}

const NOISE: f64 = 0.7;

impl Likelihood {
    const ALL: [Likelihood; 3] = [
        Likelihood::Logistic,
        Likelihood::Linear,
        Likelihood::Poisson,
    ];

    fn response(self, predictor: f64, stream: &mut Stream) -> f64 {
        match self {
            Likelihood::Logistic => f64::from(stream.uniform() < sigmoid(predictor)),
            Likelihood::Linear => predictor + NOISE * stream.normal(),
            Likelihood::Poisson => (predictor.exp() * 2.0 * stream.uniform()).round(),
        }
    }

    fn bind(self, rows: usize, seed: u64) -> Bound {
        let x = covariates(rows, seed);
        let mut stream = Stream::new(seed, "responses", 0);
        let y = predictors(&x, &[0.3, -0.8, 0.5])
            .into_iter()
            .map(|predictor| self.response(predictor, &mut stream))
            .collect();
        let table = Table::new()
            .with_number("y", y)
            .and_then(|t| t.with_matrix("x", rows, WIDTH, x))
            .unwrap();
        self.model().bind(&table).unwrap()
    }

    fn model(self) -> Model {
        Model::new(move |m| {
            let weight = m.sample("weight", Normal::new(0.0, 1.5).expand([WIDTH]));
            m.rows(|row| {
                let predictor = row.matrix("x").dot(weight);
                match self {
                    Likelihood::Logistic => row.observe("y", Bernoulli::with_logit(predictor)),
                    Likelihood::Linear => row.observe("y", Normal::new(predictor, NOISE)),
                    Likelihood::Poisson => row.observe("y", Poisson::with_log_rate(predictor)),
                }
            });
        })
    }

    /// The derivative of a row's log likelihood in its predictor, and the negative second
    /// derivative.
    fn derivatives(self, y: f64, predictor: f64) -> (f64, f64) {
        match self {
            Likelihood::Logistic => {
                let p = sigmoid(predictor);
                (y - p, p * (1.0 - p))
            }
            Likelihood::Linear => ((y - predictor) / NOISE.powi(2), NOISE.powi(-2)),
            Likelihood::Poisson => (y - predictor.exp(), predictor.exp()),
        }
    }

    /// The expansion of the weighted rows at a point, written out.
    fn expansion(self, density: &dyn Density, latents: &[f64], weights: &[f64]) -> Mode {
        let (y, x) = columns(density);
        let mut mode = Mode {
            latents: latents.to_vec(),
            params: Vec::new(),
            gradient: vec![0.0; WIDTH],
            hessian: vec![0.0; WIDTH * WIDTH],
        };
        let predictors = predictors(&x, latents);
        for (n, row) in x.chunks_exact(WIDTH).enumerate() {
            let (slope, curvature) = self.derivatives(y[n], predictors[n]);
            for i in 0..WIDTH {
                mode.gradient[i] += weights[n] * slope * row[i];
                for j in 0..WIDTH {
                    mode.hessian[i * WIDTH + j] -= weights[n] * curvature * row[i] * row[j];
                }
            }
        }
        mode
    }

    fn mode(self, density: &dyn Density, latents: &[f64]) -> Mode {
        self.expansion(density, latents, &vec![1.0; density.n_rows()])
    }
}

/// The columns y and x of a density.
fn columns(density: &dyn Density) -> (Vec<f64>, Vec<f64>) {
    let read = |name: &str| {
        let place = density.columns().iter().position(|c| c.name == name);
        let place = place.unwrap();
        let width = density.columns().0[place].kind.width();
        let mut values = vec![0.0; density.n_rows() * width];
        let all = RowSet::Range(0..density.n_rows());
        density.source().copy_numbers(place, &all, &mut values);
        values
    };
    (read("y"), read("x"))
}

/// A logistic model with a matrix, a number, an offset, row weights and a parameter θ.
fn rich(rows: usize) -> Bound {
    let model = Model::new(|m| {
        let scale = m.param("scale", 1.3, Support::Positive);
        let weight = m.sample("weight", Normal::new(0.0, scale).expand([WIDTH]));
        let slope = m.sample("slope", Normal::new(0.5, 1.0));
        m.rows(|row| {
            row.weight("w");
            let predictor = row.matrix("x").dot(weight) + row.number("u") * slope;
            row.observe(
                "y",
                Bernoulli::with_logit(predictor * scale + row.offset("o")),
            );
        });
    });
    let mut stream = Stream::new(5, "rich", 0);
    let mut normals = || (0..rows).map(|_| stream.normal()).collect::<Vec<f64>>();
    let (u, o) = (normals(), normals());
    let w = normals().iter().map(|x| 1.0 + x.abs()).collect();
    let y = normals().iter().map(|x| f64::from(*x > 0.2)).collect();
    let table = Table::new()
        .with_number("y", y)
        .and_then(|t| t.with_matrix("x", rows, WIDTH, covariates(rows, 6)))
        .and_then(|t| t.with_number("u", u))
        .and_then(|t| t.with_number("o", o))
        .and_then(|t| t.with_number("w", w))
        .unwrap();
    model.bind(&table).unwrap()
}

fn all_rows() -> Score {
    Score {
        rows: RowInput::All,
        control: None,
    }
}

/// Moves every learned value a little, by a wave that depends on its block and place.
fn stir(learned: &mut LearnedBlocks) {
    for place in 0..learned.blocks().len() {
        let letters = learned.blocks()[place].name.bytes().map(f64::from);
        let phase: f64 = letters.sum();
        for (i, at) in learned.range(place).enumerate() {
            learned.values[at] += 0.1 * (phase + 2.3 * i as f64).sin();
        }
    }
}

/// The starts of a surrogate's learned quantities, with θ.
fn starts(density: &dyn Density, surrogate: &dyn Surrogate) -> LearnedBlocks {
    let blocks = params_block(density).into_iter().chain(surrogate.blocks());
    LearnedBlocks::new(blocks.collect())
}

/// Ψ̂(z) at some points.
fn values(
    density: &dyn Density,
    surrogate: &dyn Surrogate,
    learned: &LearnedBlocks,
    points: &[Vec<f64>],
) -> Vec<f64> {
    let size = density.latents().size();
    let program = compile(density, learned, (points.len(), 0), |context| {
        let latents = context.graph().laned_input("z", [size]);
        vec![surrogate.log_likelihood(context, &context.at(latents))]
    });
    let mut program = program.unwrap();
    program.set_learned(&learned.values);
    let slot = program.plan().input_named("z").unwrap();
    program.workspace_mut().set(slot, &points.concat());
    program.run();
    program.output(0).to_vec()
}

/// The surrogate of that name.
fn kind(name: &str) -> SurrogateKind {
    name.parse().unwrap()
}

fn build(
    density: &dyn Density,
    kind: SurrogateKind,
    rows: usize,
    mode: Option<&Mode>,
) -> Arc<dyn Surrogate> {
    let settings = SurrogateSettings {
        hidden: 4,
        ..SurrogateSettings::new(kind, rows)
    };
    settings
        .build(
            density,
            &Setup {
                seed: 7,
                mode,
                whitening: &Whitening::Identity,
            },
        )
        .unwrap()
}

/// The surrogates of models whose rows have no latents of their own.
fn plain_kinds() -> impl Iterator<Item = SurrogateKind> {
    SurrogateKind::all().filter(|kind| !kind.needs_locals())
}

/// A point used as a mode where a true mode is not needed.
fn some_mode(density: &dyn Density) -> Mode {
    let size = density.latents().size();
    let mut hessian = vec![0.1; size * size];
    (0..size).for_each(|i| hessian[i * size + i] = -9.0 - i as f64);
    Mode {
        latents: vec![0.2; size],
        params: density.params().start().to_vec(),
        gradient: vec![0.3; size],
        hessian,
    }
}
