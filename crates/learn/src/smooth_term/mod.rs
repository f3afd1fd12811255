//! Terms that are functions of columns: what a table determines of them.

pub(crate) mod covariate;
pub(crate) mod monotonic;
pub(crate) mod smooth;
pub(crate) mod spline;
