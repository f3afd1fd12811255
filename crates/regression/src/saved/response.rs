//! One response of a fit of several, as a fit of its own.

use lehr_model::Bound;

use super::{DataCheck, SavedFit, Subject};
use crate::learn::error::LearnError;
use crate::workflow::error::Error;

impl SavedFit {
    /// The fit of one response, by its name. Its draws are those of the whole fit, and everything that can
    /// be asked of a fit of one response can be asked of it: predictions, effects, scores, a report.
    ///
    /// # Errors
    /// If there is no such response.
    pub fn response(&self, name: &str) -> Result<SavedFit, Error> {
        match &self.subject {
            Subject::Several(several) => self.response_at(several.place(name)?),
            other if other.response() == name => Ok(self.clone()),
            other => Err(LearnError::Column {
                at: "--response".into(),
                expected: format!("the response {}", other.response()),
                found: format!("{name:?}"),
                hint: "leave it out: the fit has one response".into(),
            }
            .into()),
        }
    }

    /// The fit of each response where there are several, in their order; else the fit itself.
    ///
    /// # Errors
    /// If a model cannot be made of what was saved.
    pub fn responses(&self) -> Result<Vec<SavedFit>, Error> {
        match &self.subject {
            Subject::Several(several) => {
                let places = 0..several.names().len();
                places.map(|place| self.response_at(place)).collect()
            }
            _ => Ok(vec![self.clone()]),
        }
    }

    fn response_at(&self, place: usize) -> Result<SavedFit, Error> {
        let several = self.subject.several().expect("a fit of several responses");
        Ok(SavedFit {
            version: self.version.clone(),
            date: self.date.clone(),
            subject: Subject::Regression(Box::new(several.responses()[place].clone())),
            posterior: several.posterior_of(place, &self.posterior)?,
            read_seconds: self.read_seconds,
            dropped_rows: self.dropped_rows,
            contents: self.contents.clone(),
            data_check: self.response_checks.get(place).cloned().unwrap_or_default(),
            response_checks: Vec::new(),
        })
    }

    /// Checks each response on some of the fitted rows, on which its own model is bound.
    pub(crate) fn check_responses(&mut self, singles: &[Bound]) {
        let check = |(place, bound): (usize, &Bound)| {
            let own = self.response_at(place).ok();
            own.map_or_else(DataCheck::default, |own| DataCheck::new(&own, bound))
        };
        self.response_checks = singles.iter().enumerate().map(check).collect();
    }

    /// What of the data a file with the fit in it contains, beside `rows`, what the guide carries.
    pub(crate) fn response_contents(&self, rows: &str) -> String {
        let named = self.subject.several().map(crate::Several::names);
        let own = named.into_iter().flatten().zip(&self.response_checks);
        let own = own.map(|(name, check)| format!("of {name}: {}", check.contents("")));
        std::iter::once(rows.to_owned())
            .chain(own)
            .collect::<Vec<_>>()
            .join("; ")
    }
}
