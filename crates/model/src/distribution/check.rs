//! Domains of parameters, checked if the values are constants.

use std::fmt;

use lehr_graph::Shape;

use super::value::{PositiveValue, Value};

/// A constant parameter outside its domain, or parameters whose shapes do not fit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParameterError {
    /// The distribution.
    pub distribution: &'static str,
    /// The expected and the found value.
    pub message: String,
    /// Advice; empty if the message contains it.
    pub hint: &'static str,
}

impl fmt::Display for ParameterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.distribution, self.message)?;
        if self.hint.is_empty() {
            return Ok(());
        }
        write!(f, "\n  hint: {}", self.hint)
    }
}

impl std::error::Error for ParameterError {}

/// Checks one parameter after another and stops at the first that is wrong.
pub(super) struct ParameterCheck {
    distribution: &'static str,
    found: Result<(), ParameterError>,
    shape: Shape,
}

impl ParameterCheck {
    pub(super) fn for_distribution(distribution: &'static str) -> ParameterCheck {
        ParameterCheck {
            distribution,
            found: Ok(()),
            shape: Shape::SCALAR,
        }
    }

    /// The first mistake, if there was one.
    pub(super) fn into_result(self) -> Result<(), ParameterError> {
        self.found
    }

    pub(super) fn add_error(mut self, message: String, hint: &'static str) -> ParameterCheck {
        if self.found.is_ok() {
            self.found = Err(ParameterError {
                distribution: self.distribution,
                message,
                hint,
            });
        }
        self
    }

    /// Fails unless `holds`, which is evaluated for constants only.
    pub(super) fn require_values(
        self,
        name: &str,
        value: &Value<'_>,
        expected: &str,
        holds: impl Fn(f64) -> bool,
    ) -> ParameterCheck {
        match value.constant_values().into_iter().find(|&x| !holds(x)) {
            Some(x) => self.add_error(format!("{name} must be {expected}, found {x}"), ""),
            None => self,
        }
    }

    pub(super) fn require_finite(self, name: &str, value: &Value<'_>) -> ParameterCheck {
        self.require_values(name, value, "finite", f64::is_finite)
            .require_shape(name, value)
    }

    pub(super) fn require_positive(self, name: &str, value: &Value<'_>) -> ParameterCheck {
        self.require_values(name, value, "positive", |x| x > 0.0 && x.is_finite())
            .require_shape(name, value)
    }

    pub(super) fn require_probability(self, name: &str, value: &Value<'_>) -> ParameterCheck {
        self.require_values(name, value, "between 0 and 1", |x| (0.0..=1.0).contains(&x))
            .require_shape(name, value)
    }

    pub(super) fn require_count(self, name: &str, value: &Value<'_>) -> ParameterCheck {
        let whole = |x: f64| x >= 0.0 && x.is_finite() && x.fract() == 0.0;
        self.require_values(name, value, "a whole number from 0 on", whole)
            .require_shape(name, value)
    }

    /// The name is that of the number; its logarithm is named after it.
    pub(super) fn require_positive_value(
        self,
        name: &str,
        value: &PositiveValue<'_>,
    ) -> ParameterCheck {
        match value {
            PositiveValue::Number(value) => self.require_positive(name, value),
            PositiveValue::Log(value) => self.require_finite(&format!("log_{name}"), value),
        }
    }

    /// Fails if the shape does not broadcast with those of the earlier parameters.
    fn require_shape(mut self, name: &str, value: &Value<'_>) -> ParameterCheck {
        if let Some(shape) = self.shape.broadcast(value.shape()) {
            self.shape = shape;
            return self;
        }
        let message = format!(
            "{name} must fit the other parameters of shape {}, found shape {}",
            self.shape,
            value.shape()
        );
        self.add_error(message, "shapes must be equal, or 1 where they differ")
    }
}
