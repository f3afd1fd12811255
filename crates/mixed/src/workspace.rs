//! The memory of one thread for evaluations of the marginal density.

use crate::cross_products::CrossProducts;
use crate::prior::PriorWorkspace;
use crate::row_averages::RowWorkspace;
use crate::schur::SchurFactor;

/// One thread's memory for evaluations.
pub struct MixedWorkspace {
    pub(crate) scratch: PriorWorkspace,
    pub(crate) factor: SchurFactor,
    pub(crate) cross: CrossProducts,
    pub(crate) row_workspace: Option<RowWorkspace>,
    /// Factorisations and inverses so far.
    pub(crate) factors: usize,
    pub(crate) inverses: usize,
}
