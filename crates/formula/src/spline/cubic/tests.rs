//! Cubic splines at their knots, between them and beyond them.

use super::*;

const KNOTS: [f64; 6] = [0.0, 1.0, 1.5, 3.0, 4.5, 5.0];

fn sum(spline: &CubicSpline, x: f64, weights: impl Fn(usize) -> f64) -> f64 {
    let values = spline.values_at(x).into_iter().enumerate();
    values.map(|(k, value)| weights(k) * value).sum()
}

fn bend(spline: &CubicSpline, x: f64, weights: impl Fn(usize) -> f64) -> f64 {
    let step = 1e-4;
    let at = |x| sum(spline, x, &weights);
    (at(x + step) - 2.0 * at(x) + at(x - step)) / (step * step)
}

fn wave(k: usize) -> f64 {
    (1.3 * k as f64).sin()
}

#[test]
fn natural_splines_are_one_at_their_own_knot_and_reproduce_lines_everywhere() {
    let spline = CubicSpline::natural(&KNOTS);
    for (k, knot) in KNOTS.iter().enumerate() {
        for (j, value) in spline.values_at(*knot).iter().enumerate() {
            assert!((value - f64::from(u8::from(j == k))).abs() < 1e-14);
        }
    }
    for x in [-3.0, 0.2, 1.2, 4.9, 7.5] {
        assert!((sum(&spline, x, |_| 1.0) - 1.0).abs() < 1e-12, "{x}");
        let line = sum(&spline, x, |k| 2.0 - 3.0 * KNOTS[k]);
        assert!((line - (2.0 - 3.0 * x)).abs() < 1e-12, "{x}");
    }
}

#[test]
fn natural_splines_have_no_bend_at_the_ends_and_beyond_and_no_jump_at_knots() {
    let spline = CubicSpline::natural(&KNOTS);
    for x in [-2.0, 0.0, 5.0, 9.0] {
        assert!(bend(&spline, x, wave).abs() < 1e-3, "{x}");
    }
    assert!(bend(&spline, 2.0, wave).abs() > 0.1);
    for knot in [1.0, 1.5, 3.0, 4.5] {
        let [before, after] = [-1e-3, 1e-3].map(|step| bend(&spline, knot + step, wave));
        assert!((before - after).abs() < 0.05, "{knot}: {before}, {after}");
    }
}

#[test]
fn interpolation_of_a_function_without_bends_at_the_ends_is_of_fourth_order() {
    let error = |pieces: usize| {
        let end = std::f64::consts::PI;
        let knots: Vec<f64> = (0..=pieces)
            .map(|k| end * k as f64 / pieces as f64)
            .collect();
        let spline = CubicSpline::natural(&knots);
        let places = (0..200).map(|k| end * f64::from(k) / 199.0);
        let gap = |x: f64| (sum(&spline, x, |k| knots[k].sin()) - x.sin()).abs();
        places.map(gap).fold(0.0, f64::max)
    };
    let ratio = error(8) / error(16);
    assert!((ratio - 16.0).abs() < 1.5, "{ratio}");
}

#[test]
fn on_a_circle_value_slope_and_bend_agree_at_both_ends() {
    let spline = CubicSpline::circle(&KNOTS);
    assert_eq!(spline.width(), 5);
    let at = |x| sum(&spline, x, wave);
    let slope = |x: f64| (at(x + 1e-5) - at(x - 1e-5)) / 2e-5;
    assert!((at(0.0) - at(5.0)).abs() < 1e-14);
    assert!((at(1.2) - at(1.2 - 15.0)).abs() < 1e-12);
    let one_sided =
        |x: f64, step: f64| (-3.0 * at(x) + 4.0 * at(x + step) - at(x + 2.0 * step)) / (2.0 * step);
    let (after, before) = (one_sided(0.0, 1e-5), one_sided(5.0 - 1e-12, -1e-5));
    assert!((after - before).abs() < 1e-4, "{after}, {before}");
    assert!(slope(0.0).abs() > 1e-2);
    let [before, after] = [-1e-3, 1e-3].map(|step| bend(&spline, step, wave));
    assert!((before - after).abs() < 0.05, "{before}, {after}");
}

#[test]
fn bsplines_in_this_form_are_the_same_functions() {
    let splines = BSpline::evenly_spaced(3, 8, [-1.0, 2.0]);
    let cubic = CubicSpline::of_bsplines(&splines);
    for k in 0..=40 {
        let x = -1.0 + 3.0 * f64::from(k) / 40.0;
        for (found, expected) in cubic.values_at(x).iter().zip(splines.basis_values(x)) {
            assert!((found - expected).abs() < 1e-14, "{x}");
        }
    }
    for (end, step) in [(2.0, 1.0), (-1.0, -0.7)] {
        let beyond = cubic.values_at(end + step);
        let slopes = splines.basis_derivatives(end, 1);
        for ((found, slope), value) in beyond.iter().zip(slopes).zip(splines.basis_values(end)) {
            assert!((found - (value + step * slope)).abs() < 1e-13);
        }
    }
}

#[test]
fn the_penalty_is_the_integral_of_squared_bends() {
    let spline = CubicSpline::natural(&KNOTS);
    let penalty = spline.penalty_matrix();
    let weights: Vec<f64> = (0..6).map(wave).collect();
    let found: f64 = (0..36)
        .map(|k| weights[k / 6] * penalty[k] * weights[k % 6])
        .sum();
    let count = 20_000;
    let step = 5.0 / f64::from(count);
    // Between knots the second derivative is linear, and its value in the middle of an interval
    // equals the mean to second order.
    let bends = spline.combine_columns(&weights, 1);
    let at = |x: f64| {
        let h = 1e-3;
        (bends.values_at(x + h)[0] - 2.0 * bends.values_at(x)[0] + bends.values_at(x - h)[0])
            / (h * h)
    };
    let expected: f64 = (0..count)
        .map(|k| step * at((f64::from(k) + 0.5) * step).powi(2))
        .sum();
    assert!((found / expected - 1.0).abs() < 1e-3, "{found}, {expected}");
}

#[test]
fn products_by_piece_are_those_of_the_functions() {
    let places: Vec<f64> = (0..40)
        .map(|k| 5.0 * (0.618 * f64::from(k)).fract())
        .collect();
    for spline in [CubicSpline::natural(&KNOTS), CubicSpline::circle(&KNOTS)] {
        let width = spline.width();
        let mut sums = spline.no_products();
        let mut expected = vec![0.0; width * width];
        for x in &places {
            spline.add_multiplied(*x, 1.0, &mut sums);
            let values = spline.values_at(*x);
            for (k, sum) in expected.iter_mut().enumerate() {
                *sum += values[k / width] * values[k % width];
            }
        }
        for (found, expected) in spline.cross_products(&sums).iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12);
        }
    }
}
