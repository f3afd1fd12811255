//! The specification of a regression: formulas, families, priors.

mod part;

use lehr_formula::{ColumnExpr, Formula, Formulas, ResidualCorrelation, Terms};
use lehr_learn::{Blocks, LearnError};
use lehr_table::Table;

use crate::error::RegressionError;
use crate::family::Family;
use crate::learned_regression::Regression;
use crate::multivariate::MultivariateRegression;
use crate::prior::GivenPriors;
use crate::response_name;
use crate::specification::part::{ResponseSpecification, pointed};

/// The model of a specification once its table is known.
#[derive(Clone, Debug, PartialEq)]
pub enum FormulaModel {
    /// A regression of one response.
    Univariate(Box<Regression>),
    /// Regressions of several responses.
    Multivariate(Box<MultivariateRegression>),
}

/// A formula whose columns are known to exist, with a family and priors; or one for each of several
/// responses.
pub struct Specification {
    source: String,
    parts: Vec<ResponseSpecification>,
    /// The prefix of each response's coefficients; empty if there is one response.
    names: Vec<String>,
    residuals: ResidualCorrelation,
    /// The priors of parameters that several responses share.
    shared: GivenPriors,
}

impl Specification {
    /// Parses a formula for a table with these columns.
    pub fn parse(formula: &str, columns: &[String]) -> Result<Specification, RegressionError> {
        let parsed = Formulas::parse(formula).map_err(|error| pointed(error, formula))?;
        Specification::new(&parsed, columns)
    }

    /// A specification from parsed formulas, for a table with these columns.
    pub fn new(formulas: &Formulas, columns: &[String]) -> Result<Specification, RegressionError> {
        let responses = formulas.responses();
        let parts = |others: &[&str]| -> Result<Vec<ResponseSpecification>, LearnError> {
            let part = |formula| ResponseSpecification::new(formula, columns, others);
            responses.iter().map(part).collect()
        };
        let (mut all, mut names) = (parts(&[])?, Vec::new());
        if all.len() > 1 {
            let outcomes = all.iter().map(|part| &part.terms.response.outcome);
            let others: Vec<&str> = outcomes.flat_map(ColumnExpr::column_names).collect();
            let free = parts(&others)?;
            names = response_name::names(free.iter().map(|part| &part.terms))?;
            all = free;
        }
        Ok(Specification {
            source: formulas.source().to_owned(),
            parts: all,
            names,
            residuals: formulas.residuals(),
            shared: GivenPriors::default(),
        })
    }

    /// The same with this family for every response; by default the response determines the family.
    #[must_use]
    pub fn with_family(mut self, family: Family) -> Specification {
        for part in &mut self.parts {
            part.family = Some(family);
        }
        self
    }

    /// The same with one family for every response, or one for each in their order.
    ///
    /// # Errors
    /// If the number of families is neither one nor that of responses.
    pub fn with_families(mut self, families: &[Family]) -> Result<Specification, RegressionError> {
        if let [family] = families {
            return Ok(self.with_family(*family));
        }
        if families.len() != self.parts.len() {
            let (found, wanted) = (families.len(), self.parts.len());
            return Err(LearnError::column(
                "family",
                match wanted {
                    1 => "one family for the one response".into(),
                    _ => format!("one family for all responses, or {wanted} in their order"),
                },
                found.to_string(),
                "write --family gaussian,poisson for mvbind(y1, y2) ~ ...",
            )
            .into());
        }
        for (part, family) in self.parts.iter_mut().zip(families) {
            part.family = Some(*family);
        }
        Ok(self)
    }

    /// The same with these priors, such as `x1 ~ normal(0, 1)`, and no others. With several
    /// responses, `y1.x1 ~ normal(0, 1)` is a prior of one of them.
    pub fn with_priors(mut self, priors: &[String]) -> Result<Specification, RegressionError> {
        if self.names.is_empty() {
            self.parts[0].priors = GivenPriors::parse(priors)?;
            return Ok(self);
        }
        let shared = response_name::shared_names(self.parts.iter().map(|part| &part.terms));
        let (common, own) = GivenPriors::parted(priors, &self.names, &shared)?;
        for (part, priors) in self.parts.iter_mut().zip(own) {
            part.priors = priors;
        }
        self.shared = common;
        Ok(self)
    }

    /// The same with formulas of the family's own parameters, such as `sigma ~ x`, for a table with
    /// these columns. With several responses, `y1.sigma ~ x` applies to one of them.
    pub fn with_formulas(
        mut self,
        formulas: &[String],
        columns: &[String],
    ) -> Result<Specification, RegressionError> {
        for text in formulas {
            let parsed = Formula::parse(text).map_err(|error| pointed(error, text))?;
            for (place, part) in self.parts.iter_mut().enumerate() {
                let response = part.terms.response.outcome.column_names();
                let mut others = columns.to_vec();
                others.retain(|name| !response.contains(&name.as_str()));
                let terms = Terms::of_parameter(&parsed, &others);
                let mut terms = terms.map_err(|error| pointed(error, text))?;
                match response_name::owner(&self.names, terms.parameter()) {
                    Some((owner, _)) if owner != place => continue,
                    Some((_, own)) => terms.rename_parameter(&own),
                    None => {}
                }
                if let Some(term) = &part.terms.covariate {
                    let checked = terms.check_latent(term);
                    checked.map_err(|error| pointed(error, text))?;
                }
                part.add_formula(text, terms)?;
            }
        }
        Ok(self)
    }

    /// The same for a table in which these columns were dates, read as days since 1970-01-01.
    #[must_use]
    pub fn with_dates(mut self, dates: &[String]) -> Specification {
        for part in &mut self.parts {
            part.dates = dates.to_vec();
        }
        self
    }

    /// The columns of a table that the formulas read, the responses' first.
    pub fn columns(&self) -> Vec<&str> {
        response_name::union(self.parts.iter().map(|part| part.terms.column_names()))
    }

    /// The columns whose values may be missing.
    pub fn optional_columns(&self) -> Vec<&str> {
        response_name::union(self.parts.iter().map(|part| part.terms.optional_columns()))
    }

    /// The terms of the formula, if there is one response.
    pub fn only_terms(&self) -> Option<&Terms> {
        self.only().map(|part| &part.terms)
    }

    /// The family that the user named, if there is one response.
    pub fn only_family(&self) -> Option<Family> {
        self.only().and_then(|part| part.family)
    }

    /// The specification of the response, if there is one.
    fn only(&self) -> Option<&ResponseSpecification> {
        match &self.parts[..] {
            [only] => Some(only),
            _ => None,
        }
    }

    /// The automatic choices, given the model of each response.
    pub fn choices(&self, regressions: &[&Regression]) -> Vec<(String, String)> {
        let own = self.parts.iter().zip(regressions);
        let mut choices = Vec::new();
        for (place, (part, regression)) in own.enumerate() {
            let origin = match part.family {
                Some(_) => "as asked",
                None => "by the response",
            };
            let prefix = self.names.get(place).map(|name| format!("{name}."));
            let prefix = prefix.unwrap_or_default();
            let family = format!("{}, {origin}", regression.family());
            choices.push((format!("{prefix}family"), family));
            let functions = regression.function_words().into_iter();
            choices.extend(functions.map(|(label, words)| (format!("{prefix}{label}"), words)));
        }
        choices
    }

    /// Learns levels, scales and default priors of one response from a table. Refuses
    /// specifications that cannot be fitted.
    pub fn learn(&self, blocks: &dyn Blocks) -> Result<Regression, RegressionError> {
        match &self.parts[..] {
            [only] => Ok(only.learn(blocks)?),
            several => Err(LearnError::column(
                self.source.clone(),
                "one response",
                several.len().to_string(),
                "fit it with lehr fit, or regress(...).fit() from Rust, from a table in memory",
            )
            .into()),
        }
    }

    /// As [`Specification::learn`] for one or several responses.
    pub fn model(&self, blocks: &dyn Blocks) -> Result<FormulaModel, RegressionError> {
        if let Some(only) = self.only() {
            return Ok(FormulaModel::Univariate(Box::new(only.learn(blocks)?)));
        }
        let learnt: Result<Vec<Regression>, LearnError> =
            self.parts.iter().map(|part| part.learn(blocks)).collect();
        let several = MultivariateRegression::new(
            &self.source,
            (self.names.clone(), learnt?),
            self.residuals,
            &self.shared,
        )?;
        Ok(FormulaModel::Multivariate(Box::new(several)))
    }
}

impl Regression {
    /// Parses the formula and the priors (`weight ~ normal(0, 1)`) for a table, from which levels,
    /// scales and default priors are learned. Refuses specifications that cannot be fitted.
    pub fn new(
        formula: &str,
        family: Family,
        priors: &[String],
        table: &Table,
    ) -> Result<Regression, RegressionError> {
        Regression::learn(formula, family, priors, table)
    }

    /// As [`Regression::new`] for a table that need not be in memory: its rows are read twice, and
    /// more often if a term such as `poly(x, 3)` needs it.
    pub fn learn(
        formula: &str,
        family: Family,
        priors: &[String],
        blocks: &dyn Blocks,
    ) -> Result<Regression, RegressionError> {
        let specification = Specification::parse(formula, blocks.names())?;
        let specification = specification.with_family(family).with_priors(priors)?;
        specification.learn(blocks)
    }
}
