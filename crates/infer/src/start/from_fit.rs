//! The start from another fit: its whitening, and its learned quantities.

use super::{Start, StartRequest, StartingPoint};
use crate::error::StartError;
use crate::guide::{LearnedBlocks, Whitening};

/// Another fit's learned quantities, where names and sizes agree, in its whitening.
#[derive(Clone, Debug)]
pub struct FromFit {
    /// The coordinates in which that fit's guide moved.
    pub whitening: Whitening,
    /// The learned quantities of that fit.
    pub learned: LearnedBlocks,
}

impl Start for FromFit {
    fn name(&self) -> &'static str {
        "fit"
    }

    fn help(&self) -> &'static str {
        "another fit"
    }

    fn is_warm(&self) -> bool {
        false
    }

    fn find(&self, request: &StartRequest<'_>) -> Result<StartingPoint, StartError> {
        Ok(StartingPoint {
            learned: Some(self.learned.clone()),
            ..StartingPoint::in_whitening(self.whitening.clone(), request)
        })
    }
}
