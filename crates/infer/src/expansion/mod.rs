//! The log density expanded around a point: the point, slopes and curvature there, and each row's remainder.

mod centre;
mod curvature;
mod mode;
mod prior;
mod row;

pub use centre::Centre;
pub use curvature::{Curvature, MAX_DENSE};
pub use mode::Mode;
pub(crate) use prior::{Prior, has_hierarchy};
pub(crate) use row::{Order, row_expansion, row_remainder};
