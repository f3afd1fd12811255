//! Programs under construction: handles to nodes, and the graph that keeps them.

mod graph;
mod handle;
mod leaf;

pub use graph::{Graph, ShapeError};
pub(crate) use graph::{InputInfo, Node, NodeId};
pub(crate) use handle::add_parts;
pub use handle::{Expr, Indices};
