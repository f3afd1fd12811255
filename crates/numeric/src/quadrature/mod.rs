//! Rules for expectations under standard normals: E f(t) ≈ Σ wᵢ f(tᵢ).
//!
//! The Gauss–Hermite rule is computed in two ways, which agree up to rounding: by Newton's method,
//! for any number of nodes ([`gauss_hermite`]), and by the eigenvalues of the Jacobi matrix
//! ([`Rule::gauss_hermite`]).

mod hermite;
mod rule;

pub use hermite::gauss_hermite;
pub use rule::{MOST_CLASSES, NODES, Rule, class_of, rule_of};
