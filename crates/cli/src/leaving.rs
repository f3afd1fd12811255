//! Leaves rows of a table out of saved fits, block by block.

use anyhow::{Result, ensure};
use clap::Args;
use lehr::regression::{Error, Loo, SavedFit, columns_of, optional_columns_of};
use lehr::table::{ReadOptions, Table, TableFiles};

use crate::live::Live;
use crate::reading::Reading;

/// The selection of rows to leave out.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Sampling {
    /// Leave out so many rows, evenly at random, and estimate the sum over all from them [default:
    /// 5000 where the table has more than 100000 rows, else all]
    #[arg(long, value_name = "N")]
    pub(crate) subsample: Option<usize>,
    /// Where random numbers come from
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
}

impl Sampling {
    /// Leaves the same rows of some files out of every fit.
    pub(crate) fn leave_out(
        &self,
        fits: &[&SavedFit],
        source: &TableFiles,
        reading: &Reading,
        live: &Live,
    ) -> Result<Vec<Loo>> {
        let options = reading.read_options(Some(columns_of(fits)))?;
        let options = options.keep_columns(&optional_columns_of(fits));
        let mut all: Vec<Loo> = fits.iter().map(|fit| Loo::new(fit)).collect();
        each_block(source, &options, live, &mut |block, _| {
            for (loo, fit) in all.iter_mut().zip(fits) {
                loo.push_cheap(&fit.cheap(block)?);
            }
            Ok(())
        })?;
        let rows = all.first().map_or(0, |loo| loo.n_rows);
        let chosen = Loo::sample(rows, Loo::wanted(rows, self.subsample), self.seed);
        each_block(source, &options, live, &mut |block, first| {
            let range = first..first + block.n_rows() as u64;
            let from = chosen.partition_point(|row| *row < range.start);
            let to = chosen.partition_point(|row| *row < range.end);
            let places: Vec<usize> = (chosen[from..to].iter())
                .map(|row| (row - first) as usize)
                .collect();
            if places.is_empty() {
                return Ok(());
            }
            let own = block.select_rows(&places);
            for (loo, fit) in all.iter_mut().zip(fits) {
                loo.rows.extend(fit.leave_out(&own, &chosen[from..to])?);
            }
            Ok(())
        })?;
        Ok(all)
    }
}

/// A callback for a block of rows, with the number of its first row in the table.
type EachBlock<'a> = dyn FnMut(&Table, u64) -> Result<(), Error> + 'a;

fn each_block(
    source: &TableFiles,
    options: &ReadOptions,
    live: &Live,
    visit: &mut EachBlock<'_>,
) -> Result<()> {
    let scanned = source.scan_blocks(options, &mut |block, at| {
        live.rows(at);
        if block.n_rows() == 0 {
            return Ok(());
        }
        visit(&block, at.rows - block.n_rows() as u64)
    })?;
    ensure!(
        scanned.rows > 0,
        "table: expected at least one row, found none"
    );
    Ok(())
}
