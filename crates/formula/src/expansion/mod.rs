//! Expands a syntax tree to a flat list of terms.

mod algebra;
mod covariate;
mod group;
mod intercept;
mod monotonic;
mod side;
mod smooth;
mod spline;
mod terms;

pub use covariate::CovariateTerm;
pub use group::{BY_ROW, EffectCorrelation, GroupTerm};
pub use intercept::Intercept;
pub use monotonic::MonotonicTerm;
pub use smooth::{ByVariable, GpApproximation, KernelName, SmoothTerm};
pub use spline::{PenalisedSpline, SplineTerm};
pub use terms::{Terms, effect_codings};

pub(crate) use covariate::parse_parameter as covariate_parameter;
pub(crate) use group::grouping_of;
pub(crate) use monotonic::parse_parameter as monotonic_parameter;
pub(crate) use side::{Expander, RightSidePart, bare_pipe};
pub(crate) use smooth::parse_parameter as smooth_parameter;
pub(crate) use spline::NAME as SPLINE;
