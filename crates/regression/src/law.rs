//! Distributions of single parameters: as users write them, on any scale, and in a model.

use std::fmt;

use lehr_graph::{Expr, Graph};
use lehr_model::Tracer;
use lehr_model::distribution::{
    Beta, Cauchy, Distribution, Exponential, Gamma, HalfCauchy, HalfNormal, HalfStudentT,
    InverseGamma, Laplace, Normal, StudentT, Uniform, Value,
};
use serde::{Deserialize, Serialize};

/// A distribution by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    Normal,
    StudentT,
    Cauchy,
    Laplace,
    HalfNormal,
    HalfStudentT,
    HalfCauchy,
    Exponential,
    Gamma,
    InverseGamma,
    Beta,
    Lkj,
    Dirichlet,
    Uniform,
}

/// The values a distribution has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Domain {
    Real,
    Positive,
    Unit,
    Correlation,
    Simplex,
}

/// How an argument changes when the variable is divided by a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dimension {
    Location,
    Scale,
    Rate,
    Free,
}

type Argument = (&'static str, Dimension);

impl Kind {
    /// Every distribution a prior can have.
    pub(crate) const ALL: [Kind; 14] = [
        Kind::Normal,
        Kind::StudentT,
        Kind::Cauchy,
        Kind::Laplace,
        Kind::HalfNormal,
        Kind::HalfStudentT,
        Kind::HalfCauchy,
        Kind::Exponential,
        Kind::Gamma,
        Kind::InverseGamma,
        Kind::Beta,
        Kind::Lkj,
        Kind::Dirichlet,
        Kind::Uniform,
    ];

    /// The name that users write.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Normal => "normal",
            Kind::StudentT => "student_t",
            Kind::Cauchy => "cauchy",
            Kind::Laplace => "laplace",
            Kind::HalfNormal => "half_normal",
            Kind::HalfStudentT => "half_student_t",
            Kind::HalfCauchy => "half_cauchy",
            Kind::Exponential => "exponential",
            Kind::Gamma => "gamma",
            Kind::InverseGamma => "inverse_gamma",
            Kind::Beta => "beta",
            Kind::Lkj => "lkj",
            Kind::Dirichlet => "dirichlet",
            Kind::Uniform => "uniform",
        }
    }

    pub(crate) fn domain(self) -> Domain {
        match self {
            Kind::Normal | Kind::StudentT | Kind::Cauchy | Kind::Laplace | Kind::Uniform => {
                Domain::Real
            }
            Kind::Beta => Domain::Unit,
            Kind::Lkj => Domain::Correlation,
            Kind::Dirichlet => Domain::Simplex,
            _ => Domain::Positive,
        }
    }

    fn arguments(self) -> &'static [Argument] {
        use Dimension::{Free, Location, Rate, Scale};
        match self {
            Kind::Normal | Kind::Cauchy | Kind::Laplace => {
                &[("location", Location), ("scale", Scale)]
            }
            Kind::StudentT => &[("df", Free), ("location", Location), ("scale", Scale)],
            Kind::HalfNormal | Kind::HalfCauchy => &[("scale", Scale)],
            Kind::HalfStudentT => &[("df", Free), ("scale", Scale)],
            Kind::Exponential => &[("rate", Rate)],
            Kind::Gamma => &[("shape", Free), ("rate", Rate)],
            Kind::InverseGamma => &[("shape", Free), ("scale", Scale)],
            Kind::Beta => &[("a", Free), ("b", Free)],
            Kind::Lkj | Kind::Dirichlet => &[("concentration", Free)],
            Kind::Uniform => &[("low", Location), ("high", Location)],
        }
    }

    /// How it is written, `normal(location, scale)`.
    pub(crate) fn usage(self) -> String {
        let names: Vec<&str> = self.arguments().iter().map(|(name, _)| *name).collect();
        format!("{}({})", self.name(), names.join(", "))
    }
}

impl Domain {
    /// What a user is told to write.
    pub(crate) fn description(self) -> (&'static str, &'static str) {
        match self {
            Domain::Real => (
                "a distribution of real numbers",
                "normal, student_t, cauchy, laplace or uniform",
            ),
            Domain::Positive => (
                "a distribution of positive numbers",
                "half_normal, half_student_t, half_cauchy, exponential, gamma, inverse_gamma or uniform from 0 on",
            ),
            Domain::Unit => ("a distribution of probabilities", "beta"),
            Domain::Correlation => ("a distribution of correlation matrices", "lkj"),
            Domain::Simplex => ("a distribution of proportions", "dirichlet"),
        }
    }
}

/// A distribution with its arguments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Law {
    pub(crate) kind: Kind,
    arguments: Vec<f64>,
}

impl Law {
    /// A law whose arguments are known to fit.
    pub(crate) fn new(kind: Kind, arguments: &[f64]) -> Law {
        Law::checked(kind, arguments).unwrap_or_else(|why| panic!("{}: {why}", kind.name()))
    }

    /// A law, or what is wrong with its arguments.
    pub(crate) fn checked(kind: Kind, arguments: &[f64]) -> Result<Law, String> {
        let expected = kind.arguments();
        if expected.len() != arguments.len() {
            let (all, found) = (expected.len(), arguments.len());
            return Err(format!(
                "{} has {all} argument{}, found {found}",
                kind.name(),
                if all == 1 { "" } else { "s" }
            ));
        }
        for ((name, dimension), value) in expected.iter().zip(arguments) {
            let sound = value.is_finite() && (*value > 0.0 || *dimension == Dimension::Location);
            if !sound {
                return Err(format!(
                    "the {name} of {} is above 0, found {value}",
                    kind.name()
                ));
            }
        }
        if let (Kind::Uniform, [low, high]) = (kind, arguments)
            && low >= high
        {
            return Err(format!(
                "the high of uniform is above its low, found {low} and {high}"
            ));
        }
        Ok(Law {
            kind,
            arguments: arguments.to_vec(),
        })
    }

    /// Whether all its values are in the domain.
    pub(crate) fn suits(&self, domain: Domain) -> bool {
        match (self.kind, domain, &self.arguments[..]) {
            (Kind::Uniform, Domain::Positive, [low, _]) => *low >= 0.0,
            (Kind::Uniform, Domain::Unit, [low, high]) => *low >= 0.0 && *high <= 1.0,
            (kind, domain, _) => kind.domain() == domain,
        }
    }

    /// Whether one site can be of both: bounds are the same for all numbers of a site.
    pub(crate) fn shares_site(&self, other: &Law) -> bool {
        self.kind == other.kind && (self.kind != Kind::Uniform || self == other)
    }

    /// The distribution of the variable divided by a positive number.
    pub(crate) fn divided(&self, by: f64) -> Law {
        let one = |((_, dimension), value): (&Argument, &f64)| match dimension {
            Dimension::Location | Dimension::Scale => value / by,
            Dimension::Rate => value * by,
            Dimension::Free => *value,
        };
        let arguments = self.kind.arguments().iter().zip(&self.arguments);
        Law {
            kind: self.kind,
            arguments: arguments.map(one).collect(),
        }
    }

    /// The standard deviation of a normal distribution.
    pub(crate) fn deviation(&self) -> Option<f64> {
        (self.kind == Kind::Normal).then(|| self.arguments[1])
    }

    /// The last argument: the concentration of `lkj` and `dirichlet`.
    pub(crate) fn concentration(&self) -> f64 {
        self.arguments[self.arguments.len() - 1]
    }

    /// A site of this distribution moved by `shift`, an array or a number of the graph.
    pub(crate) fn sample_moved<'g>(&self, m: &Tracer<'g>, name: &str, shift: Expr<'g>) -> Expr<'g> {
        let a = &self.arguments;
        match self.kind {
            Kind::StudentT => m.sample(name, StudentT::new(a[0], shift + a[1], a[2])),
            Kind::Cauchy => m.sample(name, Cauchy::new(shift + a[0], a[1])),
            Kind::Laplace => m.sample(name, Laplace::new(shift + a[0], a[1])),
            _ => m.sample(name, Normal::new(shift + a[0], a[1])),
        }
    }
}

/// One site for laws of one kind. `dims` is empty for one number, or the count of laws
/// followed by the copies that each of them has.
pub(crate) fn sample<'g>(m: &Tracer<'g>, name: &str, laws: &[Law], dims: &[usize]) -> Expr<'g> {
    let p = |place: usize| parameter(m.graph(), laws, place, dims);
    match laws[0].kind {
        Kind::Normal => m.sample(name, Normal::new(p(0), p(1)).expand(dims)),
        Kind::StudentT => m.sample(name, StudentT::new(p(0), p(1), p(2)).expand(dims)),
        Kind::Cauchy => m.sample(name, Cauchy::new(p(0), p(1)).expand(dims)),
        Kind::Laplace => m.sample(name, Laplace::new(p(0), p(1)).expand(dims)),
        Kind::HalfNormal => m.sample(name, HalfNormal::new(p(0)).expand(dims)),
        Kind::HalfStudentT => m.sample(name, HalfStudentT::new(p(0), p(1)).expand(dims)),
        Kind::HalfCauchy => m.sample(name, HalfCauchy::new(p(0)).expand(dims)),
        Kind::Exponential => m.sample(name, Exponential::new(p(0)).expand(dims)),
        Kind::Gamma => m.sample(name, Gamma::new(p(0), p(1)).expand(dims)),
        Kind::InverseGamma => m.sample(name, InverseGamma::new(p(0), p(1)).expand(dims)),
        Kind::Beta => m.sample(name, Beta::new(p(0), p(1)).expand(dims)),
        Kind::Uniform => {
            let bounds = &laws[0].arguments;
            m.sample(name, Uniform::new(bounds[0], bounds[1]).expand(dims))
        }
        Kind::Lkj | Kind::Dirichlet => unreachable!("not distributions of single numbers"),
    }
}

/// An argument of all laws: a number where they agree, so that descriptions can show it.
fn parameter<'g>(graph: &'g Graph, laws: &[Law], place: usize, dims: &[usize]) -> Value<'g> {
    let values: Vec<f64> = laws.iter().map(|law| law.arguments[place]).collect();
    if values.iter().all(|value| *value == values[0]) {
        return Value::Number(values[0]);
    }
    match dims {
        [count, _] => graph.constant([*count, 1], &values).into(),
        _ => Value::Vector(values),
    }
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: Vec<String> = self.arguments.iter().map(|value| short(*value)).collect();
        write!(f, "{}({})", self.kind.name(), shown.join(", "))
    }
}

/// Four digits, which is all that anyone reads of a prior.
pub(crate) fn short(value: f64) -> String {
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    if rounded != 0.0 && !(1e-4..1e7).contains(&rounded.abs()) {
        return format!("{rounded:e}");
    }
    rounded.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dividing_the_variable_moves_scales_and_rates_in_opposite_ways() {
        let divided = |kind, arguments: &[f64]| Law::new(kind, arguments).divided(2.0).arguments;
        assert_eq!(divided(Kind::Normal, &[4.0, 6.0]), [2.0, 3.0]);
        assert_eq!(divided(Kind::StudentT, &[3.0, 4.0, 6.0]), [3.0, 2.0, 3.0]);
        assert_eq!(divided(Kind::Exponential, &[3.0]), [6.0]);
        assert_eq!(divided(Kind::Gamma, &[3.0, 4.0]), [3.0, 8.0]);
        assert_eq!(divided(Kind::InverseGamma, &[3.0, 4.0]), [3.0, 2.0]);
        assert_eq!(divided(Kind::Lkj, &[2.0]), [2.0]);
    }

    #[test]
    fn priors_are_printed_with_four_digits() {
        assert_eq!(short(2.5), "2.5");
        assert_eq!(short(-12.345_678), "-12.35");
        assert_eq!(short(0.0), "0");
        assert_eq!(short(1.234_56e-9), "1.235e-9");
        assert_eq!(
            Law::new(Kind::Normal, &[0.0, 1.0 / 3.0]).to_string(),
            "normal(0, 0.3333)"
        );
    }
}
