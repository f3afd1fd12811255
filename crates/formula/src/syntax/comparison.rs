//! Comparisons of two numbers: `x > 3`.

/// A comparison of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparisonOperator {
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `==`
    Equal,
    /// `!=`
    Unequal,
}

impl ComparisonOperator {
    /// The symbol as it is written.
    pub(crate) fn symbol(self) -> &'static str {
        self.spaced_symbol().trim()
    }

    /// The symbol with a blank on either side.
    pub(crate) fn spaced_symbol(self) -> &'static str {
        match self {
            Self::Below => " < ",
            Self::AtMost => " <= ",
            Self::Above => " > ",
            Self::AtLeast => " >= ",
            Self::Equal => " == ",
            Self::Unequal => " != ",
        }
    }

    /// Whether it holds for two numbers.
    pub(crate) fn holds_between(self, left: f64, right: f64) -> bool {
        match self {
            Self::Below => left < right,
            Self::AtMost => left <= right,
            Self::Above => left > right,
            Self::AtLeast => left >= right,
            Self::Equal => left == right,
            Self::Unequal => left != right,
        }
    }
}
