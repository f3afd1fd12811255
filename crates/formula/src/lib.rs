//! Model formulas: parsed with positions, expanded to terms, fitted to bases.
//!
//! ```
//! use lehr_formula::Formula;
//!
//! let formula = Formula::parse("y ~ a*b + (1 | region/district)").unwrap();
//! let terms = formula.expand(&["y", "a", "b", "region", "district"]).unwrap();
//! assert_eq!(
//!     terms.to_string(),
//!     "y ~ 1 + a + b + a:b + (1 | region) + (1 | region:district)"
//! );
//! ```
//!  The steps, whose errors point into the text ([`FormulaError`]):
//!
//! 1. [`Formula::parse`]: text to a syntax tree ([`Formulas::parse`] where there may be several
//!    responses);
//! 2. [`Formula::expand`]: the algebra of `+ - : * / ^ .` to a list of [`Term`]s;
//! 3. [`Terms::check_columns`] and [`Terms::resolve_text`]: against a table's columns;
//! 4. [`TermLearner`]: from the rows of a table to a [`TermBasis`], which evaluates these rows and new
//!    ones.

mod basis;
mod coded;
mod column_use;
mod dialect;
mod error;
mod expansion;
mod expression;
mod factor;
mod formula;
mod function;
mod limited;
mod option;
mod parameter;
mod prior;
mod response;
mod several;
mod spelling;
mod spline;
mod splined;
mod syntax;

pub use lehr_spelling::nearest;

pub use basis::{
    BasisError, ColumnLabel, ColumnValues, FactorBasis, Lookup, Polynomial, Round, TermBasis,
    TermLearner, is_finite,
};
pub use coded::{CodedColumn, Contrast, LevelCoding};
pub use column_use::{ColumnRole, ColumnUse};
pub use dialect::parameter_advice as known_parameter;
pub use error::{FormulaError, Span, TextKind};
pub use expansion::{
    BY_ROW, ByVariable, CovariateTerm, EffectCorrelation, GpApproximation, GroupTerm, Intercept,
    KernelName, MonotonicTerm, PenalisedSpline, SmoothTerm, SplineTerm, Terms, effect_codings,
};
pub use expression::{ColumnExpr, EvaluateError, Operation, Standard};
pub use factor::{Factor, Term};
pub use formula::Formula;
pub use function::{ColumnFunction, function_names};
pub use limited::{CensoringTerm, Truncation};
pub use prior::{PriorSpec, PriorTarget};
pub use response::{Response, Trials};
pub use several::{Formulas, ResidualCorrelation};
pub use spline::{BSpline, CubicSpline, KnotSample};
pub use splined::{RegressionSpline, SplineKind};
pub use syntax::{ComparisonOperator, quote_name};
