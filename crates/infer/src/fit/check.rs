//! Settings of a fit that cannot work.

use lehr_density::Density;

use super::{Fit, FitError};
use crate::method::Method;

impl Fit {
    /// Refuses settings that cannot work, in one sentence each.
    pub(super) fn check(&self, density: &dyn Density) -> Result<(), FitError> {
        let rows = density.n_rows();
        if let Some(site) = (density.locals()).and_then(|own| own.layout().sites().first()) {
            let problem = format!(
                "the model gives each row a latent of its own, {:?}",
                site.name
            );
            return Err(self.refuse(problem, "integrate it out in the likelihood"));
        }
        if density.latents().size() == 0 {
            let problem = "the model has no latents to infer".into();
            return Err(self.refuse(problem, "sample at least one site"));
        }
        match self.batch {
            Some(0) => {
                let problem = "a batch of 0 rows was asked for".into();
                return Err(self.refuse(problem, "ask for at least one row"));
            }
            Some(batch) if batch > rows => {
                let problem =
                    format!("a batch of {batch} rows was asked for, but the table has {rows}");
                return Err(self.refuse(problem, "a batch is drawn without replacement"));
            }
            _ => {}
        }
        let chained = self.chain_steps.is_some() || self.surrogate.is_some();
        if chained && !self.method.is_annealed() {
            let problem = "chain steps or a surrogate were set, but the method has no chain".into();
            return Err(self.refuse(problem, "use sl-dais"));
        }
        if self.surrogate.is_some() && self.method != Method::SlDais {
            let problem = "a surrogate was set, but the chain runs on the table's rows".into();
            return Err(self.refuse(problem, "use sl-dais"));
        }
        if self.draws < 25 {
            let problem = format!(
                "{} draws were asked for, fewer than the 25 a verdict needs",
                self.draws
            );
            return Err(self.refuse(problem, "1000 is usual"));
        }
        self.check_method()?;
        self.check_numbers()
    }

    /// Refuses settings of parts that the method does not have.
    fn check_method(&self) -> Result<(), FitError> {
        if self.surrogate_rows.is_some() && self.method != Method::SlDais {
            let problem = if self.method.is_annealed() {
                "surrogate rows were set, but the chain runs on the table's rows"
            } else {
                "surrogate rows were set, but the method has no chain"
            };
            return Err(self.refuse(problem.into(), "use sl-dais"));
        }
        match self.base {
            Some(base) if !self.method.is_annealed() && base.name() != self.method.info().name => {
                let name = base.name();
                let problem = format!("a {name} base was set, but the method is its own base");
                Err(self.refuse(problem, "leave the base out, or use sl-dais"))
            }
            _ => Ok(()),
        }
    }

    /// Refuses numbers outside of their range.
    fn check_numbers(&self) -> Result<(), FitError> {
        let start = &self.annealed_start;
        let longest = start.max_step_size;
        let (step, kept, variance) = (start.step_size, start.refreshment, start.momentum_variance);
        let problem = if self.train.lanes == 0 {
            "0 draws per step were asked for".into()
        } else if !(step > 0.0 && step < longest) {
            format!("expected a step size between 0 and {longest}, found {step}")
        } else if !(0.0..1.0).contains(&kept) {
            format!("expected a refreshment of at least 0 and below 1, found {kept}")
        } else if !(variance > 0.0 && variance.is_finite()) {
            format!("expected a positive momentum variance, found {variance}")
        } else {
            return Ok(());
        };
        Err(self.refuse(problem, "leave it out for the usual value"))
    }
}
