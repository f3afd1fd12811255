//! The terms of a model: what each of them plans, and the sites that it has.

pub(crate) mod centring;
pub(crate) mod covariate;
pub(crate) mod group;
pub(crate) mod induced;
pub(crate) mod intercept;
pub(crate) mod monotonic;
pub(crate) mod parameter;
pub(crate) mod residual;
pub(crate) mod row_effect;
pub(crate) mod smooth;
pub(crate) mod spline;
