//! From a formula, a family, priors and a table to a model, and back to coefficients on the
//! original scale.

mod anchor;
mod blueprint;
mod coefficient;
mod design;
mod error;
mod family;
mod grouping;
mod law;
mod new_rows;
mod outcome;
mod population;
mod prior;
mod program;
mod regression;
mod source;

pub use error::RegressionError;
pub use family::{Family, Link};
pub use new_rows::NewRows;
pub use regression::{Groups, NamedDraws, NewLevels, Regression};
