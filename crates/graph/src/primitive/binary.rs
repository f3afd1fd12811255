//! Functions of two numbers, applied elementwise to arrays that broadcast.

use serde::{Deserialize, Serialize};

use super::layout::at_broadcast;
use super::{Application, Event, Op};
use crate::expr::{Expr, add_parts};
use crate::math as special;
use crate::shape::Shape;
use crate::simplify;

/// An elementwise function of two arrays. Comparisons give 1 or 0 and have no slope.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Pow,
    Min,
    Max,
    Less,
    LessEqual,
    Equal,
    /// ln P(x, eʸ), the regularised incomplete gamma function.
    GammaLogBelow,
    /// ln(1 − P(x, eʸ)).
    GammaLogAbove,
}

/// Slopes in both operands, from the operands `x`, `y` and the result.
type Slope = for<'g> fn(Expr<'g>, Expr<'g>, Expr<'g>) -> Expr<'g>;

/// One row of the table: name, value and the two slopes (`None` is zero everywhere).
struct BinaryRule {
    name: &'static str,
    value: fn(f64, f64) -> f64,
    slopes: Option<[Slope; 2]>,
}

const fn table_row(
    name: &'static str,
    value: fn(f64, f64) -> f64,
    slopes: Option<[Slope; 2]>,
) -> BinaryRule {
    BinaryRule {
        name,
        value,
        slopes,
    }
}

impl Binary {
    fn table_row(self) -> BinaryRule {
        match self {
            Binary::Add => table_row(
                "add",
                |x, y| x + y,
                Some([|x, _, _| x.filled_like(1.0), |_, y, _| y.filled_like(1.0)]),
            ),
            Binary::Sub => table_row(
                "sub",
                |x, y| x - y,
                Some([|x, _, _| x.filled_like(1.0), |_, y, _| y.filled_like(-1.0)]),
            ),
            Binary::Mul => table_row("mul", |x, y| x * y, Some([|_, y, _| y, |x, _, _| x])),
            Binary::Div => table_row(
                "div",
                |x, y| x / y,
                Some([|_, y, _| y.recip(), |_, y, out| -(out * y.recip())]),
            ),
            Binary::Pow => table_row(
                "pow",
                f64::powf,
                Some([|x, y, _| y * x.pow(y - 1.0), |x, _, out| out * x.ln()]),
            ),
            Binary::Min => table_row(
                "min",
                |x, y| if x <= y || x.is_nan() { x } else { y },
                Some([|x, y, _| x.less_equal(y), |x, y, _| y.less(x)]),
            ),
            Binary::Max => table_row(
                "max",
                |x, y| if x >= y || x.is_nan() { x } else { y },
                Some([|x, y, _| y.less_equal(x), |x, y, _| x.less(y)]),
            ),
            Binary::Less => table_row("less", |x, y| f64::from(x < y), None),
            Binary::LessEqual => table_row("less_equal", |x, y| f64::from(x <= y), None),
            Binary::Equal => table_row("equal", |x, y| f64::from(x == y), None),
            Binary::GammaLogBelow => table_row(
                "gamma_log_below",
                special::gamma_log_below,
                Some([
                    |x, _, _| x.filled_like(f64::NAN),
                    |x, y, out| gamma_slope(x, y, out),
                ]),
            ),
            Binary::GammaLogAbove => table_row(
                "gamma_log_above",
                special::gamma_log_above,
                Some([
                    |x, _, _| x.filled_like(f64::NAN),
                    |x, y, out| -gamma_slope(x, y, out),
                ]),
            ),
        }
    }

    pub(crate) fn name(self) -> &'static str {
        self.table_row().name
    }

    /// The function itself.
    pub(crate) fn value_at(self, x: f64, y: f64) -> f64 {
        (self.table_row().value)(x, y)
    }

    /// True if swapping the operands changes nothing.
    pub(crate) fn commutes(self) -> bool {
        matches!(self, Binary::Add | Binary::Mul | Binary::Equal)
    }

    fn slope_at<'g>(self, site: &Application<'_, 'g>, k: usize) -> Option<Expr<'g>> {
        let slopes = self.table_row().slopes?;
        Some(slopes[k](site.inputs[0], site.inputs[1], site.out))
    }

    pub(crate) fn pullback<'g>(
        self,
        site: &Application<'_, 'g>,
        adjoint: Expr<'g>,
        k: usize,
    ) -> Option<Expr<'g>> {
        let product = adjoint * self.slope_at(site, k)?;
        // The product of a broadcast adjoint and a small slope may itself be small.
        let whole = product.broadcast(site.out.shape());
        Some(whole.sum_to(site.inputs[k].shape()))
    }

    pub(crate) fn pushforward<'g>(
        self,
        site: &Application<'_, 'g>,
        tangents: &[Option<Expr<'g>>],
    ) -> Option<Expr<'g>> {
        let part = |k: usize| Some(tangents[k]? * self.slope_at(site, k)?);
        Some(add_parts(part(0), part(1))?.broadcast(site.out.shape()))
    }
}

/// eˣʸ exp(−eʸ)/Γ(x), the slope of P(x, eʸ) in y, relative to the exponential of `out`; zero where x is
/// not above 0.
fn gamma_slope<'g>(x: Expr<'g>, y: Expr<'g>, out: Expr<'g>) -> Expr<'g> {
    let zero = x.graph().scalar(0.0);
    let is_positive = zero.less(x);
    // The branch that is not taken stays finite, so that its slopes do, too.
    let shape = is_positive.select(x, x.filled_like(1.0));
    let out = is_positive.select(out, zero);
    let slope = (shape * y - y.exp() - shape.lgamma() - out).exp();
    is_positive.select(slope, zero)
}

pub(super) fn reference_values(op: Binary, inputs: &[Event<'_>], shape: Shape) -> Vec<f64> {
    let at = |i: usize, k: usize| at_broadcast(inputs[k], shape, i);
    (0..shape.size())
        .map(|i| op.value_at(at(i, 0), at(i, 1)))
        .collect()
}

impl<'g> Expr<'g> {
    #[track_caller]
    pub(crate) fn apply_binary(self, op: Binary, other: Expr<'g>) -> Expr<'g> {
        let Some(shape) = self.shape().broadcast(other.shape()) else {
            return self.graph().fail(format!(
                "{}: shapes {} and {} do not broadcast",
                op.name(),
                self.shape(),
                other.shape()
            ));
        };
        simplify::binary(op, self, other, shape)
            .unwrap_or_else(|| self.graph().build(Op::Binary(op), &[self, other], shape))
    }

    /// The nearest number between `low` and `high`; the slope outside is zero.
    #[must_use]
    pub fn clip(self, low: f64, high: f64) -> Expr<'g> {
        let graph = self.graph();
        self.max(graph.scalar(low)).min(graph.scalar(high))
    }
}

macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident($other:ident) => $op:ident;)*) => {
        impl<'g> Expr<'g> {
            $($(#[$doc])* #[must_use] #[track_caller]
            pub fn $name(self, $other: Expr<'g>) -> Expr<'g> { self.apply_binary(Binary::$op, $other) })*
        }
    };
}

methods! {
    /// xʸ for x > 0, or for any x where y is a constant whole number.
    pow(exponent) => Pow;
    /// The smaller of the two.
    min(other) => Min;
    /// The larger of the two.
    max(other) => Max;
    /// ln P(a, eᵘ) for a = `self` and u = `log_point`, with P(a, x) = ∫₀ˣ tᵃ⁻¹e⁻ᵗ dt/Γ(a): the
    /// probability that a Poisson count of log rate u is a or more. Its slope in a is not
    /// implemented and is NaN.
    gamma_log_below(log_point) => GammaLogBelow;
    /// ln(1 − P(a, eᵘ)), as [`Expr::gamma_log_below`]: the probability of a Poisson count below a.
    gamma_log_above(log_point) => GammaLogAbove;
    /// 1 where `self < other`, else 0.
    less(other) => Less;
    /// 1 where `self ≤ other`, else 0.
    less_equal(other) => LessEqual;
    /// 1 where the two are equal, else 0.
    equal(other) => Equal;
}
