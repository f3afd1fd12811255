//! The numeric side of distributions: draws from given parameters.

use lehr_density::Family;
use rand::Rng;

use super::{
    bernoulli, beta, beta_binomial, binomial, categorical, cauchy, dirichlet, exponential, flat,
    gamma, generalized_poisson, half_cauchy, half_normal, half_student_t, hurdle, inverse_gamma,
    inverse_gaussian, laplace, lkj_cholesky, log_normal, multivariate_normal, negative_binomial,
    noisy_bernoulli, noisy_student_t, normal, ordered_logistic, ordered_probit, poisson, student_t,
    uniform, von_mises, weibull, zero_inflated,
};

/// Every family, by whose name a saved model finds it again.
pub static FAMILIES: &[&dyn Family] = &[
    &bernoulli::FAMILY,
    &beta::FAMILY,
    &beta_binomial::FAMILY,
    &binomial::FAMILY,
    &categorical::CategoricalFamily,
    &cauchy::FAMILY,
    &dirichlet::DirichletFamily,
    &exponential::FAMILY,
    &exponential::CENSORED,
    &exponential::TRUNCATED,
    &flat::FAMILY,
    &gamma::FAMILY,
    &generalized_poisson::FAMILY,
    &half_cauchy::FAMILY,
    &half_normal::FAMILY,
    &half_student_t::FAMILY,
    &hurdle::NEGATIVE_BINOMIAL,
    &hurdle::POISSON,
    &inverse_gamma::FAMILY,
    &inverse_gaussian::FAMILY,
    &laplace::FAMILY,
    &lkj_cholesky::LkjCholeskyFamily,
    &log_normal::FAMILY,
    &log_normal::CENSORED,
    &log_normal::TRUNCATED,
    &multivariate_normal::MultivariateNormalFamily,
    &negative_binomial::FAMILY,
    &noisy_bernoulli::FAMILY,
    &noisy_student_t::FAMILY,
    &normal::FAMILY,
    &normal::CENSORED,
    &normal::TRUNCATED,
    &ordered_logistic::OrderedLogisticFamily,
    &ordered_probit::OrderedProbitFamily,
    &poisson::FAMILY,
    &poisson::CENSORED,
    &poisson::TRUNCATED,
    &student_t::FAMILY,
    &uniform::FAMILY,
    &von_mises::FAMILY,
    &weibull::FAMILY,
    &weibull::CENSORED,
    &weibull::TRUNCATED,
    &zero_inflated::BINOMIAL,
    &zero_inflated::NEGATIVE_BINOMIAL,
    &zero_inflated::POISSON,
];

/// The family of that name.
pub fn family(name: &str) -> Option<&'static dyn Family> {
    FAMILIES
        .iter()
        .copied()
        .find(|family| family.name() == name)
}

/// The most parameters a family of single numbers has.
const MOST: usize = 4;

/// A family of single numbers whose parameters are single numbers. Impossible parameters give
/// NaN.
pub(super) struct ScalarFamily {
    pub(super) name: &'static str,
    pub(super) draw: fn(&[f64; MOST], &mut dyn Rng) -> f64,
}

impl Family for ScalarFamily {
    fn name(&self) -> &str {
        self.name
    }

    fn draw(&self, parameters: &[&[f64]], random: &mut dyn Rng, into: &mut [f64]) {
        let mut numbers = [f64::NAN; MOST];
        for (number, values) in numbers.iter_mut().zip(parameters) {
            *number = values[0];
        }
        into[0] = (self.draw)(&numbers, random);
    }
}

/// Fills `into` with `batch` events in order. Each parameter holds the numbers of all batch
/// elements one after another, as the values of [`super::Distribution::parameters`] do.
///
/// # Panics
/// Where a length is not a multiple of `batch`.
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
        family.draw(&element, random, event);
    }
}
