//! All families by name, for saved models.

use lehr_density::Family;

use super::{
    bernoulli, beta, beta_binomial, binomial, categorical, cauchy, dirichlet, exponential, flat,
    gamma, generalized_poisson, half_cauchy, half_normal, half_student_t, hurdle, inverse_gamma,
    inverse_gaussian, laplace, lkj_cholesky, log_normal, multivariate_normal, negative_binomial,
    noisy_bernoulli, noisy_student_t, normal, ordered_logistic, ordered_probit, poisson, student_t,
    uniform, von_mises, weibull, zero_inflated,
};

/// Every family.
pub static FAMILIES: &[&dyn Family] = &[
    &bernoulli::FAMILY,
    &beta::FAMILY,
    &beta_binomial::FAMILY,
    &binomial::FAMILY,
    &categorical::CategoricalFamily,
    &cauchy::FAMILY,
    &dirichlet::DirichletFamily,
    &exponential::FAMILY,
    &exponential::TAILS.censored,
    &exponential::TAILS.truncated,
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
    &log_normal::TAILS.censored,
    &log_normal::TAILS.truncated,
    &multivariate_normal::MultivariateNormalFamily,
    &negative_binomial::FAMILY,
    &noisy_bernoulli::FAMILY,
    &noisy_student_t::FAMILY,
    &normal::FAMILY,
    &normal::TAILS.censored,
    &normal::TAILS.truncated,
    &ordered_logistic::OrderedLogisticFamily,
    &ordered_probit::OrderedProbitFamily,
    &poisson::FAMILY,
    &poisson::TAILS.censored,
    &poisson::TAILS.truncated,
    &student_t::FAMILY,
    &uniform::FAMILY,
    &von_mises::FAMILY,
    &weibull::FAMILY,
    &weibull::TAILS.censored,
    &weibull::TAILS.truncated,
    &zero_inflated::BINOMIAL,
    &zero_inflated::NEGATIVE_BINOMIAL,
    &zero_inflated::POISSON,
];

/// The family of that name.
pub fn find_family(name: &str) -> Option<&'static dyn Family> {
    FAMILIES
        .iter()
        .copied()
        .find(|family| family.name() == name)
}
