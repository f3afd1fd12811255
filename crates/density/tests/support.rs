//! Every support: round trips, Jacobians against finite differences, extremes.

use lehr_density::Support;
use lehr_graph::Graph;
use lehr_graph::reference::{InputValues, evaluate};
use proptest::prelude::*;

/// The value and the log Jacobian of one event.
fn constrain(support: Support, free: &[f64]) -> (Vec<f64>, f64) {
    let graph = Graph::new();
    let shape = support.free_shape(support.event_shape()).unwrap();
    let input = graph.input("u", shape);
    let constrained = support.constrain_values(input);
    assert_eq!(constrained.value.shape(), support.event_shape());
    assert!(constrained.log_jacobian.shape().is_scalar());
    let outputs = [constrained.value, constrained.log_jacobian];
    let mut found = evaluate(&outputs, &InputValues::new().with(input, free), 1);
    let log_jacobian = found.pop().unwrap()[0];
    (found.pop().unwrap(), log_jacobian)
}

/// The coordinates of an event in which its Jacobian is defined.
fn coordinates(support: Support, event: &[f64]) -> Vec<f64> {
    let below = |n: usize, last: usize| {
        let place = move |i: usize| (0..i + last).map(move |j| event[i * n + j]);
        (0..n).flat_map(place).collect()
    };
    match support {
        Support::Simplex(n) => event[..n - 1].to_vec(),
        Support::CholeskyCorrelation(n) => below(n, 0),
        Support::CholeskyCovariance(n) => below(n, 1),
        _ => event.to_vec(),
    }
}

/// ln |det ∂x/∂u| by central differences.
fn log_determinant(support: Support, free: &[f64]) -> f64 {
    let step = 1e-5;
    let moved = |k: usize, by: f64| {
        let mut free = free.to_vec();
        free[k] += by;
        coordinates(support, &constrain(support, &free).0)
    };
    let column = |k: usize| -> Vec<f64> {
        let (up, down) = (moved(k, step), moved(k, -step));
        up.iter()
            .zip(&down)
            .map(|(u, d)| (u - d) / (2.0 * step))
            .collect()
    };
    log_abs_determinant((0..free.len()).map(column).collect())
}

/// Gaussian elimination with row pivots.
fn log_abs_determinant(mut rows: Vec<Vec<f64>>) -> f64 {
    let mut sum = 0.0;
    while let Some(place) =
        (0..rows.len()).max_by(|&a, &b| rows[a][0].abs().total_cmp(&rows[b][0].abs()))
    {
        let pivot = rows.swap_remove(place);
        sum += pivot[0].abs().ln();
        for row in &mut rows {
            let factor = row[0] / pivot[0];
            *row = row[1..]
                .iter()
                .zip(&pivot[1..])
                .map(|(x, p)| x - factor * p)
                .collect();
        }
    }
    sum
}

fn every_support() -> Vec<Support> {
    vec![
        Support::Real,
        Support::Positive,
        Support::Lower(-2.5),
        Support::Upper(3.0),
        Support::Interval(-1.0, 4.0),
        Support::UnitInterval,
        Support::Simplex(1),
        Support::Simplex(2),
        Support::Simplex(5),
        Support::Ordered(1),
        Support::Ordered(4),
        Support::CholeskyCorrelation(1),
        Support::CholeskyCorrelation(2),
        Support::CholeskyCorrelation(4),
        Support::CholeskyCovariance(1),
        Support::CholeskyCovariance(3),
    ]
}

fn support_and_free(reach: f64) -> impl Strategy<Value = (Support, Vec<f64>)> {
    proptest::sample::select(every_support()).prop_flat_map(move |support| {
        let free = proptest::collection::vec(-reach..reach, support.free_size());
        (Just(support), free)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn constraining_then_unconstraining_returns((support, free) in support_and_free(6.0)) {
        let (value, _) = constrain(support, &free);
        prop_assert!(support.contains_values(&value), "{support}: {value:?}");
        let back = support.unconstrain_values(&value).unwrap();
        for (u, v) in free.iter().zip(&back) {
            prop_assert!((u - v).abs() < 1e-8, "{support}: {free:?} came back as {back:?}");
        }
    }

    #[test]
    fn log_jacobians_are_those_of_finite_differences((support, free) in support_and_free(2.0)) {
        let (_, log_jacobian) = constrain(support, &free);
        let expected = log_determinant(support, &free);
        prop_assert!((log_jacobian - expected).abs() < 1e-6, "{support}: {log_jacobian} vs {expected}");
    }

    #[test]
    fn far_out_values_stay_inside_and_finite((support, free) in support_and_free(30.0)) {
        let (value, log_jacobian) = constrain(support, &free);
        prop_assert!(support.contains_values(&value), "{support}: {value:?}");
        prop_assert!(log_jacobian.is_finite());
    }
}

#[test]
fn gradients_are_finite_at_the_extremes() {
    for support in every_support() {
        for u in [-30.0, 30.0] {
            let graph = Graph::new();
            let input = graph.input("u", support.free_shape(support.event_shape()).unwrap());
            let constrained = support.constrain_values(input);
            let total = constrained.value.sum() + constrained.log_jacobian;
            let slope = graph.grad(total, &[input]);
            let values = InputValues::new().with(input, &vec![u; support.free_size()]);
            let found = evaluate(&slope, &values, 1);
            assert!(found[0].iter().all(|g| g.is_finite()), "{support} at {u}");
        }
    }
}

#[test]
fn a_batch_is_its_events_one_by_one() {
    for support in every_support() {
        let size = support.free_size();
        let free: Vec<f64> = (0..6 * size).map(|k| (k as f64 * 0.7).sin()).collect();
        let graph = Graph::new();
        let batch = [&[2, 3], support.event_shape().dims()].concat();
        let shape = lehr_graph::Shape::new(&batch);
        let input = graph.input("u", support.free_shape(shape).unwrap());
        let constrained = support.constrain_values(input);
        assert_eq!(constrained.value.shape(), shape);
        let values = InputValues::new().with(input, &free);
        let found = evaluate(&[constrained.value, constrained.log_jacobian], &values, 1);
        for k in 0..6 {
            let (value, log_jacobian) = constrain(support, &free[k * size..(k + 1) * size]);
            let width = value.len();
            assert_eq!(found[0][k * width..(k + 1) * width], value, "{support}");
            assert!((found[1][k] - log_jacobian).abs() < 1e-12, "{support}");
        }
    }
}

#[test]
fn a_centred_simplex_is_uniform() {
    let (value, _) = constrain(Support::Simplex(4), &[0.0; 3]);
    assert!(value.iter().all(|x| (x - 0.25).abs() < 1e-15));
}

#[test]
fn values_outside_are_refused_with_the_value() {
    let refuse = |support: Support, values: &[f64]| {
        support.unconstrain_values(values).unwrap_err().to_string()
    };
    assert_eq!(
        refuse(Support::Positive, &[1.0, -2.0]),
        "positive: expected values strictly inside, found -2"
    );
    assert_eq!(
        refuse(Support::Interval(0.0, 2.0), &[2.0]),
        "from 0 to 2: expected values strictly inside, found 2"
    );
    assert_eq!(
        refuse(Support::Simplex(3), &[0.5, 0.5]),
        "a simplex of 3: expected a multiple of 3 values, found 2"
    );
    assert_eq!(
        refuse(Support::Simplex(2), &[0.5, 0.4]),
        "a simplex of 2: expected values strictly inside, found [0.5, 0.4]"
    );
    assert!(Support::Ordered(2).unconstrain_values(&[1.0, 1.0]).is_err());
    assert!(
        Support::CholeskyCorrelation(2)
            .unconstrain_values(&[1.0, 0.1, 0.6, 0.8])
            .is_err()
    );
    assert!(Support::Real.unconstrain_values(&[f64::NAN]).is_err());
}
