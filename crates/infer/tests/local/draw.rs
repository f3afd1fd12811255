//! Draws of the rows' local latents: from their posterior given the response, and from their prior
//! for predictions.

use lehr_density::Predictor;
use lehr_infer::local::{LocalDrawError, LocalDraws};
use lehr_model::Model;
use lehr_model::distribution::{Gamma, HalfNormal, Normal, Poisson};
use lehr_numeric::stream::Stream;
use lehr_numeric::summary::{mean, sd};

use crate::{bind, normals};

const DRAWS: usize = 4000;

/// Asserts that mean and standard deviation of independent draws agree to four standard errors. The
/// error of the latter assumes tails that are not much heavier than a normal's.
fn assert_moments(values: &[f64], expected: f64, spread: f64) {
    let root = (values.len() as f64).sqrt();
    let (found, found_spread) = (mean(values), sd(values));
    assert!(
        (found - expected).abs() < 4.0 * spread / root,
        "{found}, exactly {expected}"
    );
    let off = (found_spread / spread - 1.0).abs();
    assert!(off < 4.0 * 1.5 / root, "{found_spread}, exactly {spread}");
}

#[test]
fn latents_are_drawn_from_their_posterior_given_the_row() {
    let model = Model::new(|m| {
        let slope = m.sample("slope", Normal::new(0.0, 1.0));
        m.rows(|row| {
            let precision = row.local("precision", Gamma::new(2.0, 2.0));
            row.observe("y", Normal::new(slope, precision.sqrt().recip()));
        });
    });
    let bound = bind(&model, &[("y", &[0.3, -1.0, 6.0])]);
    let rows = [2, 0];
    let drawn = LocalDraws::new(&bound, &rows).unwrap();
    let sites = drawn.draw(&vec![0.5; DRAWS], &[], 7);
    assert_eq!(
        (sites[0].name.as_str(), sites[0].values.len()),
        ("precision", 2 * DRAWS)
    );
    for (place, y) in [(0, 6.0_f64), (1, 0.3)] {
        let own: Vec<f64> = sites[0]
            .values
            .iter()
            .skip(place)
            .step_by(2)
            .copied()
            .collect();
        // Gamma(2 + ½, 2 + ½(y − slope)²).
        let rate = 2.0 + 0.5 * (y - 0.5).powi(2);
        assert_moments(&own, 2.5 / rate, 2.5_f64.sqrt() / rate);
    }
    // A row's draws do not depend on the other rows that are drawn.
    let alone = LocalDraws::new(&bound, &rows[..1])
        .unwrap()
        .draw(&[0.5; 20], &[], 7);
    let both: Vec<f64> = sites[0]
        .values
        .iter()
        .step_by(2)
        .take(20)
        .copied()
        .collect();
    assert_eq!(alone[0].values, both);
}

#[test]
fn two_latents_of_a_row_are_drawn_together() {
    let model = Model::new(|m| {
        let centre = m.sample("centre", Normal::new(0.0, 1.0));
        m.rows(|row| {
            let first = row.local("first", Normal::new(centre, 1.0));
            let second = row.local("second", Normal::new(first, 0.5));
            row.observe("y", Normal::new(second, 1.0));
        });
    });
    let bound = bind(&model, &[("y", &[2.0])]);
    let sites = LocalDraws::new(&bound, &[0])
        .unwrap()
        .draw(&vec![0.4; DRAWS], &[], 8);
    // y = centre + (1 + ½ + 1)-variances: gains 1/2.25 and 1.25/2.25.
    let gap = 2.0 - 0.4;
    assert_moments(
        &sites[0].values,
        0.4 + gap / 2.25,
        (1.0 - 1.0 / 2.25_f64).sqrt(),
    );
    let spread = (1.25 - 1.25 * 1.25 / 2.25_f64).sqrt();
    assert_moments(&sites[1].values, 0.4 + gap * 1.25 / 2.25, spread);
    let products = sites[0].values.iter().zip(&sites[1].values);
    let products: Vec<f64> = products.map(|(a, b)| a * b).collect();
    let covariance = mean(&products) - mean(&sites[0].values) * mean(&sites[1].values);
    assert!(
        (covariance - (1.0 - 1.25 / 2.25)).abs() < 0.04,
        "{covariance}"
    );
}

#[test]
fn rows_and_models_that_cannot_be_drawn_are_refused() {
    let plain = Model::new(|m| {
        let centre = m.sample("centre", Normal::new(0.0, 1.0));
        m.rows(|row| row.observe("y", Normal::new(centre, 1.0)));
    });
    let bound = bind(&plain, &[("y", &[2.0])]);
    assert_eq!(
        LocalDraws::new(&bound, &[0]).err(),
        Some(LocalDrawError::None)
    );
    let own = Model::new(|m| {
        let centre = m.sample("centre", Normal::new(0.0, 1.0));
        m.rows(|row| {
            let own = row.local("own", Normal::new(centre, 1.0));
            row.observe("y", Normal::new(own, 1.0));
        });
    });
    let bound = bind(&own, &[("y", &[2.0])]);
    let refused = LocalDraws::new(&bound, &[3]).err().unwrap();
    assert_eq!(
        refused.to_string(),
        "locals: expected rows from 1 to 1, found 4\n  hint: rows are counted in the table as it was read, \
         those that --missing drop leaves out not included"
    );
}

#[test]
fn predictions_average_over_the_prior_of_a_rows_latent() {
    let model = Model::new(|m| {
        let centre = m.sample("centre", Normal::new(0.0, 2.0));
        let scale = m.sample("scale", HalfNormal::new(1.0));
        m.rows(|row| {
            let own = row.local("own", Normal::new(0.0, scale));
            row.observe("y", Poisson::with_log_rate(centre + own));
        });
    });
    let y: Vec<f64> = normals(DRAWS, 9).iter().map(|w| w.abs().round()).collect();
    let bound = bind(&model, &[("y", &y)]);
    let mut predictor = Predictor::of_all_rows(&bound);
    let (centre, scale) = (0.7_f64, 0.4_f64);
    let z = [centre, scale.ln()];
    let moments = predictor.moments(&z, &[]).remove(0);
    let rate = (centre + 0.5 * scale * scale).exp();
    let variance = rate + rate * rate * (scale * scale).exp_m1();
    assert!((moments.mean.unwrap()[5] - rate).abs() < 1e-9);
    assert!((moments.variance.unwrap()[5] - variance).abs() < 1e-8);
    let mut stream = Stream::new(10, "predict", 0);
    let drawn = predictor
        .draw_responses(&z, &[], &mut stream)
        .remove(0)
        .values;
    assert_moments(&drawn, rate, variance.sqrt());
}
