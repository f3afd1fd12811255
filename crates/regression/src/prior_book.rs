//! The priors of a model while they are chosen: the user's, or defaults scaled to the table.

use lehr_formula::Intercept;
use lehr_learn::{LearnError, PredictorScale};

use crate::family::Family;
use crate::law::Law;
use crate::prior::{GivenPriors, Parameter, PriorLine, PriorOrigin};

/// The priors chosen so far, with everything that default priors depend on.
pub(crate) struct PriorBook<'a> {
    pub(crate) family: Family,
    pub(crate) predictor_scale: &'a PredictorScale,
    pub(crate) intercept: Intercept,
    pub(crate) n_rows: usize,
    /// Whether the noise of each row is known.
    pub(crate) has_errors: bool,
    pub(crate) given: &'a GivenPriors,
    /// Every prior in words, on the original scale.
    pub(crate) printed: Vec<PriorLine>,
}

impl<'a> PriorBook<'a> {
    /// The user's law for a parameter of these names, if there is one.
    pub(crate) fn law(&self, names: &[String]) -> Option<&'a Law> {
        self.given.law(names)
    }

    /// The user's law or the default, both on the original scale; returned for the variable divided
    /// by `unit`.
    pub(crate) fn choose(
        &mut self,
        names: &[String],
        shown: &str,
        default: &Law,
        unit: f64,
    ) -> Law {
        let law = self.given.law(names).unwrap_or(default).clone();
        self.print(shown, law.to_string(), self.given.origin(names));
        law.divided(unit)
    }

    /// Keeps a prior in words.
    pub(crate) fn print(&mut self, name: &str, distribution: String, origin: PriorOrigin) {
        self.printed.push(PriorLine {
            name: name.to_owned(),
            distribution,
            origin,
        });
    }

    /// Refuses the user's priors of unknown parameters, of the wrong domain, or that exclude one another.
    pub(crate) fn check(
        &self,
        parameters: &[Parameter],
        columns: &[&str],
    ) -> Result<(), LearnError> {
        self.given.check(parameters)?;
        self.given.check_joint(columns, self.family)
    }
}
