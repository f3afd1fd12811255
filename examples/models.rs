//! The models of tests/models in Rust: their programs, the bits of their fits, and the error
//! messages of models with mistakes. `cargo run --example models` prints the same text as the
//! Python package must.

use lehr::model::{BindError, Problem, Program};
use lehr::prelude::*;
use lehr::regression::Error;

const ROWS: u32 = 200;
/// The places at which the Gaussian process has values.
const POINTS: [f64; 5] = [-0.75, -0.375, 0.0, 0.375, 0.75];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let table = table()?;
    for (name, model) in MODELS {
        let bound = model().bind(&table)?;
        let saved = SavedFit::of(fit()?.run(&bound)?)?;
        println!("== {name}\n{}\n-- {}", bound.program(), told(&saved));
    }
    for (name, model) in FAILING {
        let error = model().bind(&table).expect_err("it is mistaken");
        println!("== {name}\n{}", first_line(&words(&error)));
    }
    for (name, formula, family) in FORMULAS {
        println!("== {name}\n{formula}");
        match regressed(&table, formula, family) {
            Ok(saved) => println!("{}\n-- {}", program(&saved)?, told(&saved)),
            Err(error) => println!("{}", first_line(&error.to_string())),
        }
    }
    Ok(())
}

fn fit<'f>() -> Result<Fit<'f>, FitError> {
    Ok(Fit::named("full-rank")?.set("iterations", "200")?.seed(7))
}

fn regressed(table: &Table, formula: &str, family: &str) -> Result<SavedFit, Error> {
    let asked = lehr::regress(formula, table)?.family(family)?;
    asked.with(fit()?).fit()
}

/// The program of the fitted model.
fn program(saved: &SavedFit) -> Result<Program, Error> {
    let stored = saved.posterior.origin.model.as_ref();
    Ok(Program::from_stored(stored.ok_or(Error::NoModel)?)?)
}

/// The verdict, and a hash of the bits of all draws in the order of a fit's numbers (FNV-1a).
fn told(saved: &SavedFit) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let draws = saved.even_draws(Groups::Leave);
    for value in draws.iter().flat_map(|one| &one.values) {
        hash = (hash ^ value.to_bits()).wrapping_mul(0x0100_0000_01b3);
    }
    format!("{} {hash:016x}", saved.verdict().level.name())
}

/// The error message, without the line of the program where the error is.
fn words(error: &BindError) -> String {
    match &error.problems[..] {
        [Problem::Shape { error }] => error.message.clone(),
        _ => error.to_string(),
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// Numbers that are equal in every language: quotients of small whole numbers.
fn table() -> Result<Table, lehr::table::TableError> {
    let share = |times: u32| (0..ROWS).map(move |i| f64::from(i * times % 101) / 64.0 - 0.75);
    let x: Vec<f64> = share(37).zip(share(53)).flat_map(|(a, b)| [a, b]).collect();
    let site: Vec<u32> = (0..ROWS).map(|i| i * 7 % 5).collect();
    let y = share(37).zip(share(71)).map(|(z, noise)| 2.0 * z + noise);
    let names = ["a", "b", "c", "d", "e"].map(str::to_owned).to_vec();
    Table::new()
        .with_number("y", y.collect())?
        .with_number("z", share(37).collect())?
        .with_matrix("x", ROWS as usize, 2, x)?
        .with_number(
            "coin",
            (0..ROWS).map(|i| f64::from(i * 37 % 101 > 40)).collect(),
        )?
        .with_number(
            "count",
            (0..ROWS).map(|i| f64::from(i * 37 % 101 / 17)).collect(),
        )?
        .with_category("site", site, names)
}

/// A name, and a function that returns the model.
type Written = (&'static str, fn() -> Model);

const MODELS: [Written; 7] = [
    ("conjugate", conjugate),
    ("multilevel", multilevel),
    ("robust", robust),
    ("counts", counts),
    ("process", process),
    ("spread", spread),
    ("funnel", funnel),
];

/// Models that cannot be bound to the table.
const FAILING: [Written; 6] = [
    ("wrong_shape", wrong_shape),
    ("wrong_column", wrong_column),
    ("named_twice", named_twice),
    ("discrete", discrete),
    ("negative_scale", negative_scale),
    ("wrong_labels", wrong_labels),
];

/// Formulas; the last two have mistakes.
const FORMULAS: [(&str, &str, &str); 7] = [
    ("formula_multilevel", "y ~ z + (1 | site)", "gaussian"),
    ("formula_counts", "count ~ z", "poisson"),
    ("formula_coin", "coin ~ z + (1 + z | site)", "bernoulli"),
    ("formula_curve", "y ~ gp(z)", "gaussian"),
    ("formula_spread", "count ~ z + (1 | row())", "poisson"),
    ("formula_unknown", "y ~ zz", "gaussian"),
    ("formula_family", "y ~ z", "bernoulli"),
];

/// A line through 0 with known noise.
fn conjugate() -> Model {
    Model::new(|m| {
        let slope = m.sample("slope", Normal::new(0.0, 2.0));
        m.rows(|row| row.observe("y", Normal::new(row.number("z") * slope, 1.0)));
    })
}

/// A logistic regression with random effects of sites.
fn multilevel() -> Model {
    Model::new(|m| {
        let weight = m.sample("weight", Normal::new(0.0, 1.0).expand([2]));
        let scale = m.sample("scale", HalfNormal::new(1.0));
        let effect = m.sample("effect", Normal::new(0.0, scale).expand([m.levels("site")]));
        m.rows(|row| {
            let logit = row.matrix("x").dot(weight) + effect.at(row.index("site"));
            row.observe("coin", Bernoulli::with_logit(logit));
        });
    })
}

/// A line with heavy-tailed noise.
fn robust() -> Model {
    Model::new(|m| {
        let level = m.sample("level", StudentT::new(3.0, 0.0, 2.5));
        let slope = m.sample("slope", Normal::new(0.0, 2.0));
        let scale = m.sample("scale", Exponential::new(1.0));
        m.deterministic("at_one", level + slope);
        m.rows(|row| {
            let mean = level + slope * row.number("z");
            row.observe("y", StudentT::new(4.0, mean, scale));
        });
    })
}

/// Counts with excess zeros.
fn counts() -> Model {
    Model::new(|m| {
        let gate = m.sample("gate", Normal::new(0.0, 1.0));
        let rate = m.group_effect("rate", m.levels("site"), 0.5);
        m.rows(|row| {
            let log_rate = rate.at(row.index("site")) + row.offset("z");
            let counts = Poisson::with_log_rate(log_rate);
            row.observe("count", ZeroInflated::with_gate_logit(counts, gate));
        });
    })
}

/// A Gaussian process with an unknown lengthscale, by its values at five points.
fn process() -> Model {
    Model::new(|m| {
        let scale = m.sample("scale", HalfNormal::new(1.0));
        let length = m.sample("length", LogNormal::new(-0.5, 0.5));
        let noise = m.sample("noise", Exponential::new(1.0));
        let n = POINTS.len();
        let raw = m.sample("raw", Normal::new(0.0, 1.0).expand([n]));
        let apart = POINTS.map(|a| POINTS.map(|b| (a - b) * (a - b)));
        let apart = m.graph().constant([n, n], apart.as_flattened());
        let nugget: Vec<f64> = (0..n * n)
            .map(|k| 0.01 * f64::from(k % (n + 1) == 0))
            .collect();
        let nugget = m.graph().constant([n, n], &nugget);
        let covariance = (-0.5 * (apart / length.square())).exp() + nugget;
        let weight = covariance.cholesky().solve_lower_transposed(raw);
        m.rows(|row| {
            let mut mean = m.graph().scalar(0.0);
            for (k, point) in POINTS.into_iter().enumerate() {
                let near = (-0.5 * ((row.number("z") - point).square() / length.square())).exp();
                mean = mean + near * weight.entry(k);
            }
            row.observe("y", Normal::new(scale * mean, noise));
        });
    })
}

/// Overdispersed counts, with a local latent for each row.
fn spread() -> Model {
    Model::new(|m| {
        let level = m.sample("level", Normal::new(0.0, 1.0));
        let slope = m.sample("slope", Normal::new(0.0, 1.0));
        let width = m.sample("width", HalfNormal::new(1.0));
        m.rows(|row| {
            let own = row.local("own", Normal::new(0.0, 1.0));
            let log_rate = level + slope * row.number("z") + width * own;
            row.observe("count", Poisson::with_log_rate(log_rate));
        });
    })
}

/// A funnel, which no Gaussian approximates: the logarithm of the effects' prior variance is a latent.
fn funnel() -> Model {
    Model::new(|m| {
        let width = m.sample("width", Normal::new(0.0, 3.0));
        m.sample("effect", Normal::new(0.0, (0.5 * width).exp()).expand([6]));
        m.rows(|row| row.observe("y", Normal::new(0.0, 2.0)));
    })
}

/// Two columns, but three weights.
fn wrong_shape() -> Model {
    Model::new(|m| {
        let weight = m.sample("weight", Normal::new(0.0, 1.0).expand([3]));
        m.rows(|row| row.observe("y", Normal::new(row.matrix("x").dot(weight), 1.0)));
    })
}

/// A column that does not exist.
fn wrong_column() -> Model {
    Model::new(|m| {
        let slope = m.sample("slope", Normal::new(0.0, 1.0));
        m.rows(|row| row.observe("y", Normal::new(row.number("zz") * slope, 1.0)));
    })
}

/// Two sites with the same name.
fn named_twice() -> Model {
    Model::new(|m| {
        let slope = m.sample("slope", Normal::new(0.0, 1.0));
        let level = m.sample("slope", Normal::new(0.0, 1.0));
        m.rows(|row| row.observe("y", Normal::new(row.number("z") * slope + level, 1.0)));
    })
}

/// A latent count, which cannot be sampled.
fn discrete() -> Model {
    Model::new(|m| {
        let count = m.sample("latent", Poisson::with_rate(1.0));
        m.rows(|row| row.observe("y", Normal::new(row.number("z") * count, 1.0)));
    })
}

/// A prior with a negative scale.
fn negative_scale() -> Model {
    Model::new(|m| {
        let slope = m.sample("slope", Normal::new(0.0, -1.0));
        m.rows(|row| row.observe("y", Normal::new(row.number("z") * slope, 1.0)));
    })
}

/// Numbers observed with a distribution for binary values.
fn wrong_labels() -> Model {
    Model::new(|m| {
        let slope = m.sample("slope", Normal::new(0.0, 1.0));
        m.rows(|row| row.observe("y", Bernoulli::with_logit(row.number("z") * slope)));
    })
}
