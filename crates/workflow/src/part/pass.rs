//! One pass of a model over rows that are read and not kept.

use lehr_density::RowSource;
use lehr_learn::LearnError;
use lehr_model::{Bound, Program};
use lehr_regression::column_name::MATRIX;
use lehr_regression::{Design, DesignSource, Purpose, Regression, RegressionError, TableBlock};
use lehr_rows::{AnyJob, AnyPartial, BlockFold, ComputedColumn, MachinePool, TableRows};

use super::PartRows;
use crate::error::Error;

/// A model in a form that can be evaluated on rows as they are read.
pub(crate) struct PartPass {
    regression: Regression,
    program: Program,
    /// The model on a few rows, which have no influence.
    model: Bound,
}

impl PartPass {
    pub(crate) fn new(regression: Regression, model: Bound) -> Result<PartPass, RegressionError> {
        Ok(PartPass {
            program: regression.program()?,
            regression,
            model,
        })
    }

    /// The model on a few rows.
    pub(crate) fn model(&self) -> &Bound {
        &self.model
    }

    /// Passes on the rows of a part, block by block, in the form that the model reads; returns the
    /// number of dropped rows.
    pub(crate) fn each(
        &self,
        rows: &PartRows,
        visit: &mut dyn FnMut(&dyn RowSource),
    ) -> Result<usize, Error> {
        let common = &self.regression.population;
        rows.each(&self.regression.columns(), &mut |table, first| {
            let first = first as usize;
            let block = TableBlock { table, first };
            let source = DesignSource::new(&self.regression, &block, Purpose::Fit)?;
            let design = Design::of_block(&self.regression, &source)?;
            let matrix = common.scaled(&source.columns)?;
            let computed = ComputedColumn {
                name: MATRIX,
                width: matrix.width(),
                fill: &|rows, to| matrix.fill(rows, to),
            };
            let codes = design.codes.as_deref().unwrap_or_default();
            // The values of a design are checked when it is built.
            let rows =
                TableRows::from_table(&design.table, (&[computed], codes), self.program.columns());
            let rows = rows.ok_or_else(|| {
                LearnError::Read(format!(
                    "row {}: expected the columns of the model, found others\n  \
                     hint: leave the files as they are until the fit is done",
                    first + 1
                ))
            })?;
            visit(&rows);
            Ok(())
        })
    }

    /// The result of a job on the rows of a part; `None` without rows.
    pub(crate) fn fold(
        &self,
        rows: &PartRows,
        job: &dyn AnyJob,
        pool: &mut MachinePool,
    ) -> Result<Option<AnyPartial>, Error> {
        let mut passing = BlockFold::new(job, pool);
        self.each(rows, &mut |block| passing.add_block(block))?;
        Ok(passing.finish())
    }
}
