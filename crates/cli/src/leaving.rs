//! Leaving rows of a table out of saved fits, block by block.

use anyhow::{Result, anyhow};
use clap::Args;
use lehr::regression::{Error, Loo, SavedFit};
use lehr::table::{ReadOptions, Table, TableFiles};

use crate::live::Live;
use crate::reading::{Reading, stop};

/// Rows above which a sample of them is left out.
const MOST_ROWS: u64 = 100_000;
/// Rows of that sample.
const SAMPLE: usize = 5000;

/// Which rows are left out.
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
        let options = reading.options(Some(columns(fits)))?;
        let options = options.keeping(&optional(fits));
        let mut all: Vec<Loo> = fits.iter().map(|fit| Loo::new(fit)).collect();
        each_block(source, &options, live, &mut |block, _| {
            for (loo, fit) in all.iter_mut().zip(fits) {
                loo.push_cheap(&fit.cheap(block)?);
            }
            Ok(())
        })?;
        let rows = all.first().map_or(0, |loo| loo.n_rows);
        let count = match self.subsample {
            Some(count) => count.max(2),
            None if rows > MOST_ROWS => SAMPLE,
            None => rows as usize,
        };
        let chosen = Loo::sample(rows, count, self.seed);
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

/// The columns that any of the fits reads.
pub(crate) fn columns(fits: &[&SavedFit]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in fits.iter().flat_map(|fit| fit.subject.columns()) {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// The columns whose values may be missing for all of the fits.
pub(crate) fn optional<'f>(fits: &[&'f SavedFit]) -> Vec<&'f str> {
    let names = fits.first().map(|fit| fit.subject.optional_columns());
    let mut names = names.unwrap_or_default();
    let is_read = |fit: &&&SavedFit, name: &str| fit.subject.columns().contains(&name);
    let needed = |name: &str| {
        let mut readers = fits.iter().filter(|fit| is_read(fit, name));
        readers.any(|fit| !fit.subject.optional_columns().contains(&name))
    };
    names.retain(|name| !needed(name));
    names
}

/// What is done with a block of rows, the first of which is that row of the table.
type EachBlock<'a> = dyn FnMut(&Table, u64) -> Result<(), Error> + 'a;

fn each_block(
    source: &TableFiles,
    options: &ReadOptions,
    live: &Live,
    visit: &mut EachBlock<'_>,
) -> Result<()> {
    let mut failed = None;
    let scanned = source.scan(options, &mut |block, at| {
        live.rows(at);
        if block.n_rows() == 0 {
            return Ok(());
        }
        let first = at.rows - block.n_rows() as u64;
        visit(&block, first).map_err(|error| {
            failed = Some(error);
            stop()
        })
    });
    match (failed, scanned) {
        (Some(error), _) => Err(error.into()),
        (None, Err(error)) => Err(error.into()),
        (None, Ok(scan)) if scan.rows == 0 => {
            Err(anyhow!("table: expected at least one row, found none"))
        }
        (None, Ok(_)) => Ok(()),
    }
}
