//! Draws weighed on some rows of a long table, compared with the same draws weighed on all of them.

use lehr_density::job::{LogLikelihood, local_rows};
use lehr_infer::draw::{ImportanceDraws, draw, evaluate};
use lehr_infer::guide::{FullRank, LearnedBlocks, WhitenedDensity, all_blocks};
use lehr_infer::start::find_mode;
use lehr_model::distribution::{Bernoulli, Normal};
use lehr_model::{Bound, Model};
use lehr_numeric::lbfgs::LbfgsSettings;
use lehr_numeric::stream::Stream;
use lehr_rows::fold;
use lehr_table::Table;

use crate::normals;

const ROWS: usize = 40_000;
const DRAWS: usize = 320;

/// A logistic regression. With `odd`, one row has this distant covariate and a predictor near 0.
fn logistic(odd: Option<f64>) -> Bound {
    let mut x = normals(ROWS, 71);
    let mut noise = Stream::new(72, "labels", 0);
    let hit = |x: &f64| f64::from(u8::from(noise.uniform() < 1.0 / (1.0 + (0.5 - x).exp())));
    let mut y: Vec<f64> = x.iter().map(hit).collect();
    let mut offset = vec![0.0; ROWS];
    if let Some(odd) = odd {
        (x[12_345], y[12_345], offset[12_345]) = (odd, 0.0, -odd);
    }
    let table = Table::new().with_number("x", x);
    let table = table.and_then(|table| table.with_number("y", y));
    let table = table.and_then(|table| table.with_number("offset", offset));
    let model = Model::new(|m| {
        let intercept = m.sample("intercept", Normal::new(0.0, 2.0));
        let slope = m.sample("slope", Normal::new(0.0, 2.0));
        m.rows(|row| {
            let logit = row.number("offset") + intercept + row.number("x") * slope;
            row.observe("y", Bernoulli::with_logit(logit));
        });
    });
    model.bind(&table.unwrap()).unwrap()
}

/// Draws around the mode as weighed, and their log likelihoods on all rows.
fn weighed(density: &Bound) -> (ImportanceDraws, Vec<f64>, Vec<f64>) {
    let mode = find_mode(density, LbfgsSettings::default()).unwrap();
    let curvature = mode.curvature(density).unwrap();
    let whitening = curvature.dense_whitening(&mode, None).expect("a maximum");
    let guide = FullRank::default();
    let mut learned = LearnedBlocks::new(all_blocks(density, &guide));
    whitening.start(&mut learned);
    let place = WhitenedDensity::new(density, &whitening);
    let found = evaluate(place, &guide, &learned, (DRAWS, 3)).unwrap();
    let bare = draw(place, &guide, &learned, (DRAWS, 3)).unwrap();
    assert_eq!(found.latents, bare.latents);
    let own = found.log_weights.iter().zip(&bare.log_weights);
    let own = own.map(|(all, prior)| all - prior).collect();
    (found, own, on_all_rows(density, &bare.latents))
}

fn on_all_rows(density: &Bound, draws: &[f64]) -> Vec<f64> {
    fold(
        &local_rows(density),
        &LogLikelihood::new(density, draws, &[]),
    )
    .unwrap()
}

#[test]
fn some_rows_tell_the_weights_as_well_as_they_say() {
    let (found, values, exact) = weighed(&logistic(None));
    let sampling = found.sampling.clone().expect("a long table is sampled");
    assert!(sampling.rows < ROWS / 4 && sampling.error < 0.01);
    let off: Vec<f64> = values.iter().zip(&exact).map(|(a, b)| a - b).collect();
    let mean_square = off.iter().map(|off| off * off).sum::<f64>() / DRAWS as f64;
    // The errors of all draws come from one sample of rows, so they hardly average out.
    assert!(mean_square.sqrt() < 3.0 * sampling.error, "{mean_square}");
    assert!(mean_square > 0.0, "the rows were all read");
    let bound = found.bound();
    assert!(bound.error >= sampling.error);
}

#[test]
fn a_row_unlike_all_others_that_the_sample_misses_is_noticed() {
    let (found, values, exact) = weighed(&logistic(Some(400.0)));
    assert_eq!(found.sampling, None, "all rows are read");
    for (a, b) in values.iter().zip(&exact) {
        assert!((a - b).abs() < 1e-9 * b.abs(), "{a} {b}");
    }
}
