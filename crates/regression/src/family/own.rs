//! The parameters that a family has besides its linear predictor.

use crate::law::{Kind, Law};

/// The site of the degrees of freedom above 1.
pub const DF_EXCESS: &str = "df above 1";

/// A parameter of a family, with its default prior.
pub(crate) struct OwnParameter {
    pub(crate) name: &'static str,
    kind: Kind,
    arguments: &'static [f64],
    pub(crate) unit: ParameterUnit,
}

/// The unit of a parameter in the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParameterUnit {
    /// In units of 1.
    One,
    /// The response's standard deviation, as in its default prior.
    Response,
}

impl OwnParameter {
    /// A parameter without a unit.
    const fn pure(name: &'static str, kind: Kind, arguments: &'static [f64]) -> OwnParameter {
        OwnParameter {
            name,
            kind,
            arguments,
            unit: ParameterUnit::One,
        }
    }

    /// The default prior on the original scale for a response with standard deviation `unit`, and
    /// the parameter's unit in the model.
    pub(crate) fn prior(&self, unit: f64) -> (Law, f64) {
        let own = match self.unit {
            ParameterUnit::One => 1.0,
            ParameterUnit::Response => unit,
        };
        (
            Law::new(self.kind, self.arguments).divided(own.recip()),
            own,
        )
    }
}

/// The standard deviation of noise in the response itself.
pub(super) const SIGMA: OwnParameter = OwnParameter {
    name: "sigma",
    kind: Kind::Exponential,
    arguments: &[1.0],
    unit: ParameterUnit::Response,
};

/// The standard deviation of noise on the scale of the linear predictor.
pub(super) const LOG_SIGMA: OwnParameter = OwnParameter {
    unit: ParameterUnit::One,
    ..SIGMA
};

/// Degrees of freedom; the prior is on their excess over 1.
pub(super) const DF: OwnParameter = OwnParameter::pure("df", Kind::Gamma, &[2.0, 0.1]);

/// A shape: flat in 1/√shape near the limit without overdispersion, with a heavy tail towards it.
pub(super) const SHAPE: OwnParameter = OwnParameter::pure("shape", Kind::InverseGamma, &[0.4, 0.3]);

/// The shape of waiting times, about 1.
pub(super) const HAZARD_SHAPE: OwnParameter = OwnParameter::pure("shape", Kind::Gamma, &[2.0, 1.0]);

/// The concentration of proportions around their mean.
pub(super) const PRECISION: OwnParameter = OwnParameter {
    name: "precision",
    ..SHAPE
};

/// The concentration of directions around their mean.
pub(super) const KAPPA: OwnParameter = OwnParameter::pure("kappa", Kind::Gamma, &[2.0, 0.01]);

/// The probability of an excess zero.
pub(super) const GATE: OwnParameter = OwnParameter::pure("gate", Kind::Beta, &[1.0, 1.0]);

/// The cutpoints of ordered classes, by the proportions of the classes.
pub(super) const CUTPOINT: OwnParameter = OwnParameter::pure("cutpoint", Kind::Dirichlet, &[1.0]);

/// The mean number of events that each event of a count triggers.
pub(super) const DISPERSION: OwnParameter = OwnParameter {
    name: "dispersion",
    ..GATE
};
