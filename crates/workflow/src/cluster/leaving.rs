//! Rows left out of fits, part by part: a cheap estimate from all rows, and the full computation
//! for some.

use serde::{Deserialize, Serialize};

use super::task::{decoded, encoded, places_in_parts};
use crate::error::Error;
use crate::leave_out::{
    Loo, LooRow, LooSampling, VisitBlock, columns_of, leave_chosen_out, optional_columns_of,
    sum_cheap_values,
};
use crate::part::PartRows;
use crate::saved_fit::SavedFit;

/// The cheap estimates from all rows of a part, for several fits.
#[derive(Serialize, Deserialize)]
struct CheapEstimates {
    rows: u64,
    /// The sum of [`LooRow::cheap`] for each fit.
    cheap: Vec<f64>,
}

impl PartRows {
    /// Cheap estimates from all rows for fits of one table, as bytes for [`to_leave_out`] and
    /// [`left_out`].
    ///
    /// # Errors
    /// If the part cannot be read, or its rows do not suit a fit.
    pub fn cheap_estimates(&self, fits: &[&SavedFit]) -> Result<Vec<u8>, Error> {
        let all = sum_cheap_values(fits, &mut |visit| self.for_fits(fits, visit))?;
        Ok(encoded(&CheapEstimates {
            rows: all.first().map_or(0, |loo| loo.n_rows),
            cheap: all.iter().map(|loo| loo.cheap_sum).collect(),
        }))
    }

    /// Leaves some rows out of fits of one table; returns bytes for [`left_out`]. The rows are
    /// given by their places among the rows of the part that were not dropped, in increasing order.
    ///
    /// # Errors
    /// If the part cannot be read, or its rows do not suit a fit.
    pub fn leave_out(&self, fits: &[&SavedFit], chosen: &[u64]) -> Result<Vec<u8>, Error> {
        if chosen.is_empty() {
            // The part need not be read again.
            return Ok(encoded(&vec![Vec::<LooRow>::new(); fits.len()]));
        }
        let all = leave_chosen_out(fits, chosen, &mut |visit| self.for_fits(fits, visit))?;
        Ok(encoded(&all))
    }

    /// Passes on the rows that all fits can use.
    fn for_fits(&self, fits: &[&SavedFit], visit: &mut VisitBlock<'_>) -> Result<(), Error> {
        let columns = columns_of(fits);
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        let options = self.options.clone();
        let rows = PartRows {
            part: self.part.clone(),
            options: options.keep_columns(&optional_columns_of(fits)),
        };
        rows.each(&columns, &mut |block, _| visit(block))?;
        Ok(())
    }
}

/// The rows of each part to leave out, by their places there: all, or a uniform random sample.
///
/// # Errors
/// If the bytes are not those of [`PartRows::cheap_estimates`].
pub fn to_leave_out(estimates: &[Vec<u8>], sampling: LooSampling) -> Result<Vec<Vec<u64>>, Error> {
    let counts = read(estimates)?.into_iter().map(|one| one.rows);
    let counts: Vec<u64> = counts.collect();
    let total = counts.iter().sum();
    Ok(places_in_parts(&sampling.choose(total), counts.into_iter()))
}

/// The leave-one-out results of each fit, from the answers of the parts in order.
///
/// # Errors
/// If the bytes are not those of [`PartRows::cheap_estimates`] and [`PartRows::leave_out`].
pub fn left_out(
    fits: &[&SavedFit],
    estimates: &[Vec<u8>],
    left: &[Vec<u8>],
) -> Result<Vec<Loo>, Error> {
    let mut all: Vec<Loo> = fits.iter().map(|fit| Loo::new(fit)).collect();
    for (one, left) in read(estimates)?.into_iter().zip(left) {
        let left: Vec<Vec<LooRow>> = decoded(left)?;
        for ((loo, rows), cheap) in all.iter_mut().zip(left).zip(&one.cheap) {
            let first = loo.n_rows;
            let rows = rows.into_iter().map(|row| LooRow {
                row: first + row.row,
                ..row
            });
            loo.rows.extend(rows);
            loo.cheap_sum += cheap;
            loo.n_rows += one.rows;
        }
    }
    Ok(all)
}

fn read(estimates: &[Vec<u8>]) -> Result<Vec<CheapEstimates>, Error> {
    let read: Result<_, _> = estimates.iter().map(|bytes| decoded(bytes)).collect();
    Ok(read?)
}
