//! Vague priors on standard deviations: the start of a fit must not depend on the median of the
//! prior.

use lehr_density::Density;
use lehr_infer::guide::Whitening;
use lehr_infer::start::best_independent;
use lehr_model::distribution::{Distribution, HalfCauchy, HalfNormal, Normal, Poisson, Uniform};
use lehr_model::{Bound, Model, Tracer};
use lehr_numeric::stream::Stream;
use lehr_table::Table;

use crate::{fixed, named, normals, run};

const SPREAD: f64 = 0.6;

/// The vague prior of the groups' standard deviation.
#[derive(Clone, Copy, Debug)]
enum Vague {
    HalfNormal,
    HalfCauchy,
    Uniform,
    /// An informative prior, for comparison.
    Sensible,
}

/// The parametrisation of the group effects.
#[derive(Clone, Copy, Debug)]
enum Form {
    Standard,
    Effect,
}

/// Counts of `each` rows per group, drawn through their log rates.
fn counts(groups: usize, each: usize) -> Table {
    let (effects, x) = (normals(groups, 3), normals(groups * each, 4));
    let mut stream = Stream::new(5, "counts", 0);
    let count = |(row, x): (usize, &f64)| {
        let rate = (0.5 + 0.4 * x + SPREAD * effects[row % groups]).exp();
        let mut left = stream.uniform();
        let (mut count, mut chance) = (0.0, (-rate).exp());
        while left > chance && count < 1000.0 {
            left -= chance;
            count += 1.0;
            chance *= rate / count;
        }
        count
    };
    let y: Vec<f64> = x.iter().enumerate().map(count).collect();
    let codes = (0..groups * each).map(|row| (row % groups) as u32);
    let levels = (0..groups).map(|group| group.to_string());
    Table::new()
        .with_number("y", y)
        .and_then(|table| table.with_number("x", x))
        .and_then(|table| table.with_category("group", codes.collect(), levels.collect()))
        .unwrap()
}

fn model(prior: Vague, form: Form, groups: usize) -> Model {
    Model::new(move |m| {
        let spread = match prior {
            Vague::HalfNormal => m.sample("spread", HalfNormal::new(1e3)),
            Vague::HalfCauchy => m.sample("spread", HalfCauchy::new(1e3)),
            Vague::Uniform => m.sample("spread", Uniform::new(0.0, 100.0)),
            Vague::Sensible => m.sample("spread", HalfNormal::new(1.0)),
        };
        let own = match form {
            Form::Standard => Normal::new(0.0, 1.0),
            Form::Effect => Normal::new(0.0, spread),
        };
        let own = m.sample("own", own.expand([groups]));
        rows(m, |row| match form {
            Form::Standard => own.at(row.index("group")) * spread,
            Form::Effect => own.at(row.index("group")),
        });
    })
}

/// The fixed part of the predictor and the response, with the effect of a row's group.
fn rows<'g>(m: &Tracer<'g>, effect: impl Fn(&lehr_model::Row<'_, 'g>) -> lehr_graph::Expr<'g>) {
    let intercept = m.sample("intercept", Normal::new(0.0, 2.5));
    let slope = m.sample("slope", Normal::new(0.0, 2.5));
    m.rows(|row| {
        let log_rate = intercept + row.number("x") * slope + effect(row);
        row.observe("y", Poisson::with_log_rate(log_rate));
    });
}

fn bind(prior: Vague, form: Form, groups: usize, each: usize) -> Bound {
    model(prior, form, groups)
        .bind(&counts(groups, each))
        .unwrap()
}

/// The standard deviation of the groups at the start, and the width of the start there, on the
/// unconstrained scale.
fn settled(density: &Bound, seed: u64) -> (f64, f64) {
    let found = best_independent(density, seed).unwrap();
    let sites = density.latents().constrain_values(&found.centre.latents);
    let Whitening::Diagonal { scale, .. } = &found.whitening else {
        panic!("independent latents");
    };
    (sites[0].values[0], scale[0])
}

#[test]
fn a_start_does_not_depend_on_the_middle_of_a_vague_prior() {
    for form in [Form::Standard, Form::Effect] {
        let (sensible, _) = settled(&bind(Vague::Sensible, form, 60, 10), 1);
        for prior in [Vague::HalfNormal, Vague::HalfCauchy, Vague::Uniform] {
            let density = bind(prior, form, 60, 10);
            for seed in 0..5 {
                let (spread, width) = settled(&density, seed);
                let off = (spread / sensible).ln().abs();
                assert!(off < 0.3, "{form:?} {prior:?} {seed}: {spread} {sensible}");
                assert!(width < 0.5, "{form:?} {prior:?} {seed}: {width}");
            }
        }
    }
}

/// Fits with little training from this number of seeds. Bad starts fail there, or end in a very low
/// bound.
fn fitted_from_every_seed(prior: Vague, method: &str, seeds: u64) {
    let density = bind(prior, Form::Standard, 8, 5);
    for seed in 0..seeds {
        let fit = fixed(method, 200).draws(100).seed(seed).run(&density);
        let posterior = fit.unwrap_or_else(|error| panic!("{prior:?} {seed}: {error}"));
        let bound = posterior.bound().unwrap();
        assert!(
            bound.mean.abs() < 1e6,
            "{prior:?} {seed} {method}: {bound:?}"
        );
    }
}

fn few_groups_are_fitted(seeds: u64) {
    for prior in [Vague::HalfNormal, Vague::HalfCauchy, Vague::Uniform] {
        fitted_from_every_seed(prior, "mean-field", seeds);
    }
    fitted_from_every_seed(Vague::HalfNormal, "full-rank", seeds);
}

#[test]
fn few_groups_under_a_vague_prior_are_fitted() {
    few_groups_are_fitted(2);
}

#[test]
#[ignore = "two minutes"]
fn few_groups_under_a_vague_prior_are_fitted_from_every_seed() {
    few_groups_are_fitted(20);
}

#[test]
fn many_groups_under_a_vague_prior_end_where_a_sensible_one_does() {
    let spread = |prior| {
        let density = bind(prior, Form::Effect, 100, 8);
        let posterior = run(named("mean-field").draws(4000), &density);
        let summaries = posterior.summaries();
        assert_eq!(summaries[0].name, "spread");
        (summaries[0].mean, summaries[0].sd)
    };
    let (sensible, sd) = spread(Vague::Sensible);
    assert!((sensible - SPREAD).abs() < 3.0 * sd, "{sensible} ± {sd}");
    for prior in [Vague::HalfNormal, Vague::Uniform] {
        let (mean, own) = spread(prior);
        // A hundred effects make the prior unimportant, and 4,000 draws have an error below a tenth
        // of a standard deviation.
        assert!(
            (mean - sensible).abs() < 0.3 * sd,
            "{prior:?}: {mean} {sensible} ± {sd}"
        );
        assert!((own / sd).ln().abs() < 0.2, "{prior:?}: {own} {sd}");
    }
}
