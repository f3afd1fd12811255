//! Arrays as expressions, their derivatives, and a plan that runs them fast.
//!
//! A [`Graph`] holds a program under construction; an [`Expr`] is a handle to one array of it,
//! with operators. [`Graph::grad`] and [`Graph::jvp`] give derivatives as further expressions.

mod derivative;
mod expr;
mod graph;
pub mod kernel;
mod listing;
mod plan;
mod primitive;
mod reach;
pub mod reference;
mod shape;
mod simplify;

pub use expr::{Expr, Indices};
pub use graph::{Graph, ShapeError};
pub use plan::{Fusion, Plan, PlanOptions, PlanReport, Slot, Workspace};
pub use shape::{MAX_RANK, Shape};
