//! The refusals of a variational fit, in one sentence each.

use super::fit::VariationalFit;
use crate::error::FitError;
use crate::run::Run;

impl VariationalFit<'_> {
    /// Refuses settings that cannot work.
    pub(super) fn check(&self, run: &Run<'_>) -> Result<(), FitError> {
        let info = self.method.info();
        info.check_latents(self.density)?;
        self.check_batch()?;
        let lanes = (self.method.common().train.lanes == 0)
            .then(|| "0 draws per step were asked for".to_owned());
        info.check_settings(run.draws, lanes.or_else(|| self.method.problem()))
    }

    fn check_batch(&self) -> Result<(), FitError> {
        let rows = self.density.n_rows();
        match self.method.common().batch {
            Some(0) => Err(self.method.info().refuse(
                "a batch of 0 rows was asked for",
                "ask for at least one row",
            )),
            Some(batch) if batch > rows => {
                let problem =
                    format!("a batch of {batch} rows was asked for, but the table has {rows}");
                Err(self
                    .method
                    .info()
                    .refuse(problem, "a batch is drawn without replacement"))
            }
            _ => Ok(()),
        }
    }
}
