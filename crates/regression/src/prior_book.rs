//! The priors of a model while they are chosen: the user's, or defaults scaled to the table.

use lehr_formula::Terms;
use lehr_learn::{Smooth, TableFacts};

use crate::family::Family;
use crate::law::Law;
use crate::prior::{GivenPriors, PriorLine, PriorOrigin};

/// The priors chosen so far, with everything that default priors depend on.
pub(crate) struct PriorBook<'a> {
    pub(crate) family: Family,
    pub(crate) terms: &'a Terms,
    pub(crate) facts: &'a TableFacts,
    /// The function by inducing points.
    pub(crate) induced: Option<&'a Smooth>,
    pub(crate) given: &'a GivenPriors,
    /// Every prior in words, on the original scale.
    pub(crate) printed: Vec<PriorLine>,
}

impl<'a> PriorBook<'a> {
    /// The unit of the linear predictor.
    pub(crate) fn unit(&self) -> f64 {
        self.facts.predictor_scale.unit
    }

    /// Whether the noise of each row is known.
    pub(crate) fn has_errors(&self) -> bool {
        self.terms.response.errors.is_some()
    }

    /// The user's law for a parameter of these names, if there is one.
    pub(crate) fn law(&self, names: &[String]) -> Option<&'a Law> {
        self.given.law(names)
    }

    /// The user's law or the default, both on the original scale; returned for the variable divided
    /// by `unit`. The first of the names is printed.
    pub(crate) fn choose(&mut self, names: &[String], default: &Law, unit: f64) -> Law {
        self.choose_shown(&names[0], names, default, unit)
    }

    /// As [`PriorBook::choose`], printed under another name.
    pub(crate) fn choose_shown(
        &mut self,
        shown: &str,
        names: &[String],
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
}
