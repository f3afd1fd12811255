//! From a formula and a table to a fit in one line.

use std::time::Instant;

use lehr_density::Density;
use lehr_infer::condensed;
use lehr_infer::error::Improper;
use lehr_infer::fit::{Fit, FitError};
use lehr_infer::posterior::{GroupMoments, Posterior};
use lehr_model::Bound;
use lehr_regression::{Family, Groups, Regression, RegressionError, Specification};
use lehr_table::Table;

use crate::bound::BoundRegression;
use crate::check::check_data;
use crate::data_check::DataCheck;
use crate::error::Error;
use crate::fitted_model::AnyModel;
use crate::saved_fit::{SavedFit, today};

/// A regression of a table: set a family and priors if the defaults do not suit, then call
/// [`Regress::fit`].
///
/// ```
/// use lehr_regression::Groups;
/// use lehr_table::Table;
/// use lehr_workflow::regress;
///
/// let x: Vec<f64> = (0..60).map(|i| f64::from(i) / 30.0 - 1.0).collect();
/// let y = x.iter().enumerate().map(|(i, x)| 2.0 * x + f64::from(i as u32 % 3)).collect();
/// let table = Table::new().with_number("x", x)?.with_number("y", y)?;
/// let fit = regress("y ~ x", &table)?
///     .prior("x ~ normal(0, 5)")?
///     .fit()?;
/// assert!((fit.coefficients(Groups::Leave)[1].best_summary().mean - 2.0).abs() < 0.5);
/// assert_eq!(fit.predict(&table)?.means().unwrap().len(), 60);
/// # Ok::<(), lehr_workflow::Error>(())
/// ```
pub fn regress<'t>(formula: &str, table: &'t Table) -> Result<Regress<'t>, RegressionError> {
    Ok(Regress {
        specification: Specification::parse(formula, table.names())?,
        priors: Vec::new(),
        table,
        fit: None,
    })
}

/// A regression of a table that has not been fitted yet; see [`regress`].
pub struct Regress<'t> {
    specification: Specification,
    priors: Vec<String>,
    table: &'t Table,
    fit: Option<Fit<'t>>,
}

impl<'t> Regress<'t> {
    /// Sets the distribution of the response by name; by default the response determines it. For
    /// several responses one name applies to all, or one is given for each: `gaussian,poisson`.
    pub fn family(self, name: &str) -> Result<Self, RegressionError> {
        let families = Family::parse_all(name)?;
        Ok(Regress {
            specification: self.specification.with_families(&families)?,
            ..self
        })
    }

    /// Adds a prior, such as `x1 ~ normal(0, 1)`.
    pub fn prior(mut self, prior: &str) -> Result<Self, RegressionError> {
        self.priors.push(prior.to_owned());
        Ok(Regress {
            specification: self.specification.with_priors(&self.priors)?,
            ..self
        })
    }

    /// Adds the formula of a parameter of the family, such as `sigma ~ x`.
    pub fn formula(self, formula: &str) -> Result<Self, RegressionError> {
        let formulas = [formula.to_owned()];
        let columns = self.table.names();
        Ok(Regress {
            specification: self.specification.with_formulas(&formulas, columns)?,
            ..self
        })
    }

    /// Sets method, seed and so on; the default depends on the model and the table.
    pub fn with(self, fit: Fit<'t>) -> Self {
        Regress {
            fit: Some(fit),
            ..self
        }
    }

    /// Fits the regression.
    pub fn fit(self) -> Result<SavedFit, Error> {
        let fit = self.fit.unwrap_or_default();
        let bound = BoundRegression::new(&self.specification, self.table, Instant::now())?;
        bound.fit(fit)
    }
}

impl BoundRegression {
    /// Fits by one method.
    pub fn fit(&self, fit: Fit<'_>) -> Result<SavedFit, Error> {
        if let Some(streamed) = &self.streamed {
            let mut saved = self.fit_density(fit, streamed.density())?;
            let passes = ("passes".into(), streamed.words());
            saved.posterior.choices.push(passes);
            return Ok(saved);
        }
        self.check_rows(&fit)?;
        self.fit_density(fit, &self.bound)
    }

    /// Refuses a method that reads all rows again and again if they are on disk.
    fn check_rows(&self, fit: &Fit<'_>) -> Result<(), Error> {
        let (method, density) = (fit.method.info(), &self.bound);
        let is_reduced = fit.method.condenses(density) && condensed::applies(density);
        if !self.is_on_disk || !method.rows.is_every_row() || is_reduced {
            return Ok(());
        }
        Err(Error::RowsOnDisk {
            method: method.name,
            rows: density.n_rows(),
        })
    }

    /// Fits the same model in the form of this density.
    pub(crate) fn fit_density(
        &self,
        fit: Fit<'_>,
        density: &dyn Density,
    ) -> Result<SavedFit, Error> {
        // Draws of single groups can be repeated from the kept statistics.
        let fit = match &self.subject {
            AnyModel::Regression(_) => fit.sparing(GroupMoments::LIMIT),
            AnyModel::Several(_) | AnyModel::Program(_) => fit,
        };
        let run = fit.run(density);
        Ok(self.saved(run.map_err(|error| self.named(error))?))
    }

    /// The error with the name of a coefficient instead of a site.
    fn named(&self, error: FitError) -> FitError {
        match error {
            FitError::Improper(Improper::Open { name }) => {
                let name = self.subject.shown_name(&name).unwrap_or(name);
                FitError::Improper(Improper::Open { name })
            }
            other => other,
        }
    }

    /// A fit of this model and its rows.
    pub(crate) fn saved(&self, mut posterior: Posterior) -> SavedFit {
        posterior.choices.splice(0..0, self.choices.iter().cloned());
        let rows = posterior.origin.contents.clone();
        let is_fitted = !posterior.is_prior();
        let mut saved = SavedFit {
            version: env!("CARGO_PKG_VERSION").into(),
            date: today(),
            subject: self.subject.clone(),
            posterior,
            read_seconds: self.read_seconds,
            dropped_rows: self.dropped_rows as u64,
            contents: String::new(),
            data_check: DataCheck::default(),
            response_checks: Vec::new(),
        };
        if let AnyModel::Several(_) = &saved.subject {
            saved.check_responses(&self.singles);
            saved.contents = saved.response_contents(&rows);
            return saved;
        }
        if is_fitted {
            let coefficients = saved.coefficients(Groups::Leave);
            let regression = saved.subject.regression();
            let dominated = regression.and_then(|own| own.dominated(&coefficients));
            let notes = dominated.into_iter().chain(saved.stray_lengthscales());
            let notes: Vec<String> = notes.collect();
            if let AnyModel::Regression(regression) = &mut saved.subject {
                regression.add_notes(notes);
            }
        }
        saved.data_check = check_data(&saved, &self.bound);
        saved.contents = saved.data_check.contents(&rows);
        let regression = self.subject.regression();
        if let Some(places) = regression.and_then(Regression::kept_places) {
            saved.contents = format!("{}; {places}", saved.contents);
        }
        saved
    }
}

impl SavedFit {
    /// Checks each response on some of the fitted rows, to which its own model is bound.
    fn check_responses(&mut self, singles: &[Bound]) {
        let check = |(place, bound): (usize, &Bound)| {
            let own = self.response_at(place).ok();
            own.map_or_else(DataCheck::default, |own| check_data(&own, bound))
        };
        self.response_checks = singles.iter().enumerate().map(check).collect();
    }

    /// The user's data in a file that contains the fit, in addition to `rows`, those of the guide.
    fn response_contents(&self, rows: &str) -> String {
        let own = self
            .subject
            .response_names()
            .iter()
            .zip(&self.response_checks);
        let own = own.map(|(name, check)| format!("of {name}: {}", check.contents("")));
        let all = std::iter::once(rows.to_owned()).chain(own);
        all.collect::<Vec<_>>().join("; ")
    }
}
