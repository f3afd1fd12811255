//! Properties of the graph crate, checked against simple loops and central differences.

mod case;
mod derivative;
mod difference;
mod directional;
mod empty;
mod hessian;
mod identity;
mod interior;
mod nested;
mod program;
mod random;
mod shape_error;
mod shared;
mod simplify;
mod size;
mod special;
