//! Draws have the stated moments and lie within the support.

use lehr_density::Family;
use lehr_graph::Graph;
use lehr_model::distribution::{
    Beta, Categorical, Cauchy, Dirichlet, Distribution, Gamma, HalfCauchy, Normal, Value, VonMises,
    draw_batch,
};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::catalogue::all;
use crate::numbers;

const DRAWS: usize = 20_000;

/// `count` events of a distribution without inputs, one after another.
pub(crate) fn draws<'g>(
    graph: &'g Graph,
    distribution: &dyn Distribution<'g>,
    count: usize,
    seed: u64,
) -> Vec<f64> {
    let parameters = distribution.named_parameters(graph);
    let values: Vec<Vec<f64>> = parameters.into_iter().map(|(_, e)| numbers(e)).collect();
    let slices: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (batch, size) = (
        distribution.batch_shape().size(),
        distribution.value_shape().size(),
    );
    let mut all = vec![0.0; count * size];
    for event in all.chunks_exact_mut(size) {
        draw_batch(
            distribution.sampling_family(),
            &slices,
            batch,
            &mut rng,
            event,
        );
    }
    all
}

fn mean(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = values.clone().count() as f64;
    values.sum::<f64>() / count
}

/// Fails unless mean and variance of the numbers agree with the stated ones to 4 standard errors.
#[track_caller]
pub(crate) fn assert_moments(values: &[f64], stated: (f64, f64), what: &str) {
    let count = values.len() as f64;
    let found = mean(values.iter().copied());
    let squares = values.iter().map(|x| (x - stated.0).powi(2));
    let spread = mean(squares.clone());
    let fourth = mean(squares.map(|s| (s - stated.1).powi(2)));
    let error = (stated.1 / count).sqrt();
    assert!(
        (found - stated.0).abs() <= 4.0 * error,
        "{what}: mean {} ± {error}, found {found}",
        stated.0
    );
    let error = (fourth / count).sqrt();
    assert!(
        (spread - stated.1).abs() <= 4.0 * error,
        "{what}: variance {} ± {error}, found {spread}",
        stated.1
    );
}

#[test]
fn draws_have_the_moments_the_distribution_states() {
    for entry in all() {
        let graph = Graph::new();
        let parameters: Vec<_> = entry.usual.iter().map(|&p| graph.scalar(p)).collect();
        let distribution = (entry.build)(&parameters);
        let values = draws(&graph, &*distribution, DRAWS, 20_261);
        let moments = (distribution.mean(&graph), distribution.variance(&graph));
        // Angles have circular moments, which are tested below.
        if let (Some(mean), Some(variance), true) =
            (moments.0, moments.1, entry.name != "VON_MISES")
        {
            let stated = (numbers(mean)[0], numbers(variance)[0]);
            assert_moments(&values, stated, entry.name);
        }
        if let Some(support) = distribution.support() {
            assert!(support.contains_values(&values), "{}", entry.name);
        }
    }
}

/// E cos(x − μ) = A, E cos 2(x − μ) = 1 − 2A/κ, and sines are 0 on average, with A = I₁(κ)/I₀(κ).
#[test]
fn angles_keep_to_their_direction_as_closely_as_the_concentration_says() {
    let graph = Graph::new();
    // A by SciPy: i1e(κ)/i0e(κ).
    for (direction, concentration, ratio) in [
        (0.8, 1e-9, 5e-10),
        (-2.9, 0.3, 0.148_337_426_940_875_23),
        (3.1, 2.5, 0.764_996_747_588_809_8),
        (1.0, 40.0, 0.987_419_841_336_350_7),
        (-1.2, 1e6, 0.999_999_499_999_875),
        (2.0, 1e10, 1.0 - 5e-11),
    ] {
        let law = VonMises::new(direction, concentration);
        let values = draws(&graph, &law, DRAWS, 19);
        assert!(values.iter().all(|x| x.abs() <= std::f64::consts::PI));
        let apart: Vec<f64> = values.iter().map(|x| x - direction).collect();
        let (first, second) = (ratio, 1.0 - 2.0 * ratio / concentration);
        let sine = 0.5 * (1.0 - second);
        // Var cos = ½(1 + E cos 2x) − A², which suffers from cancellation where angles are
        // concentrated.
        let cosine = (1.0 - sine - first * first).max(0.5 / (concentration * concentration));
        if concentration < 1e5 {
            let cosines: Vec<f64> = apart.iter().map(|x| x.cos()).collect();
            let spread = if concentration < 1.0 { 0.5 } else { cosine };
            let off = mean(cosines.iter().copied()) - first;
            assert!(
                off.abs() < 4.0 * (spread / DRAWS as f64).sqrt(),
                "{concentration}: {off}"
            );
        }
        let squares = mean(apart.iter().map(|x| x.sin().powi(2)));
        let error = (3.0 * sine * sine / DRAWS as f64).sqrt();
        assert!(
            (squares - sine).abs() < 4.0 * error,
            "{concentration}: {squares} {sine}"
        );
        let sines = mean(apart.iter().map(|x| x.sin()));
        assert!(
            sines.abs() < 4.0 * (sine / DRAWS as f64).sqrt(),
            "{concentration}: {sines}"
        );
    }
}

#[test]
fn half_of_all_cauchy_draws_lie_within_the_scale() {
    let graph = Graph::new();
    let inside = |values: Vec<f64>, loc: f64, scale: f64| {
        let hits: Vec<f64> = values
            .iter()
            .map(|x| f64::from((x - loc).abs() < scale))
            .collect();
        assert_moments(&hits, (0.5, 0.25), "Cauchy");
    };
    inside(draws(&graph, &Cauchy::new(2.0, 3.0), DRAWS, 7), 2.0, 3.0);
    inside(draws(&graph, &HalfCauchy::new(0.2), DRAWS, 8), 0.0, 0.2);
}

#[test]
fn categories_are_drawn_by_their_probabilities() {
    let graph = Graph::new();
    let logits = [0.5, -1.0, 2.0, 990.0 - 1000.0];
    let values = draws(&graph, &Categorical::with_logits(logits), DRAWS, 11);
    let total: f64 = logits.iter().map(|l| l.exp()).sum();
    for (k, logit) in logits.iter().enumerate() {
        let p = logit.exp() / total;
        let share = values.iter().filter(|&&y| y == k as f64).count() as f64 / DRAWS as f64;
        let error = (p * (1.0 - p) / DRAWS as f64).sqrt();
        assert!((share - p).abs() <= 4.0 * error, "{k}: {p} {share}");
    }
}

#[test]
fn dirichlet_draws_sum_to_one_and_have_their_moments() {
    let graph = Graph::new();
    let dirichlet = Dirichlet::new([0.3, 2.0, 5.0]);
    let values = draws(&graph, &dirichlet, DRAWS, 3);
    let stated_mean = numbers(dirichlet.mean(&graph).expect("a mean"));
    let stated_variance = numbers(dirichlet.variance(&graph).expect("a variance"));
    for k in 0..3 {
        let column: Vec<f64> = values.iter().skip(k).step_by(3).copied().collect();
        assert_moments(&column, (stated_mean[k], stated_variance[k]), "Dirichlet");
    }
    let off = |x: &[f64]| (x.iter().sum::<f64>() - 1.0).abs();
    assert!(values.chunks_exact(3).all(|x| off(x) < 1e-14));
}

#[test]
fn tiny_concentrations_still_sum_to_one() {
    let graph = Graph::new();
    let values = draws(&graph, &Dirichlet::new([1e-4, 1e-4]), 100, 5);
    assert!(values.iter().all(|&x| x > 0.0));
    assert!(
        values
            .chunks_exact(2)
            .all(|x| (x[0] + x[1] - 1.0).abs() < 1e-14)
    );
}

#[test]
fn draws_that_underflow_stay_inside_the_support() {
    let graph = Graph::new();
    let small = draws(&graph, &Gamma::new(1e-4, 1.0), 100, 6);
    assert!(small.iter().all(|&x| x > 0.0));
    let ends = draws(&graph, &Beta::new(1e-3, 1e-3), 100, 6);
    assert!(ends.iter().all(|&x| x > 0.0 && x < 1.0));
}

#[test]
fn a_batch_draws_each_element_with_its_own_parameters() {
    let graph = Graph::new();
    let loc = Value::from([-1e6, 0.0, 1e6]);
    let values = draws(&graph, &Normal::new(loc, 1.0).expand([2, 3]), 1, 9);
    for (x, centre) in values.iter().zip([-1e6, 0.0, 1e6].iter().cycle()) {
        assert!((x - centre).abs() < 6.0, "{x} near {centre}");
    }
    assert_eq!(values.len(), 6);
    assert_ne!(values[1], values[4]);
}

#[test]
fn the_same_seed_gives_the_same_draws() {
    let graph = Graph::new();
    let gamma = Gamma::new(0.4, 2.0);
    assert_eq!(draws(&graph, &gamma, 50, 1), draws(&graph, &gamma, 50, 1));
    assert_ne!(draws(&graph, &gamma, 50, 1), draws(&graph, &gamma, 50, 2));
}

#[test]
fn impossible_parameters_draw_nan() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let graph = Graph::new();
    let mut out = [0.0];
    for entry in all().filter(|entry| entry.name != "UNIFORM") {
        let nan: Vec<_> = entry.usual.iter().map(|_| graph.scalar(f64::NAN)).collect();
        let distribution = (entry.build)(&nan);
        let family: &dyn Family = distribution.sampling_family();
        let parameters = distribution.named_parameters(&graph);
        let values: Vec<Vec<f64>> = parameters.into_iter().map(|(_, e)| numbers(e)).collect();
        let slices: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
        family.draw_value(&slices, &mut rng, &mut out);
        assert!(out[0].is_nan(), "{}: {}", entry.name, out[0]);
    }
}
