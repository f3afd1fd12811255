//! Functions of one number, applied to every element.

use serde::{Deserialize, Serialize};

use super::{Application, Op};
use crate::expr::Expr;
use crate::math as special;
use crate::simplify;

/// An elementwise function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) enum Unary {
    Neg,
    Abs,
    Sign,
    Exp,
    Expm1,
    Ln,
    Log1p,
    Sqrt,
    Recip,
    Square,
    Sigmoid,
    Softplus,
    Tanh,
    Elu,
    Lgamma,
    /// Derivative of order `n + 1` of `lgamma`: 0 is digamma, 1 trigamma.
    Polygamma(u8),
    Erf,
    Erfc,
    NormalLogCdf,
    /// φ(x)/Φ(x), the slope of `NormalLogCdf`.
    InverseMills,
    NormalQuantile,
    Sin,
    Cos,
    Atan,
    /// ln I₀(x) − |x|.
    LogBesselI0e,
    /// I₁(x)/I₀(x), the slope of ln I₀(x).
    BesselRatio,
    /// The slope of `BesselRatio`.
    BesselRatioSlope,
}

type Slope = for<'g> fn(Expr<'g>, Expr<'g>) -> Expr<'g>;

/// √(2π).
const SQRT_2_PI: f64 = 2.506_628_274_631_000_5;

/// One row of the table: name, value, and slope from the operand `x` and the result `y`.
struct UnaryRule {
    name: &'static str,
    value: fn(f64) -> f64,
    slope: Slope,
}

const fn table_row(name: &'static str, value: fn(f64) -> f64, slope: Slope) -> UnaryRule {
    UnaryRule { name, value, slope }
}

impl Unary {
    fn table_row(self) -> UnaryRule {
        use std::f64::consts::FRAC_2_SQRT_PI;
        match self {
            Unary::Neg => table_row("neg", |x| -x, |x, _| x.filled_like(-1.0)),
            Unary::Abs => table_row("abs", f64::abs, |x, _| x.sign()),
            Unary::Sign => table_row("sign", sign, |x, _| x.filled_like(0.0)),
            Unary::Exp => table_row("exp", f64::exp, |_, y| y),
            Unary::Expm1 => table_row("expm1", f64::exp_m1, |_, y| y + 1.0),
            Unary::Ln => table_row("ln", f64::ln, |x, _| x.recip()),
            Unary::Log1p => table_row("log1p", f64::ln_1p, |x, _| (x + 1.0).recip()),
            Unary::Sqrt => table_row("sqrt", f64::sqrt, |_, y| y.recip() * 0.5),
            Unary::Recip => table_row("recip", f64::recip, |_, y| -y.square()),
            Unary::Square => table_row("square", |x| x * x, |x, _| x * 2.0),
            Unary::Sigmoid => table_row("sigmoid", sigmoid, |_, y| y - y.square()),
            Unary::Softplus => table_row("softplus", softplus, |x, _| x.sigmoid()),
            Unary::Tanh => table_row("tanh", f64::tanh, |_, y| 1.0 - y.square()),
            Unary::Elu => table_row("elu", elu, |x, _| x.min(x.graph().scalar(0.0)).exp()),
            Unary::Lgamma => table_row("lgamma", special::lgamma, |x, _| x.digamma()),
            // The order is not available to a plain function; `value` and `slope` read it.
            Unary::Polygamma(_) => table_row("polygamma", |_| f64::NAN, |x, _| x),
            Unary::Erf => table_row("erf", special::erf, |x, _| {
                (-x.square()).exp() * FRAC_2_SQRT_PI
            }),
            Unary::Erfc => table_row("erfc", special::erfc, |x, _| {
                (-x.square()).exp() * -FRAC_2_SQRT_PI
            }),
            Unary::NormalLogCdf => table_row("normal_log_cdf", special::normal_log_cdf, |x, _| {
                x.inverse_mills()
            }),
            Unary::InverseMills => table_row("inverse_mills", special::inverse_mills, |x, y| {
                -(y * (x + y))
            }),
            Unary::NormalQuantile => {
                table_row("normal_quantile", special::normal_quantile, |_, y| {
                    (y.square() * 0.5).exp() * SQRT_2_PI
                })
            }
            Unary::Sin => table_row("sin", f64::sin, |x, _| x.cos()),
            Unary::Cos => table_row("cos", f64::cos, |x, _| -x.sin()),
            Unary::Atan => table_row("atan", f64::atan, |x, _| (x.square() + 1.0).recip()),
            Unary::LogBesselI0e => table_row("log_bessel_i0e", special::log_bessel_i0e, |x, _| {
                x.bessel_ratio() - x.sign()
            }),
            Unary::BesselRatio => table_row("bessel_ratio", special::bessel_ratio, |x, _| {
                x.bessel_ratio_slope()
            }),
            // A″ = A/x² − A′/x − 2AA′, by the equation of A.
            Unary::BesselRatioSlope => {
                table_row("bessel_ratio_slope", special::bessel_ratio_slope, |x, y| {
                    let ratio = x.bessel_ratio();
                    (ratio / x - y) / x - ratio * y * 2.0
                })
            }
        }
    }

    pub(crate) fn name(self) -> String {
        match self {
            Unary::Polygamma(n) => format!("polygamma {n}"),
            _ => self.table_row().name.into(),
        }
    }

    /// The function itself.
    pub(crate) fn value_at(self, x: f64) -> f64 {
        match self {
            Unary::Polygamma(n) => special::polygamma(u32::from(n), x),
            _ => (self.table_row().value)(x),
        }
    }

    fn slope_at<'g>(self, site: &Application<'_, 'g>) -> Expr<'g> {
        let x = site.inputs[0];
        match self {
            Unary::Polygamma(n) => x.apply_unary(Unary::Polygamma(n + 1)),
            _ => (self.table_row().slope)(x, site.out),
        }
    }

    pub(crate) fn pullback<'g>(self, site: &Application<'_, 'g>, adjoint: Expr<'g>) -> Expr<'g> {
        match self {
            Unary::Neg => -adjoint,
            _ => adjoint * self.slope_at(site),
        }
    }

    pub(crate) fn pushforward<'g>(self, site: &Application<'_, 'g>, tangent: Expr<'g>) -> Expr<'g> {
        self.pullback(site, tangent)
    }
}

fn sign(x: f64) -> f64 {
    match x {
        _ if x > 0.0 => 1.0,
        _ if x < 0.0 => -1.0,
        _ => x,
    }
}

/// 1/(1 + e⁻ˣ) without overflow.
pub(crate) fn sigmoid(x: f64) -> f64 {
    let e = (-x.abs()).exp();
    if x >= 0.0 {
        1.0 / (1.0 + e)
    } else {
        e / (1.0 + e)
    }
}

/// ln(1 + eˣ) without overflow.
pub(crate) fn softplus(x: f64) -> f64 {
    let excess = (-x.abs()).exp().ln_1p();
    if x > 0.0 { x + excess } else { excess }
}

fn elu(x: f64) -> f64 {
    if x > 0.0 { x } else { x.exp_m1() }
}

macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident => $op:ident;)*) => {
        impl Expr<'_> {
            $($(#[$doc])* #[must_use] pub fn $name(self) -> Self { self.apply_unary(Unary::$op) })*
        }
    };
}

methods! {
    /// The absolute value; its slope at zero is zero.
    abs => Abs;
    /// −1, 0 or 1.
    sign => Sign;
    /// eˣ.
    exp => Exp;
    /// eˣ − 1 without cancellation.
    expm1 => Expm1;
    /// The natural logarithm.
    ln => Ln;
    /// ln(1 + x) without cancellation.
    log1p => Log1p;
    /// The square root.
    sqrt => Sqrt;
    /// 1/x.
    recip => Recip;
    /// x².
    square => Square;
    /// 1/(1 + e⁻ˣ).
    sigmoid => Sigmoid;
    /// ln(1 + eˣ).
    softplus => Softplus;
    /// The hyperbolic tangent.
    tanh => Tanh;
    /// x above zero, eˣ − 1 below.
    elu => Elu;
    /// ln |Γ(x)|.
    lgamma => Lgamma;
    /// The error function.
    erf => Erf;
    /// 1 − erf(x) without cancellation.
    erfc => Erfc;
    /// ln Φ(x), Φ the distribution function of N(0, 1).
    normal_log_cdf => NormalLogCdf;
    /// φ(x)/Φ(x), the slope of [`Expr::normal_log_cdf`].
    inverse_mills => InverseMills;
    /// Φ⁻¹(x), where Φ is the distribution function of N(0, 1).
    normal_quantile => NormalQuantile;
    /// The sine of an angle.
    sin => Sin;
    /// The cosine of an angle.
    cos => Cos;
    /// The arc tangent, from −π/2 to π/2.
    atan => Atan;
    /// ln I₀(x) − |x|, I₀ the modified Bessel function.
    log_bessel_i0e => LogBesselI0e;
    /// I₁(x)/I₀(x), the slope of ln I₀(x).
    bessel_ratio => BesselRatio;
    /// The slope of [`Expr::bessel_ratio`].
    bessel_ratio_slope => BesselRatioSlope;
}

impl<'g> Expr<'g> {
    pub(crate) fn apply_unary(self, op: Unary) -> Expr<'g> {
        simplify::simplify_unary(op, self)
            .unwrap_or_else(|| self.graph().build(Op::Unary(op), &[self], self.shape()))
    }

    /// The slope of [`Expr::lgamma`].
    #[must_use]
    pub fn digamma(self) -> Expr<'g> {
        self.apply_unary(Unary::Polygamma(0))
    }

    /// The slope of [`Expr::digamma`].
    #[must_use]
    pub fn trigamma(self) -> Expr<'g> {
        self.apply_unary(Unary::Polygamma(1))
    }

    /// The number `value`, where an array of this shape is expected.
    pub(crate) fn filled_like(self, value: f64) -> Expr<'g> {
        self.graph().full(self.shape(), value)
    }
}
