//! Distributions by name, for interfaces that are not compiled: from names of parameters and their
//! values to a distribution.

use lehr_graph::{Expr, Graph, Shape};

use super::{
    Bernoulli, Beta, BetaBinomial, Binomial, Categorical, Cauchy, CensoredDistribution, Dirichlet,
    Distribution, Exponential, Flat, Gamma, GeneralizedPoisson, HalfCauchy, HalfNormal,
    HalfStudentT, Hurdle, InverseGamma, InverseGaussian, Laplace, LkjCholesky, LogNormal,
    MultivariateNormal, NegativeBinomial, NoisyBernoulli, NoisyStudentT, Normal, OrderedLogistic,
    OrderedProbit, Outcome, ParameterError, Poisson, StudentT, TruncatedDistribution, Uniform,
    Value, VonMises, Weibull, ZeroInflated,
};

/// Any distribution.
pub type AnyDistribution<'g> = Box<dyn Distribution<'g> + 'g>;

/// Makes a distribution from its parameters, or reports what is wrong with them.
type Make = for<'g> fn(&[Value<'g>]) -> Result<AnyDistribution<'g>, String>;

/// One parametrisation of a distribution; some distributions have several.
pub struct Parametrisation {
    /// The distribution.
    pub name: &'static str,
    /// Its parameters, in order.
    pub parameters: &'static [&'static str],
    make: Make,
}

impl Parametrisation {
    /// The distribution of these parameters, in the order of their names.
    ///
    /// # Errors
    /// If a parameter must be a number, or an array, and is not.
    pub fn make_distribution<'g>(
        &self,
        values: &[Value<'g>],
    ) -> Result<AnyDistribution<'g>, String> {
        (self.make)(values)
    }
}

/// The recipe of a distribution with parameters of these names, in its order.
pub fn find_recipe(name: &str, given: &[&str]) -> Option<&'static Parametrisation> {
    let fits = |recipe: &&Parametrisation| {
        recipe.name == name
            && recipe.parameters.len() == given.len()
            && recipe.parameters.iter().all(|one| given.contains(one))
    };
    RECIPES.iter().find(fits)
}

/// `Name(parameters) => constructor` for every parametrisation of every distribution.
macro_rules! recipes {
    ($($name:ident($($parameter:ident),*) => $make:expr;)+) => {
        /// Every parametrisation of every distribution.
        pub static RECIPES: &[Parametrisation] = &[$(Parametrisation {
            name: stringify!($name),
            parameters: &[$(stringify!($parameter)),*],
            make: |values| {
                let [$($parameter),*] = values else {
                    return Err(format!("{} parameters", values.len()));
                };
                $(let $parameter = $parameter.clone();)*
                Ok(Box::new($make))
            },
        }),+];
    };
}

recipes! {
    Bernoulli(logits) => Bernoulli::with_logit(logits);
    Bernoulli(probs) => Bernoulli::with_probability(probs);
    Beta(a, b) => Beta::new(a, b);
    Beta(mean, precision) => Beta::with_mean(mean, precision);
    Beta(logit_mean, precision) => Beta::with_logit_mean(logit_mean, precision);
    BetaBinomial(trials, logit_mean, precision) =>
        BetaBinomial::with_logit_mean(trials, logit_mean, precision);
    Binomial(trials, logits) => Binomial::with_logit(trials, logits);
    Categorical(logits) => Categorical::with_logits(logits);
    Cauchy(loc, scale) => Cauchy::new(loc, scale);
    CensoredExponential(rate, status, upper) =>
        CensoredDistribution::with_intervals(Exponential::new(rate), status, upper);
    CensoredLogNormal(loc, scale, status, upper) =>
        CensoredDistribution::with_intervals(LogNormal::new(loc, scale), status, upper);
    CensoredNormal(loc, scale, status, upper) =>
        CensoredDistribution::with_intervals(Normal::new(loc, scale), status, upper);
    CensoredPoisson(rate, status, upper) =>
        CensoredDistribution::with_intervals(Poisson::with_rate(rate), status, upper);
    CensoredPoisson(log_rate, status, upper) =>
        CensoredDistribution::with_intervals(Poisson::with_log_rate(log_rate), status, upper);
    CensoredWeibull(log_mean, shape, status, upper) =>
        CensoredDistribution::with_intervals(Weibull::with_log_mean(log_mean, shape), status, upper);
    Dirichlet(concentration) => Dirichlet::new(concentration);
    Exponential(rate) => Exponential::new(rate);
    Flat() => Flat;
    Gamma(shape, rate) => Gamma::new(shape, rate);
    Gamma(mean, shape) => Gamma::with_mean(mean, shape);
    Gamma(log_mean, shape) => Gamma::with_log_mean(log_mean, shape);
    GeneralizedPoisson(log_mean, dispersion) =>
        GeneralizedPoisson::with_log_mean(log_mean, dispersion);
    HalfCauchy(scale) => HalfCauchy::new(scale);
    HalfNormal(scale) => HalfNormal::new(scale);
    HalfStudentT(df, scale) => HalfStudentT::new(df, scale);
    HurdleNegativeBinomial(mean, dispersion, gate_logits) =>
        Hurdle::with_gate_logit(NegativeBinomial::new(mean, dispersion), gate_logits);
    HurdleNegativeBinomial(log_mean, dispersion, gate_logits) =>
        Hurdle::with_gate_logit(NegativeBinomial::with_log_mean(log_mean, dispersion), gate_logits);
    HurdlePoisson(rate, gate_logits) =>
        Hurdle::with_gate_logit(Poisson::with_rate(rate), gate_logits);
    HurdlePoisson(log_rate, gate_logits) =>
        Hurdle::with_gate_logit(Poisson::with_log_rate(log_rate), gate_logits);
    InverseGamma(shape, scale) => InverseGamma::new(shape, scale);
    InverseGaussian(log_mean, shape) => InverseGaussian::with_log_mean(log_mean, shape);
    Laplace(loc, scale) => Laplace::new(loc, scale);
    LkjCholesky(dimension, concentration) =>
        LkjCholesky::new(constant_number("dimension", &dimension)? as usize, concentration);
    LogNormal(loc, scale) => LogNormal::new(loc, scale);
    MultivariateNormal(loc, factor) => MultivariateNormal::new(loc, constant_array("factor", &factor)?);
    NegativeBinomial(mean, dispersion) => NegativeBinomial::new(mean, dispersion);
    NegativeBinomial(log_mean, dispersion) => NegativeBinomial::with_log_mean(log_mean, dispersion);
    NoisyBernoulli(loc, variance) => NoisyBernoulli::new(loc, variance);
    NoisyStudentT(df, loc, scale, variance) => NoisyStudentT::new(df, loc, scale, variance);
    Normal(loc, scale) => Normal::new(loc, scale);
    OrderedLogistic(predictor, cutpoints) => OrderedLogistic::new(predictor, cutpoints);
    OrderedProbit(predictor, cutpoints) => OrderedProbit::new(predictor, cutpoints);
    Poisson(rate) => Poisson::with_rate(rate);
    Poisson(log_rate) => Poisson::with_log_rate(log_rate);
    StudentT(df, loc, scale) => StudentT::new(df, loc, scale);
    TruncatedExponential(rate, low, high) => TruncatedDistribution::new(Exponential::new(rate), low, high);
    TruncatedLogNormal(loc, scale, low, high) =>
        TruncatedDistribution::new(LogNormal::new(loc, scale), low, high);
    TruncatedNormal(loc, scale, low, high) => TruncatedDistribution::new(Normal::new(loc, scale), low, high);
    TruncatedPoisson(rate, low, high) => TruncatedDistribution::new(Poisson::with_rate(rate), low, high);
    TruncatedPoisson(log_rate, low, high) =>
        TruncatedDistribution::new(Poisson::with_log_rate(log_rate), low, high);
    TruncatedWeibull(log_mean, shape, low, high) =>
        TruncatedDistribution::new(Weibull::with_log_mean(log_mean, shape), low, high);
    Uniform(low, high) => Uniform::new(constant_number("low", &low)?, constant_number("high", &high)?);
    VonMises(direction, concentration) => VonMises::new(direction, concentration);
    Weibull(log_mean, shape) => Weibull::with_log_mean(log_mean, shape);
    ZeroInflatedBinomial(trials, logits, gate_logits) =>
        ZeroInflated::with_gate_logit(Binomial::with_logit(trials, logits), gate_logits);
    ZeroInflatedNegativeBinomial(mean, dispersion, gate_logits) =>
        ZeroInflated::with_gate_logit(NegativeBinomial::new(mean, dispersion), gate_logits);
    ZeroInflatedNegativeBinomial(log_mean, dispersion, gate_logits) =>
        ZeroInflated::with_gate_logit(NegativeBinomial::with_log_mean(log_mean, dispersion), gate_logits);
    ZeroInflatedPoisson(rate, gate_logits) =>
        ZeroInflated::with_gate_logit(Poisson::with_rate(rate), gate_logits);
    ZeroInflatedPoisson(log_rate, gate_logits) =>
        ZeroInflated::with_gate_logit(Poisson::with_log_rate(log_rate), gate_logits);
}

/// A parameter that determines shapes or supports, and so must be a number.
fn constant_number(name: &str, value: &Value<'_>) -> Result<f64, String> {
    let found = match value {
        Value::Number(number) => Some(*number),
        Value::Expr(expr) => expr.as_number(),
        Value::Vector(_) => None,
    };
    found.ok_or_else(|| format!("{name} must be a number, found an array"))
}

fn constant_array<'g>(name: &str, value: &Value<'g>) -> Result<Expr<'g>, String> {
    match value {
        Value::Expr(expr) => Ok(*expr),
        _ => Err(format!("{name} must be a matrix")),
    }
}

impl<'g> Distribution<'g> for AnyDistribution<'g> {
    fn value_shape(&self) -> Shape {
        (**self).value_shape()
    }

    fn event_rank(&self) -> usize {
        (**self).event_rank()
    }

    fn outcome(&self) -> Outcome {
        (**self).outcome()
    }

    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        (**self).log_density(x)
    }

    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        (**self).mean(graph)
    }

    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        (**self).variance(graph)
    }

    fn named_parameters(&self, graph: &'g Graph) -> Vec<(&'static str, Expr<'g>)> {
        (**self).named_parameters(graph)
    }

    fn check_parameters(&self) -> Result<(), ParameterError> {
        (**self).check_parameters()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{FAMILIES, find_family};
    use super::*;

    #[test]
    fn every_family_can_be_made_by_name() {
        for family in FAMILIES {
            let known = RECIPES
                .iter()
                .any(|recipe| recipe.name == family.name().replace(' ', ""));
            assert!(known, "{} has no recipe", family.name());
        }
    }

    #[test]
    fn a_distribution_by_name_is_the_one_of_that_name() {
        let graph = Graph::new();
        let numbers = [0.5, 2.0, 1.5, 0.7].map(Value::Number);
        for recipe in RECIPES {
            let mut values = numbers[..recipe.parameters.len()].to_vec();
            if recipe.name == "MultivariateNormal" {
                values[0] = Value::Vector(vec![0.0]);
                values[1] = Value::Expr(graph.constant([1, 1], &[1.0]));
            }
            let made = recipe.make_distribution(&values).unwrap();
            assert_eq!(made.name().replace(' ', ""), recipe.name);
            // A saved model looks its distributions up by their names.
            assert!(
                find_family(made.name()).is_some(),
                "{} is no family",
                made.name()
            );
        }
        assert!(find_recipe("Normal", &["scale", "loc"]).is_some());
        assert!(find_recipe("Normal", &["loc", "rate"]).is_none());
    }
}
