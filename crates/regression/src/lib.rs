//! From a formula, a family, priors and a table to a model, and back to coefficients on the
//! original scale.

mod error;
mod family;
mod new_rows;
mod regression;

pub use error::RegressionError;
pub use family::{Family, Link};
pub use new_rows::NewRows;
pub use regression::{Groups, NamedDraws, NewLevels, Regression};
