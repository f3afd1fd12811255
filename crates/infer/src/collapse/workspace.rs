//! One thread's memory for evaluations of the collapsed density.

use super::cross::CrossProducts;
use super::factor::Factor;
use super::given::Scratch;
use super::likelihood::Desk;

/// One thread's memory for evaluations.
pub(crate) struct Bench {
    pub(super) scratch: Scratch,
    pub(super) factor: Factor,
    pub(super) cross: CrossProducts,
    desk: Option<Desk>,
    /// Factorisations and inverses so far.
    pub(super) factors: usize,
    pub(super) inverses: usize,
}

impl Bench {
    pub(super) fn new(scratch: Scratch, factor: Factor, desk: Option<Desk>) -> Bench {
        Bench {
            scratch,
            factor,
            cross: CrossProducts::default(),
            desk,
            factors: 0,
            inverses: 0,
        }
    }

    pub(super) fn desk(&mut self) -> Option<&mut Desk> {
        self.desk.as_mut()
    }
}
