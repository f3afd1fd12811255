//! `surrogate-hmc`: models with equal weights, moments against numerical integration, and delayed
//! acceptance.

use lehr_density::Density;
use lehr_infer::fit::Fit;
use lehr_infer::judge::Level;
use lehr_infer::method::SurrogateHmc;
use lehr_infer::posterior::Posterior;
use lehr_model::distribution::{Bernoulli, HalfNormal, Normal, StudentT};
use lehr_model::{Bound, Model};
use lehr_numeric::stream::Stream;
use lehr_table::Table;

use crate::model::{Linear, funnel, normals};

fn fit(method: SurrogateHmc, seed: u64, density: &dyn Density) -> Posterior {
    Fit::new(method).seed(seed).run(density).unwrap()
}

fn on_rows(rows: usize) -> SurrogateHmc {
    SurrogateHmc {
        surrogate_rows: Some(rows),
        ..SurrogateHmc::default()
    }
}

/// The difference between the largest and the smallest log weight.
fn spread(posterior: &Posterior) -> f64 {
    let weights = posterior.log_weights().unwrap();
    let largest = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    largest - weights.iter().copied().fold(f64::INFINITY, f64::min)
}

#[test]
fn weights_are_equal_where_rows_are_quadratic() {
    let linear = Linear::conditioned(12, 30.0);
    let posterior = fit(on_rows(3), 1, &linear.density);
    assert!(spread(&posterior) < 1e-9, "{}", spread(&posterior));
    let truth = linear.regression.log_evidence();
    let evidence = posterior.evidence.unwrap().estimate;
    assert!(
        (evidence.mean - truth).abs() < 4.0 * evidence.error + 1e-6,
        "{evidence:?} for {truth}"
    );
}

/// One weight, eight rows, some of them steep.
fn eight_rows() -> (Bound, [f64; 8], [f64; 8]) {
    let x = [-4.0, -1.5, -0.5, 0.3, 0.8, 1.6, 2.5, 6.0];
    let y = [0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0];
    let table = Table::new()
        .with_number("x", x.to_vec())
        .and_then(|t| t.with_number("y", y.to_vec()))
        .unwrap();
    let model = Model::new(|m| {
        let slope = m.sample("slope", Normal::new(0.0, 2.0));
        m.rows(|row| row.observe("y", Bernoulli::with_logit(row.number("x") * slope)));
    });
    (model.bind(&table).unwrap(), x, y)
}

/// Mean, standard deviation and log evidence of [`eight_rows`] by sums over a fine grid.
fn by_integration() -> (f64, f64, f64) {
    let (_, x, y) = eight_rows();
    let step = 1e-3;
    let grid = (-10_000..20_000).map(|k| f64::from(k) * step);
    let density = |z: f64| {
        let prior = -0.125 * z * z - 2.0_f64.ln() - 0.918_938_533_204_672_8;
        let row = |(x, y): (&f64, &f64)| y * x * z - (x * z).exp().ln_1p();
        (prior + x.iter().zip(&y).map(row).sum::<f64>()).exp()
    };
    let values: Vec<(f64, f64)> = grid.map(|z| (z, density(z) * step)).collect();
    let total: f64 = values.iter().map(|(_, p)| p).sum();
    let mean = values.iter().map(|(z, p)| z * p).sum::<f64>() / total;
    let variance = values
        .iter()
        .map(|(z, p)| (z - mean).powi(2) * p)
        .sum::<f64>()
        / total;
    (mean, variance.sqrt(), total.ln())
}

/// With one latent, an examined fit takes its draws from a grid. The method's own draws are those
/// that the examination stored; below, the fit is not examined.
#[test]
fn weighted_moments_are_those_of_integration() {
    let (density, ..) = eight_rows();
    let (mean, sd, log_evidence) = by_integration();
    let posterior = Fit::new(on_rows(2)).seed(3).draws(8000).run(&density);
    let posterior = posterior.unwrap();
    let own = &posterior.importance().unwrap().examination.quantities[0];
    let (raw, found) = (own.raw, own.weighted);
    assert!(
        (found.mean - mean).abs() < 4.0 * found.mean_error,
        "{found:?} for {mean}"
    );
    assert!(
        (found.sd / sd).ln().abs() < 4.0 * found.sd_error,
        "{found:?} for {sd}"
    );
    // The weights have an effect, because the surrogate differs from the posterior.
    assert!(
        (raw.mean - mean).abs() > 8.0 * raw.mean_error,
        "{raw:?} for {mean}"
    );
    let evidence = posterior.evidence.as_ref().unwrap().estimate;
    let off = (evidence.mean - log_evidence).abs();
    assert!(
        off < 4.0 * evidence.error,
        "{evidence:?} for {log_evidence}"
    );
}

#[test]
fn all_rows_leave_nothing_to_weigh() {
    let (density, ..) = eight_rows();
    let posterior = fit(on_rows(8), 4, &density);
    assert!(spread(&posterior) < 1e-9, "{}", spread(&posterior));
}

#[test]
fn delayed_acceptance_leaves_the_posterior_as_it_is() {
    let (density, ..) = eight_rows();
    let (mean, sd, _) = by_integration();
    let method = SurrogateHmc {
        exact: true,
        ..on_rows(4)
    };
    let posterior = Fit::new(method)
        .seed(5)
        .draws(16_000)
        .unexamined()
        .run(&density)
        .unwrap();
    let chains = posterior.chains().unwrap();
    assert!(
        chains.acceptances.iter().all(|a| *a < 0.999),
        "some moves are rejected"
    );
    let found = &posterior.summaries()[0];
    let error = 4.0 * sd / chains.bulk[0].sqrt();
    assert!(
        (found.mean - mean).abs() < error,
        "{} for {mean}",
        found.mean
    );
    assert!((found.sd - sd).abs() < error, "{} for {sd}", found.sd);
}

/// Geweke's joint test: rows are drawn given a latent, then a few exact iterations follow given the
/// rows, and so on. The latent keeps the distribution of its prior. Slopes are mostly positive and
/// the columns wide, so that posteriors are skewed to one side, which the surrogate alone does not
/// reproduce.
#[test]
fn delayed_acceptance_passes_a_joint_test() {
    let x = [-6.0, -3.0, 1.5, 4.5, 9.0];
    let mut stream = Stream::new(6, "joint", 0);
    let rounds = 800;
    let mut ranks = 0.0;
    for round in 0..rounds {
        let slope = 2.0 + stream.normal();
        let y = x.map(|x| {
            f64::from(u8::from(
                stream.uniform() < 1.0 / (1.0 + (-x * slope).exp()),
            ))
        });
        let table = Table::new()
            .with_number("x", x.to_vec())
            .and_then(|t| t.with_number("y", y.to_vec()))
            .unwrap();
        let model = Model::new(|m| {
            let slope = m.sample("slope", Normal::new(2.0, 1.0));
            m.rows(|row| row.observe("y", Bernoulli::with_logit(row.number("x") * slope)));
        });
        let density = model.bind(&table).unwrap();
        let method = SurrogateHmc {
            exact: true,
            ..on_rows(1)
        };
        let posterior = Fit::new(method)
            .seed(round)
            .draws(80)
            .unexamined()
            .run(&density)
            .unwrap();
        let below = posterior.draws.iter().filter(|z| **z < slope).count();
        ranks += below as f64 / posterior.draws.len() as f64 - 0.5;
    }
    // The ranks of the truth are uniform: their mean has a standard error of √(1/12 n).
    let error = (12.0 * f64::from(u32::try_from(rounds).unwrap())).powf(-0.5);
    let off = ranks / f64::from(u32::try_from(rounds).unwrap());
    assert!(off.abs() < 4.0 * error, "{off} ± {error}");
}

/// A straight line with outliers: rows whose log likelihood is not concave.
fn outliers() -> Bound {
    let x = normals(400, 9);
    let mut y: Vec<f64> = x
        .iter()
        .zip(normals(400, 10))
        .map(|(x, e)| 0.7 * x + 0.3 * e)
        .collect();
    for y in &mut y[..40] {
        *y += 8.0;
    }
    let table = Table::new()
        .with_number("x", x)
        .and_then(|t| t.with_number("y", y))
        .unwrap();
    let model = Model::new(|m| {
        let slope = m.sample("slope", Normal::new(0.0, 1.0));
        let scale = m.sample("scale", HalfNormal::new(1.0));
        m.rows(|row| {
            row.observe("y", StudentT::new(3.0, row.number("x") * slope, scale));
        });
    });
    model.bind(&table).unwrap()
}

#[test]
fn rows_that_are_not_concave_agree_with_chains_on_all_rows() {
    let density = outliers();
    let posterior = fit(SurrogateHmc::default(), 7, &density);
    let truth = Fit::named("hmc").unwrap().seed(8).run(&density).unwrap();
    assert_ne!(
        posterior.verdict().level,
        Level::Untrusted,
        "{}",
        posterior.verdict()
    );
    for (found, truth) in posterior
        .corrected_summaries()
        .iter()
        .zip(truth.summaries())
    {
        // Both have at least about 700 effective draws.
        let off = (found.mean - truth.mean).abs() / truth.sd;
        assert!(
            off < 4.0 * (2.0_f64 / 700.0).sqrt(),
            "{}: {off} sd",
            found.name
        );
        assert!((found.sd / truth.sd).ln().abs() < 0.15, "{}", found.name);
    }
}

#[test]
fn a_latent_that_is_the_spread_of_others_is_refused() {
    let refused = Fit::new(SurrogateHmc::default())
        .run(&funnel(3))
        .unwrap_err();
    let expected = "surrogate-hmc: a latent is the spread of others, so that the mode is no place to \
                    expand at\n  hint: use nuts, or sl-dais for long tables";
    assert_eq!(refused.to_string(), expected);
}

#[test]
fn bits_do_not_depend_on_threads() {
    let (density, ..) = eight_rows();
    let on = |threads: usize| {
        let fit = Fit::new(on_rows(2)).seed(2).draws(100).threads(threads);
        fit.run(&density).unwrap().draws
    };
    assert_eq!(on(1), on(2));
    assert_eq!(on(1), on(4));
}
