//! Ratios of gamma functions without cancellation.

use lehr_graph::Expr;

/// From here on the series below is exact to double precision.
const SERIES_FROM: f64 = 1e3;

/// ln Γ(a + b) − ln Γ(a) for a > 0, b ≥ 0.  Both terms grow like a ln a while the difference grows
/// like b ln a: for a dispersion of 10¹⁰ five digits would remain. Above 10³ the difference is
/// computed term by term from Stirling's series.
pub(super) fn log_gamma_ratio<'g>(a: Expr<'g>, b: Expr<'g>) -> Expr<'g> {
    let start = a.graph().scalar(SERIES_FROM);
    let near = (a + b).lgamma() - a.lgamma();
    // The branch that is not taken is kept away from its pole.
    start.less(a).select(stirling_ratio(a.max(start), b), near)
}

/// (a − ½) ln(1 + b/a) + b ln(a + b) − b + s(a + b) − s(a)
fn stirling_ratio<'g>(a: Expr<'g>, b: Expr<'g>) -> Expr<'g> {
    let sum = a + b;
    let main = (a - 0.5) * (b / a).log1p() + b * (sum.ln() - 1.0);
    main + (stirling_rest(sum) - stirling_rest(a))
}

/// s(x) = 1/12x − 1/360x³
fn stirling_rest(x: Expr<'_>) -> Expr<'_> {
    let r = x.recip();
    r * (1.0 / 12.0 - r.square() * (1.0 / 360.0))
}
