//! The start `zero`: the model's own start, as in the paper.

use super::{Start, StartRequest, StartingPoint};
use crate::error::StartError;
use crate::guide::Whitening;

/// The model's own start and the guide's own scale: the paper's recipe.
#[derive(Clone, Copy, Debug)]
pub struct Zero;

impl Start for Zero {
    fn name(&self) -> &'static str {
        "zero"
    }

    fn help(&self) -> &'static str {
        "the model's own start"
    }

    fn is_warm(&self) -> bool {
        false
    }

    fn find(&self, request: &StartRequest<'_>) -> Result<StartingPoint, StartError> {
        Ok(StartingPoint::in_whitening(Whitening::Identity, request))
    }
}
