//! Gaussian rows condensed to sufficient statistics: the same likelihood, from one pass over the
//! rows.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lehr_density::job::{LikelihoodGradient, local_rows};
use lehr_density::{Density, RowSet, RowSource};
use lehr_infer::condensed::ReducedDensity;
use lehr_infer::judge::Level;
use lehr_model::distribution::{Distribution, HalfNormal, Normal, StudentT};
use lehr_model::{Bound, Model};
use lehr_rows::fold;
use lehr_table::Table;

use crate::linear::Linear;
use crate::{estimate, fixed, named, normals, run, with};

const ROWS: usize = 5000;

/// Covariates far from 0 and nearly collinear, an offset, and weights.
fn table(rows: usize) -> Table {
    let numbers = normals(4 * rows, 3);
    let x = |n: usize| {
        let own = &numbers[4 * n..4 * n + 3];
        [1e3 + own[0], own[1], own[1] + 1e-3 * own[2]]
    };
    let y = |n: usize| 40.0 + 0.3 * x(n)[0] - x(n)[1] + 0.5 * numbers[4 * n + 3];
    Table::new()
        .with_number("y", (0..rows).map(y).collect())
        .and_then(|t| t.with_matrix("x", rows, 3, (0..rows).flat_map(x).collect()))
        .and_then(|t| t.with_number("offset", (0..rows).map(|n| n as f64 / 1e3).collect()))
        .and_then(|t| t.with_number("weight", (0..rows).map(|n| 1.0 + (n % 3) as f64).collect()))
        .unwrap()
}

fn weighted() -> Model {
    Model::new(|m| {
        let noise = m.sample("noise", HalfNormal::new(1.0));
        let weight = m.sample("weight", Normal::new(0.0, 1.0).expand([3]));
        let level = m.sample("level", Normal::new(0.0, 10.0));
        m.rows(|row| {
            row.weight("weight");
            let mean = row.matrix("x").dot(weight) + level + row.offset("offset");
            row.observe("y", Normal::new(mean, noise));
        });
    })
}

fn near(found: f64, expected: f64, slack: f64) {
    let apart = (found - expected).abs();
    assert!(apart <= slack * expected.abs(), "{found} is not {expected}");
}

#[test]
fn condensed_rows_have_the_likelihood_of_all_rows_and_its_slopes() {
    let density = weighted().bind(&table(ROWS)).unwrap();
    let condensed = ReducedDensity::of(&density).unwrap().unwrap();
    assert_eq!(condensed.n_rows(), 5);
    // At the last point the fit is close, and the residuals are small compared with the responses.
    for z in [
        [0.3, 0.1, -2.0, 0.7, 3.0],
        [-1.0, 0.0, 0.0, 0.0, 0.0],
        [-0.7, 0.3, -0.5, -0.5, 40.0],
    ] {
        let at = |density: &dyn Density| {
            let job = LikelihoodGradient::new(density, &z, &[]);
            fold(&local_rows(density), &job).unwrap()
        };
        let (all, few) = (at(&density), at(&condensed));
        near(few.value, all.value, 1e-9);
        let largest = |most: f64, slope: &f64| most.max(slope.abs());
        let size = all.latents.iter().fold(0.0_f64, largest);
        for (found, expected) in few.latents.iter().zip(&all.latents) {
            assert!((found - expected).abs() < 1e-9 * size, "{few:?} {all:?}");
        }
    }
}

#[test]
fn only_rows_with_one_spread_around_an_affine_mean_are_condensed() {
    let is_condensed = |model: &Model| {
        let density = model.bind(&table(20)).unwrap();
        ReducedDensity::of(&density).unwrap().is_some()
    };
    assert!(is_condensed(&weighted()));
    for case in 0..3 {
        let other = Model::new(move |m| {
            let weight = m.sample("weight", Normal::new(0.0, 1.0).expand([3]));
            let noise = m.sample("noise", HalfNormal::new(1.0));
            m.rows(|row| {
                let mean = row.matrix("x").dot(weight);
                match case {
                    0 => row.observe("y", StudentT::new(4.0, mean, noise)),
                    1 => row.observe("y", Normal::new(mean, noise * row.number("weight"))),
                    _ => row.observe("y", Normal::new(mean * noise, noise)),
                }
            });
        });
        assert!(!is_condensed(&other), "{case}");
    }
}

/// Rows that are not in memory, and a count of the numbers that were read.
struct Counted {
    data: Bound,
    read: Arc<AtomicUsize>,
}

impl RowSource for Counted {
    fn n_rows(&self) -> usize {
        self.data.n_rows()
    }

    fn copy_numbers(&self, column: usize, rows: &RowSet<'_>, into: &mut [f64]) {
        self.read.fetch_add(into.len(), Ordering::Relaxed);
        self.data.source().copy_numbers(column, rows, into);
    }

    fn copy_indices(&self, column: usize, rows: &RowSet<'_>, into: &mut [u32]) {
        self.data.source().copy_indices(column, rows, into);
    }

    fn whole_column(&self, _: usize) -> Option<Arc<[f64]>> {
        None
    }

    fn whole_indices(&self, _: usize) -> Option<Arc<[u32]>> {
        None
    }
}

#[test]
fn a_fit_reads_rows_that_are_not_in_memory_once() {
    let linear = Linear::new(ROWS, 3, 4);
    let data = linear.bind();
    let exact = linear.posterior();
    for method in ["full-rank", "sl-dais", "dais", "hmc", "nuts"] {
        let read = Arc::new(AtomicUsize::new(0));
        let source = Counted {
            data: data.clone(),
            read: read.clone(),
        };
        let density = data.program().bind_source(Arc::new(source));
        let fit = if method.ends_with("dais") {
            fixed(method, 50)
        } else {
            named(method)
        };
        let posterior = run(fit.seed(1), &density);
        assert_eq!(read.load(Ordering::Relaxed), ROWS * 4, "{method}");
        assert_eq!(posterior.verdict().level, Level::Reliable, "{method}");
        assert_eq!(posterior.origin.rows, ROWS);
        let first: Vec<f64> = posterior.draws.iter().step_by(3).copied().collect();
        let (mean, error) = estimate(&first);
        let apart = (mean - exact.mean[(0, 0)]).abs();
        // Draws of chains are correlated, so their effective number is smaller.
        assert!(apart < 8.0 * error, "{method}: {apart} {error}");
    }
}

#[test]
fn a_chain_on_condensed_rows_goes_on_drawing() {
    let density = Linear::new(200, 2, 9).bind();
    let posterior = run(with(fixed("sl-dais", 20), "chain-steps", 2), &density);
    assert!(posterior.origin.condensed);
    assert_eq!(
        posterior.origin.contents,
        "sums over the rows, no row of the table"
    );
    let few = Linear::new(7, 2, 10).bind();
    let draws = [&density, &few].map(|rows| posterior.draw_more(rows, 30, 3).unwrap());
    assert_eq!(draws[0], draws[1]);
    assert_eq!(draws[0].len(), 60);
}

#[test]
fn the_evidence_lies_between_the_bounds_of_a_fit_and_of_chains() {
    let linear = Linear::new(300, 2, 11);
    let density = linear.bind();
    let exact = run(named("hmc").seed(2), &density);
    for method in ["mean-field", "sl-dais"] {
        let posterior = run(fixed(method, 60).seed(3), &density);
        let found = posterior.sandwich(&density, &exact, 4).unwrap().unwrap();
        let (lower, upper) = (found.lower, found.upper);
        let evidence = linear.log_evidence();
        assert!(
            lower.mean < evidence + 4.0 * lower.error,
            "{method}: {found:?} {evidence}"
        );
        assert!(
            upper.mean > evidence - 4.0 * upper.error,
            "{method}: {found:?} {evidence}"
        );
        assert!(upper.mean - lower.mean < 1.0, "{method}: {found:?}");
    }
    let chains = exact.sandwich(&density, &exact, 4).unwrap();
    assert_eq!(chains, None);
}

#[test]
fn rows_that_a_setting_names_are_not_condensed() {
    let density = Linear::new(200, 2, 9).bind();
    let posterior = run(with(fixed("full-rank", 20), "batch", 50), &density);
    assert!(!posterior.origin.condensed);
}
