//! The append-only store of nodes: equal nodes are one node.

use std::cell::{Ref, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use super::handle::{Expr, Indices};
use crate::length::Length;
use crate::primitive::Op;
use crate::shape::Shape;

/// The place of a node in its graph. Inputs of a node have smaller places than the node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct NodeId(pub(crate) u32);

impl NodeId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// One operation with its operands and the type of its result.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Node {
    pub(crate) op: Op,
    pub(crate) inputs: Vec<NodeId>,
    pub(crate) shape: Shape,
    pub(crate) laned: bool,
}

/// What a graph remembers of an input besides its node.
#[derive(Clone, Debug)]
pub(crate) struct InputInfo {
    pub(crate) name: String,
    pub(crate) node: NodeId,
}

/// An operation on shapes that do not fit, and the line that asked for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShapeError {
    /// What was expected and what was found.
    pub message: String,
    /// The line of the caller.
    pub location: &'static Location<'static>,
}

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.location, self.message)
    }
}

impl std::error::Error for ShapeError {}

#[derive(Clone, Copy, PartialEq, Eq)]
enum OnError {
    Panic,
    Collect,
}

/// A program over arrays under construction.
///
/// Nodes are only ever added. Asking for a node that exists returns the one that exists, so
/// common sub-expressions are computed once without a pass that looks for them.
pub struct Graph {
    nodes: RefCell<Vec<Node>>,
    places: RefCell<HashMap<Node, NodeId>>,
    constants: RefCell<Vec<Arc<[f64]>>>,
    inputs: RefCell<Vec<InputInfo>>,
    errors: RefCell<Vec<ShapeError>>,
    on_error: OnError,
}

impl Default for Graph {
    fn default() -> Self {
        Graph::new()
    }
}

impl Graph {
    /// An empty graph that panics at the first operation whose shapes do not fit.
    pub fn new() -> Graph {
        Graph::with(OnError::Panic)
    }

    /// An empty graph that collects shape errors (see [`Graph::errors`]) and goes on with NaN.
    pub fn collecting() -> Graph {
        Graph::with(OnError::Collect)
    }

    fn with(on_error: OnError) -> Graph {
        Graph {
            nodes: RefCell::default(),
            places: RefCell::default(),
            constants: RefCell::default(),
            inputs: RefCell::default(),
            errors: RefCell::default(),
            on_error,
        }
    }

    /// The shape errors met so far; always empty unless the graph is collecting.
    pub fn errors(&self) -> Vec<ShapeError> {
        self.errors.borrow().clone()
    }

    /// How many nodes there are, dead ones included.
    pub fn len(&self) -> usize {
        self.nodes.borrow().len()
    }

    /// True before the first node.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

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

    /// A constant array that may be here already.
    pub(crate) fn shared_constant(&self, shape: Shape, values: &Arc<[f64]>) -> Expr<'_> {
        let known = (self.constants.borrow().iter()).position(|c| Arc::ptr_eq(c, values));
        if let Some(place) = known {
            return self.add(Op::Constant(place as u32), vec![], shape, false);
        }
        let known = self.constants.borrow().len();
        let constant = self.constant(shape, values);
        // The graph's copy is replaced by the one that is shared, so that it is found at once.
        if let Some(last) = self.constants.borrow_mut().get_mut(known) {
            *last = Arc::clone(values);
        }
        constant
    }

    /// All inputs in the order in which they were named, with their nodes.
    pub(crate) fn inputs(&self) -> Ref<'_, Vec<InputInfo>> {
        self.inputs.borrow()
    }

    /// The numbers `0, 1, …, length − 1`.
    #[track_caller]
    pub fn iota(&self, length: usize) -> Expr<'_> {
        if Length(length).is_symbolic() {
            return self.fail(format!("iota: expects a number, found {}", Length(length)));
        }
        let values: Vec<f64> = (0..length).map(|i| i as f64).collect();
        self.constant([length], &values)
    }

    /// A named array that is filled before each run, the same for all lanes.
    pub fn input(&self, name: &str, shape: impl Into<Shape>) -> Expr<'_> {
        self.add_input(name, shape.into(), false, Op::Input)
    }

    /// A named array that is filled before each run, one event per lane.
    pub fn laned_input(&self, name: &str, shape: impl Into<Shape>) -> Expr<'_> {
        self.add_input(name, shape.into(), true, Op::Input)
    }

    /// A named column of row numbers for [`Expr::at`] and [`Expr::scatter_add`].
    pub fn index_input(&self, name: &str, length: usize) -> Indices<'_> {
        let shape = Shape::from([length]);
        Indices(self.add_input(name, shape, false, Op::IndexInput))
    }

    fn add_input(&self, name: &str, shape: Shape, laned: bool, op: fn(u32) -> Op) -> Expr<'_> {
        let place = self.inputs.borrow().len() as u32;
        let expr = self.add(op(place), vec![], shape, laned);
        self.inputs.borrow_mut().push(InputInfo {
            name: name.to_owned(),
            node: expr.id,
        });
        expr
    }

    /// The node, new or known.
    pub(crate) fn add(&self, op: Op, inputs: Vec<NodeId>, shape: Shape, laned: bool) -> Expr<'_> {
        let node = Node {
            op,
            inputs,
            shape,
            laned,
        };
        let mut places = self.places.borrow_mut();
        let id = *places.entry(node).or_insert_with_key(|node| {
            let mut nodes = self.nodes.borrow_mut();
            nodes.push(node.clone());
            NodeId(nodes.len() as u32 - 1)
        });
        Expr { graph: self, id }
    }

    /// Reports shapes that do not fit; the result stands in for the impossible one.
    #[track_caller]
    pub(crate) fn fail(&self, message: String) -> Expr<'_> {
        let location = Location::caller();
        match self.on_error {
            OnError::Panic => panic!("{message}"),
            OnError::Collect => {
                self.errors
                    .borrow_mut()
                    .push(ShapeError { message, location });
                self.scalar(f64::NAN)
            }
        }
    }

    pub(crate) fn node(&self, id: NodeId) -> Ref<'_, Node> {
        Ref::map(self.nodes.borrow(), |nodes| &nodes[id.index()])
    }

    pub(crate) fn nodes(&self) -> Ref<'_, Vec<Node>> {
        self.nodes.borrow()
    }

    pub(crate) fn constant_values(&self, place: u32) -> Arc<[f64]> {
        self.constants.borrow()[place as usize].clone()
    }

    pub(crate) fn input_info(&self, place: u32) -> InputInfo {
        self.inputs.borrow()[place as usize].clone()
    }

    pub(crate) fn expr(&self, id: NodeId) -> Expr<'_> {
        Expr { graph: self, id }
    }
}
