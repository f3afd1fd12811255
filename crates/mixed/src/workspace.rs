//! One thread's memory for evaluations of the collapsed density.

use crate::cross_products::CrossProducts;
use crate::prior::PriorWorkspace;
use crate::row_averages::RowWorkspace;
use crate::schur::SchurFactor;

/// One thread's memory for evaluations.
pub struct MixedWorkspace {
    pub(crate) scratch: PriorWorkspace,
    pub(crate) factor: SchurFactor,
    pub(crate) cross: CrossProducts,
    row_workspace: Option<RowWorkspace>,
    /// Factorisations and inverses so far.
    pub(crate) factors: usize,
    pub(crate) inverses: usize,
}

impl MixedWorkspace {
    pub(crate) fn new(
        scratch: PriorWorkspace,
        factor: SchurFactor,
        row_workspace: Option<RowWorkspace>,
    ) -> MixedWorkspace {
        MixedWorkspace {
            scratch,
            factor,
            cross: CrossProducts::default(),
            row_workspace,
            factors: 0,
            inverses: 0,
        }
    }

    pub(crate) fn row_workspace(&mut self) -> Option<&mut RowWorkspace> {
        self.row_workspace.as_mut()
    }
}
