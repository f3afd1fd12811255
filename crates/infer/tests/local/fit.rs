//! Fits of models with local latents, compared with the same models in closed form.

use std::sync::Arc;

use lehr_density::{Density, RowSet, RowSource};
use lehr_infer::fit::Fit;
use lehr_infer::judge::Level;
use lehr_infer::local::Integration;
use lehr_infer::posterior::Posterior;
use lehr_model::distribution::{Distribution, Gamma, HalfNormal, Normal, StudentT};
use lehr_model::{Bound, Model};

use crate::{bind, normals};

const ROWS: usize = 40;

fn data() -> [Vec<f64>; 2] {
    let (x, noise, wide) = (normals(ROWS, 11), normals(ROWS, 12), normals(ROWS, 13));
    let y = (0..ROWS).map(|n| 0.7 * x[n] + 0.5 * noise[n] * (0.6 * wide[n]).exp());
    [x.clone(), y.collect()]
}

fn mixture() -> Bound {
    let model = Model::new(|m| {
        let slope = m.sample("slope", Normal::new(0.0, 1.0));
        let scale = m.sample("scale", HalfNormal::new(1.0));
        m.rows(|row| {
            let precision = row.local("precision", Gamma::new(2.0, 2.0));
            row.observe(
                "y",
                Normal::new(row.number("x") * slope, scale / precision.sqrt()),
            );
        });
    });
    let [x, y] = data();
    bind(&model, &[("x", &x), ("y", &y)])
}

fn closed() -> Bound {
    let model = Model::new(|m| {
        let slope = m.sample("slope", Normal::new(0.0, 1.0));
        let scale = m.sample("scale", HalfNormal::new(1.0));
        m.rows(|row| row.observe("y", StudentT::new(4.0, row.number("x") * slope, scale)));
    });
    let [x, y] = data();
    bind(&model, &[("x", &x), ("y", &y)])
}

/// A fit with draws of the guide itself, not of chains.
fn fit() -> Fit<'static> {
    let fit = Fit::named("full-rank").unwrap();
    fit.seed(3).draws(100).unexamined()
}

fn fitted(density: &dyn Density) -> Posterior {
    fit().run(density).unwrap()
}

#[test]
fn a_guide_fits_the_mixture_as_it_fits_the_closed_form() {
    let (found, truth) = (fitted(&mixture()), fitted(&closed()));
    assert_eq!(found.latents.size(), 2, "draws hold the globals alone");
    let (name, words) = &found.choices[0];
    assert_eq!(name, "local latents");
    assert!(
        words.starts_with("precision integrated out by 16 nodes, error "),
        "{words}"
    );
    assert!(found.origin.integration.unwrap().error < 0.05);
    for (a, b) in found.summaries().iter().zip(truth.summaries()) {
        assert!((a.mean - b.mean).abs() < 0.01 * b.sd, "{a:?} {b:?}");
        assert!((a.sd / b.sd - 1.0).abs() < 0.01, "{a:?} {b:?}");
    }
    let start = |fit: &Posterior| fit.choices.iter().any(|(_, how)| how == "quadrature");
    assert!(start(&found) && start(&truth), "{:?}", found.choices);
    let evidence = |fit: &Posterior| fit.evidence.as_ref().unwrap().estimate;
    let (a, b) = (evidence(&found), evidence(&truth));
    let limit = 4.0 * (a.error + b.error) + 1e-4 * ROWS as f64;
    assert!((a.mean - b.mean).abs() < limit, "{a:?} {b:?}");
}

/// A density that copies its rows only on request, like one on a file.
struct OnRequest(Bound);

impl RowSource for OnRequest {
    fn n_rows(&self) -> usize {
        self.0.source().n_rows()
    }

    fn copy_numbers(&self, column: usize, rows: &RowSet<'_>, into: &mut [f64]) {
        self.0.source().copy_numbers(column, rows, into);
    }

    fn copy_indices(&self, column: usize, rows: &RowSet<'_>, into: &mut [u32]) {
        self.0.source().copy_indices(column, rows, into);
    }

    fn whole_column(&self, _: usize) -> Option<Arc<[f64]>> {
        None
    }

    fn whole_indices(&self, _: usize) -> Option<Arc<[u32]>> {
        None
    }
}

#[test]
fn rows_on_disk_are_fitted_and_left_out_as_those_in_memory() {
    let (mixture, closed) = (mixture(), closed());
    let program = mixture.program().clone();
    let distant = program.bind_source(Arc::new(OnRequest(mixture.clone())));
    let hardly = fit().set("iterations", "200").unwrap();
    let found = hardly.run(&distant).unwrap();
    let mut largest = 0.0_f64;
    let mut near = Vec::new();
    found.pointwise(&mixture, |_, values| near.extend_from_slice(values));
    let mut far = Vec::new();
    found.pointwise(&distant, |_, values| far.extend_from_slice(values));
    let mut truth = Vec::new();
    found.pointwise(&closed, |_, values| truth.extend_from_slice(values));
    assert_eq!(near, far);
    for (a, b) in near.iter().zip(&truth) {
        largest = largest.max((a - b).abs());
    }
    assert_eq!(near.len(), truth.len());
    assert!(largest < 1e-3, "{largest}");
    assert_eq!(found.draw_more(&distant, 30, 5).unwrap().len(), 60);
}

#[test]
fn rows_on_disk_start_at_the_same_gaussian_and_need_no_training() {
    let mixture = mixture();
    let distant = (mixture.program().clone()).bind_source(Arc::new(OnRequest(mixture.clone())));
    let (near, far) = (fitted(&mixture), fitted(&distant));
    let start = far.choices.iter().any(|(_, how)| how == "quadrature");
    assert!(start, "{:?}", far.choices);
    assert_eq!(far.training().unwrap().iterations, 0);
    for (a, b) in far.summaries().iter().zip(near.summaries()) {
        assert!((a.mean - b.mean).abs() < 1e-6 * b.sd, "{a:?} {b:?}");
        assert!((a.sd / b.sd - 1.0).abs() < 1e-6, "{a:?} {b:?}");
    }
}

#[test]
fn an_integral_that_stays_coarse_is_told() {
    let mut found = fitted(&mixture());
    let before = found.verdict().level;
    found.origin.integration = Some(Integration {
        nodes: 128,
        error: 3.0,
    });
    assert!(found.verdict().level >= before.max(Level::Doubtful));
}

#[test]
fn three_latents_per_row_are_refused_in_words() {
    let model = Model::new(|m| {
        let centre = m.sample("centre", Normal::new(0.0, 1.0));
        m.rows(|row| {
            let own = row.local("own", Normal::new(0.0, 1.0).expand([3]));
            row.observe("y", Normal::new(centre + own.sum_axis(1), 1.0));
        });
    });
    let bound = bind(&model, &[("y", &[0.1, 0.2])]);
    for method in ["full-rank", "nuts"] {
        let error = Fit::named(method).unwrap().run(&bound).unwrap_err();
        let words = error.to_string();
        assert!(
            words.contains("\"own\"") && words.contains("up to two latents per row"),
            "{words}"
        );
    }
}
