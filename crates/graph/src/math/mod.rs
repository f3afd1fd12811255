//! Elementary and special functions, on vectors of the machine's width or on one number.
//!
//! The vector functions take and return one register (`S::f64s`), have no branches and inline into
//! the caller's loop. Each is within 2¼ ulp of the exact value over its whole domain, those of the
//! normal distribution within 9, on every instruction set, with or without fused multiply-add.

#![expect(
    clippy::inline_always,
    reason = "an instruction wrapper that is not inlined into a function compiled for its set costs a call"
)]

mod bessel;
mod choose;
mod exp;
mod exponent;
mod gamma;
mod incomplete_gamma;
mod ln;
mod logistic;
mod map;
mod mills;
mod normal;
mod polygamma;
mod polynomial;
mod tanh;

#[cfg(test)]
mod testing;

pub use bessel::{bessel_ratio, bessel_ratio_slope, log_bessel_i0e};
pub(crate) use choose::choose_lanes;
pub use exp::{exp, expm1};
pub use gamma::lgamma;
pub use incomplete_gamma::{gamma_log_above, gamma_log_below};
pub use ln::{ln, log1p};
pub use logistic::{sigmoid, sigmoid_softplus, softplus};
pub use map::map;
pub use mills::{inverse_mills_ratios, normal_log_cdfs};
pub use normal::{erf, erfc, inverse_mills, normal_log_cdf, normal_quantile};
pub use polygamma::polygamma;
pub use tanh::tanh;
