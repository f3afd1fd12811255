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

type NumberFunction = fn(f64) -> f64;

/// The name of each function, and its value; in the order of the enumeration.
const FUNCTIONS: [(&str, ColumnFunction, NumberFunction); 11] = [
    ("exp", ColumnFunction::Exp, f64::exp),
    ("log", ColumnFunction::Log, f64::ln),
    ("log1p", ColumnFunction::Log1p, f64::ln_1p),
    ("log2", ColumnFunction::Log2, f64::log2),
    ("log10", ColumnFunction::Log10, f64::log10),
    ("sqrt", ColumnFunction::Sqrt, f64::sqrt),
    ("abs", ColumnFunction::Abs, f64::abs),
    ("sin", ColumnFunction::Sin, f64::sin),
    ("cos", ColumnFunction::Cos, f64::cos),
    ("tanh", ColumnFunction::Tanh, f64::tanh),
    ("floor", ColumnFunction::Floor, f64::floor),
];

/// Calls with a meaning for the formula as a whole and not for one row.
pub(crate) const SPECIALS: [&str; 19] = [
    "C", "I", "poly", "scale", "center", "offset", "weights", "trials", "cbind", "gp", "s", "bs",
    "ns", "mo", "se", "cens", "trunc", "me", "mi",
];

impl ColumnFunction {
    /// The function of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        let found = FUNCTIONS.iter().find(|(known, ..)| *known == name);
        found.map(|&(_, function, _)| function)
    }

    /// The name of the function in a formula.
    pub fn name(self) -> &'static str {
        FUNCTIONS[self as usize].0
    }

    /// Its value; NaN outside the domain.
    pub fn apply_to(self, value: f64) -> f64 {
        (FUNCTIONS[self as usize].2)(value)
    }
}

/// The names that a formula may call.
pub fn function_names() -> impl Iterator<Item = &'static str> {
    SPECIALS.into_iter().chain(FUNCTIONS.map(|(name, ..)| name))
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
        for (name, function, _) in FUNCTIONS {
            assert_eq!(ColumnFunction::from_name(name), Some(function));
            assert_eq!(function.name(), name);
        }
        assert_eq!(ColumnFunction::from_name("ln"), None);
    }
}
