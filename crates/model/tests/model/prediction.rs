//! Draws of the prior and of responses.

use lehr_density::{Density, FlatDraws, Predictor, RowSet, Support};
use lehr_model::Model;
use lehr_model::distribution::{Categorical, Cauchy, Distribution, Gamma, HalfNormal, Normal};
use lehr_table::Table;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::{bind, levels, multilevel, table};

fn random(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

#[test]
fn prior_draws_follow_the_hierarchy() {
    let model = Model::new(|m| {
        let noise = m.param("noise", 2.0, Support::Positive);
        let scale = m.sample("scale", Gamma::new(4.0, 2.0));
        let effect = m.sample("effect", Normal::new(3.0, scale * noise).expand([2]));
        m.rows(|row| row.observe("y", Normal::new(effect.sum(), 1.0)));
    });
    let bound = bind(&model, &table());
    let mut random = random(11);
    let draws = 4000;
    let mut sums = [0.0; 3];
    for _ in 0..draws {
        let z = bound
            .draw_prior(bound.params().start(), &mut random)
            .unwrap();
        let scale = z[0].exp();
        sums[0] += scale;
        sums[1] += z[1];
        sums[2] += ((z[2] - 3.0) / (2.0 * scale)).powi(2);
    }
    let mean = sums.map(|sum| sum / f64::from(draws));
    assert!((mean[0] - 2.0).abs() < 4.0 * 1.0 / f64::from(draws).sqrt());
    assert!((mean[1] - 3.0).abs() < 4.0 * 4.5 / f64::from(draws).sqrt());
    assert!((mean[2] - 1.0).abs() < 4.0 * 2.0_f64.sqrt() / f64::from(draws).sqrt());
}

#[test]
fn the_same_seed_draws_the_same_data() {
    let bound = bind(&multilevel(), &table());
    let first = bound.prior_predictive(&mut random(3)).unwrap();
    assert_eq!(first, bound.prior_predictive(&mut random(3)).unwrap());
    assert_eq!((first[0].name.as_str(), first[0].width), ("y", 1));
    assert_eq!(first[0].values.len(), 4);
    assert!(first[0].values.iter().all(|y| *y == 0.0 || *y == 1.0));
}

#[test]
fn responses_follow_the_latents_they_are_given() {
    let bound = bind(&multilevel(), &table());
    let mut random = random(5);
    // With logits of −50, 0 and 50 the responses of the first and the last group are certain.
    let z = [0.0, 0.0, 0.0, -50.0, 0.0, 50.0];
    for _ in 0..20 {
        let drawn = bound.posterior_predictive(&z, &[], &mut random);
        assert_eq!(drawn[0].values[0], 0.0);
        assert_eq!((drawn[0].values[1], drawn[0].values[3]), (1.0, 1.0));
    }
}

#[test]
fn new_rows_are_predicted_without_their_labels() {
    let bound = bind(&multilevel(), &table());
    let fresh = Table::new()
        .with_matrix("x", 2, 2, vec![0.0; 4])
        .and_then(|t| t.with_category("group", vec![0, 1], vec!["south".into(), "north".into()]))
        .unwrap();
    let (columns, data) = bound.rows_of(&fresh).unwrap();
    let z = [0.0, 0.0, 0.0, -50.0, 0.0, 50.0];
    let rows = RowSet::Range(0..2);
    let mut predictor = Predictor::new(&bound, &columns, &data, &rows);
    let drawn = predictor.draw_responses(&z, &[], &mut random(2));
    assert_eq!(drawn[0].values, [1.0, 0.0]);
    let means = predictor.means(&[0.0; 6], &[]);
    assert_eq!(means[0].values, [0.5, 0.5]);
}

#[test]
fn unseen_levels_of_new_rows_are_refused() {
    let bound = bind(&multilevel(), &table());
    let mut names = levels();
    names.push("west".into());
    let fresh = Table::new()
        .with_matrix("x", 1, 2, vec![0.0; 2])
        .and_then(|t| t.with_category("group", vec![3], names))
        .unwrap();
    assert_eq!(
        bound.rows_of(&fresh).unwrap_err().to_string(),
        "column \"group\": 1 levels were not seen before, such as \"west\"\n  \
         hint: the model has an entry for each level it was bound with and for no other"
    );
}

#[test]
fn labels_and_wide_rows_are_drawn_in_their_widths() {
    let model = Model::new(|m| {
        let logit = m.sample("logit", Normal::new(0.0, 1.0).expand([3]));
        let scale = m.sample("scale", HalfNormal::new(1.0));
        m.rows(|row| {
            row.observe("group", Categorical::with_logits(logit));
            row.observe("x", Cauchy::new(0.0, scale));
        });
    });
    let bound = bind(&model, &table());
    let drawn = bound.posterior_predictive(&[-90.0, 90.0, 0.0, -20.0], &[], &mut random(9));
    assert_eq!(drawn[0].values, [1.0; 4]);
    assert_eq!((drawn[1].width, drawn[1].values.len()), (2, 8));
    assert!(drawn[1].values.iter().all(|x| x.abs() < 1e-4 && *x != 0.0));
    assert_eq!(bound.columns().responses().count(), 2);
}

#[test]
fn deterministic_quantities_come_with_draws() {
    let model = Model::new(|m| {
        let mean = m.sample("mean", Normal::new(1.0, 3.0));
        m.deterministic("square", mean.square());
        m.rows(|row| row.observe("y", Normal::new(mean, 1.0)));
    });
    let table = Table::new().with_number("y", vec![1.0, 2.0]).unwrap();
    let bound = model.bind(&table).unwrap();
    let draws = FlatDraws {
        latents: &[0.5, -2.0, 3.0],
        size: 1,
        params: &[],
    };
    let found = bound.program().deterministic_values(draws);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].name, "square");
    assert_eq!(found[0].values, [0.25, 4.0, 9.0]);
}
