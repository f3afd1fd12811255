//! The improper flat prior.

use lehr_density::{ResponseKind, Support};
use lehr_graph::{Expr, Graph, Shape};

use super::family::ScalarFamily;
use super::{Distribution, Outcome, ParameterError};

/// The same density at every real number. It is improper, so the rows alone must make the posterior
/// proper. A fit checks that they do. Nothing can be drawn from this prior.
#[derive(Clone, Copy, Debug)]
pub struct Flat;

impl<'g> Distribution<'g> for Flat {
    fn value_shape(&self) -> Shape {
        Shape::SCALAR
    }

    fn outcome(&self) -> Outcome {
        Outcome::new(&FAMILY, ResponseKind::Real, Some(Support::Real))
    }

    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        x.graph().full(x.shape(), 0.0)
    }

    fn named_parameters(&self, _: &'g Graph) -> Vec<(&'static str, Expr<'g>)> {
        Vec::new()
    }

    fn check_parameters(&self) -> Result<(), ParameterError> {
        Ok(())
    }
}

pub(super) static FAMILY: ScalarFamily = ScalarFamily {
    name: "Flat",
    draw: |_, _| f64::NAN,
};
