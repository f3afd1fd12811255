//! A whole fit: a method, and the settings that all methods share.

use lehr_density::Density;

use crate::condensed::{self, ReducedDensity};
use crate::error::{SettingError, UnknownMethod};
use crate::learned::learned;
use crate::local::{IntegratedDensity, Integration};
use crate::method::{Auto, Method, check_rows, find};
use crate::posterior::{NO_ROWS, Origin, Posterior};
use crate::proper;
use crate::run::{Checkpoint, Run};
use lehr_rows::watch::{Observer, Phase};

pub use crate::error::FitError;

/// A fit before it runs: a method with its settings, and the settings that all methods share.
///
/// ```
/// # use lehr_infer::fit::Fit;
/// # use lehr_infer::method::SlDais;
/// let fit = Fit::new(SlDais::default()).seed(7).draws(2000);
/// let same = Fit::named("sl-dais")?.seed(7).draws(2000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Fit<'a> {
    /// The method with its settings.
    pub method: Box<dyn Method>,
    run: Run<'a>,
    draws: Option<usize>,
    threads: Option<usize>,
}

/// A fit by the method that suits the model and the table.
impl Default for Fit<'_> {
    fn default() -> Self {
        Fit::new(Auto::default())
    }
}

impl<'a> Fit<'a> {
    /// A fit by this method.
    pub fn new(method: impl Method + 'static) -> Fit<'a> {
        Fit::boxed(Box::new(method))
    }

    /// A fit by the method of this name, with every setting at its default.
    ///
    /// # Errors
    /// If there is no method of this name.
    pub fn named(name: &str) -> Result<Fit<'a>, UnknownMethod> {
        Ok(Fit::boxed((find(name)?.new)()))
    }

    /// A fit by this method.
    pub fn boxed(method: Box<dyn Method>) -> Fit<'a> {
        Fit {
            run: Run::default(),
            method,
            draws: None,
            threads: None,
        }
    }

    /// Sets a setting of the method by name.
    ///
    /// # Errors
    /// If the method has no such setting, or the setting no such value.
    pub fn set(mut self, name: &str, value: &str) -> Result<Fit<'a>, SettingError> {
        self.method.set(name, value)?;
        Ok(self)
    }

    /// Sets the seed of all randomness; the default is 0.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Fit<'a> {
        self.run.seed = seed;
        self
    }

    /// Sets S, the number of draws that judge and summarise the result; the default depends on the
    /// method.
    #[must_use]
    pub fn draws(mut self, draws: usize) -> Fit<'a> {
        self.draws = Some(draws);
        self
    }

    /// Turns off the chains and searches by which a verdict looks for mass that the draws miss. The
    /// draws are then the method's own, and the verdict states that it considered their weights
    /// alone: for studies of methods.
    #[must_use]
    pub fn unexamined(mut self) -> Fit<'a> {
        self.run.unexamined = true;
        self
    }

    /// Keeps moments in place of the draws of a site, if the method supports that and all draws
    /// have more numbers than this: for callers that can make draws of single groups from
    /// [`lehr_mixed::GroupMoments`]. Only the first call counts.
    #[must_use]
    pub fn sparing(mut self, most_numbers: usize) -> Fit<'a> {
        self.run.most_numbers.get_or_insert(most_numbers);
        self
    }

    /// Sets the number of threads; the default is the surrounding pool. The result does not depend
    /// on it.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Fit<'a> {
        self.threads = Some(threads);
        self
    }

    /// Sets an observer, which may stop the fit.
    #[must_use]
    pub fn observer(self, observer: &mut dyn Observer) -> Fit<'_> {
        Fit {
            method: self.method,
            run: self.run.watched_by(observer),
            draws: self.draws,
            threads: self.threads,
        }
    }

    /// Saves the fit while it runs; an existing checkpoint of the same fit is resumed.
    #[must_use]
    pub fn checkpoint(mut self, checkpoint: Checkpoint) -> Fit<'a> {
        self.run.checkpoint = Some(checkpoint);
        self
    }

    /// Runs the fit.
    ///
    /// # Errors
    /// If a setting cannot work with this model, or the fit fails.
    pub fn run(self, density: &dyn Density) -> Result<Posterior, FitError> {
        let fitted = self.run_threads(density);
        // Rows that could not be read were not numbers, whatever came of them.
        let lost = density.source().failure();
        lost.map_or(fitted, |lost| Err(lost.into()))
    }

    fn run_threads(mut self, density: &dyn Density) -> Result<Posterior, FitError> {
        let Some(threads) = self.threads else {
            return self.run_here(density);
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| {
            let problem = format!("{threads} threads were asked for, but {error}");
            self.method.info().refuse(problem, "ask for fewer")
        })?;
        pool.install(|| self.run_here(density))
    }

    /// Fits without local latents if they can be integrated out.
    fn run_here(&mut self, density: &dyn Density) -> Result<Posterior, FitError> {
        let most = self.method.most_locals();
        let mut posterior = match IntegratedDensity::of(density) {
            Some(integrated) if integrated.nodes().dimensions() <= most => {
                self.run_integrated(integrated)
            }
            _ => self.run_rows(density),
        }?;
        let learned = learned(&posterior);
        posterior
            .choices
            .extend(learned.map(|words| ("learned, not random".into(), words)));
        Ok(posterior)
    }

    /// Integrates out local latents, and repeats with more nodes if there were too few for the
    /// resulting posterior.
    fn run_integrated(&mut self, integrated: IntegratedDensity<'_>) -> Result<Posterior, FitError> {
        proper::check(&integrated)?;
        let mut posterior = self.fit(&integrated)?;
        let found = Integration::measured(&integrated, &posterior.draws, &posterior.param_values);
        let dimensions = integrated.nodes().dimensions();
        let words = found.words(&integrated.names());
        if found.asks_for_more(dimensions) {
            self.run.remark(&format!(
                "local latents: {words}; once more with twice as many"
            ));
            return self.run_integrated(integrated.with_nodes(2 * found.nodes));
        }
        posterior.choices.insert(0, ("local latents".into(), words));
        posterior.origin.integration = Some(found);
        Ok(posterior)
    }

    /// Fits on reduced rows if the density can be reduced.
    fn run_rows(&mut self, density: &dyn Density) -> Result<Posterior, FitError> {
        proper::check(density)?;
        if !self.method.condenses(density) {
            return self.fit(density);
        }
        if condensed::applies(density) {
            self.run.begin(Phase::CONDENSE);
        }
        let Some(condensed) = ReducedDensity::of(density)? else {
            return self.fit(density);
        };
        let mut posterior = self.fit(&condensed)?;
        let (rows, few) = (density.total_rows(), condensed.n_rows());
        let words = format!("{rows} rows to {few} that say the same");
        posterior.choices.insert(0, ("condensed".into(), words));
        let Origin {
            method,
            contents,
            attempts,
            ..
        } = posterior.origin;
        let contents = if contents == NO_ROWS {
            contents
        } else {
            "sums over the rows, no row of the table".into()
        };
        posterior.origin = Origin {
            attempts,
            condensed: true,
            ..Origin::of(density, method, self.run.seed, contents)
        };
        Ok(posterior)
    }

    fn fit(&mut self, density: &dyn Density) -> Result<Posterior, FitError> {
        check_rows(self.method.info(), density)?;
        let usual = || self.method.usual_draws(density);
        self.run.draws = self.draws.unwrap_or_else(usual);
        self.run.asked_draws = self.draws;
        self.method.fit(density, &mut self.run)
    }
}
