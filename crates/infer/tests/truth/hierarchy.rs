//! Models with learned standard deviations of groups: their start, their control variate, and their
//! fit.

use lehr_infer::guide::{MeanField, Whitening};
use lehr_infer::objective::{ControlVariate, Score};
use lehr_infer::start::best_independent;
use lehr_infer::train::{Task, TrainSettings, variance_ratio};
use lehr_model::distribution::{Distribution, HalfNormal, Normal};
use lehr_model::{Bound, Model, Tracer};
use lehr_table::Table;

use crate::{batch, named, normals, run, starts};

const GROUPS: usize = 40;
const ROWS_EACH: usize = 50;
const SPREAD: f64 = 0.8;

/// Effects of 40 groups of 50 rows with noise 1. Both forms are the same model.
fn groups(form: fn(&Tracer<'_>)) -> Bound {
    let (effects, noise) = (normals(GROUPS, 11), normals(GROUPS * ROWS_EACH, 12));
    let y = noise.iter().enumerate();
    let y = y.map(|(n, noise)| SPREAD * effects[n % GROUPS] + noise);
    let codes = (0..GROUPS * ROWS_EACH).map(|n| (n % GROUPS) as u32);
    let levels = (0..GROUPS).map(|group| group.to_string());
    let table = Table::new()
        .with_number("y", y.collect())
        .and_then(|t| t.with_category("group", codes.collect(), levels.collect()))
        .unwrap();
    Model::new(form).bind(&table).unwrap()
}

fn centred(m: &Tracer<'_>) {
    let spread = m.sample("spread", HalfNormal::new(1.0));
    let effect = m.sample("effect", Normal::new(0.0, spread).expand([GROUPS]));
    m.rows(|row| row.observe("y", Normal::new(effect.at(row.index("group")), 1.0)));
}

fn standard(m: &Tracer<'_>) {
    let spread = m.sample("spread", HalfNormal::new(1.0));
    let own = m.sample("own", Normal::new(0.0, 1.0).expand([GROUPS]));
    m.rows(|row| {
        let effect = own.at(row.index("group")) * spread;
        row.observe("y", Normal::new(effect, 1.0));
    });
}

#[test]
fn the_start_finds_the_spread_in_either_form() {
    // 40 effects determine their standard deviation to 11 %, plus the uncertainty of each effect
    // given 50 rows.
    for form in [centred, standard] {
        let settled = best_independent(&groups(form), 5).unwrap();
        let spread = settled.centre.latents[0].exp();
        assert!((spread / SPREAD).ln().abs() < 0.35, "{spread}");
    }
}

#[test]
fn a_fit_with_everything_left_to_the_rules_recovers_the_spread() {
    let density = groups(centred);
    for method in ["mean-field", "sl-dais"] {
        let posterior = run(named(method), &density);
        let summaries = posterior.summaries();
        let spread = &summaries[0];
        assert_eq!(spread.name, "spread");
        assert!((spread.mean - SPREAD).abs() < 3.0 * spread.sd, "{spread:?}");
        // The log standard deviation of G effects has a standard deviation of about 1/√(2G).
        let expected = spread.mean / (2.0 * GROUPS as f64).sqrt();
        assert!((spread.sd / expected).ln().abs() < 0.25, "{spread:?}");
        let start = posterior.choices.iter().find(|c| c.0 == "start").unwrap();
        assert_eq!(start.1, "variational");
    }
}

#[test]
fn a_first_order_control_variate_takes_most_of_the_noise_of_a_batch() {
    let density = groups(centred);
    let settled = best_independent(&density, 5).unwrap();
    let guide = MeanField::default();
    let mut learned = starts(&density, &guide);
    settled.whitening.start(&mut learned);
    let score = Score {
        control: Some(ControlVariate::first_order(&settled.centre, &density).unwrap()),
        ..batch(100, "score")
    };
    let task = Task {
        density: &density,
        whitening: &settled.whitening,
        guide: &guide,
        score: &score,
        seed: 0,
    };
    let settings = TrainSettings {
        lanes: 8,
        ..TrainSettings::default()
    };
    let ratio = variance_ratio(&task, &learned, &settings).unwrap();
    assert!(ratio < 0.2, "{ratio}");
    assert!(!matches!(settled.whitening, Whitening::Identity));
}
