//! Leaves rows of a table out of saved fits, block by block.

use anyhow::Result;
use clap::Args;
use lehr::regression::{
    Loo, LooSampling, SavedFit, columns_of, leave_rows_out, optional_columns_of,
};
use lehr::table::TableFiles;

use crate::live::Live;
use crate::reading::ReadingArgs;

/// The selection of rows to leave out.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct LooSampleArgs {
    /// Leave out so many rows, evenly at random, and estimate the sum over all from them [default:
    /// 5000 where the table has more than 100000 rows, else all]
    #[arg(long, value_name = "N")]
    pub(crate) subsample: Option<usize>,
    /// Where random numbers come from
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
}

impl LooSampleArgs {
    /// Leaves the same rows of some files out of every fit.
    pub(crate) fn leave_out(
        &self,
        fits: &[&SavedFit],
        source: &TableFiles,
        reading: &ReadingArgs,
        live: &Live,
    ) -> Result<Vec<Loo>> {
        let options = reading.read_options(Some(columns_of(fits)))?;
        let options = options.keep_columns(&optional_columns_of(fits));
        let sampling = LooSampling {
            subsample: self.subsample,
            seed: self.seed,
        };
        let left = leave_rows_out(fits, sampling, &mut |visit| {
            source.scan_blocks(&options, &mut |block, at| {
                live.rows(at);
                match block.n_rows() {
                    0 => Ok(()),
                    _ => visit(&block),
                }
            })?;
            Ok(())
        });
        Ok(left?)
    }
}
