//! Handles to nodes, with operators.

use std::fmt;
use std::ops::{Add, Div, Mul, Neg, Sub};

use super::graph::{Graph, NodeId};
use crate::primitive::{Binary, Op, Unary};
use crate::shape::Shape;

/// An array of the program: a handle that is copied freely.
///
/// Its event shape is the shape that model code sees. The array may also have lanes. Operations mix
/// laned and unlaned operands, and the result is laned if any operand is.
#[derive(Clone, Copy)]
pub struct Expr<'g> {
    pub(crate) graph: &'g Graph,
    pub(crate) id: NodeId,
}

/// A column of row numbers.
#[derive(Clone, Copy)]
pub struct Indices<'g>(pub(crate) Expr<'g>);

impl<'g> Indices<'g> {
    /// How many row numbers there are.
    pub fn len(&self) -> usize {
        self.0.shape().size()
    }

    /// True without any row number.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The same column as an operand, for binding values to it.
    pub fn expr(&self) -> Expr<'g> {
        self.0
    }
}

impl<'g> Expr<'g> {
    /// The graph this node belongs to.
    pub fn graph(self) -> &'g Graph {
        self.graph
    }

    /// The event shape.
    pub fn shape(self) -> Shape {
        self.graph.node(self.id).shape
    }

    /// True if there is one event per lane.
    pub fn is_laned(self) -> bool {
        self.graph.node(self.id).laned
    }

    /// The value of this array, if it is a constant with all entries equal (of any shape).
    pub fn as_number(self) -> Option<f64> {
        match self.op() {
            Op::Scalar(bits) => Some(f64::from_bits(bits)),
            Op::Broadcast | Op::Reshape => self.operand(0).as_number(),
            _ => None,
        }
    }

    /// The operand x, if this is an elementwise function of one array such as `x.exp()`.
    pub fn argument(self) -> Option<Expr<'g>> {
        matches!(self.op(), Op::Unary(_)).then(|| self.operand(0))
    }

    /// The operands x and y, if this is an elementwise function of two arrays such as `x * y`.
    pub fn arguments(self) -> Option<[Expr<'g>; 2]> {
        matches!(self.op(), Op::Binary(_)).then(|| [self.operand(0), self.operand(1)])
    }

    /// The operand x, if this is `-x`.
    pub fn negated(self) -> Option<Expr<'g>> {
        matches!(self.op(), Op::Unary(Unary::Neg)).then(|| self.operand(0))
    }

    /// The single number in every entry of this array, if one number was broadcast or reshaped to
    /// its shape.
    pub fn repeated(self) -> Option<Expr<'g>> {
        match self.op() {
            _ if self.shape().is_scalar() => Some(self),
            Op::Broadcast | Op::Reshape => {
                Some(self.operand(0)).filter(|one| one.shape().is_scalar())
            }
            _ => None,
        }
    }

    /// The smaller array x, if this is `x.broadcast(shape)`.
    pub fn widened(self) -> Option<Expr<'g>> {
        matches!(self.op(), Op::Broadcast).then(|| self.operand(0))
    }

    /// True for the same node of the same graph.
    pub fn is(self, other: Expr<'g>) -> bool {
        self.id == other.id && std::ptr::eq(self.graph, other.graph)
    }

    pub(crate) fn is_filled_with(self, value: f64) -> bool {
        self.as_number() == Some(value)
    }

    pub(crate) fn op(self) -> Op {
        self.graph.node(self.id).op.clone()
    }

    pub(crate) fn operand(self, k: usize) -> Expr<'g> {
        let id = self.graph.node(self.id).inputs[k];
        self.graph.expr(id)
    }

    pub(crate) fn operands(self) -> Vec<Expr<'g>> {
        let inputs = self.graph.node(self.id).inputs.clone();
        inputs.into_iter().map(|id| self.graph.expr(id)).collect()
    }

    pub(crate) fn as_indices(self) -> Indices<'g> {
        Indices(self)
    }
}

/// The sum of the parts that there are.
pub(crate) fn add_parts<'g>(a: Option<Expr<'g>>, b: Option<Expr<'g>>) -> Option<Expr<'g>> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        (a, b) => a.or(b),
    }
}

impl Graph {
    /// A node whose result is laned if any operand is.
    #[track_caller]
    pub(crate) fn build<'g>(&'g self, op: Op, inputs: &[Expr<'g>], shape: Shape) -> Expr<'g> {
        self.assert_own(inputs);
        let laned = inputs.iter().any(|e| e.is_laned());
        let inputs = inputs.iter().map(|e| e.id).collect();
        self.add(op, inputs, shape, laned)
    }

    /// # Panics
    /// If one of the arrays is of another graph: its place says nothing about this one.
    #[track_caller]
    pub(crate) fn assert_own(&self, arrays: &[Expr<'_>]) {
        for array in arrays {
            let own = std::ptr::eq(array.graph, self);
            assert!(own, "an array belongs to another graph: {array:?}");
        }
    }
}

impl fmt::Debug for Expr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lanes = if self.is_laned() { " per lane" } else { "" };
        let (id, name, shape) = (self.id.0, self.op().name(), self.shape());
        write!(f, "%{id} = {name} {shape}{lanes}")
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident, $op:ident) => {
        impl<'g> $trait for Expr<'g> {
            type Output = Expr<'g>;
            #[track_caller]
            fn $method(self, other: Expr<'g>) -> Expr<'g> {
                self.apply_binary(Binary::$op, other)
            }
        }

        impl<'g> $trait<f64> for Expr<'g> {
            type Output = Expr<'g>;
            #[track_caller]
            fn $method(self, other: f64) -> Expr<'g> {
                self.apply_binary(Binary::$op, self.graph.scalar(other))
            }
        }

        impl<'g> $trait<Expr<'g>> for f64 {
            type Output = Expr<'g>;
            #[track_caller]
            fn $method(self, other: Expr<'g>) -> Expr<'g> {
                other.graph.scalar(self).apply_binary(Binary::$op, other)
            }
        }
    };
}

operator!(Add, add, Add);
operator!(Sub, sub, Sub);
operator!(Mul, mul, Mul);
operator!(Div, div, Div);

impl<'g> Neg for Expr<'g> {
    type Output = Expr<'g>;
    fn neg(self) -> Expr<'g> {
        self.apply_unary(Unary::Neg)
    }
}
