//! The best Gaussian by numerical integrals, compared with closed forms and with draws.

use std::sync::Arc;

use lehr_density::Density;
use lehr_infer::draw::evaluate;
use lehr_infer::guide::{
    Base, Covariance, FullRank, LearnedBlocks, MeanField, WhitenedDensity, Whitening, all_blocks,
};
use lehr_infer::posterior::{Gain, Posterior};
use lehr_infer::start::find_mode;
use lehr_infer::start::quadrature::{BestGaussian, applies, climb};
use lehr_infer::surrogate::SurrogateKind;
use lehr_model::distribution::{
    Bernoulli, Distribution, HalfNormal, InverseGamma, NegativeBinomial, Normal, OrderedLogistic,
    Poisson, StudentT,
};
use lehr_model::{Bound, Model};
use lehr_numeric::lbfgs::LbfgsSettings;
use lehr_table::Table;

use crate::linear::Linear;
use crate::{chain, estimate, fixed, named, normals, run};

const WIDTH: usize = 3;

fn bind(model: &Model, rows: usize) -> Bound {
    let x = normals(rows * WIDTH, 11);
    let label = x.chunks(WIDTH).map(|row| f64::from(row[0] > 0.4));
    let count = x.chunks(WIDTH).map(|row| (1.5 * row[1].exp()).floor());
    let offset = x.chunks(WIDTH).map(|row| 0.2 * row[2]);
    let noise = normals(rows, 12);
    let noisy = x
        .chunks(WIDTH)
        .zip(&noise)
        .map(|(row, noise)| row[0] + 0.7 * noise);
    let wide = (x.chunks(WIDTH).zip(&noise))
        .map(|(row, noise)| (2.0 * (0.5 * row[1] + 0.9 * noise).exp()).floor());
    let class = x.chunks(WIDTH).zip(&noise).map(|(row, noise)| {
        let at = row[0] - 0.5 * row[1] + 1.5 * noise;
        f64::from(u8::from(at > -1.0) + u8::from(at > 0.5) + u8::from(at > 2.0))
    });
    let table = Table::new()
        .with_number("label", label.collect())
        .and_then(|table| table.with_number("count", count.collect()))
        .and_then(|table| table.with_number("offset", offset.collect()))
        .and_then(|table| table.with_number("noisy", noisy.collect()))
        .and_then(|table| table.with_number("wide", wide.collect()))
        .and_then(|table| table.with_number("class", class.collect()))
        .and_then(|table| table.with_matrix("x", rows, WIDTH, x.clone()));
    model.bind(&table.unwrap()).unwrap()
}

/// Separable labels: the prior has a large influence on the posterior, which is skewed.
fn logistic() -> Model {
    Model::new(|m| {
        let weight = m.sample("weight", Normal::new(0.0, 3.0).expand([WIDTH]));
        m.rows(|row| {
            let logit = row.matrix("x").dot(weight);
            row.observe("label", Bernoulli::with_logit(logit));
        });
    })
}

fn poisson() -> Model {
    Model::new(|m| {
        let weight = m.sample("weight", Normal::new(0.0, 1.0).expand([WIDTH]));
        m.rows(|row| {
            let log_rate = row.matrix("x").dot(weight) + row.number("offset");
            row.observe("count", Poisson::with_log_rate(log_rate));
        });
    })
}

fn best(density: &dyn Density, kind: Covariance) -> BestGaussian {
    let mode = find_mode(density, LbfgsSettings::default()).unwrap();
    climb(density, &mode, kind).unwrap().unwrap()
}

fn base(kind: Covariance) -> Arc<dyn Base> {
    match kind {
        Covariance::Full => Arc::new(FullRank::default()),
        Covariance::Diagonal => Arc::new(MeanField::default()),
    }
}

/// Log weights of draws in the frame, with one learned value changed.
fn weights(
    density: &dyn Density,
    found: &BestGaussian,
    kind: Covariance,
    moved: (usize, f64),
) -> Vec<f64> {
    let guide = base(kind);
    let mut learned = LearnedBlocks::new(all_blocks(density, guide.as_ref()));
    found.whitening.start(&mut learned);
    learned.values[moved.0] += moved.1;
    let place = WhitenedDensity::new(density, &found.whitening);
    evaluate(place, guide.as_ref(), &learned, (20_000, 5))
        .unwrap()
        .log_weights
}

#[test]
fn of_a_gaussian_posterior_it_is_the_posterior() {
    let linear = Linear::new(40, WIDTH, 8);
    let found = best(&linear.bind(), Covariance::Full);
    let bound = *found.bounds.last().unwrap();
    assert!((bound - linear.log_evidence()).abs() < 1e-9, "{bound}");
    let posterior = linear.posterior();
    let Whitening::Dense { shift, factor } = &found.whitening else {
        panic!("a correlated Gaussian");
    };
    for i in 0..WIDTH {
        assert!((shift[i] - posterior.mean[(i, 0)]).abs() < 1e-8);
        for j in 0..WIDTH {
            let row = |k: usize| &factor[k * WIDTH..(k + 1) * WIDTH];
            let covariance: f64 = row(i).iter().zip(row(j)).map(|(a, b)| a * b).sum();
            assert!((covariance - posterior.covariance[(i, j)]).abs() < 1e-10);
        }
    }
}

#[test]
fn its_bound_is_that_of_draws_and_every_change_lowers_it() {
    for model in [logistic(), poisson()] {
        let density = bind(&model, 30);
        for kind in [Covariance::Full, Covariance::Diagonal] {
            let found = best(&density, kind);
            let here = weights(&density, &found, kind, (0, 0.0));
            let (mean, error) = estimate(&here);
            let bound = *found.bounds.last().unwrap();
            assert!(
                (mean - bound).abs() < 4.0 * error,
                "{mean} ± {error} {bound}"
            );
            for place in 0..2 * WIDTH {
                for by in [-0.2, 0.2] {
                    let there = weights(&density, &found, kind, (place, by));
                    // The same draws in both: the difference has a smaller error than either value.
                    let less: Vec<f64> = here.iter().zip(&there).map(|(a, b)| a - b).collect();
                    let (drop, error) = estimate(&less);
                    assert!(
                        drop > 3.0 * error,
                        "{kind:?} {place} {by}: {drop} ± {error}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_bound_rises_on_the_way() {
    let found = best(&bind(&logistic(), 30), Covariance::Full);
    assert!(found.bounds.len() > 2, "{:?}", found.bounds);
    assert!(found.bounds.windows(2).all(|pair| pair[1] > pair[0] - 1e-3));
    assert!(found.left < 1e-3);
}

#[test]
fn gaussian_fits_of_such_models_are_done_at_their_start() {
    let density = bind(&logistic(), 2000);
    for method in ["mean-field", "full-rank"] {
        let done = run(named(method), &density);
        let training = done.training().unwrap();
        assert_eq!((training.iterations, training.converged), (0, true));
        let trained = run(named(method).set("start", "laplace").unwrap(), &density);
        assert!(trained.training().unwrap().iterations > 0);
        let gap = done.bound().unwrap().mean - trained.bound().unwrap().mean;
        let error = done
            .bound()
            .unwrap()
            .error
            .hypot(trained.bound().unwrap().error);
        assert!(gap.abs() < 4.0 * error + 0.02, "{method}: {gap} ± {error}");
    }
}

#[test]
fn under_a_prior_that_is_not_gaussian_the_fit_goes_on_from_there() {
    let model = Model::new(|m| {
        let weight = m.sample("weight", StudentT::new(3.0, 0.0, 0.3).expand([WIDTH]));
        m.rows(|row| {
            let logit = row.matrix("x").dot(weight);
            row.observe("label", Bernoulli::with_logit(logit));
        });
    });
    let density = bind(&model, 60);
    assert!(!best(&density, Covariance::Full).is_reached());
    let trained = run(named("full-rank").draws(8192), &density);
    assert!(trained.training().unwrap().iterations > 0);
    let start = run(fixed("full-rank", 1).draws(8192), &density);
    let gain = trained.bound().unwrap().mean - start.bound().unwrap().mean;
    let error = trained
        .bound()
        .unwrap()
        .error
        .hypot(start.bound().unwrap().error);
    assert!(gain > 3.0 * error, "{gain} ± {error}");
}

/// Numbers with noise of an unknown scale, and counts of an unknown dispersion.
fn with_a_shared_number() -> [Model; 2] {
    let gaussian = Model::new(|m| {
        let weight = m.sample("weight", Normal::new(0.0, 1.0).expand([WIDTH]));
        let scale = m.sample("scale", HalfNormal::new(1.0));
        m.rows(|row| {
            let mean = row.matrix("x").dot(weight);
            row.observe("noisy", Normal::new(mean, scale));
        });
    });
    let counts = Model::new(|m| {
        let weight = m.sample("weight", Normal::new(0.0, 1.0).expand([WIDTH]));
        let shape = m.sample("shape", InverseGamma::new(0.4, 0.3));
        m.rows(|row| {
            let log_mean = row.matrix("x").dot(weight) + row.number("offset");
            row.observe("wide", NegativeBinomial::with_log_mean(log_mean, shape));
        });
    });
    [gaussian, counts]
}

/// Ordered classes, with four proportions that determine the cutpoints.
fn ordinal() -> Model {
    Model::new(|m| {
        let weight = m.sample("weight", Normal::new(0.0, 1.0).expand([WIDTH]));
        let cut = m.sample("cut", Normal::new(0.0, 2.0).expand([3]));
        let step = cut.exp().cumulative_sum();
        m.rows(|row| {
            let at = row.matrix("x").dot(weight);
            row.observe("class", OrderedLogistic::new(at, step - 2.0));
        });
    })
}

#[test]
fn models_without_one_predictor_per_row_are_told_apart() {
    assert!(applies(&bind(&logistic(), 30)));
    assert!(applies(&bind(&poisson(), 30)));
    let two = Model::new(|m| {
        let weight = m.sample("weight", Normal::new(0.0, 1.0).expand([WIDTH]));
        let other = m.sample("other", Normal::new(0.0, 1.0).expand([WIDTH]));
        m.rows(|row| {
            let mean = row.matrix("x").dot(weight);
            let scale = row.matrix("x").dot(other).exp();
            row.observe("offset", Normal::new(mean, scale));
        });
    });
    let density = bind(&two, 30);
    assert!(!applies(&density));
    let fit = named("full-rank").set("start", "quadrature").unwrap();
    let error = fit.run(&density).unwrap_err().to_string();
    assert!(error.contains("one linear predictor per row"), "{error}");
}

#[test]
fn numbers_that_all_rows_share_are_integrated_with_the_predictors() {
    let [gaussian, counts] = with_a_shared_number();
    for model in [gaussian, counts, ordinal()] {
        let density = bind(&model, 120);
        assert!(applies(&density));
        for kind in [Covariance::Full, Covariance::Diagonal] {
            let found = best(&density, kind);
            assert!(found.left < 1e-3, "{}", found.left);
            let here = weights(&density, &found, kind, (0, 0.0));
            let (mean, error) = estimate(&here);
            let bound = *found.bounds.last().unwrap();
            let off = (mean - bound).abs();
            assert!(off < 4.0 * error + 1e-3, "{mean} ± {error} {bound}");
            let size = density.latents().size();
            for place in [size - 1, 2 * size - 1] {
                for by in [-0.3, 0.3] {
                    let there = weights(&density, &found, kind, (place, by));
                    let less: Vec<f64> = here.iter().zip(&there).map(|(a, b)| a - b).collect();
                    let (drop, error) = estimate(&less);
                    assert!(
                        drop > 3.0 * error,
                        "{kind:?} {place} {by}: {drop} ± {error}"
                    );
                }
            }
        }
    }
}

#[test]
fn gaussian_fits_with_shared_numbers_are_done_at_their_start() {
    let [_, counts] = with_a_shared_number();
    for model in [counts, ordinal()] {
        let done = run(named("full-rank"), &bind(&model, 1500));
        let training = done.training().unwrap();
        assert_eq!((training.iterations, training.converged), (0, true));
    }
}

/// A fit of the skewed model by a chain on this surrogate, with little training.
fn chained(surrogate: SurrogateKind) -> Posterior {
    let density = bind(&logistic(), 60);
    let mut fit = fixed("sl-dais", 1).seed(4).draws(2048);
    chain(&mut fit).start.step_size = 0.2;
    run(fit.set("surrogate", surrogate.name()).unwrap(), &density)
}

fn gain(posterior: &Posterior) -> Option<Gain> {
    posterior.evidence.as_ref().unwrap().gain.clone()
}

#[test]
fn a_chain_that_is_worse_than_its_base_says_so() {
    // An untrained network is flat, so the chain moves towards the prior.
    let astray = chained(SurrogateKind::NETWORK);
    let lost = gain(&astray).unwrap();
    assert_eq!(lost.over, "full-rank");
    assert!(lost.nats.mean < -3.0 * lost.nats.error, "{lost:?}");
    let verdict = astray.verdict();
    assert!(verdict.warns());
    let words = "the chain is worse than the Gaussian it starts from";
    assert!(verdict.sentence.contains(words), "{verdict}");
    // Nearly all rows unchanged: the chain moves towards the posterior.
    let well = chained(SurrogateKind::TAYLOR);
    assert!(!well.verdict().sentence.contains(words));
    let density = bind(&logistic(), 60);
    assert!(gain(&run(named("full-rank"), &density)).is_none());
}

#[test]
fn a_chain_that_adds_nothing_is_reported_as_its_base_without_a_warning() {
    let density = Linear::new(40, WIDTH, 8).bind();
    let posterior = run(named("sl-dais").seed(3), &density);
    assert_eq!(posterior.origin.method.name, "full-rank");
    let said = posterior
        .choices
        .iter()
        .find(|(what, _)| what == "reported");
    assert!(said.is_some_and(|(_, how)| how.contains("the base, full-rank")));
    let verdict = posterior.verdict();
    assert!(!verdict.warns(), "{verdict}");
    let drawn = posterior.sampler().unwrap().draw(&density, 10, 5).unwrap();
    assert_eq!(drawn.len(), 10 * WIDTH);
}
