//! The numeric side of distributions: draws from given parameters.

use rand::Rng;

/// Draws of one kind of distribution, its parameters being numbers.
pub trait Family: Send + Sync {
    /// The name, as that of the distribution.
    fn name(&self) -> &'static str;

    /// Fills `out` with one event. The parameters are those of one batch element, one after
    /// another in the order of [`super::Distribution::parameters`]. Impossible parameters
    /// give NaN.
    fn draw(&self, parameters: &[f64], rng: &mut dyn Rng, out: &mut [f64]);
}

/// A family of single numbers.
pub(super) struct ScalarFamily {
    pub(super) name: &'static str,
    pub(super) draw: fn(&[f64], &mut dyn Rng) -> f64,
}

impl Family for ScalarFamily {
    fn name(&self) -> &'static str {
        self.name
    }

    fn draw(&self, parameters: &[f64], rng: &mut dyn Rng, out: &mut [f64]) {
        out[0] = (self.draw)(parameters, rng);
    }
}

/// Fills `out` with `batch` events in order. Each parameter holds the numbers of all batch
/// elements one after another, as the values of [`super::Distribution::parameters`] do.
///
/// # Panics
/// Where a length is not a multiple of `batch`.
pub fn draw_batch(
    family: &dyn Family,
    parameters: &[&[f64]],
    batch: usize,
    rng: &mut dyn Rng,
    out: &mut [f64],
) {
    if batch == 0 {
        return;
    }
    for values in parameters {
        assert_eq!(values.len() % batch, 0, "parameters of {}", family.name());
    }
    assert_eq!(out.len() % batch, 0, "draws of {}", family.name());
    let mut element = Vec::new();
    for (k, event) in out.chunks_exact_mut(out.len() / batch).enumerate() {
        element.clear();
        for values in parameters {
            let width = values.len() / batch;
            element.extend_from_slice(&values[k * width..(k + 1) * width]);
        }
        family.draw(&element, rng, event);
    }
}
