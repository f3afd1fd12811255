//! The gap of SL-DAIS in linear regression: first-order errors of the surrogate cancel.
//!
//! Jankowiak & Phan 2022, Proposition 3, gives |tr Λ⁻¹δB|; term (II) of its proof has a sign
//! slip. The derivation is in the document of equations, section "Surrogate error".

/// A matrix times a matrix or vector, row-major, `size` rows each.
pub(crate) fn multiply(a: &[f64], b: &[f64], size: usize) -> Vec<f64> {
    let columns = b.len() / size;
    let entry = |i: usize, j: usize| {
        (0..size)
            .map(|k| a[i * size + k] * b[k * columns + j])
            .sum()
    };
    (0..size * columns)
        .map(|at| entry(at / columns, at % columns))
        .collect()
}

pub(crate) fn trace(a: &[f64], size: usize) -> f64 {
    (0..size).map(|i| a[i * size + i]).sum()
}

/// Gauss–Jordan without pivots, which positive definite matrices do not need: the inverse and
/// the determinant.
fn eliminate(a: &[f64], size: usize) -> (Vec<f64>, f64) {
    let mut left = a.to_vec();
    let mut right = vec![0.0; size * size];
    (0..size).for_each(|i| right[i * size + i] = 1.0);
    let mut determinant = 1.0;
    for k in 0..size {
        let pivot = left[k * size + k];
        determinant *= pivot;
        for j in 0..size {
            left[k * size + j] /= pivot;
            right[k * size + j] /= pivot;
        }
        for i in (0..size).filter(|&i| i != k) {
            let factor = left[i * size + k];
            for j in 0..size {
                left[i * size + j] -= factor * left[k * size + j];
                right[i * size + j] -= factor * right[k * size + j];
            }
        }
    }
    (right, determinant)
}

pub(crate) fn inverse(a: &[f64], size: usize) -> Vec<f64> {
    eliminate(a, size).0
}

pub(crate) fn determinant(a: &[f64], size: usize) -> f64 {
    eliminate(a, size).1
}

const POSTERIOR: [f64; 9] = [4.0, 1.0, 0.5, 1.0, 3.0, -0.4, 0.5, -0.4, 2.0];
const WRONG: [f64; 9] = [0.9, 0.3, -0.2, 0.3, 1.4, 0.1, -0.2, 0.1, -0.6];

/// Terms (II) and (III) of the gap for infinitely many steps, where `Λ_K` is Λ + εS.
fn terms(size: f64) -> (f64, f64) {
    let surrogate: Vec<f64> = (POSTERIOR.iter().zip(&WRONG))
        .map(|(right, wrong)| right + size * wrong)
        .collect();
    let ratio = multiply(&POSTERIOR, &inverse(&surrogate, 3), 3);
    let second = 0.5 * trace(&ratio, 3) - 1.5;
    let third = 0.5 * (determinant(&surrogate, 3) / determinant(&POSTERIOR, 3)).ln();
    (second, third)
}

#[test]
fn the_second_term_has_the_other_sign_and_first_orders_cancel() {
    let relative = multiply(&inverse(&POSTERIOR, 3), &WRONG, 3);
    let (first_order, second_order) = (
        trace(&relative, 3),
        trace(&multiply(&relative, &relative, 3), 3),
    );
    let size = 1e-3;
    let (second, third) = terms(size);
    assert!(
        (second / size + 0.5 * first_order).abs() < 5.0 * size,
        "(II)"
    );
    assert!(
        (third / size - 0.5 * first_order).abs() < 5.0 * size,
        "(III)"
    );
    let sum = (second + third) / (size * size);
    assert!(
        (sum - 0.25 * second_order).abs() < 5.0 * size,
        "{sum} {second_order}"
    );
    // The bound of the proposition holds here, but is larger by a factor of order 1/ε.
    assert!(second + third < 0.01 * size * first_order);
}

/// The gap log p(D) − L of SL-DAIS with one latent, by propagating mean and variance through the
/// chain: prior N(0, 1), ∇Ψ = a − bz, ∇Ψ̂ = a + δa − (b + δb)z, full refreshment, equal steps of β,
/// η = ½K^(−¼).
fn gap(steps: u32, (a, b): (f64, f64), (wrong_a, wrong_b): (f64, f64)) -> f64 {
    let step = 0.5 * f64::from(steps).powf(-0.25);
    let (mut mean, mut variance, mut kinetic) = (0.0, 1.0, 0.0);
    for k in 1..=steps {
        let beta = f64::from(k) / f64::from(steps);
        let (pull, stiffness) = (beta * (a + wrong_a), 1.0 + beta * (b + wrong_b));
        // v̂ = v + η(pull − stiffness·(z + ½ηv)), z' = z + ½η(v + v̂)
        let (v_from_z, v_from_v) = (-step * stiffness, 1.0 - 0.5 * step * step * stiffness);
        let v_mean = step * pull + v_from_z * mean;
        let v_square = v_mean * v_mean + v_from_z.powi(2) * variance + v_from_v.powi(2);
        kinetic += 0.5 * (1.0 - v_square);
        let z_from_z = 1.0 + 0.5 * step * v_from_z;
        let z_from_v = 0.5 * step * (1.0 + v_from_v);
        mean += 0.5 * step * v_mean;
        variance = z_from_z.powi(2) * variance + z_from_v.powi(2);
    }
    let precision = 1.0 + b;
    let away = mean - a / precision;
    let first = 0.5 * precision * away * away;
    let second = 0.5 * precision * variance - 0.5;
    let third = -0.5 * precision.ln() - kinetic;
    first + second + third
}

#[test]
fn the_gap_of_a_long_chain_is_the_divergence_of_the_surrogates_posterior() {
    let (a, b) = (1.5, 3.0);
    let precision = 1.0 + b;
    for (wrong_a, wrong_b) in [(0.0, 1.2), (0.0, -1.0), (0.8, 0.5), (0.0, 0.0)] {
        let surrogate: f64 = precision + wrong_b;
        let apart = (a + wrong_a) / surrogate - a / precision;
        let exact = 0.5 * (precision / surrogate - 1.0 + (surrogate / precision).ln())
            + 0.5 * precision * apart * apart;
        let gaps = [1_u32 << 16, 1 << 20].map(|steps| gap(steps, (a, b), (wrong_a, wrong_b)));
        // The contribution of the chain falls as K^(−½): to a quarter after sixteen times the
        // steps. Without it the gap is the divergence, not the much larger |tr Λ⁻¹δB|.
        let fall = (gaps[1] - exact) / (gaps[0] - exact);
        assert!((fall - 0.25).abs() < 0.03, "{gaps:?} {exact}: {fall}");
        let limit = (4.0 * gaps[1] - gaps[0]) / 3.0;
        assert!((limit - exact).abs() < 1e-3, "{gaps:?} {exact}: {limit}");
        let paper = (wrong_b / precision).abs();
        assert!(wrong_a != 0.0 || exact <= 0.25 * paper, "{exact} {paper}");
    }
}
