//! Turns factors into numbers: fitted to one table, applied to others.

mod coded;
mod column;
mod error;
mod factor_basis;
mod finite;
mod label;
mod learner;
mod level;
mod polynomial;
mod running;
mod splined;
mod term_basis;

pub use column::{ColumnValues, Lookup};
pub use error::BasisError;
pub use factor_basis::FactorBasis;
pub use finite::is_finite;
pub use label::ColumnLabel;
pub use learner::{Round, TermLearner};
pub use polynomial::Polynomial;
pub use term_basis::TermBasis;
