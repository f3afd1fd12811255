//! The statements of a model, one at a time.

use std::fmt;

use lehr_density::{Family, ResponseKind};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::distribution::find_family;

/// The meaning of an input of a recorded model, by its place among its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum InputRole {
    Latent(usize),
    Param(usize),
    Local(usize),
    Column(usize),
}

/// One statement of a model, in the order of writing. Sites are places in their layout,
/// outputs are places among the outputs of the recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Statement {
    /// A latent, its prior, and the log density of the prior.
    Sample {
        site: usize,
        law: RecordedDistribution,
        term: usize,
    },
    /// A parameter.
    Param { site: usize },
    /// A local latent, its prior, and the log density of the prior in each row.
    Local {
        site: usize,
        law: RecordedDistribution,
        term: usize,
    },
    /// A named quantity.
    Deterministic { output: usize },
    /// A term of the log prior.
    Factor { output: usize },
    /// A column that multiplies the rows' log likelihood.
    Weight { column: String },
    /// An observed column.
    Observe(ObservedColumn),
    /// A named quantity of each row.
    RowQuantity { output: usize },
}

impl Statement {
    /// The observed column, if it states one.
    pub(crate) fn observed(&self) -> Option<&ObservedColumn> {
        match self {
            Statement::Observe(observed) => Some(observed),
            _ => None,
        }
    }
}

/// An observed column and its distribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ObservedColumn {
    pub(crate) column: String,
    pub(crate) kind: ResponseKind,
    /// Numbers per row.
    pub(crate) width: usize,
    pub(crate) law: RecordedDistribution,
    pub(crate) mean: Option<usize>,
    pub(crate) variance: Option<usize>,
}

/// A distribution by its family and the outputs that are its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RecordedDistribution {
    pub(crate) family: FamilyName,
    pub(crate) parameters: Vec<RecordedParameter>,
    /// Independent draws that make one value.
    pub(crate) batch: usize,
}

impl RecordedDistribution {
    /// Whether it is the law of a flat prior.
    pub(crate) fn is_flat(&self) -> bool {
        self.family.0.name() == "Flat"
    }
}

/// A parameter of a distribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RecordedParameter {
    pub(crate) name: String,
    pub(crate) output: usize,
}

/// A family, which is saved by its name.
#[derive(Clone, Copy)]
pub(crate) struct FamilyName(pub(crate) &'static dyn Family);

impl PartialEq for FamilyName {
    fn eq(&self, other: &FamilyName) -> bool {
        self.0.name() == other.0.name()
    }
}

impl fmt::Debug for FamilyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name())
    }
}

impl Serialize for FamilyName {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.0.name())
    }
}

impl<'de> Deserialize<'de> for FamilyName {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<FamilyName, D::Error> {
        let name = String::deserialize(from)?;
        let known = find_family(&name).map(FamilyName);
        known.ok_or_else(|| de::Error::custom(format!("no distribution {name:?} is known")))
    }
}
