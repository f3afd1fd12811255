//! Prior distributions of single parameters: as users write them, on any scale, and in a model.

use std::fmt;

use lehr_graph::{Expr, Graph};
use lehr_model::Tracer;
use lehr_model::distribution::{
    Beta, Cauchy, Distribution, Exponential, Flat, Gamma, HalfCauchy, HalfNormal, HalfStudentT,
    InverseGamma, Laplace, LogNormal, Normal, StudentT, Uniform, Value,
};
use serde::{Deserialize, Serialize};

/// The values of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Domain {
    Real,
    Positive,
    Unit,
    Correlation,
    Simplex,
}

/// The change of an argument when the variable is divided by a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dimension {
    Location,
    /// The location of the logarithm.
    LogLocation,
    Scale,
    Rate,
    Free,
}

type Argument = (&'static str, Dimension);

/// The table of kinds: the name that users write, the values, and the arguments with what they measure.
macro_rules! kinds {
    ($($kind:ident is $name:literal: $domain:ident, [$($argument:ident: $dimension:ident),*];)+) => {
        /// A distribution by name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub(crate) enum Kind {
            $($kind,)+
        }

        impl Kind {
            /// Every distribution a prior can have.
            pub(crate) const ALL: &[Kind] = &[$(Kind::$kind,)+];

            /// The name that users write.
            pub(crate) fn name(self) -> &'static str {
                match self {
                    $(Kind::$kind => $name,)+
                }
            }

            pub(crate) fn domain(self) -> Domain {
                match self {
                    $(Kind::$kind => Domain::$domain,)+
                }
            }

            fn arguments(self) -> &'static [Argument] {
                match self {
                    $(Kind::$kind => &[$((stringify!($argument), Dimension::$dimension)),*],)+
                }
            }
        }
    };
}

kinds! {
    Normal is "normal": Real, [location: Location, scale: Scale];
    StudentT is "student_t": Real, [df: Free, location: Location, scale: Scale];
    Cauchy is "cauchy": Real, [location: Location, scale: Scale];
    Laplace is "laplace": Real, [location: Location, scale: Scale];
    HalfNormal is "half_normal": Positive, [scale: Scale];
    HalfStudentT is "half_student_t": Positive, [df: Free, scale: Scale];
    HalfCauchy is "half_cauchy": Positive, [scale: Scale];
    Exponential is "exponential": Positive, [rate: Rate];
    Gamma is "gamma": Positive, [shape: Free, rate: Rate];
    InverseGamma is "inverse_gamma": Positive, [shape: Free, scale: Scale];
    LogNormal is "log_normal": Positive, [location: LogLocation, scale: Free];
    Beta is "beta": Unit, [a: Free, b: Free];
    Lkj is "lkj": Correlation, [concentration: Free];
    Dirichlet is "dirichlet": Simplex, [concentration: Free];
    Uniform is "uniform": Real, [low: Location, high: Location];
    Horseshoe is "horseshoe": Real, [global: Free, slab: Free];
    R2d2 is "r2d2": Real, [mean: Free, precision: Free, concentration: Free];
    Flat is "flat": Real, [];
}

impl Kind {
    /// Whether it is a joint prior of all coefficients.
    pub(crate) fn is_joint(self) -> bool {
        matches!(self, Kind::Horseshoe | Kind::R2d2)
    }

    /// Whether it can be shifted along the real line; bounds would shift, too.
    pub(crate) fn is_movable(self) -> bool {
        self.domain() == Domain::Real && !self.is_joint() && self != Kind::Uniform
    }

    /// The syntax, `normal(location, scale)`.
    pub(crate) fn usage(self) -> String {
        let names: Vec<&str> = self.arguments().iter().map(|(name, _)| *name).collect();
        if names.is_empty() {
            return self.name().to_owned();
        }
        format!("{}({})", self.name(), names.join(", "))
    }
}

impl Domain {
    /// The description for error messages.
    pub(crate) fn description(self) -> (&'static str, String) {
        let what = match self {
            Domain::Real => "a distribution of real numbers",
            Domain::Positive => "a distribution of positive numbers",
            Domain::Unit => "a distribution of probabilities",
            Domain::Correlation => "a distribution of correlation matrices",
            Domain::Simplex => "a distribution of proportions",
        };
        let mut names = names_of(|kind| kind.domain() == self && !kind.is_joint());
        if self == Domain::Positive {
            names.push("uniform from 0 on");
        }
        (what, either(&names))
    }
}

/// The names of some kinds, in the order of the table.
pub(crate) fn names_of(is_meant: impl Fn(Kind) -> bool) -> Vec<&'static str> {
    let kinds = Kind::ALL.iter().filter(|kind| is_meant(**kind));
    kinds.map(|kind| kind.name()).collect()
}

/// `a, b or c`.
pub(crate) fn either(names: &[&str]) -> String {
    match names {
        [rest @ .., last] if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => names.join(", "),
    }
}

/// A distribution with its arguments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Law {
    pub(crate) kind: Kind,
    arguments: Vec<f64>,
}

impl Law {
    /// A law with valid arguments.
    pub(crate) fn new(kind: Kind, arguments: &[f64]) -> Law {
        Law::checked(kind, arguments).unwrap_or_else(|why| panic!("{}: {why}", kind.name()))
    }

    /// A law, or the error in its arguments.
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
            let is_place = matches!(dimension, Dimension::Location | Dimension::LogLocation);
            let sound = value.is_finite() && (*value > 0.0 || is_place);
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
        if let (Kind::R2d2, [mean, ..]) = (kind, arguments)
            && *mean >= 1.0
        {
            return Err(format!("the mean of r2d2 is between 0 and 1, found {mean}"));
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

    /// Whether one site can have both laws: bounds are the same for all numbers of a site.
    pub(crate) fn shares_site(&self, other: &Law) -> bool {
        self.kind == other.kind && (self.kind != Kind::Uniform || self == other)
    }

    /// The distribution of the variable divided by a positive number.
    pub(crate) fn divided(&self, by: f64) -> Law {
        let one = |((_, dimension), value): (&Argument, &f64)| match dimension {
            Dimension::Location | Dimension::Scale => value / by,
            Dimension::LogLocation => value - by.ln(),
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

    /// Quantiles of a distribution of positive numbers: its density is summed over twelve decades
    /// on either side of 1.
    pub(crate) fn quantiles<const N: usize>(&self, shares: [f64; N]) -> [f64; N] {
        let step = 1e-3;
        let grid: Vec<f64> = (-28_000..=28_000).map(|k| step * f64::from(k)).collect();
        // The density of ln x has the additional factor x.
        let log_density = |log: &f64| self.log_shape(log.exp()) + log;
        let logs: Vec<f64> = grid.iter().map(log_density).collect();
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let masses: Vec<f64> = logs.iter().map(|log| (log - most).exp()).collect();
        let total: f64 = masses.iter().sum();
        shares.map(|share| {
            let mut rest = share * total;
            for (log, mass) in grid.iter().zip(&masses) {
                if *mass >= rest {
                    return (log + step * (rest / mass - 0.5)).exp();
                }
                rest -= mass;
            }
            unreachable!("the shares of a distribution are below 1")
        })
    }

    /// The log density of a positive number, up to a constant.
    fn log_shape(&self, x: f64) -> f64 {
        let a = &self.arguments;
        match self.kind {
            Kind::HalfNormal => -0.5 * (x / a[0]).powi(2),
            Kind::HalfStudentT => -0.5 * (a[0] + 1.0) * ((x / a[1]).powi(2) / a[0]).ln_1p(),
            Kind::HalfCauchy => -(x / a[0]).powi(2).ln_1p(),
            Kind::Exponential => -a[0] * x,
            Kind::Gamma => (a[0] - 1.0) * x.ln() - a[1] * x,
            Kind::InverseGamma => -(a[0] + 1.0) * x.ln() - a[1] / x,
            Kind::LogNormal => -0.5 * ((x.ln() - a[0]) / a[1]).powi(2) - x.ln(),
            Kind::Uniform if a[0] <= x && x <= a[1] => 0.0,
            Kind::Uniform => f64::NEG_INFINITY,
            _ => unreachable!("not a distribution of positive numbers"),
        }
    }

    /// The arguments in order.
    pub(crate) fn arguments(&self) -> &[f64] {
        &self.arguments
    }

    /// The last argument: the concentration of `lkj` and `dirichlet`.
    pub(crate) fn concentration(&self) -> f64 {
        self.arguments[self.arguments.len() - 1]
    }

    /// A site of this distribution shifted by `shift`, an array or a number of the graph.
    pub(crate) fn sample_moved<'g>(&self, m: &Tracer<'g>, name: &str, shift: Expr<'g>) -> Expr<'g> {
        let a = &self.arguments;
        match self.kind {
            Kind::StudentT => m.sample(name, StudentT::new(a[0], shift + a[1], a[2])),
            Kind::Cauchy => m.sample(name, Cauchy::new(shift + a[0], a[1])),
            Kind::Laplace => m.sample(name, Laplace::new(shift + a[0], a[1])),
            // A flat distribution does not change when it is shifted.
            Kind::Flat => m.sample(name, Flat.expand(shift.shape())),
            Kind::Normal => m.sample(name, Normal::new(shift + a[0], a[1])),
            kind => unreachable!("{} cannot be moved", kind.name()),
        }
    }
}

/// One site for laws of one kind. `dims` is empty for one number, or the number of laws followed by
/// the number of copies of each.
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
        Kind::LogNormal => m.sample(name, LogNormal::new(p(0), p(1)).expand(dims)),
        Kind::Beta => m.sample(name, Beta::new(p(0), p(1)).expand(dims)),
        Kind::Uniform => {
            let bounds = &laws[0].arguments;
            m.sample(name, Uniform::new(bounds[0], bounds[1]).expand(dims))
        }
        Kind::Lkj | Kind::Dirichlet | Kind::Horseshoe | Kind::R2d2 => {
            unreachable!("not distributions of single numbers")
        }
        Kind::Flat => m.sample(name, Flat.expand(dims)),
    }
}

/// An argument of all laws: a number if they agree, so that descriptions can show it.
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
        if self.arguments.is_empty() {
            return f.write_str(self.kind.name());
        }
        let shown: Vec<String> = self.arguments.iter().map(|value| short(*value)).collect();
        write!(f, "{}({})", self.kind.name(), shown.join(", "))
    }
}

/// The number with four digits, as priors are printed.
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
        assert_eq!(
            divided(Kind::LogNormal, &[3.0, 4.0]),
            [3.0 - 2_f64.ln(), 4.0]
        );
        assert_eq!(divided(Kind::Lkj, &[2.0]), [2.0]);
    }

    #[test]
    fn quantiles_are_those_of_the_tables() {
        let near = |law: Law, shares: [f64; 2], known: [f64; 2]| {
            let found = law.quantiles(shares);
            for (found, known) in found.iter().zip(known) {
                assert!((found / known - 1.0).abs() < 3e-3, "{law}: {found} {known}");
            }
        };
        let tails = [0.025, 0.975];
        near(
            Law::new(Kind::LogNormal, &[0.5, 0.7]),
            tails,
            [0.418_1, 6.500_9],
        );
        near(
            Law::new(Kind::HalfNormal, &[2.0]),
            tails,
            [0.062_67, 4.482_8],
        );
        near(
            Law::new(Kind::Exponential, &[0.5]),
            tails,
            [0.050_636, 7.377_8],
        );
        near(
            Law::new(Kind::HalfCauchy, &[1.0]),
            [0.25, 0.75],
            [0.414_21, 2.414_2],
        );
        near(
            Law::new(Kind::InverseGamma, &[1.0, 2.0]),
            tails,
            [0.542_17, 78.995],
        );
        near(
            Law::new(Kind::Gamma, &[1.0, 3.0]),
            tails,
            [0.008_439_3, 1.229_6],
        );
        near(Law::new(Kind::Uniform, &[1.0, 3.0]), tails, [1.05, 2.95]);
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
