//! The leaves of a graph (numbers, constants and inputs) and the insertion of nodes.

use std::panic::Location;
use std::sync::Arc;

use super::graph::{Graph, InputInfo, Node, NodeId, OnError, ShapeError};
use super::handle::{Expr, Indices};
use crate::length::AxisLength;
use crate::primitive::Op;
use crate::shape::Shape;

impl Graph {
    /// The number `value`.
    pub fn scalar(&self, value: f64) -> Expr<'_> {
        // −0 and 0 are one constant, and so are all NaNs, so that equal programs stay equal.
        let value = if value == 0.0 { 0.0 } else { value };
        let bits = if value.is_nan() { f64::NAN } else { value }.to_bits();
        self.add(Op::Scalar(bits), vec![], Shape::SCALAR, false)
    }

    /// An array filled with one number; it costs no memory.
    #[track_caller]
    pub fn full(&self, shape: impl Into<Shape>, value: f64) -> Expr<'_> {
        self.scalar(value).broadcast(shape)
    }

    /// A constant array in row-major order.
    ///
    /// # Panics
    /// If the number of values is not the size of the shape.
    #[track_caller]
    pub fn constant(&self, shape: impl Into<Shape>, values: &[f64]) -> Expr<'_> {
        let shape = shape.into();
        assert_eq!(
            values.len(),
            shape.size(),
            "a constant of shape {shape} needs {} values, found {}",
            shape.size(),
            values.len()
        );
        if let [first, rest @ ..] = values
            && rest.iter().all(|v| v.to_bits() == first.to_bits())
        {
            return self.full(shape, *first);
        }
        self.array(shape, values)
    }

    fn array(&self, shape: Shape, values: &[f64]) -> Expr<'_> {
        let mut constants = self.constants.borrow_mut();
        let known = constants.iter().position(|c| c[..] == *values);
        let place = known.unwrap_or_else(|| {
            constants.push(values.into());
            constants.len() - 1
        });
        self.add(Op::Constant(place as u32), vec![], shape, false)
    }

    /// A constant array, reusing the one that the graph already holds if there is one.
    pub(crate) fn shared_constant(&self, shape: Shape, values: &Arc<[f64]>) -> Expr<'_> {
        let known = (self.constants.borrow().iter()).position(|c| Arc::ptr_eq(c, values));
        if let Some(place) = known {
            return self.add(Op::Constant(place as u32), vec![], shape, false);
        }
        let known = self.constants.borrow().len();
        let constant = self.constant(shape, values);
        // The graph's copy is replaced by the shared one, so that the next lookup finds it by its
        // address.
        if let Some(last) = self.constants.borrow_mut().get_mut(known) {
            *last = Arc::clone(values);
        }
        constant
    }

    /// The numbers `0, 1, …, length − 1`.
    #[track_caller]
    pub fn iota(&self, length: usize) -> Expr<'_> {
        let found = AxisLength(length);
        if found.is_symbolic() {
            return self.fail(format!("iota: expects a number, found {found}"));
        }
        let values: Vec<f64> = (0..length).map(|i| i as f64).collect();
        self.constant([length], &values)
    }

    /// A named array that is filled before each run, the same for all lanes.
    #[track_caller]
    pub fn input(&self, name: &str, shape: impl Into<Shape>) -> Expr<'_> {
        self.add_input(name, shape.into(), false, Op::Input)
    }

    /// A named array that is filled before each run, one event per lane.
    #[track_caller]
    pub fn laned_input(&self, name: &str, shape: impl Into<Shape>) -> Expr<'_> {
        self.add_input(name, shape.into(), true, Op::Input)
    }

    /// A named column of row numbers for [`Expr::at`] and [`Expr::scatter_add`].
    #[track_caller]
    pub fn index_input(&self, name: &str, length: usize) -> Indices<'_> {
        let shape = Shape::from([length]);
        Indices(self.add_input(name, shape, false, Op::IndexInput))
    }

    #[track_caller]
    fn add_input(&self, name: &str, shape: Shape, laned: bool, op: fn(u32) -> Op) -> Expr<'_> {
        let place = self.inputs.borrow().len() as u32;
        let expr = self.add(op(place), vec![], shape, laned);
        self.inputs.borrow_mut().push(InputInfo {
            name: name.to_owned(),
            node: expr.id,
        });
        expr
    }

    /// The node, new or known; a mistake where its array would hold too many numbers.
    #[track_caller]
    pub(crate) fn add(&self, op: Op, inputs: Vec<NodeId>, shape: Shape, laned: bool) -> Expr<'_> {
        if let Some(excess) = shape.excess() {
            return self.fail(format!("{}: {excess}", op.name()));
        }
        let node = Node {
            op,
            inputs,
            shape,
            laned,
        };
        self.expr(self.insert_node(node))
    }

    /// Reports shapes that do not fit; the result takes the place of the impossible array.
    #[track_caller]
    pub(crate) fn fail(&self, message: String) -> Expr<'_> {
        let location = Location::caller();
        match self.on_error {
            OnError::Panic => panic!("{message}"),
            OnError::Collect => {
                let error = ShapeError { message, location };
                self.errors.borrow_mut().push(error);
                self.scalar(f64::NAN)
            }
        }
    }

    pub(crate) fn expr(&self, id: NodeId) -> Expr<'_> {
        Expr { graph: self, id }
    }
}
