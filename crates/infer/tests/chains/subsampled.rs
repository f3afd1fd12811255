//! `hmcecs` and `nuts-cs`: the perturbed target by enumeration, exact cases, and verdicts on draws
//! that are not from the posterior.

use lehr_infer::chains::{Ecs, PerturbedDensity, SubsampledChain};
use lehr_infer::expansion::Mode;
use lehr_infer::fit::Fit;
use lehr_infer::guide::Whitening;
use lehr_infer::judge::Level;
use lehr_infer::method;
use lehr_model::distribution::{Bernoulli, Distribution, Normal};
use lehr_model::{Bound, Model};
use lehr_numeric::stream::Stream;
use lehr_table::Table;

use crate::model::{Linear, normals};
use crate::{assert_mean, place, unwatched};

/// One slope with prior N(0, 1) and a few binary rows.
struct Rows {
    x: Vec<f64>,
    y: Vec<f64>,
    density: Bound,
    mode: Mode,
}

impl Rows {
    fn new(x: &[f64], y: &[f64]) -> Rows {
        let table = Table::new()
            .with_number("x", x.to_vec())
            .and_then(|t| t.with_number("y", y.to_vec()))
            .unwrap();
        let model = Model::new(|m| {
            let slope = m.sample("slope", Normal::new(0.0, 1.0));
            m.rows(|row| row.observe("y", Bernoulli::with_logit(row.number("x") * slope)));
        });
        let mut rows = Rows {
            x: x.to_vec(),
            y: y.to_vec(),
            density: model.bind(&table).unwrap(),
            mode: Mode {
                latents: vec![0.0],
                params: Vec::new(),
                gradient: vec![0.0],
                hessian: vec![0.0],
            },
        };
        for _ in 0..50 {
            let at = rows.mode.latents[0];
            let [slope, curvature] = rows.all(at);
            rows.mode.latents[0] -= (slope - at) / (curvature - 1.0);
        }
        let [slope, curvature] = rows.all(rows.mode.latents[0]);
        (rows.mode.gradient, rows.mode.hessian) = (vec![slope], vec![curvature]);
        rows
    }

    /// ℓₙ, its first derivative and its second derivative.
    fn row(&self, n: usize, z: f64) -> [f64; 3] {
        let (x, y) = (self.x[n], self.y[n]);
        let p = 1.0 / (1.0 + (-x * z).exp());
        [
            y * x * z - (x * z).exp().ln_1p(),
            x * (y - p),
            -x * x * p * (1.0 - p),
        ]
    }

    /// First and second derivative summed over all rows.
    fn all(&self, z: f64) -> [f64; 2] {
        let rows = (0..self.x.len()).map(|n| self.row(n, z));
        rows.fold([0.0; 2], |sum, [_, g, h]| [sum[0] + g, sum[1] + h])
    }

    /// The difference between a row's log likelihood and its expansion.
    fn left(&self, n: usize, z: f64) -> f64 {
        let at = self.mode.latents[0];
        let ([value, ..], [centre, g, h], d) = (self.row(n, z), self.row(n, at), z - at);
        value - centre - g * d - 0.5 * h * d * d
    }

    /// ln π(z, U) by the definition, up to a constant.
    fn perturbed(&self, set: &[usize], z: f64) -> f64 {
        let (all, m) = (self.x.len() as f64, set.len() as f64);
        let left: Vec<f64> = set.iter().map(|n| self.left(*n, z)).collect();
        let mean = left.iter().sum::<f64>() / m;
        let square: f64 = left.iter().map(|d| (d - mean).powi(2)).sum();
        let variance = all * all / m * (1.0 - m / all) * square / (m - 1.0);
        let d = z - self.mode.latents[0];
        let whole = self.mode.gradient[0] * d + 0.5 * self.mode.hessian[0] * d * d;
        -0.5 * z * z + whole + all * mean - 0.5 * variance
    }

    /// The log posterior, up to a constant.
    fn exact(&self, z: f64) -> f64 {
        let rows = (0..self.x.len()).map(|n| self.row(n, z)[0]);
        -0.5 * z * z + rows.sum::<f64>()
    }
}

/// All subsets with m of `all` elements.
fn sets(all: usize, m: usize) -> Vec<Vec<usize>> {
    let chosen = (0_u32..1 << all).filter(|bits| bits.count_ones() as usize == m);
    let listed = chosen.map(|bits| (0..all).filter(|n| bits >> n & 1 == 1).collect());
    listed.collect()
}

fn normalised(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let values: Vec<f64> = values.collect();
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let shares: Vec<f64> = values.iter().map(|value| (value - most).exp()).collect();
    let total: f64 = shares.iter().sum();
    shares.iter().map(|share| share / total).collect()
}

#[test]
fn subsets_at_a_fixed_point_come_as_often_as_they_should() {
    let rows = Rows::new(&[-4.0, -1.5, 0.8, 2.5, 5.0], &[0.0, 1.0, 0.0, 1.0, 1.0]);
    let perturbed = PerturbedDensity::new(
        place(&rows.density, &Whitening::Identity),
        &rows.mode,
        &[],
        2,
    );
    let z = rows.mode.latents[0] + 0.9;
    let mut stream = Stream::new(1, "sets", 0);
    let mut chain = SubsampledChain::new(&perturbed, vec![z], &mut stream);
    let sets = sets(5, 2);
    let expected = normalised(sets.iter().map(|set| rows.perturbed(set, z)));
    let spread = expected.iter().copied().fold(0.0, f64::max);
    assert!(spread > 0.12, "the sets are not alike: {expected:?}");
    let (count, mut counts) = (60_000, vec![0.0; 10]);
    for _ in 0..count {
        chain.swap(&mut stream);
        let mut found = chain.rows();
        found.sort_unstable();
        counts[sets.iter().position(|set| *set == found).unwrap()] += 1.0;
    }
    for ((set, count_of), p) in sets.iter().zip(counts).zip(expected) {
        let found = count_of / f64::from(count);
        // A subset stays for a few swaps: ten swaps count as at least one independent draw.
        let error = (p * (1.0 - p) / (0.1 * f64::from(count))).sqrt();
        assert!((found - p).abs() < 4.0 * error, "{set:?}: {found} for {p}");
    }
}

#[test]
fn latents_have_the_enumerated_perturbed_marginal() {
    let rows = Rows::new(
        &[-2.0, -1.5, -0.5, 0.3, 0.8, 1.6, 2.5, 3.0],
        &[0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0],
    );
    let grid: Vec<f64> = (-4000..=4000).map(|k| f64::from(k) * 1e-3).collect();
    let all = sets(8, 3);
    let marginal = normalised(grid.iter().map(|z| {
        let values = all.iter().map(|set| rows.perturbed(set, *z).exp());
        values.sum::<f64>().ln()
    }));
    let exact = normalised(grid.iter().map(|z| rows.exact(*z)));
    let both = marginal.iter().zip(&exact);
    let apart = 0.5 * both.map(|(a, b)| (a - b).abs()).sum::<f64>();
    println!("total variation to the posterior: {apart:.5}");
    assert!(apart < 0.02, "{apart}");
    let whitening = Whitening::Diagonal {
        shift: [rows.mode.latents[0]].into(),
        scale: [(1.0 - rows.mode.hessian[0]).powf(-0.5)].into(),
    };
    let perturbed = PerturbedDensity::new(place(&rows.density, &whitening), &rows.mode, &[], 3);
    let ecs = Ecs {
        chains: 8,
        draws: 40_000,
        ..Ecs::default()
    };
    let found = ecs.run(&perturbed, 2, &mut unwatched).unwrap();
    assert!(
        found.swapped > 0.3 && found.swapped < 1.0,
        "{}",
        found.swapped
    );
    let mean: f64 = grid.iter().zip(&marginal).map(|(z, p)| z * p).sum();
    assert_mean(&found.trace, "mean", mean, |z| z[0]);
    let square = |z: f64| (z - mean).powi(2);
    let variance: f64 = grid
        .iter()
        .zip(&marginal)
        .map(|(z, p)| square(*z) * p)
        .sum();
    assert_mean(&found.trace, "variance", variance, |z| square(z[0]));
    for limit in [-0.5, 0.0, 0.3, 0.6, 1.0, 1.5] {
        let below = grid.iter().zip(&marginal).filter(|(z, _)| **z <= limit);
        let truth: f64 = below.map(|(_, p)| p).sum();
        assert_mean(&found.trace, &format!("P(z ≤ {limit})"), truth, |z| {
            f64::from(u8::from(z[0] <= limit))
        });
    }
}

#[test]
fn rows_that_are_quadratic_leave_nothing_to_estimate() {
    let linear = Linear::conditioned(12, 30.0);
    let fit = Fit::named("hmcecs").unwrap().seed(3);
    let posterior = fit.run(&linear.density).unwrap();
    let said = |what: &str| {
        let found = posterior.choices.iter().find(|(name, _)| name == what);
        found.unwrap().1.clone()
    };
    assert_eq!(said("variance of the estimate"), "median 0, 95 % 0");
    assert_eq!(said("swaps accepted"), "1.00");
    assert_eq!(posterior.verdict().level, Level::Reliable);
    assert_eq!(posterior.evidence, None);
    let (truth, chains) = (linear.regression.posterior(), posterior.chains().unwrap());
    for (i, found) in posterior.summaries().iter().enumerate() {
        let off = (found.mean - truth.mean[(i, 0)]).abs();
        assert!(off < 4.0 * chains.error[i], "{}: {off}", found.name);
        let sd = truth.covariance[(i, i)].sqrt();
        assert!(
            (found.sd / sd - 1.0).abs() < 0.1,
            "{}: {}",
            found.name,
            found.sd
        );
    }
}

/// A logistic regression with some rows far out on the steep side.
fn steep(rows: usize) -> Bound {
    let x = normals(2 * rows, 11);
    let uniform = normals(rows, 12);
    let heavy = |n: usize| if n.is_multiple_of(10) { 6.0 } else { 1.0 };
    let x: Vec<f64> = x
        .iter()
        .enumerate()
        .map(|(k, x)| heavy(k / 2) * x)
        .collect();
    let y = x.chunks_exact(2).zip(&uniform);
    let y = y.map(|(x, e)| f64::from(u8::from(x[0] - 0.5 * x[1] + 1.5 * e > 0.0)));
    let table = Table::new()
        .with_number("y", y.collect())
        .and_then(|t| t.with_matrix("x", rows, 2, x))
        .unwrap();
    let model = Model::new(|m| {
        let weight = m.sample("weight", Normal::new(0.0, 2.0).expand([2]));
        m.rows(|row| row.observe("y", Bernoulli::with_logit(row.matrix("x").dot(weight))));
    });
    model.bind(&table).unwrap()
}

#[test]
fn subsampled_chains_do_not_depend_on_threads_and_are_drawn_again() {
    let density = steep(200);
    let on = |threads: usize| {
        let fit = Fit::named("hmcecs").unwrap().seed(5).draws(200);
        fit.threads(threads).run(&density).unwrap()
    };
    let one = on(1);
    assert_eq!(one.draws, on(2).draws);
    let sampler = method::restore(&one.origin.method).unwrap();
    let again = sampler.draw(&density, 200, 5).unwrap();
    assert_eq!(again, one.draws);
    let refused = sampler.draw(&steep(20), 200, 5).unwrap_err().to_string();
    assert!(refused.contains("and the table has 20"), "{refused}");
}

#[test]
fn a_table_that_is_too_short_for_subsets_is_refused() {
    let linear = Linear::conditioned(2, 3.0);
    let error = Fit::named("hmcecs").unwrap().run(&linear.density);
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("hint: use hmc: the table is short"),
        "{error}"
    );
}

#[test]
fn a_coreset_is_never_reliable_and_says_how_far_it_is_off() {
    let density = steep(2000);
    let fit = Fit::named("nuts-cs").unwrap().seed(6).draws(800);
    let posterior = fit
        .set("surrogate-rows", "60")
        .unwrap()
        .run(&density)
        .unwrap();
    assert_eq!(posterior.evidence, None);
    let verdict = posterior.verdict();
    assert_eq!(verdict.level, Level::Untrusted, "{verdict}");
    let words = verdict.to_string();
    assert!(words.contains("the posterior of a coreset"), "{words}");
    let divergence = posterior
        .choices
        .iter()
        .find(|(what, _)| what == "predicted divergence");
    assert!(divergence.unwrap().1.contains("nats"), "{divergence:?}");
    let sampler = method::restore(&posterior.origin.method).unwrap();
    assert_eq!(sampler.draw(&density, 800, 6).unwrap(), posterior.draws);
}

#[test]
fn a_coreset_needs_a_binary_response() {
    let linear = Linear::conditioned(4, 3.0);
    let error = Fit::named("nuts-cs").unwrap().run(&linear.density);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("binary"), "{error}");
}
