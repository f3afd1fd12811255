//! The primitives. Each is one entry: shape rule, derivative rules as expressions, and a plain
//! reference kernel; the fast kernel stands in `kernel/` under the same name.

pub(crate) mod binary;
pub(crate) mod factor;
pub(crate) mod index;
pub(crate) mod lane;
pub(crate) mod layout;
pub(crate) mod matmul;
pub(crate) mod reduce;
pub(crate) mod select;
pub(crate) mod triangle;
pub(crate) mod unary;

use serde::{Deserialize, Serialize};

use crate::expr::Expr;
use crate::shape::Shape;

pub(crate) use binary::Binary;
pub(crate) use factor::Solve;
pub(crate) use matmul::MatMul;
pub(crate) use reduce::{Direction, Reduction};
pub(crate) use unary::Unary;

/// An operation of the graph. Parameters that are not arrays live in the operation itself.
/// Saved programs know it by its place in this list: add at the end.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) enum Op {
    /// A number, by its bits.
    Scalar(u64),
    /// A constant array, by its place in the graph.
    Constant(u32),
    /// An array filled before each run.
    Input(u32),
    /// Row numbers filled before each run.
    IndexInput(u32),
    Unary(Unary),
    Binary(Binary),
    /// `condition ? a : b`
    Select,
    Broadcast,
    Reshape,
    /// Swaps the last two axes.
    Transpose,
    Slice {
        axis: usize,
        start: usize,
    },
    /// Zeros around a slice: the transpose of `Slice`.
    Pad {
        axis: usize,
        start: usize,
    },
    Concat {
        axis: usize,
    },
    /// Reduces the axes `first..first + count`.
    Reduce {
        by: Reduction,
        first: usize,
        count: usize,
    },
    /// Running sum along the last axis.
    CumulativeSum(Direction),
    /// Rows of an array by number.
    Gather,
    /// Adds rows up by number: the transpose of `Gather`.
    ScatterAdd,
    MatMul(MatMul),
    /// Lower Cholesky factor; NaN where the matrix is not positive definite.
    Cholesky,
    Solve(Solve),
    /// Zero above the diagonal shifted by this many columns.
    Tril(i32),
    /// The diagonal of a square matrix.
    Diagonal,
    /// A square matrix with this diagonal: the transpose of `Diagonal`.
    DiagonalMatrix,
    StopGradient,
    /// The array itself, as a node that no rule looks through.
    Anchor,
    /// Sum over lanes; an event without lanes counts once per lane.
    SumLanes,
}

/// A node with its operands as expressions, at which a derivative rule applies.
pub(crate) struct Application<'a, 'g> {
    pub(crate) out: Expr<'g>,
    pub(crate) inputs: &'a [Expr<'g>],
}

/// The value of one operand for one lane, for the reference kernels.
#[derive(Clone, Copy)]
pub(crate) struct Event<'a> {
    pub(crate) shape: Shape,
    pub(crate) values: &'a [f64],
}

impl Op {
    /// The name in listings.
    pub(crate) fn name(&self) -> String {
        match self {
            Op::Scalar(bits) => format!("{}", f64::from_bits(*bits)),
            Op::Constant(place) => format!("constant #{place}"),
            Op::Input(_) => "input".into(),
            Op::IndexInput(_) => "index input".into(),
            Op::Unary(op) => op.name(),
            Op::Binary(op) => op.name().into(),
            Op::Select => "select".into(),
            Op::Broadcast => "broadcast".into(),
            Op::Reshape => "reshape".into(),
            Op::Transpose => "transpose".into(),
            Op::Slice { axis, start } => format!("slice axis {axis} from {start}"),
            Op::Pad { axis, start } => format!("pad axis {axis} from {start}"),
            Op::Concat { axis } => format!("concat axis {axis}"),
            Op::Reduce { by, first, count } => {
                format!("{} axes {first}..{}", by.name(), first + count)
            }
            Op::CumulativeSum(direction) => format!("cumulative sum {}", direction.name()),
            Op::Gather => "gather".into(),
            Op::ScatterAdd => "scatter add".into(),
            Op::MatMul(op) => op.name(),
            Op::Cholesky => "cholesky".into(),
            Op::Solve(op) => op.name(),
            Op::Tril(offset) => format!("tril {offset}"),
            Op::Diagonal => "diagonal".into(),
            Op::DiagonalMatrix => "diagonal matrix".into(),
            Op::StopGradient => "stop gradient".into(),
            Op::Anchor => "anchor".into(),
            Op::SumLanes => "sum lanes".into(),
        }
    }

    /// Whether no rule looks through the node to its operands: inputs, constants and anchors.
    pub(crate) fn is_leaf(&self) -> bool {
        matches!(
            self,
            Op::Scalar(_) | Op::Constant(_) | Op::Input(_) | Op::IndexInput(_) | Op::Anchor
        )
    }

    /// The contribution of the adjoint of the result to the adjoint of operand `k`.
    pub(crate) fn pullback<'g>(
        &self,
        site: &Application<'_, 'g>,
        adjoint: Expr<'g>,
        k: usize,
    ) -> Option<Expr<'g>> {
        match self {
            Op::Scalar(_)
            | Op::Constant(_)
            | Op::Input(_)
            | Op::IndexInput(_)
            | Op::StopGradient => None,
            Op::Unary(op) => Some(op.pullback(site, adjoint)),
            Op::Binary(op) => op.pullback(site, adjoint, k),
            Op::Select => select::pullback(site, adjoint, k),
            Op::Broadcast => Some(adjoint.sum_to(site.inputs[0].shape())),
            Op::Anchor => Some(adjoint),
            Op::Reshape => Some(adjoint.reshape(site.inputs[0].shape())),
            Op::Transpose => Some(adjoint.transpose()),
            Op::Slice { .. } | Op::Pad { .. } | Op::Concat { .. } => {
                Some(layout::pullback(self, site, adjoint, k))
            }
            Op::Reduce { by, first, count } => {
                Some(reduce::pullback(*by, (*first, *count), site, adjoint))
            }
            Op::CumulativeSum(direction) => Some(adjoint.cumulative(direction.reversed())),
            Op::Gather | Op::ScatterAdd => index::pullback(self, site, adjoint, k),
            Op::MatMul(op) => Some(op.pullback(site, adjoint, k)),
            Op::Cholesky => Some(factor::cholesky_pullback(site, adjoint)),
            Op::Solve(op) => Some(op.pullback(site, adjoint, k)),
            Op::Tril(offset) => Some(adjoint.tril(*offset)),
            Op::Diagonal => Some(adjoint.diagonal_matrix()),
            Op::DiagonalMatrix => Some(adjoint.diagonal()),
            Op::SumLanes if site.inputs[0].is_laned() => Some(adjoint),
            Op::SumLanes => Some(adjoint.sum_lanes()),
        }
    }

    /// The tangent of the result from the tangents of the operands (`None` is zero).
    pub(crate) fn pushforward<'g>(
        &self,
        site: &Application<'_, 'g>,
        tangents: &[Option<Expr<'g>>],
    ) -> Option<Expr<'g>> {
        match self {
            Op::Scalar(_)
            | Op::Constant(_)
            | Op::Input(_)
            | Op::IndexInput(_)
            | Op::StopGradient => None,
            Op::Unary(op) => Some(op.pushforward(site, tangents[0]?)),
            Op::Binary(op) => op.pushforward(site, tangents),
            Op::Select => select::pushforward(site, tangents),
            Op::Reduce { by, first, count } => Some(reduce::pushforward(
                *by,
                (*first, *count),
                site,
                tangents[0]?,
            )),
            Op::Concat { axis } => Some(layout::concat_pushforward(*axis, site, tangents)),
            Op::MatMul(op) => op.pushforward(site, tangents),
            Op::Cholesky => Some(factor::cholesky_pushforward(site, tangents[0]?)),
            Op::Solve(op) => op.pushforward(site, tangents),
            Op::Anchor => tangents[0],
            // The remaining operations are linear in one array, so the tangent goes through the
            // same operation.
            _ => {
                let operands = [&[tangents[0]?], &site.inputs[1..]].concat();
                Some(self.apply_to(&operands, site.out.shape()))
            }
        }
    }

    /// The operation on these operands with a result of this shape. It calls the constructors, so
    /// every rule that simplifies applies.
    pub(crate) fn apply_to<'g>(&self, operands: &[Expr<'g>], shape: Shape) -> Expr<'g> {
        let x = operands[0];
        match self {
            Op::Unary(op) => x.apply_unary(*op),
            Op::Binary(op) => x.apply_binary(*op, operands[1]),
            Op::Select => x.select(operands[1], operands[2]),
            Op::Concat { axis } => x.graph().concat(operands, *axis),
            Op::Reduce { by, first, count } => x.reduce(*by, *first, *count),
            Op::MatMul(op) => op.apply_to(x, operands[1]),
            Op::Cholesky => x.cholesky(),
            Op::Solve(op) => factor::solve_triangular(op.form, x, operands[1]),
            Op::StopGradient => x.stop_gradient(),
            Op::Anchor => x.anchor(),
            Op::Broadcast => x.broadcast(shape),
            Op::Reshape => x.reshape(shape),
            Op::Transpose => x.transpose(),
            Op::Slice { axis, start } => x.slice(*axis, *start..start + shape.dims()[*axis]),
            Op::Pad { axis, start } => x.pad(*axis, *start, shape.dims()[*axis]),
            Op::CumulativeSum(direction) => x.cumulative(*direction),
            Op::Gather => x.at(operands[1].as_indices()),
            Op::ScatterAdd => x.scatter_add(operands[1].as_indices(), shape.dims()[0]),
            Op::Tril(offset) => x.tril(*offset),
            Op::Diagonal => x.diagonal(),
            Op::DiagonalMatrix => x.diagonal_matrix(),
            Op::SumLanes => x.sum_lanes(),
            Op::Scalar(_) | Op::Constant(_) | Op::Input(_) | Op::IndexInput(_) => {
                unreachable!("{} has no operands", self.name())
            }
        }
    }

    /// The value of one event by plain loops. The evaluator itself handles `SumLanes`.
    pub(crate) fn reference_values(&self, inputs: &[Event<'_>], shape: Shape) -> Vec<f64> {
        match self {
            Op::Scalar(bits) => vec![f64::from_bits(*bits)],
            Op::Unary(op) => inputs[0].values.iter().map(|&x| op.value_at(x)).collect(),
            Op::Binary(op) => binary::reference_values(*op, inputs, shape),
            Op::Select => select::reference_values(inputs, shape),
            Op::Broadcast => layout::broadcast_reference(inputs[0], shape),
            Op::Reshape | Op::StopGradient | Op::Anchor => inputs[0].values.to_vec(),
            Op::Transpose => layout::transpose_reference(inputs[0]),
            Op::Slice { axis, start } => layout::slice_reference(inputs[0], shape, *axis, *start),
            Op::Pad { axis, start } => layout::pad_reference(inputs[0], shape, *axis, *start),
            Op::Concat { axis } => layout::concat_reference(inputs, shape, *axis),
            Op::Reduce { by, first, count } => {
                reduce::reference_values(*by, inputs[0], *first, *count)
            }
            Op::CumulativeSum(direction) => reduce::cumulative_reference(*direction, inputs[0]),
            Op::Gather => index::gather_reference(inputs, shape),
            Op::ScatterAdd => index::scatter_reference(inputs, shape),
            Op::MatMul(op) => op.reference_values(inputs, shape),
            Op::Cholesky => factor::cholesky_reference(inputs[0]),
            Op::Solve(op) => op.reference_values(inputs),
            Op::Tril(offset) => triangle::tril_reference(*offset, inputs[0]),
            Op::Diagonal => triangle::diagonal_reference(inputs[0]),
            Op::DiagonalMatrix => triangle::diagonal_matrix_reference(inputs[0]),
            Op::Constant(_) | Op::Input(_) | Op::IndexInput(_) | Op::SumLanes => {
                unreachable!("{} is read, not computed", self.name())
            }
        }
    }
}
