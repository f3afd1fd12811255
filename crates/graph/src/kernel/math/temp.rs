//! Temporary.
pub fn lgamma(x: f64) -> f64 {
    libm::lgamma(x)
}
pub fn polygamma(_n: u32, _x: f64) -> f64 {
    f64::NAN
}
pub fn erf(x: f64) -> f64 {
    libm::erf(x)
}
pub fn erfc(x: f64) -> f64 {
    libm::erfc(x)
}
pub fn normal_log_cdf(x: f64) -> f64 {
    (0.5 * libm::erfc(-x / 2f64.sqrt())).ln()
}
pub fn inverse_mills(x: f64) -> f64 {
    (-0.5 * x * x - 0.918_938_533_204_672_7 - normal_log_cdf(x)).exp()
}
