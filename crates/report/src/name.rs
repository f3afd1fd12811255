//! The name of a number of the posterior, and its place in its variable.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The meaning of an axis of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AxisKind {
    /// The levels of a category.
    Level,
    /// The levels of one of several categories that are multiplied.
    Factor(usize),
    /// The groups of a group term.
    Group,
    /// The effects that vary by group.
    Term,
    /// The classes of the response.
    Class,
    /// A numbered axis of an array.
    Index(usize),
}

impl AxisKind {
    /// The name of this axis of a variable in files.
    pub(crate) fn axis_name(self, variable: &str) -> String {
        match self {
            AxisKind::Level | AxisKind::Group => format!("{variable}_level"),
            AxisKind::Factor(number) => format!("{variable}_level_{number}"),
            AxisKind::Term => format!("{variable}_term"),
            AxisKind::Class => format!("{variable}_class"),
            AxisKind::Index(number) => format!("{variable}_dim_{number}"),
        }
    }
}

/// A place on an axis.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    /// The axis.
    pub axis: AxisKind,
    /// The label of the place.
    pub label: String,
}

/// The name of one number: a variable and a place on each of the variable's axes. It prints in the
/// usual form: `sigma`, `color[red]`, `patient[3, dose]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Name {
    text: String,
    variable: String,
    places: Vec<Place>,
}

/// The effect of one group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// The group term, e.g. `site`.
    pub group: String,
    /// The group, e.g. `north`.
    pub level: String,
    /// The effect that varies by group, e.g. `Intercept`.
    pub term: String,
    /// The class of the response, for categorical responses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
}

impl Name {
    /// A number of a variable, without places. `text` is the full printed name.
    pub fn new(text: impl Into<String>, variable: impl Into<String>) -> Name {
        Name {
            text: text.into(),
            variable: variable.into(),
            places: Vec::new(),
        }
    }

    /// The same with a place on one more axis.
    pub fn at_label(mut self, axis: AxisKind, label: impl Into<String>) -> Name {
        let label = label.into();
        self.places.push(Place { axis, label });
        self
    }

    /// The printed name.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The variable.
    pub fn variable(&self) -> &str {
        &self.variable
    }

    /// The places, one per axis.
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// The random effect of this name, if it is one.
    pub fn effect(&self) -> Option<Effect> {
        let label = |axis: AxisKind| {
            let place = self.places.iter().find(|place| place.axis == axis);
            place.map(|place| place.label.clone())
        };
        Some(Effect {
            level: label(AxisKind::Group)?,
            group: self.variable.clone(),
            term: label(AxisKind::Term).unwrap_or_else(|| "Intercept".into()),
            class: label(AxisKind::Class),
        })
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl<T: Into<String>> From<T> for Name {
    fn from(text: T) -> Name {
        let text = text.into();
        Name::new(text.clone(), text)
    }
}
