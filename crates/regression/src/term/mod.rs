//! The terms of a model: the plan, the default priors and the sites of each.

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
