//! Randomly generated posteriors: models, sizes and rows are all drawn from a seed.

use lehr_graph::Expr;
use lehr_model::Model;
use lehr_model::distribution::{Beta, Exponential, HalfNormal, Normal, StudentT, Uniform};
use lehr_table::Table;

use super::problem::{Problem, Source, Truth, covariates, logistic, model, regression, with};

/// The most rows of a generated hierarchy.
const MOST_ROWS: f64 = 6000.0;

/// `count` posteriors of a generator's seed: regressions, hierarchies, mixtures, heavy tails and
/// bounded latents in turn. The first ones do not depend on `count`.
pub fn generated(seed: u64, count: usize) -> Vec<Problem> {
    let one = |k: usize| {
        let mut source = Source::new(1_000_003 * (seed + 1) + k as u64);
        let make = [glm, hierarchy, mixture, heavy, bounded][k % 5];
        make(&mut source, &format!("{seed}.{k}"))
    };
    (0..count).map(one).collect()
}

/// A number between two bounds, uniform in its logarithm.
fn log_even(source: &mut Source, low: f64, high: f64) -> f64 {
    (low.ln() + (high / low).ln() * source.0.uniform()).exp()
}

fn between(source: &mut Source, low: f64, high: f64) -> f64 {
    low + (high - low) * source.0.uniform()
}

fn choose<T: Copy>(source: &mut Source, among: &[T]) -> T {
    among[source.0.below(among.len() as u64) as usize]
}

/// A response of a family around a predictor.
fn response(family: &str, source: &mut Source, at: f64, noise: f64) -> f64 {
    match family {
        "gaussian" => at + noise * source.0.normal(),
        "student" => at + noise * source.0.normal() / source.0.uniform().sqrt(),
        "bernoulli" => source.chance(logistic(at)),
        "poisson" => source.count(at.min(5.0).exp()),
        "negbinomial" => {
            let over = noise * source.0.normal();
            source.count((at + over).min(5.0).exp())
        }
        "gamma" => (at + 0.5 * noise * source.0.normal()).exp(),
        "beta" => logistic(at + noise * source.0.normal()).clamp(0.001, 0.999),
        other => unreachable!("no response of {other}"),
    }
}

fn glm(source: &mut Source, name: &str) -> Problem {
    let family = choose(
        source,
        &[
            "gaussian",
            "student",
            "bernoulli",
            "bernoulli",
            "poisson",
            "negbinomial",
            "gamma",
            "beta",
        ],
    );
    let rows = log_even(source, 15.0, 2000.0) as usize;
    let count = 1 + source.0.below(8) as usize;
    let size = log_even(source, 0.1, 1.5);
    let mut coefficients = vec![between(source, -3.0, 2.0)];
    coefficients.extend(source.normals(count).iter().map(|beta| size * beta));
    let noise = log_even(source, 0.3, 1.5);
    let (table, predictor) = covariates(source, rows, &coefficients);
    let y = predictor
        .iter()
        .map(|at| response(family, source, *at, noise))
        .collect();
    let table = with(table, "y", y);
    Problem {
        name: format!("glm {name}: {family}, {rows} rows, {count} columns"),
        kind: "generated glm",
        density: regression(&table, "y ~ .", family),
        truth: Truth::Chains,
    }
}

fn hierarchy(source: &mut Source, name: &str) -> Problem {
    let family = choose(source, &["gaussian", "bernoulli", "poisson"]);
    let count = log_even(source, 3.0, 3000.0) as usize;
    let each = log_even(source, 2.0, (MOST_ROWS / count as f64).clamp(2.0, 30.0));
    let rows = (count as f64 * each) as usize;
    let spread = choose(source, &[0.0, 0.2, 0.5, 1.0, 1.5]);
    let noise = log_even(source, 0.3, 2.0);
    let effects = source.normals(count);
    let intercept = between(source, -1.5, 1.5);
    let (table, predictor) = covariates(source, rows, &[intercept, 0.4]);
    // Groups of unequal sizes, each with at least one row.
    let group = |source: &mut Source, row: usize| {
        let share = source.0.uniform().powf(1.5);
        if row < count {
            row
        } else {
            (share * count as f64) as usize
        }
    };
    let codes: Vec<u32> = (0..rows).map(|row| group(source, row) as u32).collect();
    let y = predictor.iter().zip(&codes).map(|(at, g)| {
        let at = at + spread * effects[*g as usize];
        response(family, source, at, noise)
    });
    let table = with(table, "y", y.collect());
    let levels = (0..count).map(|g| format!("g{g}")).collect();
    let table = table.with_category("g", codes, levels).expect("a column");
    Problem {
        name: format!("hierarchy {name}: {family}, {count} groups, {rows} rows, spread {spread}"),
        kind: "generated hierarchy",
        density: regression(&table, "y ~ x1 + (1 | g)", family),
        truth: Truth::Chains,
    }
}

/// One part of a mixture of Gaussians with independent axes.
#[derive(Clone)]
struct Part {
    share: f64,
    centre: Vec<f64>,
    scale: f64,
}

impl Part {
    /// ln of the part's share of the density at these latents.
    fn log_density<'g>(&self, latents: &[Expr<'g>]) -> Expr<'g> {
        let scale = self.scale;
        let own = |(x, centre): (&Expr<'g>, &f64)| -0.5 * ((*x - *centre) / scale).square();
        let sum = latents.iter().zip(&self.centre).map(own);
        let sum = sum.reduce(|a, b| a + b).expect("a latent");
        sum + (self.share.ln() - latents.len() as f64 * scale.ln())
    }
}

/// A posterior that is a mixture of two or three Gaussians, near each other or far apart.
fn mixture(source: &mut Source, name: &str) -> Problem {
    const WIDE: f64 = 10.0;
    let axes = 1 + source.0.below(6) as usize;
    let count = 2 + source.0.below(2) as usize;
    let apart = log_even(source, 0.5, 8.0);
    let part = |source: &mut Source| Part {
        share: between(source, 0.1, 1.0),
        centre: source.normals(axes).iter().map(|x| apart * x).collect(),
        scale: log_even(source, 0.4, 2.0),
    };
    let mut parts: Vec<Part> = (0..count).map(|_| part(source)).collect();
    let total: f64 = parts.iter().map(|one| one.share).sum();
    for one in &mut parts {
        one.share /= total;
    }
    let known = (0..axes).map(|axis| {
        let moment = |power: i32| -> f64 {
            let each = parts.iter().map(|one| {
                let own = if power == 2 { one.scale.powi(2) } else { 0.0 };
                one.share * (one.centre[axis].powi(power) + own)
            });
            each.sum()
        };
        let mean = moment(1);
        (format!("x{axis}"), mean, (moment(2) - mean * mean).sqrt())
    });
    let known = Truth::Known(known.collect());
    let written = Model::new(move |m| {
        let site = |axis| m.sample(&format!("x{axis}"), Normal::new(0.0, WIDE));
        let x: Vec<Expr<'_>> = (0..axes).map(site).collect();
        let each = parts.iter().map(|part| part.log_density(&x));
        let mixed = each.reduce(|a, b| b + (a - b).softplus());
        let prior = x.iter().map(|x| 0.5 * (*x / WIDE).square());
        let prior = prior.reduce(|a, b| a + b);
        // The prior is subtracted, so that the posterior is the mixture itself.
        m.factor("mixture", mixed.expect("a part") + prior.expect("a latent"));
        m.rows(|row| row.observe("y", Normal::new(0.0, 1.0)));
    });
    let name = format!("mixture {name}: {count} parts, {axes} axes, {apart:.1} apart");
    model(&name, "generated mixture", vec![0.0], known, &written)
}

/// A few rows with Student's noise, and coefficients whose priors have heavy tails.
fn heavy(source: &mut Source, name: &str) -> Problem {
    let (count, rows) = (1 + source.0.below(4) as usize, 4 + source.0.below(12));
    let freedom = log_even(source, 2.0, 8.0);
    let width = log_even(source, 1.0, 10.0);
    let noise = log_even(source, 0.5, 3.0);
    let (table, predictor) = covariates(source, rows as usize, &vec![1.0; count + 1]);
    let y = predictor
        .iter()
        .map(|at| response("student", source, *at, noise))
        .collect();
    let table = with(table, "y", y);
    let written = Model::new(move |m| {
        let prior = || StudentT::new(freedom.max(3.0), 0.0, width);
        let site = |k| m.sample(&format!("b{k}"), prior());
        let beta: Vec<Expr<'_>> = (0..=count).map(site).collect();
        m.rows(|row| {
            let columns = (1..=count).map(|k| beta[k] * row.number(&format!("x{k}")));
            let at = columns.fold(beta[0], |sum, one| sum + one);
            row.observe("y", StudentT::new(freedom, at, noise));
        });
    });
    Problem {
        name: format!("heavy {name}: {rows} rows, {count} columns, {freedom:.1} degrees"),
        kind: "generated heavy tail",
        density: written.bind(&table).expect("a model"),
        truth: Truth::Chains,
    }
}

/// Bounded and positive latents with only a few rows.
fn bounded(source: &mut Source, name: &str) -> Problem {
    let (count, rows) = (1 + source.0.below(4) as usize, 1 + source.0.below(20));
    let noise = log_even(source, 0.1, 3.0);
    let level = between(source, -0.5, 1.5);
    let laws: Vec<u64> = (0..count).map(|_| source.0.below(4)).collect();
    let shapes = [log_even(source, 0.7, 4.0), log_even(source, 0.7, 4.0)];
    let slopes: Vec<f64> = (0..count).map(|_| between(source, -1.5, 1.5)).collect();
    let y = (0..rows).map(|_| level + noise * source.0.normal());
    let table = with(Table::new(), "y", y.collect());
    let written = Model::new(move |m| {
        let site = |k: usize| {
            let name = format!("x{k}");
            let x = match laws[k] {
                0 => m.sample(&name, Uniform::new(0.0, 1.0)),
                1 => m.sample(&name, Beta::new(shapes[0], shapes[1])),
                2 => m.sample(&name, HalfNormal::new(1.0)),
                _ => m.sample(&name, Exponential::new(1.0)),
            };
            x * slopes[k]
        };
        let at = (0..count).map(site).reduce(|a, b| a + b);
        let at = at.expect("a latent");
        m.rows(|row| row.observe("y", Normal::new(at, noise)));
    });
    Problem {
        name: format!("bounded {name}: {count} latents, {rows} rows"),
        kind: "generated bounded",
        density: written.bind(&table).expect("a model"),
        truth: Truth::Chains,
    }
}
