//! The numeric side of distributions: draws from given parameters.

use lehr_density::Family;
use rand::Rng;

/// The most parameters a family of single numbers has.
const MOST: usize = 4;

/// A family of single numbers whose parameters are single numbers. Invalid parameters give NaN.
pub(super) struct ScalarFamily {
    pub(super) name: &'static str,
    pub(super) draw: fn(&[f64; MOST], &mut dyn Rng) -> f64,
}

impl ScalarFamily {
    /// A draw from these parameters.
    pub(super) fn number(&self, parameters: &[&[f64]], random: &mut dyn Rng) -> f64 {
        let mut numbers = [f64::NAN; MOST];
        for (number, values) in numbers.iter_mut().zip(parameters) {
            *number = values[0];
        }
        (self.draw)(&numbers, random)
    }
}

impl Family for ScalarFamily {
    fn name(&self) -> &str {
        self.name
    }

    fn draw_value(&self, parameters: &[&[f64]], random: &mut dyn Rng, into: &mut [f64]) {
        into[0] = self.number(parameters, random);
    }
}

/// Fills `into` with `batch` events in order. Each parameter holds the numbers of all batch
/// elements one after another, as the values of [`super::Distribution::named_parameters`] do.
///
/// # Panics If a length is not a multiple of `batch`.
pub fn draw_batch(
    family: &dyn Family,
    parameters: &[&[f64]],
    batch: usize,
    random: &mut dyn Rng,
    into: &mut [f64],
) {
    if batch == 0 {
        return;
    }
    let whole = |length: usize| assert_eq!(length % batch, 0, "{}: whole events", family.name());
    for values in parameters {
        whole(values.len());
    }
    whole(into.len());
    for (k, event) in into.chunks_exact_mut(into.len() / batch).enumerate() {
        let part = |values: &&'_ [f64]| {
            let width = values.len() / batch;
            k * width..(k + 1) * width
        };
        let element: Vec<&[f64]> = parameters.iter().map(|v| &v[part(v)]).collect();
        family.draw_value(&element, random, event);
    }
}
