//! Problems with known maxima.

use super::*;
use crate::stream::Stream;

fn rosenbrock(x: &[f64], gradient: &mut [f64]) -> f64 {
    gradient.fill(0.0);
    let mut value = 0.0;
    for i in 0..x.len() - 1 {
        let (rise, left) = (x[i + 1] - x[i] * x[i], 1.0 - x[i]);
        value -= 100.0 * rise * rise + left * left;
        gradient[i] += 400.0 * x[i] * rise + 2.0 * left;
        gradient[i + 1] -= 200.0 * rise;
    }
    value
}

#[test]
fn rosenbrocks_valley_is_followed_to_its_end() {
    for dimension in [2, 10, 50] {
        let found = maximise(&vec![-1.2; dimension], LbfgsSettings::default(), rosenbrock);
        assert!(found.reason.has_converged(), "{found:?}");
        assert!(
            found.point.iter().all(|x| (x - 1.0).abs() < 1e-6),
            "{found:?}"
        );
        assert!(
            found.evaluations < 40 * dimension.max(4),
            "{}",
            found.evaluations
        );
    }
}

#[test]
fn an_ill_conditioned_quadratic_is_solved() {
    let dimension = 60;
    let scale: Vec<f64> = (0..dimension)
        .map(|i| 10_f64.powf(6.0 * f64::from(i) / 59.0))
        .collect();
    let settings = LbfgsSettings {
        iterations: 20_000,
        gain_tolerance: 0.0,
        ..LbfgsSettings::default()
    };
    let found = maximise(&vec![1.0; scale.len()], settings, |x, gradient| {
        for ((slope, x), scale) in gradient.iter_mut().zip(x).zip(&scale) {
            *slope = -scale * (x - 3.0);
        }
        -0.5 * x
            .iter()
            .zip(&scale)
            .map(|(x, s)| s * (x - 3.0).powi(2))
            .sum::<f64>()
    });
    assert_eq!(found.reason, StopReason::Gradient, "{found:?}");
    // SciPy's L-BFGS-B with the same memory needs 7608.
    assert!(found.evaluations < 8000, "{}", found.evaluations);
    assert!(found.gradient_norm <= 1e-6);
    assert!(found.point.iter().all(|x| (x - 3.0).abs() < 1e-6));
}

/// Logistic regression with N(0, 1) weights on generated rows.
fn logistic(rows: usize, columns: usize) -> impl FnMut(&[f64], &mut [f64]) -> f64 {
    let mut stream = Stream::new(4, "logistic", 0);
    let mut x = vec![0.0; rows * columns];
    stream.fill_normal(&mut x);
    let labels: Vec<f64> = x
        .chunks(columns)
        .map(|row| {
            f64::from(u8::from(
                stream.uniform() < 1.0 / (1.0 + (-2.0 * row[0]).exp()),
            ))
        })
        .collect();
    move |weight, gradient| {
        let mut value = -0.5 * dot(weight, weight);
        for (slope, w) in gradient.iter_mut().zip(weight) {
            *slope = -w;
        }
        for (row, label) in x.chunks(columns).zip(&labels) {
            let logit = dot(row, weight);
            value += label * logit - logit.max(0.0) - (-logit.abs()).exp().ln_1p();
            add(gradient, label - 1.0 / (1.0 + (-logit).exp()), row);
        }
        value
    }
}

#[test]
fn logistic_regression_reaches_a_zero_gradient_in_few_passes() {
    let mut function = logistic(5000, 20);
    let settings = LbfgsSettings {
        gradient_tolerance: 1e-8,
        ..LbfgsSettings::default()
    };
    let found = maximise(&[0.0; 20], settings, &mut function);
    assert!(found.reason.has_converged(), "{found:?}");
    assert!(found.evaluations < 40, "{}", found.evaluations);
    let mut gradient = vec![0.0; 20];
    assert_eq!(function(&found.point, &mut gradient), found.value);
    assert!(largest_magnitude(&gradient) < 1e-6);
    assert!((found.point[0] - 2.0).abs() < 0.3 && found.point[1].abs() < 0.3);
}

#[test]
fn walls_of_minus_infinity_and_nan_are_backed_away_from() {
    // log x − x has its maximum at 1 and a singularity at 0; beyond 50 the function is NaN.
    let function = |x: &[f64], gradient: &mut [f64]| {
        gradient[0] = 1.0 / x[0] - 1.0;
        match x[0] {
            x if x <= 0.0 => f64::NEG_INFINITY,
            x if x > 50.0 => f64::NAN,
            x => x.ln() - x,
        }
    };
    for start in [1e-3, 0.3, 20.0, 49.0] {
        let found = maximise(&[start], LbfgsSettings::default(), function);
        assert!(found.reason.has_converged(), "{start}: {found:?}");
        assert!((found.point[0] - 1.0).abs() < 1e-5, "{start}: {found:?}");
    }
}

#[test]
fn the_value_never_falls_and_the_iterations_are_obeyed() {
    let mut last = f64::NEG_INFINITY;
    for iterations in 0..30 {
        let settings = LbfgsSettings {
            iterations,
            ..LbfgsSettings::default()
        };
        let found = maximise(&[-1.2, 1.0], settings, rosenbrock);
        assert!(found.iterations <= iterations && found.value >= last);
        last = found.value;
    }
    let short = LbfgsSettings {
        iterations: 3,
        ..LbfgsSettings::default()
    };
    assert_eq!(
        maximise(&[-1.2, 1.0], short, rosenbrock).reason,
        StopReason::Iterations
    );
}

#[test]
fn a_bad_start_and_a_top_are_told_at_once() {
    let bad = maximise(&[1.0], LbfgsSettings::default(), |_, gradient| {
        gradient[0] = 1.0;
        f64::NAN
    });
    assert_eq!((bad.reason, bad.evaluations), (StopReason::BadStart, 1));
    let infinite = maximise(&[1.0, 1.0], LbfgsSettings::default(), |_, gradient| {
        gradient.copy_from_slice(&[f64::NAN, 1.0]);
        0.0
    });
    assert_eq!(infinite.reason, StopReason::BadStart);
    let top = maximise(&[1.0; 3], LbfgsSettings::default(), rosenbrock);
    assert_eq!((top.reason, top.iterations), (StopReason::Gradient, 0));
    let empty = maximise(&[], LbfgsSettings::default(), |_, _| 2.0);
    assert_eq!((empty.reason, empty.value), (StopReason::Gradient, 2.0));
}

#[test]
fn a_wrong_gradient_is_reported_as_stuck() {
    let found = maximise(&[1.0, 2.0], LbfgsSettings::default(), |x, gradient| {
        gradient.copy_from_slice(x);
        -dot(x, x)
    });
    assert_eq!(found.reason, StopReason::Stuck);
    assert!(!found.reason.has_converged());
    assert_eq!(found.point, [1.0, 2.0]);
}

#[test]
fn an_unbounded_function_ends_without_claiming_a_maximum() {
    let settings = LbfgsSettings {
        iterations: 20,
        ..LbfgsSettings::default()
    };
    let found = maximise(&[0.0], settings, |x, gradient| {
        gradient[0] = 1.0;
        x[0]
    });
    assert!(!found.reason.has_converged(), "{found:?}");
}

#[test]
fn a_search_that_was_saved_ends_where_one_without_a_break_ends() {
    let settings = LbfgsSettings {
        memory: 4,
        ..LbfgsSettings::default()
    };
    let whole = maximise(&[-1.2; 6], settings, rosenbrock);
    let mut search = LbfgsSearch::new(&[-1.2; 6], settings, &mut rosenbrock);
    while search.advance_search(&mut rosenbrock) {
        let saved = serde_json::to_string(&search).unwrap();
        search = serde_json::from_str(&saved).unwrap();
    }
    assert!(search.memory.pairs.is_empty(), "a finished search is small");
    let resumed = search.into_maximum();
    assert_eq!(resumed.point, whole.point);
    assert_eq!(resumed.iterations, whole.iterations);
    assert_eq!(resumed.reason, whole.reason);
}

#[test]
fn where_the_scale_is_known_the_first_step_reaches_the_top() {
    let far = |x: &[f64], slope: &mut [f64]| {
        slope.iter_mut().zip(x).for_each(|(s, x)| *s = 100.0 - x);
        -0.5 * slope.iter().map(|s| s * s).sum::<f64>()
    };
    let settings = LbfgsSettings {
        first_step: f64::INFINITY,
        ..LbfgsSettings::default()
    };
    let found = maximise(&[0.0; 3], settings, far);
    assert_eq!((found.evaluations, found.point), (2, vec![100.0; 3]));
    assert!(maximise(&[0.0; 3], LbfgsSettings::default(), far).evaluations > 2);
}
