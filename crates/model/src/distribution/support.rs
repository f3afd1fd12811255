//! Where the draws of a distribution lie.

/// The set a draw belongs to; of one event for vectors and matrices.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Support {
    /// Any finite number.
    Real,
    /// Numbers above zero.
    Positive,
    /// Numbers between 0 and 1.
    UnitInterval,
    /// Numbers between two bounds.
    Interval {
        /// The lower bound.
        low: f64,
        /// The upper bound.
        high: f64,
    },
    /// Vectors of positive numbers whose sum is 1.
    Simplex,
    /// Lower Cholesky factors of correlation matrices.
    CorrelationFactor,
    /// 0 or 1.
    Boolean,
    /// 0, 1, 2, …
    Count,
    /// 0, 1, …, `categories` − 1.
    Category {
        /// How many outcomes there are.
        categories: usize,
    },
}
