//! Rows of one table left out of fits in two passes over its blocks: all rows cheaply, then the chosen ones in full.

use lehr_learn::LearnError;
use lehr_table::Table;

use super::measure::{Loo, LooRow};
use super::sampling::LooSampling;
use crate::error::Error;
use crate::saved_fit::SavedFit;

/// A callback for each block of rows.
pub(crate) type VisitBlock<'a> = dyn FnMut(&Table) -> Result<(), Error> + 'a;

/// A pass over the blocks of a table, in the same order each time.
pub type TablePass<'a> = dyn FnMut(&mut VisitBlock<'_>) -> Result<(), Error> + 'a;

/// Leaves the same rows of a table out of every fit.
///
/// # Errors
/// If the table has no rows, cannot be read, or is none of a fit.
pub fn leave_rows_out(
    fits: &[&SavedFit],
    sampling: LooSampling,
    pass: &mut TablePass<'_>,
) -> Result<Vec<Loo>, Error> {
    let mut all = sum_cheap_values(fits, pass)?;
    let n_rows = all.first().map_or(0, |loo| loo.n_rows);
    if n_rows == 0 {
        return Err(LearnError::NoRows.into());
    }
    let left = leave_chosen_out(fits, &sampling.choose(n_rows), pass)?;
    for (loo, rows) in all.iter_mut().zip(left) {
        loo.rows = rows;
    }
    Ok(all)
}

/// The first pass: the cheap values of all rows, of which none is left out yet.
pub(crate) fn sum_cheap_values(
    fits: &[&SavedFit],
    pass: &mut TablePass<'_>,
) -> Result<Vec<Loo>, Error> {
    let mut all: Vec<Loo> = fits.iter().map(|fit| Loo::new(fit)).collect();
    pass(&mut |block| {
        for (loo, fit) in all.iter_mut().zip(fits) {
            loo.push_cheap(&fit.cheap(block)?);
        }
        Ok(())
    })?;
    Ok(all)
}

/// The second pass: leaves the chosen rows out of each fit. Their places increase.
pub(crate) fn leave_chosen_out(
    fits: &[&SavedFit],
    chosen: &[u64],
    pass: &mut TablePass<'_>,
) -> Result<Vec<Vec<LooRow>>, Error> {
    let mut all: Vec<Vec<LooRow>> = vec![Vec::new(); fits.len()];
    let mut first = 0;
    pass(&mut |block| {
        let end = first + block.n_rows() as u64;
        let from = chosen.partition_point(|row| *row < first);
        let to = chosen.partition_point(|row| *row < end);
        let own = &chosen[from..to];
        let places: Vec<usize> = own.iter().map(|row| (row - first) as usize).collect();
        first = end;
        if places.is_empty() {
            return Ok(());
        }
        let table = block.select_rows(&places);
        for (rows, fit) in all.iter_mut().zip(fits) {
            rows.extend(fit.leave_out(&table, own)?);
        }
        Ok(())
    })?;
    Ok(all)
}

impl SavedFit {
    /// Leaves rows of the fitted table out one by one: all, or `subsample`. By default long tables
    /// are sampled.
    pub fn loo(&self, table: &Table, subsample: Option<usize>, seed: u64) -> Result<Loo, Error> {
        let sampling = LooSampling { subsample, seed };
        let mut all = leave_rows_out(&[self], sampling, &mut |visit| visit(table))?;
        Ok(all.swap_remove(0))
    }
}
