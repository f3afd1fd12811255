//! One thread's memory for evaluations of the collapsed density.

use crate::cross::CrossProducts;
use crate::factor::Factor;
use crate::given::Scratch;
use crate::likelihood::Desk;

/// One thread's memory for evaluations.
pub struct MixedWorkspace {
    pub(crate) scratch: Scratch,
    pub(crate) factor: Factor,
    pub(crate) cross: CrossProducts,
    desk: Option<Desk>,
    /// Factorisations and inverses so far.
    pub(crate) factors: usize,
    pub(crate) inverses: usize,
}

impl MixedWorkspace {
    pub(crate) fn new(scratch: Scratch, factor: Factor, desk: Option<Desk>) -> MixedWorkspace {
        MixedWorkspace {
            scratch,
            factor,
            cross: CrossProducts::default(),
            desk,
            factors: 0,
            inverses: 0,
        }
    }

    pub(crate) fn desk(&mut self) -> Option<&mut Desk> {
        self.desk.as_mut()
    }
}
