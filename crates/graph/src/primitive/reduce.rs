//! Sums, maxima and running sums along axes.

use serde::{Deserialize, Serialize};

use super::{Application, Event, Op};
use crate::expr::Expr;
use crate::shape::Shape;
use crate::simplify;

/// The reduction along an axis.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) enum Reduction {
    Sum,
    Max,
}

impl Reduction {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Reduction::Sum => "sum",
            Reduction::Max => "max",
        }
    }

    /// The value of an empty reduction.
    pub(crate) fn start_value(self) -> f64 {
        match self {
            Reduction::Sum => 0.0,
            Reduction::Max => f64::NEG_INFINITY,
        }
    }
}

/// The direction of a running sum.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) enum Direction {
    Forward,
    Backward,
}

impl Direction {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Direction::Forward => "forward",
            Direction::Backward => "backward",
        }
    }

    pub(crate) fn reversed(self) -> Direction {
        match self {
            Direction::Forward => Direction::Backward,
            Direction::Backward => Direction::Forward,
        }
    }
}

impl<'g> Expr<'g> {
    #[track_caller]
    pub(crate) fn reduce(self, by: Reduction, first: usize, count: usize) -> Expr<'g> {
        let shape = self.shape();
        let end = first.saturating_add(count);
        if end > shape.rank() {
            return self.graph().fail(format!(
                "{}: axes {first}..{end} are not in shape {shape}",
                by.name()
            ));
        }
        if count == 0 {
            return self;
        }
        simplify::reduce(by, self, first, count).unwrap_or_else(|| {
            let op = Op::Reduce { by, first, count };
            self.graph()
                .build(op, &[self], shape.without_axes(first, count))
        })
    }

    /// The sum of all numbers of the event.
    #[must_use]
    pub fn sum(self) -> Expr<'g> {
        self.reduce(Reduction::Sum, 0, self.shape().rank())
    }

    /// The sum along one axis, which disappears.
    #[must_use]
    #[track_caller]
    pub fn sum_axis(self, axis: usize) -> Expr<'g> {
        self.reduce(Reduction::Sum, axis, 1)
    }

    /// The mean of all numbers of the event.
    #[must_use]
    pub fn mean(self) -> Expr<'g> {
        if self.shape().is_symbolic() {
            return self.sum() / self.filled_like(1.0).sum();
        }
        self.sum() * (1.0 / self.shape().size() as f64)
    }

    /// The largest number of the event.
    #[must_use]
    pub fn maximum(self) -> Expr<'g> {
        self.reduce(Reduction::Max, 0, self.shape().rank())
    }

    /// The largest number along one axis, which disappears.
    #[must_use]
    #[track_caller]
    pub fn max_axis(self, axis: usize) -> Expr<'g> {
        self.reduce(Reduction::Max, axis, 1)
    }

    /// ln Σ eˣ along one axis, which disappears; neither overflows nor underflows.
    #[must_use]
    #[track_caller]
    pub fn log_sum_exp(self, axis: usize) -> Expr<'g> {
        let graph = self.graph();
        if axis >= self.shape().rank() {
            let found = self.shape();
            return graph.fail(format!("log_sum_exp: axis {axis} is not in shape {found}"));
        }
        let peak = self.max_axis(axis).stop_gradient();
        // A row of −∞ has no finite peak; zero in its place keeps −∞ − (−∞) away.
        let finite = peak.abs().less(graph.scalar(f64::INFINITY));
        let shift = finite.select(peak, graph.scalar(0.0));
        let kept = self.shape().with_dim(axis, 1);
        let total = (self - shift.reshape(kept)).exp().sum_axis(axis);
        total.ln() + shift
    }

    pub(crate) fn cumulative(self, direction: Direction) -> Expr<'g> {
        if self.shape().dims().last() == Some(&1) {
            return self;
        }
        self.graph()
            .build(Op::CumulativeSum(direction), &[self], self.shape())
    }

    /// The running sum along the last axis.
    #[must_use]
    #[track_caller]
    pub fn cumulative_sum(self) -> Expr<'g> {
        if self.shape().is_scalar() {
            let message = "cumulative_sum: expects an axis, found a scalar";
            return self.graph().fail(message.into());
        }
        self.cumulative(Direction::Forward)
    }

    /// The sum over the axes that were broadcast from `shape`: the transpose of that broadcast.
    pub(crate) fn sum_to(self, shape: Shape) -> Expr<'g> {
        let mut sum = self;
        let rank = self.shape().rank();
        let repeated = |axis: usize| {
            shape.aligned_axis(axis, rank) == 1
                && (self.shape().dims()[axis] != 1 || axis + shape.rank() < rank)
        };
        let mut axis = rank;
        while axis > 0 {
            let last = axis;
            while axis > 0 && repeated(axis - 1) {
                axis -= 1;
            }
            sum = sum.reduce(Reduction::Sum, axis, last - axis);
            axis = axis.saturating_sub(usize::from(axis == last));
        }
        sum.reshape(shape)
    }
}

/// The shape of the operand with the reduced axes kept as unit axes.
fn kept_shape(shape: Shape, axes: (usize, usize)) -> Shape {
    (axes.0..axes.0 + axes.1).fold(shape, |s, axis| s.with_dim(axis, 1))
}

/// The indicator of the maximum, divided equally among ties.
fn peak_share<'g>(site: &Application<'_, 'g>, axes: (usize, usize)) -> Expr<'g> {
    let x = site.inputs[0];
    let ones = kept_shape(x.shape(), axes);
    let mask = x.equal(site.out.reshape(ones)).stop_gradient();
    mask / mask.reduce(Reduction::Sum, axes.0, axes.1).reshape(ones)
}

pub(super) fn pullback<'g>(
    by: Reduction,
    axes: (usize, usize),
    site: &Application<'_, 'g>,
    adjoint: Expr<'g>,
) -> Expr<'g> {
    let shape = site.inputs[0].shape();
    let spread = adjoint.reshape(kept_shape(shape, axes));
    match by {
        Reduction::Sum => spread.broadcast(shape),
        Reduction::Max => spread * peak_share(site, axes),
    }
}

pub(super) fn pushforward<'g>(
    by: Reduction,
    axes: (usize, usize),
    site: &Application<'_, 'g>,
    tangent: Expr<'g>,
) -> Expr<'g> {
    let weighted = match by {
        Reduction::Sum => tangent,
        Reduction::Max => tangent * peak_share(site, axes),
    };
    weighted.reduce(Reduction::Sum, axes.0, axes.1)
}

pub(super) fn reference_values(
    by: Reduction,
    x: Event<'_>,
    first: usize,
    count: usize,
) -> Vec<f64> {
    let (outer, inner) = (x.shape.outer_size(first), x.shape.inner_size(first + count));
    let length: usize = x.shape.dims()[first..first + count].iter().product();
    let mut values = vec![by.start_value(); outer * inner];
    for (i, out) in values.iter_mut().enumerate() {
        let (block, column) = (i / inner, i % inner);
        for j in 0..length {
            let value = x.values[(block * length + j) * inner + column];
            *out = match by {
                Reduction::Sum => *out + value,
                Reduction::Max if value > *out || value.is_nan() => value,
                Reduction::Max => *out,
            };
        }
    }
    values
}

pub(super) fn cumulative_reference(direction: Direction, x: Event<'_>) -> Vec<f64> {
    let length = *x.shape.dims().last().expect("checked when built");
    let mut values = x.values.to_vec();
    for chunk in values.chunks_exact_mut(length.max(1)) {
        let mut sum = 0.0;
        let mut add = |value: &mut f64| {
            sum += *value;
            *value = sum;
        };
        match direction {
            Direction::Forward => chunk.iter_mut().for_each(&mut add),
            Direction::Backward => chunk.iter_mut().rev().for_each(&mut add),
        }
    }
    values
}
