//! Values that a support refuses.

use thiserror::Error;

/// The reasons why values cannot be mapped to the unconstrained scale.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SupportError {
    /// The number of values is not that of whole events.
    #[error("{support}: expected a multiple of {expected} values, found {found}")]
    Length {
        /// The support in words.
        support: String,
        /// The size of one event.
        expected: usize,
        /// How many values were given.
        found: usize,
    },
    /// A value outside the support, or on its edge where the bijection has no inverse.
    #[error("{support}: expected values strictly inside, found {found}")]
    Outside {
        /// The support in words.
        support: String,
        /// The offending event.
        found: String,
    },
    /// A shape that does not end in the support's event.
    #[error("{support}: expected a shape that ends in {event}, found {found}")]
    Shape {
        /// The support in words.
        support: String,
        /// The event's shape.
        event: String,
        /// The shape that was requested.
        found: String,
    },
}

/// The reasons why named sites cannot be laid out.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum LayoutError {
    /// Two sites of one name.
    #[error("site {name:?}: names must differ, found it twice\n  hint: rename one of the two")]
    Duplicate {
        /// The repeated name.
        name: String,
    },
    /// A shape or a start that the site's support refuses.
    #[error("site {name:?}: {source}")]
    Support {
        /// The site.
        name: String,
        /// The error of its support.
        source: SupportError,
    },
    /// A shape of too many dimensions, or of more numbers than can be counted.
    #[error("site {name:?}: {message}")]
    Size {
        /// The site.
        name: String,
        /// The expected and the found size.
        message: String,
    },
    /// A start or a value of the wrong size.
    #[error("site {name:?}: expected {expected} values, found {found}")]
    Length {
        /// The site.
        name: String,
        /// The size of the site's shape.
        expected: usize,
        /// How many values were given.
        found: usize,
    },
}
