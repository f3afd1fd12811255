//! Numerical methods that are independent of models, tables and graphs: optimisers, clustering,
//! dense factors, Krylov spaces, quadrature, weights, summaries and random streams.

pub mod adam;
pub mod anderson;
pub mod batch;
pub mod column;
pub mod dense;
pub mod hessian;
pub mod kmeans;
pub mod lanczos;
pub mod lbfgs;
pub mod nnls;
pub mod order;
pub mod pareto;
pub mod quadrature;
pub mod sobol;
pub mod stream;
pub mod summary;
pub mod vector;
