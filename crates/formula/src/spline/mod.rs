//! Piecewise polynomials of one number: B-splines, and cubic splines by their values at the knots.

mod bspline;
mod cubic;
mod sample;

pub use bspline::BSpline;
pub use cubic::CubicSpline;
pub use sample::KnotSample;
