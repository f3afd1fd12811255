//! Distributions: log densities as expressions, draws as numbers.
//!
//! Densities are numerically safe: logits of ±10³, far tails and tiny scales give finite values and
//! slopes. Outside its support a log density has no guaranteed value: sites are mapped into their
//! support, and observed columns are checked against it. Restricting the support never truncates a
//! distribution, because its density would no longer integrate to 1.

mod bernoulli;
mod beta;
mod beta_binomial;
mod binomial;
mod categorical;
mod cauchy;
mod censored;
mod check;
mod cutpoints;
mod dirichlet;
mod draw;
mod elementwise;
mod expanded;
mod exponential;
mod family;
mod flat;
mod gamma;
mod gamma_ratio;
mod gate;
mod generalized_poisson;
mod half_cauchy;
mod half_normal;
mod half_student_t;
mod horseshoe;
mod hurdle;
mod inverse_gamma;
mod inverse_gaussian;
mod laplace;
mod lkj_cholesky;
mod log_normal;
mod multivariate_normal;
mod named;
mod negative_binomial;
mod noisy_bernoulli;
mod noisy_student_t;
mod normal;
mod one_hot;
mod ordered_logistic;
mod ordered_probit;
mod poisson;
mod registry;
mod student_t;
mod tail;
mod tail_family;
mod truncated;
mod uniform;
mod value;
mod von_mises;
mod weibull;
mod zero_inflated;

use lehr_density::{Family, ResponseKind, Support};
use lehr_graph::{Expr, Graph, Shape};

pub use bernoulli::Bernoulli;
pub use beta::Beta;
pub use beta_binomial::BetaBinomial;
pub use binomial::Binomial;
pub use categorical::Categorical;
pub use cauchy::Cauchy;
pub use censored::CensoredDistribution;
pub use check::ParameterError;
pub use cutpoints::{LatentNoise, OrderedOutcome};
pub use dirichlet::Dirichlet;
pub use expanded::ExpandedDistribution;
pub use exponential::Exponential;
pub use family::draw_batch;
pub use flat::Flat;
pub use gamma::Gamma;
pub use gate::GateFamily;
pub use generalized_poisson::GeneralizedPoisson;
pub use half_cauchy::HalfCauchy;
pub use half_normal::HalfNormal;
pub use half_student_t::HalfStudentT;
pub use horseshoe::Horseshoe;
pub use hurdle::{Hurdle, ZeroTruncatable};
pub use inverse_gamma::InverseGamma;
pub use inverse_gaussian::InverseGaussian;
pub use laplace::Laplace;
pub use lkj_cholesky::LkjCholesky;
pub use log_normal::LogNormal;
pub use multivariate_normal::MultivariateNormal;
pub use named::{AnyDistribution, Parametrisation, RECIPES, find_recipe};
pub use negative_binomial::NegativeBinomial;
pub use noisy_bernoulli::NoisyBernoulli;
pub use noisy_student_t::NoisyStudentT;
pub use normal::Normal;
pub(crate) use normal::normal_log_density;
pub use ordered_logistic::OrderedLogistic;
pub use ordered_probit::OrderedProbit;
pub use poisson::Poisson;
pub use registry::{FAMILIES, find_family};
pub use student_t::StudentT;
pub use tail::{CumulativeDistribution, Limits};
pub use tail_family::TailFamilies;
pub use truncated::TruncatedDistribution;
pub use uniform::Uniform;
pub use value::Value;
pub use von_mises::VonMises;
pub use weibull::Weibull;
pub use zero_inflated::{ZeroInflatable, ZeroInflated};

/// The values of a distribution.
pub struct Outcome {
    /// The values that an observed column may take.
    pub response: ResponseKind,
    /// The support of a site, if it can be one.
    pub support: Option<Support>,
    /// The numeric side, for draws.
    pub family: &'static dyn Family,
}

impl Outcome {
    /// The values of draws of a family.
    pub fn new(
        family: &'static dyn Family,
        response: ResponseKind,
        support: Option<Support>,
    ) -> Outcome {
        Outcome {
            response,
            support,
            family,
        }
    }
}

/// A distribution whose parameters are expressions of a graph.
///
/// Its shape is that of one draw: batch axes, over which draws are independent, then
/// [`Distribution::event_rank`] event axes, which are drawn together.
pub trait Distribution<'g> {
    /// The name, as in the code: that of its family.
    fn name(&self) -> &'static str {
        self.sampling_family().name()
    }

    /// The shape of a draw: batch axes, then event axes.
    fn value_shape(&self) -> Shape;

    /// How many of the last axes make one event: 0 for numbers, 1 for vectors, 2 for matrices.
    fn event_rank(&self) -> usize {
        0
    }

    /// Where its values lie, and the family that draws them.
    fn outcome(&self) -> Outcome;

    /// The values that an observed column of this distribution may take.
    fn response_kind(&self) -> ResponseKind {
        self.outcome().response
    }

    /// The support of a site; `None` for counts and labels, which can only be observed.
    fn support(&self) -> Option<Support> {
        self.outcome().support
    }

    /// The log density at `x`, one number per batch element. Axes of `x` in front of the
    /// distribution's own are further batch axes.
    fn log_density(&self, x: Expr<'g>) -> Expr<'g>;

    /// The mean, in the shape of a draw; `None` if it does not exist or has no closed form.
    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let _ = graph;
        None
    }

    /// The variance of each entry, in the shape of a draw; `None` as for the mean.
    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let _ = graph;
        None
    }

    /// The parameters by name, in the order in which [`Family`] reads them. The shape of each is
    /// the batch axes followed by its own.
    fn named_parameters(&self, graph: &'g Graph) -> Vec<(&'static str, Expr<'g>)>;

    /// The numeric side, for draws.
    fn sampling_family(&self) -> &'static dyn Family {
        self.outcome().family
    }

    /// Refuses constant parameters outside their domain and shapes that do not fit.
    fn check_parameters(&self) -> Result<(), ParameterError>;

    /// The shape without its event axes.
    fn batch_shape(&self) -> Shape {
        value::leading_shape(self.value_shape(), self.event_rank())
    }

    /// Independent copies: the same distribution with the batch shape `batch`, to which its
    /// own must broadcast.
    fn expand(self, batch: impl Into<Shape>) -> ExpandedDistribution<Self>
    where
        Self: Sized,
    {
        ExpandedDistribution::new(self, batch.into())
    }
}
