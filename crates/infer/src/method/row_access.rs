//! What a method needs of the rows, and which methods can fit rows stored elsewhere.

use lehr_density::Density;
use lehr_mixed::has_random_effects;

use super::{METHODS, MethodInfo};
use crate::error::FitError;
use crate::start::is_linear_without_hierarchy;

/// What a method needs of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowAccess {
    /// A few passes over all rows for the mode, its curvature and the weights, and a sample for the remainder of the
    /// expansion at the mode: the rows may stay in files.
    Passes,
    /// The same, and sums over the rows by group, by which effects by group are integrated out.
    GroupSums,
    /// Some rows at random at every step: the rows are in this process, in memory or in a shuffled file.
    Batches,
    /// The gradient of all rows at every step: the rows are in memory, here or with workers.
    Gradients,
    /// All rows at every step: the rows are in the memory of this process.
    Memory,
}

impl RowAccess {
    /// Whether a few passes over all rows suffice. Any other method would fit a sample of the rows.
    pub fn is_by_passes(self) -> bool {
        matches!(self, RowAccess::Passes | RowAccess::GroupSums)
    }

    /// Whether every step reads every row, so that rows must be in memory.
    pub fn is_every_row(self) -> bool {
        matches!(self, RowAccess::Gradients | RowAccess::Memory)
    }
}

/// Whether sums by group can fit a model whose rows are stored elsewhere.
pub fn has_group_sums(density: &dyn Density) -> bool {
    density.elsewhere().is_some() && has_random_effects(density)
}

/// Refuses methods, and models, that cannot work with rows stored elsewhere.
///
/// # Errors
/// If this is such a method, or the mode of the model is unsuitable for an expansion.
pub(crate) fn check_rows(method: &MethodInfo, density: &dyn Density) -> Result<(), FitError> {
    let Some(rows) = density.elsewhere() else {
        return Ok(());
    };
    let (total, place) = (density.total_rows(), rows.place());
    let (problem, hint) = match method.rows {
        RowAccess::Gradients => return Ok(()),
        RowAccess::Batches | RowAccess::Memory => {
            let by_passes = METHODS.iter().filter(|row| row.rows.is_by_passes());
            let by_steps = (METHODS.iter()).filter(|row| row.rows == RowAccess::Gradients);
            let names: Vec<&str> = by_passes.chain(by_steps).map(|row| row.name).collect();
            let problem = format!("expected rows in this process, found {total} {place}");
            (problem, format!("there, use one of {}", names.join(", ")))
        }
        access
            if is_linear_without_hierarchy(density)
                || access == RowAccess::GroupSums && has_group_sums(density) =>
        {
            return Ok(());
        }
        _ => {
            let problem = format!(
                "expected a model whose rows read linear predictors and no spread among the latents for \
                 the {total} rows {place}, found another"
            );
            let hint = "effects by group are fitted by collapse where the response is gaussian (by any method \
                        where there are at most 512 latents), else on a cluster by nuts";
            (problem, hint.into())
        }
    };
    Err(method.refuse(problem, hint))
}
