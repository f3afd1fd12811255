//! From a syntax tree to a flat list of terms.

mod algebra;
mod column_use;
mod covariate;
mod group;
mod monotonic;
mod parameter;
mod side;
mod smooth;
mod spline;
mod terms;

pub use column_use::{ColumnRole, ColumnUse};
pub use covariate::CovariateTerm;
pub use group::{BY_ROW, Correlation, GroupTerm};
pub use monotonic::MonotonicTerm;
pub use smooth::{By, How, KernelName, SmoothTerm};
pub use spline::{Penalised, SplineTerm};
pub use terms::{Intercept, Terms, effect_codings};

pub(crate) use covariate::parameter as covariate_parameter;
pub(crate) use group::grouping_of;
pub(crate) use monotonic::parameter as monotonic_parameter;
pub(crate) use side::{Expander, Side, bare_pipe};
pub(crate) use smooth::{advice as smooth_advice, parameter as smooth_parameter};
pub(crate) use spline::NAME as SPLINE;
