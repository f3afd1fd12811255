//! The log density expanded around a point: the point, slopes and curvature there, and each row's remainder.

mod curvature;
mod expansion_point;
mod mode;
mod prior;
mod row;

pub use curvature::{Curvature, MAX_DENSE};
pub use expansion_point::ExpansionPoint;
pub use mode::Mode;
pub(crate) use prior::{LogPrior, has_hierarchy};
pub(crate) use row::{TaylorOrder, row_expansion, row_remainder};
