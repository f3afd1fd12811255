//! Regressions: their meaning on the original scale, and their error messages.

#[path = "../fixture/mod.rs"]
mod fixture;

mod block;
mod coded;
mod density;
mod group;
mod mistake;
mod new_level;
mod parameter;
mod program;
mod recognition;
mod saved;
mod table;

use fixture::{
    category, coefficients, densities, names, near, normal, number, point, refusal, regression,
    sigmoid,
};
