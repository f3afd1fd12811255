//! The append-only store of nodes: equal nodes are one node.

use std::cell::{Cell, Ref, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

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

/// The graph's record of an input besides its node.
#[derive(Clone, Debug)]
pub(crate) struct InputInfo {
    pub(crate) name: String,
    pub(crate) node: NodeId,
}

/// An operation on shapes that do not fit, and the line of the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShapeError {
    /// The message: what was expected and what was found.
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

/// The reaction to an operation on shapes that do not fit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum OnError {
    Panic,
    Collect,
}

/// Rules that simplify nest at most as deep as this: a program may nest a million operations.
const MOST_NESTED: usize = 1000;

/// A rule at work, until it is dropped.
pub(crate) struct RuleGuard<'g>(&'g Cell<usize>);

impl Drop for RuleGuard<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

/// A program over arrays under construction.
///
/// Nodes are only ever added. Asking for a node that exists returns the one that exists, so common
/// sub-expressions are computed once without a pass that looks for them.
pub struct Graph {
    nodes: RefCell<Vec<Node>>,
    places: RefCell<HashMap<Node, NodeId>>,
    pub(super) constants: RefCell<Vec<Arc<[f64]>>>,
    pub(super) inputs: RefCell<Vec<InputInfo>>,
    pub(super) errors: RefCell<Vec<ShapeError>>,
    pub(super) on_error: OnError,
    /// How many rules that simplify are at work inside each other.
    nested: Cell<usize>,
}

impl Default for Graph {
    fn default() -> Self {
        Graph::new()
    }
}

impl Graph {
    /// An empty graph that panics at the first operation whose shapes do not fit.
    pub fn new() -> Graph {
        Graph::with_errors(OnError::Panic)
    }

    /// An empty graph that collects shape errors (see [`Graph::errors`]) and continues with NaN.
    pub fn collecting_errors() -> Graph {
        Graph::with_errors(OnError::Collect)
    }

    fn with_errors(on_error: OnError) -> Graph {
        Graph {
            nodes: RefCell::default(),
            places: RefCell::default(),
            constants: RefCell::default(),
            inputs: RefCell::default(),
            errors: RefCell::default(),
            on_error,
            nested: Cell::new(0),
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

    /// Begins a rule; `None` if as many as the stack has room for are at work inside each other.
    pub(crate) fn nest(&self) -> Option<RuleGuard<'_>> {
        let nested = self.nested.get();
        (nested < MOST_NESTED).then(|| {
            self.nested.set(nested + 1);
            RuleGuard(&self.nested)
        })
    }

    /// All inputs in the order in which they were named, with their nodes.
    pub(crate) fn inputs(&self) -> Ref<'_, Vec<InputInfo>> {
        self.inputs.borrow()
    }

    /// The place of a node, new or known.
    pub(super) fn insert_node(&self, node: Node) -> NodeId {
        let mut places = self.places.borrow_mut();
        *places.entry(node).or_insert_with_key(|node| {
            let mut nodes = self.nodes.borrow_mut();
            let place = u32::try_from(nodes.len()).expect("a graph has fewer than 2³² nodes");
            nodes.push(node.clone());
            NodeId(place)
        })
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
}
