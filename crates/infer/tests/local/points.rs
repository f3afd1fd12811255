//! The N+1 chains of the paper: the point form, and the form with a chain, which needs a density
//! for the end points of its copies.

use std::sync::Arc;

use lehr_density::{Density, Point, StoredForm, Support};
use lehr_graph::Expr;
use lehr_infer::annealed::{AnnealedGuide, Drive, Momentum};
use lehr_infer::fit::Fit;
use lehr_infer::guide::{
    Block, Context, Guide, LearnedBlocks, MeanField, RowInput, Whitening, all_blocks,
};
use lehr_infer::local::IntegratedDensity;
use lehr_infer::method::{LatentGuide, SemiDais};
use lehr_infer::objective::Score;
use lehr_infer::program::compile;
use lehr_infer::surrogate::{PointRows, RowSurrogate, Surrogate, SurrogateKind};
use lehr_infer::train::{Task, TrainSettings};
use lehr_model::distribution::{Distribution, Flat, Normal};
use lehr_model::{Bound, Model};
use lehr_numeric::summary::{mean, sd};

use crate::fixture::{chain, value};
use crate::{assert_exact_slopes, bind, normals};

const ROWS: usize = 6;

fn responses() -> Vec<f64> {
    normals(ROWS, 71).iter().map(|e| 0.8 + 1.4 * e).collect()
}

/// w ~ N(z, 1) and y ~ N(w, 1) in each row.
fn normal() -> Bound {
    let model = Model::new(|m| {
        let z = m.sample("z", Normal::new(0.0, 1.0));
        m.rows(|row| {
            let w = row.local("w", Normal::new(z, 1.0));
            row.observe("y", Normal::new(w, 1.0));
        });
    });
    bind(&model, &[("y", &responses())])
}

fn driven(surrogate: impl Surrogate + 'static) -> AnnealedGuide {
    let base = Arc::new(MeanField { start_scale: 0.4 });
    chain(
        base,
        Momentum::default(),
        Drive::Surrogate(Arc::new(surrogate)),
    )
}

/// The end point of the chain, and its contribution to the weight, in four lanes.
fn ends(density: &dyn Density, guide: &dyn Guide) -> [Vec<f64>; 2] {
    let learned = LearnedBlocks::new(all_blocks(density, guide));
    let mut program = compile(density, &learned, (4, 3), |context| {
        let drawn = guide.draw(context);
        vec![drawn.latents, drawn.log_weight]
    })
    .unwrap();
    program.set_learned(&learned.values);
    program.fill(density.source(), 0);
    program.run();
    [0, 1].map(|place| program.output(place).to_vec())
}

/// METHODS2 §4.7, 5: with w̃ as data the point form is `rand`, bit by bit.
#[test]
fn the_point_form_at_its_start_is_a_chain_on_rows_whose_latents_are_data() {
    let (rows, w) = ([0, 2, 5], [0.3, -0.4, 1.1]);
    let local = normal();
    let integrated = IntegratedDensity::of(&local).unwrap();
    let points = driven(PointRows::on_rows(&integrated, &rows, w.to_vec()));

    let known = Model::new(|m| {
        let z = m.sample("z", Normal::new(0.0, 1.0));
        m.rows(|row| {
            row.observe("w", Normal::new(z, 1.0));
            row.observe("y", Normal::new(row.number("w"), 1.0));
        });
    });
    let mut all = vec![0.0; ROWS];
    for (row, value) in rows.iter().zip(w) {
        all[*row] = value;
    }
    let known = bind(&known, &[("w", &all), ("y", &responses())]);
    let plain = driven(RowSurrogate::on_rows(&known, &rows));
    assert_eq!(ends(&integrated, &points), ends(&known, &plain));
}

#[test]
fn the_slope_of_the_bound_is_exact_in_the_points_as_in_the_rest() {
    let model = Model::new(|m| {
        let centre = m.param("centre", 0.3, Support::Real);
        let z = m.sample("z", Normal::new(centre, 1.0));
        m.rows(|row| {
            let w = row.local("w", Normal::new(z, 0.7));
            // Exact with any number of nodes, and so is its gradient.
            row.observe("y", Normal::new(w, 1.0));
        });
    });
    let bound = bind(&model, &[("y", &responses())]);
    let density = IntegratedDensity::of(&bound).unwrap();
    let guide = driven(PointRows::on_rows(
        &density,
        &[1, 3, 4],
        vec![0.2, -0.3, 0.5],
    ));
    let score = Score {
        rows: RowInput::All,
        control: None,
    };
    let task = Task {
        density: &density,
        whitening: &Whitening::Identity,
        guide: &guide,
        score: &score,
        seed: 4,
    };
    let learned = LearnedBlocks::new(all_blocks(&density, &guide));
    assert!(learned.range_of("surrogate_locals").is_some());
    assert_exact_slopes(&task, learned, 1e-6);
}

/// ln N(y; 0, 2 I + 1 1ᵀ)
fn log_evidence() -> f64 {
    let (y, n) = (responses(), ROWS as f64);
    let (sum, square): (f64, f64) = (y.iter().sum(), y.iter().map(|y| y * y).sum());
    let log_det = (n - 1.0) * 2.0_f64.ln() + (2.0 + n).ln();
    let form = 0.5 * (square - sum * sum / (2.0 + n));
    -0.5 * (n * std::f64::consts::TAU.ln() + log_det + form)
}

#[test]
fn a_fit_by_the_point_form_bounds_the_evidence_and_is_drawn_again() {
    let method = SemiDais {
        latent_guide: LatentGuide::SlDais,
        surrogate: Some(SurrogateKind::POINTS),
        surrogate_rows: Some(4),
        ..SemiDais::default()
    };
    let density = normal();
    let posterior = Fit::new(method).seed(2).draws(2000).run(&density).unwrap();
    let bound = posterior.evidence.as_ref().unwrap().bound.unwrap();
    let truth = log_evidence();
    assert!(bound.mean < truth + 4.0 * bound.error, "{bound:?} {truth}");
    assert!(bound.mean > truth - 0.05, "{bound:?} {truth}");
    let again = posterior.draw_more(&density, 200, 3).unwrap();
    assert!(again.iter().all(|z| z.is_finite()));
}

#[test]
fn rows_without_latents_have_no_points() {
    let model = Model::new(|m| {
        let z = m.sample("z", Normal::new(0.0, 1.0));
        m.rows(|row| row.observe("y", Normal::new(z, 1.0)));
    });
    let method = lehr_infer::method::SlDais {
        surrogate: Some(SurrogateKind::POINTS),
        surrogate_rows: Some(3),
        ..Default::default()
    };
    let refused = Fit::new(method).run(&bind(&model, &[("y", &responses())]));
    let words = refused.err().unwrap().to_string();
    assert!(
        words.contains("points is for models whose rows have latents of their own"),
        "{words}"
    );
}

/// The number of copies of rows' latents that move along with z.
const COPIES: usize = 4;

/// z and copies of the latents of four rows, which no row of the table reads. `r` is the density of
/// the copies at the end of the chain. Without it the extended target has an infinite integral.
fn copied(r: Option<f64>) -> Bound {
    let model = Model::new(move |m| {
        let z = m.sample("z", Normal::new(0.0, 1.0));
        match r {
            Some(scale) => m.sample("copy", Normal::new(0.5, scale).expand([COPIES])),
            None => m.sample("copy", Flat.expand([COPIES])),
        };
        m.rows(|row| row.observe("y", Normal::new(z, 2.0_f64.sqrt())));
    });
    bind(&model, &[("y", &responses())])
}

/// The chain's target of §4.5: the joint density of z, the copies and their rows, less the prior, which
/// the chain adds.
struct Copies {
    r: Option<f64>,
}

impl Surrogate for Copies {
    fn name(&self) -> &'static str {
        "copies"
    }

    fn blocks(&self) -> Vec<Block> {
        Vec::new()
    }

    fn log_likelihood<'g>(&self, context: &Context<'g, '_>, at: &Point<'g>) -> Expr<'g> {
        let z = at.latents.entry(0);
        let copies = at.latents.slice(0, 1..COPIES + 1);
        let y = context.graph().constant([COPIES], &responses()[..COPIES]);
        let share = ROWS as f64 / COPIES as f64;
        let joint = -0.5 * share * ((copies - z).square() + (y - copies).square()).sum();
        match self.r {
            Some(scale) => joint + 0.5 * ((copies - 0.5) / scale).square().sum(),
            None => joint,
        }
    }

    fn contents(&self) -> String {
        String::new()
    }

    fn store(&self) -> StoredForm {
        StoredForm {
            name: "copies".into(),
            bytes: Vec::new(),
        }
    }
}

/// The mean of the bound and its standard error, without training.
fn bound(r: Option<f64>, start_scale: f64) -> (f64, f64) {
    let density = copied(r);
    let base = Arc::new(MeanField { start_scale });
    let drive = Drive::Surrogate(Arc::new(Copies { r }));
    // With steps that hardly move anything, the gain comes from the copies alone.
    let mut guide = chain(base, Momentum::default(), drive);
    guide.start.step_size = 0.005;
    guide.start.step_growth = 1e-4;
    let score = Score {
        rows: RowInput::All,
        control: None,
    };
    let task = Task {
        density: &density,
        whitening: &Whitening::Identity,
        guide: &guide,
        score: &score,
        seed: 5,
    };
    let learned = LearnedBlocks::new(all_blocks(&density, &guide));
    let mut program = task.program(&learned, &TrainSettings::default()).unwrap();
    let mut draw = |step: u64| {
        program.fill(density.source(), step);
        value(&mut program, &learned.values)
    };
    let values: Vec<f64> = (0..4000).map(&mut draw).collect();
    (mean(&values), sd(&values) / (values.len() as f64).sqrt())
}

/// METHODS2 §4.7, 5
#[test]
fn copies_in_the_chain_bound_the_evidence_only_with_a_density_of_their_own() {
    let truth = log_evidence();
    let (with, error) = bound(Some(0.8), 0.7);
    assert!(with + 4.0 * error < truth, "{with} ± {error} for {truth}");
    // The wider the copies start, the larger the spurious gain.
    let (without, error) = bound(None, 1.5);
    assert!(
        without - 4.0 * error > truth,
        "{without} ± {error} for {truth}"
    );
}
