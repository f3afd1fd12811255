//! The functions that a formula may call, and advice on unknown ones.

use lehr_spelling::nearest;
use serde::{Deserialize, Serialize};

use crate::dialect;
use crate::error::{FormulaError, Span};

/// A function of one number, applied row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ColumnFunction {
    /// e to the power x.
    Exp,
    /// Natural logarithm.
    Log,
    /// log(1 + x), exact near zero.
    Log1p,
    /// Logarithm to base 2.
    Log2,
    /// Logarithm to base 10.
    Log10,
    /// Square root.
    Sqrt,
    /// Absolute value.
    Abs,
    /// Sine, of radians.
    Sin,
    /// Cosine, of radians.
    Cos,
    /// Hyperbolic tangent.
    Tanh,
    /// The largest whole number that is not above it.
    Floor,
}

const FUNCTIONS: [(&str, ColumnFunction); 11] = [
    ("exp", ColumnFunction::Exp),
    ("log", ColumnFunction::Log),
    ("log1p", ColumnFunction::Log1p),
    ("log2", ColumnFunction::Log2),
    ("log10", ColumnFunction::Log10),
    ("sqrt", ColumnFunction::Sqrt),
    ("abs", ColumnFunction::Abs),
    ("sin", ColumnFunction::Sin),
    ("cos", ColumnFunction::Cos),
    ("tanh", ColumnFunction::Tanh),
    ("floor", ColumnFunction::Floor),
];

/// Calls with a meaning for the formula as a whole and not for one row.
pub(crate) const SPECIALS: [&str; 19] = [
    "C", "I", "poly", "scale", "center", "offset", "weights", "trials", "cbind", "gp", "s", "bs",
    "ns", "mo", "se", "cens", "trunc", "me", "mi",
];

impl ColumnFunction {
    /// The function of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        FUNCTIONS
            .iter()
            .find(|(known, _)| *known == name)
            .map(|&(_, function)| function)
    }

    /// The name of the function in a formula.
    pub fn name(self) -> &'static str {
        FUNCTIONS
            .iter()
            .find(|&&(_, function)| function == self)
            .map_or("", |&(name, _)| name)
    }

    /// Its value; NaN outside the domain.
    pub fn apply_to(self, value: f64) -> f64 {
        match self {
            Self::Exp => value.exp(),
            Self::Log => value.ln(),
            Self::Log1p => value.ln_1p(),
            Self::Log2 => value.log2(),
            Self::Log10 => value.log10(),
            Self::Sqrt => value.sqrt(),
            Self::Abs => value.abs(),
            Self::Sin => value.sin(),
            Self::Cos => value.cos(),
            Self::Tanh => value.tanh(),
            Self::Floor => value.floor(),
        }
    }
}

/// The names that a formula may call.
pub fn function_names() -> impl Iterator<Item = &'static str> {
    SPECIALS.into_iter().chain(FUNCTIONS.map(|(name, _)| name))
}

/// The error for an unknown function, with the nearest known name.
pub(crate) fn unknown_function(name: &str, span: Span) -> FormulaError {
    let error = FormulaError::new(
        Span::new(span.start, span.start + name.len()),
        format!("no function \"{name}\""),
    );
    if let Some(advice) = dialect::function_advice(name) {
        return error.with_hint(advice);
    }
    let known: Vec<&str> = function_names().collect();
    match nearest(name, &known) {
        Some(near) => error.with_hint(format!("did you mean \"{near}\"?")),
        None => error.with_hint(format!("the functions are {}", known.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_is_found_by_its_own_name() {
        for (name, function) in FUNCTIONS {
            assert_eq!(ColumnFunction::from_name(name), Some(function));
            assert_eq!(function.name(), name);
        }
        assert_eq!(ColumnFunction::from_name("ln"), None);
    }
}
