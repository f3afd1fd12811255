//! Plain numerics that know no model, table or graph: optimisers, clusters, dense factors, quadrature,
//! weights, summaries and random streams.

pub mod adam;
pub mod batch;
pub mod column;
pub mod dense;
pub mod hermite;
pub mod hessian;
pub mod kmeans;
pub mod lbfgs;
pub mod nnls;
pub mod order;
pub mod pareto;
pub mod quadrature;
pub mod sobol;
pub mod stream;
pub mod summary;
pub mod vector;
