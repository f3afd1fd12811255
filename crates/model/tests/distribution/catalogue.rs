//! Every distribution of single numbers, built from scalar parameters.

use lehr_graph::Expr;
use lehr_model::distribution::{
    Bernoulli, Beta, BetaBinomial, Binomial, Categorical, Cauchy, Distribution, Exponential, Gamma,
    GeneralizedPoisson, HalfCauchy, HalfNormal, HalfStudentT, Hurdle, InverseGamma,
    InverseGaussian, Laplace, LogNormal, NegativeBinomial, Normal, OrderedLogistic, OrderedProbit,
    Poisson, StudentT, TruncatedDistribution, Uniform, VonMises, Weibull, ZeroInflated,
};

use crate::limit_table;
use crate::table::{self, Row};

type Built<'g> = Box<dyn Distribution<'g> + 'g>;

/// A distribution with parameters at which it has four moments (or, where the count is 0, as many
/// as it ever has).
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) build: for<'g> fn(&[Expr<'g>]) -> Built<'g>,
    pub(crate) table: &'static [Row],
    pub(crate) usual: &'static [f64],
}

/// The scalars as one vector.
fn vector<'g>(parts: &[Expr<'g>]) -> Expr<'g> {
    let parts: Vec<Expr<'g>> = parts.iter().map(|p| p.reshape([1])).collect();
    parts[0].graph().concat(&parts, 0)
}

macro_rules! entry {
    ($table:ident, $usual:expr, |$p:ident| $build:expr) => {
        Entry {
            name: stringify!($table),
            build: |$p| Box::new($build),
            table: table::$table,
            usual: &$usual,
        }
    };
}

macro_rules! limited {
    ($table:ident, $usual:expr, |$p:ident| $build:expr) => {
        Entry {
            name: stringify!($table),
            build: |$p| Box::new($build),
            table: limit_table::$table,
            usual: &$usual,
        }
    };
}

/// Continuous distributions.
pub(crate) const CONTINUOUS: &[Entry] = &[
    entry!(NORMAL, [1.5, 0.7], |p| Normal::new(p[0], p[1])),
    entry!(LOG_NORMAL, [0.3, 0.4], |p| LogNormal::new(p[0], p[1])),
    entry!(HALF_NORMAL, [2.5], |p| HalfNormal::new(p[0])),
    entry!(STUDENT_T, [9.0, 1.0, 2.0], |p| StudentT::new(
        p[0], p[1], p[2]
    )),
    entry!(HALF_STUDENT_T, [9.0, 0.8], |p| HalfStudentT::new(
        p[0], p[1]
    )),
    entry!(CAUCHY, [0.4, 1.2], |p| Cauchy::new(p[0], p[1])),
    entry!(HALF_CAUCHY, [0.6], |p| HalfCauchy::new(p[0])),
    entry!(LAPLACE, [-0.5, 1.3], |p| Laplace::new(p[0], p[1])),
    entry!(EXPONENTIAL, [0.4], |p| Exponential::new(p[0])),
    entry!(GAMMA, [0.6, 2.0], |p| Gamma::new(p[0], p[1])),
    entry!(GAMMA_MEAN, [3.0, 2.5], |p| Gamma::with_mean(p[0], p[1])),
    entry!(GAMMA_LOG_MEAN, [-1.0, 4.0], |p| Gamma::with_log_mean(
        p[0], p[1]
    )),
    entry!(INVERSE_GAMMA, [8.0, 3.0], |p| InverseGamma::new(p[0], p[1])),
    entry!(BETA, [0.7, 1.9], |p| Beta::new(p[0], p[1])),
    entry!(BETA_MEAN, [0.3, 8.0], |p| Beta::with_mean(p[0], p[1])),
    entry!(BETA_LOGIT_MEAN, [0.8, 5.0], |p| Beta::with_logit_mean(
        p[0], p[1]
    )),
    entry!(WEIBULL_LOG_MEAN, [0.4, 1.8], |p| Weibull::with_log_mean(
        p[0], p[1]
    )),
    entry!(INVERSE_GAUSSIAN_LOG_MEAN, [0.2, 6.0], |p| {
        InverseGaussian::with_log_mean(p[0], p[1])
    }),
    limited!(TRUNCATED_NORMAL, [0.4, 0.7, -0.5, 1.6], |p| {
        TruncatedDistribution::new(Normal::new(p[0], p[1]), p[2], p[3])
    }),
    limited!(TRUNCATED_LOG_NORMAL, [0.3, 0.4, 0.1, 2.0], |p| {
        TruncatedDistribution::new(LogNormal::new(p[0], p[1]), p[2], p[3])
    }),
    limited!(TRUNCATED_EXPONENTIAL, [0.8, 0.1, 2.0], |p| {
        TruncatedDistribution::new(Exponential::new(p[0]), p[1], p[2])
    }),
    limited!(TRUNCATED_WEIBULL, [0.4, 1.8, 0.1, 3.0], |p| {
        TruncatedDistribution::new(Weibull::with_log_mean(p[0], p[1]), p[2], p[3])
    }),
    entry!(VON_MISES, [0.8, 2.5], |p| VonMises::new(p[0], p[1])),
    entry!(UNIFORM, [0.0], |_p| Uniform::new(-1.5, 4.0)),
];

/// Distributions of counts and labels.
pub(crate) const DISCRETE: &[Entry] = &[
    entry!(BERNOULLI_LOGIT, [0.7], |p| Bernoulli::with_logit(p[0])),
    entry!(BERNOULLI_PROBABILITY, [0.3], |p| {
        Bernoulli::with_probability(p[0])
    }),
    entry!(BINOMIAL, [12.0, -0.4], |p| Binomial::with_logit(p[0], p[1])),
    entry!(BETA_BINOMIAL, [12.0, -0.4, 3.0], |p| {
        BetaBinomial::with_logit_mean(p[0], p[1], p[2])
    }),
    entry!(POISSON_LOG_RATE, [1.2], |p| Poisson::with_log_rate(p[0])),
    entry!(POISSON_RATE, [30.0], |p| Poisson::with_rate(p[0])),
    entry!(NEGATIVE_BINOMIAL, [6.0, 1.5], |p| NegativeBinomial::new(
        p[0], p[1]
    )),
    entry!(NEGATIVE_BINOMIAL_LOG_MEAN, [1.0, 2e3], |p| {
        NegativeBinomial::with_log_mean(p[0], p[1])
    }),
    entry!(CATEGORICAL, [0.1, -0.5, 2.0], |p| Categorical::with_logits(
        vector(p)
    )),
    entry!(ORDERED_LOGISTIC, [0.3, -1.0, 0.5, 2.0], |p| {
        OrderedLogistic::new(p[0], vector(&p[1..]))
    }),
    entry!(ORDERED_PROBIT, [0.3, -1.0, 0.5, 2.0], |p| {
        OrderedProbit::new(p[0], vector(&p[1..]))
    }),
    entry!(GENERALIZED_POISSON, [0.7, 0.4], |p| {
        GeneralizedPoisson::with_log_mean(p[0], p[1])
    }),
    entry!(ZERO_INFLATED_POISSON, [-0.3, 1.1], |p| {
        ZeroInflated::with_gate_logit(Poisson::with_log_rate(p[1]), p[0])
    }),
    entry!(ZERO_INFLATED_NEGATIVE_BINOMIAL, [0.2, 4.0, 2.0], |p| {
        ZeroInflated::with_gate_logit(NegativeBinomial::new(p[1], p[2]), p[0])
    }),
    entry!(HURDLE_POISSON, [-0.3, 0.4], |p| {
        Hurdle::with_gate_logit(Poisson::with_log_rate(p[1]), p[0])
    }),
    entry!(HURDLE_NEGATIVE_BINOMIAL, [0.2, 4.0, 2.0], |p| {
        Hurdle::with_gate_logit(NegativeBinomial::new(p[1], p[2]), p[0])
    }),
    entry!(ZERO_INFLATED_BINOMIAL, [-1.0, 9.0, 0.6], |p| {
        ZeroInflated::with_gate_logit(Binomial::with_logit(p[1], p[2]), p[0])
    }),
];

/// All distributions.
pub(crate) fn all() -> impl Iterator<Item = &'static Entry> {
    CONTINUOUS.iter().chain(DISCRETE)
}
