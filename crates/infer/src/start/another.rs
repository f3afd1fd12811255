//! The start from another fit: its whitening, and its learned quantities.

use super::{Request, Start, StartingPoint};
use crate::error::StartError;
use crate::guide::{Frame, Learned};

/// Another fit's learned quantities, where names and sizes agree, in its whitening.
#[derive(Clone, Debug)]
pub struct Another {
    /// The coordinates in which that fit's guide moved.
    pub frame: Frame,
    /// The learned quantities of that fit.
    pub learned: Learned,
}

impl Start for Another {
    fn name(&self) -> &'static str {
        "fit"
    }

    fn help(&self) -> &'static str {
        "another fit"
    }

    fn is_warm(&self) -> bool {
        false
    }

    fn find(&self, request: &Request<'_>) -> Result<StartingPoint, StartError> {
        Ok(StartingPoint {
            learned: Some(self.learned.clone()),
            ..StartingPoint::in_frame(self.frame.clone(), request)
        })
    }
}
