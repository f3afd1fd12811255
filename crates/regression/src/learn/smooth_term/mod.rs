//! Terms that are functions of columns, as they are learnt of a table.

pub(crate) mod covariate;
pub(crate) mod monotonic;
pub(crate) mod smooth;
pub(crate) mod spline;
