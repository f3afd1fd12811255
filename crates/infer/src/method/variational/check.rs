//! The refusals of a variational fit, in one sentence each.

use super::fit::VariationalFit;
use crate::error::FitError;
use crate::method::contract::LOCALS_HINT;
use crate::run::Run;

impl VariationalFit<'_> {
    /// Refuses settings that cannot work.
    pub(super) fn check(&self, run: &Run<'_>) -> Result<(), FitError> {
        self.check_model()?;
        self.check_batch()?;
        if run.draws < 25 {
            let draws = run.draws;
            let problem =
                format!("{draws} draws were asked for, fewer than the 25 a verdict needs");
            return Err(self.refuse(problem, "1000 is usual"));
        }
        let lanes = (self.method.common().train.lanes == 0)
            .then(|| "0 draws per step were asked for".to_owned());
        match lanes.or_else(|| self.method.problem()) {
            Some(problem) => Err(self.refuse(problem, "leave it out for the usual value")),
            None => Ok(()),
        }
    }

    fn check_model(&self) -> Result<(), FitError> {
        let locals = self.density.locals();
        if let Some(site) = locals.and_then(|own| own.layout().sites().first()) {
            let name = &site.name;
            let problem = format!("the model gives each row a latent of its own, {name:?}");
            return Err(self.refuse(problem, LOCALS_HINT));
        }
        if self.density.latents().size() == 0 {
            let problem = "the model has no latents to infer";
            return Err(self.refuse(problem, "sample at least one site"));
        }
        Ok(())
    }

    fn check_batch(&self) -> Result<(), FitError> {
        let rows = self.density.n_rows();
        match self.method.common().batch {
            Some(0) => Err(self.refuse(
                "a batch of 0 rows was asked for",
                "ask for at least one row",
            )),
            Some(batch) if batch > rows => {
                let problem =
                    format!("a batch of {batch} rows was asked for, but the table has {rows}");
                Err(self.refuse(problem, "a batch is drawn without replacement"))
            }
            _ => Ok(()),
        }
    }
}
