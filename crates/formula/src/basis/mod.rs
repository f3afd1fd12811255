//! From factors to numbers: fitted on one table, applied to others.

mod coded;
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

pub use error::BasisError;
pub use factor_basis::{Basis, Column, Lookup};
pub use finite::is_finite;
pub use label::ColumnLabel;
pub use learner::{Round, TermLearner};
pub use level::Coding;
pub use polynomial::Polynomial;
pub use term_basis::TermBasis;
