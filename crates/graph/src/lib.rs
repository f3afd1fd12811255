//! Arrays as expressions, their derivatives, and a plan that runs them fast.  A [`Graph`] holds a
//! program under construction; an [`Expr`] is a handle to one array of it, with operators.
//! [`Graph::grad`] and [`Graph::jvp`] give derivatives as further expressions, to any order. A
//! [`Plan`] evaluates the chosen outputs in a [`Workspace`], without allocating.
//!
//! ```
//! use lehr_graph::{Graph, Plan};
//!
//! let graph = Graph::new();
//! let (x, y) = (graph.input("x", [3, 2]), graph.input("y", [3]));
//! let z = graph.input("z", [2]);
//! let logit = x.dot(z);
//! let log_likelihood = (y * logit - logit.softplus()).sum();
//! let slope = graph.grad(log_likelihood, &[z])[0];
//!
//! let plan = Plan::new(&[log_likelihood, slope], 1);
//! let mut workspace = plan.workspace();
//! workspace.set(plan.input(x).unwrap(), &[1.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
//! workspace.set(plan.input(y).unwrap(), &[1.0, 0.0, 1.0]);
//! plan.run(&mut workspace);
//! assert_eq!(workspace.output(1), [1.0, 0.0]);
//! ```

mod derivative;
mod expr;
mod instruction;
pub mod kernel;
mod length;
mod level;
mod listing;
pub mod math;
mod outer;
mod plan;
mod primitive;
mod reach;
mod recording;
pub mod reference;
mod replace;
mod shape;
mod simplify;
mod smooth;

pub use expr::{Expr, Graph, Indices, ShapeError};
pub use length::ROWS;
pub use level::SimdLevel;
pub use plan::{Fusion, Plan, PlanOptions, PlanReport, Slot, Workspace};
pub use recording::{RecordedProgram, RecordingError};
pub use shape::{MAX_RANK, MAX_SIZE, Shape};
