//! Terms that are functions of columns: the constants that a table determines.

pub(crate) mod covariate;
pub(crate) mod monotonic;
pub(crate) mod smooth;
pub(crate) mod spline;
