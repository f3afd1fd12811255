//! Central differences, extrapolated until only rounding errors remain.

/// The largest step to either side. Cases keep their kinks farther away than this.
pub(crate) const REACH: f64 = 4e-3;

/// The derivative of `f` at zero: central differences at three step sizes, extrapolated twice.
///
/// The error is of order `REACH⁶` in the function and `1e-13` in its rounding.
pub(crate) fn slope(f: impl Fn(f64) -> f64) -> f64 {
    let central = |h: f64| (f(h) - f(-h)) / (2.0 * h);
    let [a, b, c] = [REACH, REACH / 2.0, REACH / 4.0].map(central);
    let (ab, bc) = ((4.0 * b - a) / 3.0, (4.0 * c - b) / 3.0);
    (16.0 * bc - ab) / 15.0
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len(), "a product of vectors of one length");
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// `x + t v`.
pub(crate) fn moved(x: &[f64], v: &[f64], t: f64) -> Vec<f64> {
    x.iter().zip(v).map(|(x, v)| x + t * v).collect()
}

#[track_caller]
pub(crate) fn assert_near(what: &str, found: f64, expected: f64, tolerance: f64) {
    let error = (found - expected).abs();
    let scale = 1.0 + found.abs().max(expected.abs());
    assert!(
        error <= tolerance * scale,
        "{what}: expected {expected:e}, found {found:e}, {error:e} apart"
    );
}

#[test]
fn the_slope_of_a_known_function_is_found_to_ten_digits() {
    let found = slope(|t| (1.0 + t).ln() * (0.5 + t).exp());
    assert_near("slope", found, 0.5_f64.exp(), 1e-10);
}
