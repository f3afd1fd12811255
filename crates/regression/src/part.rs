//! What is asked for of one response: a formula, a family, priors.

use std::collections::HashSet;

use lehr_formula::{Expr, Formula, FormulaError, Intercept, Terms};
use lehr_table::{Column, Table};
use serde::{Deserialize, Serialize};

use crate::blocks::Blocks;
use crate::error::RegressionError;
use crate::family::{Family, Form};
use crate::learning::{Request, TableFacts, learn};
use crate::lesson::{Lesson, Pupil};
use crate::parameter::can_vary;
use crate::prior::GivenPriors;
use crate::recognition;
use crate::regression::Regression;

/// What is asked for of one response: a formula whose columns are known to be there, with a family and
/// priors.
pub(crate) struct Part {
    /// The text of the formula, which mistakes point into.
    formula: String,
    pub(crate) terms: Terms,
    pub(crate) family: Option<Family>,
    priors: GivenPriors,
    dates: Vec<String>,
    /// The formulas of parameters as they were written.
    parameters: Vec<String>,
}

impl Part {
    /// A formula of a table with these columns, of which `.` does not stand for the others' responses.
    pub(crate) fn new(
        formula: &Formula,
        columns: &[String],
        others: &[&str],
    ) -> Result<Part, RegressionError> {
        let free = columns
            .iter()
            .filter(|name| !others.contains(&name.as_str()));
        let free: Vec<&String> = free.collect();
        let expand = || {
            let terms = formula.expand(&free)?;
            terms.check_columns(columns)?;
            Ok(terms)
        };
        Ok(Part {
            terms: expand().map_err(|error| pointed(error, formula.source()))?,
            formula: formula.source().to_owned(),
            family: None,
            priors: GivenPriors::default(),
            dates: Vec::new(),
            parameters: Vec::new(),
        })
    }

    pub(crate) fn set_priors(&mut self, priors: GivenPriors) {
        self.priors = priors;
    }

    pub(crate) fn set_dates(&mut self, dates: &[String]) {
        self.dates = dates.to_vec();
    }

    /// Adds the formula of a parameter, such as `sigma ~ x`, which was written so.
    pub(crate) fn add_formula(&mut self, text: &str, terms: Terms) -> Result<(), RegressionError> {
        let name = own_name(terms.parameter());
        if (self.terms.parameters.iter()).any(|other| own_name(other.parameter()) == name) {
            return Err(RegressionError::Column {
                at: format!("--formula '{text}'"),
                expected: "one formula for each parameter".into(),
                found: format!("two for {name}"),
                hint: "join their terms with +".into(),
            });
        }
        self.terms.parameters.push(terms);
        self.parameters.push(text.to_owned());
        Ok(())
    }

    /// The columns of a table that the formula reads, the response's first.
    pub(crate) fn columns(&self) -> Vec<&str> {
        self.terms.columns()
    }

    /// Learns levels, scales and default priors from a table. Refuses what cannot be fitted.
    pub(crate) fn learn(&self, blocks: &dyn Blocks) -> Result<Regression, RegressionError> {
        let formula = self.title();
        #[cfg(feature = "files")]
        if let Some((request, facts)) = self.learn_at_once(&formula, blocks)? {
            return self.assemble(request, facts);
        }
        recognition::check(&self.terms, self.family, blocks)?;
        let family = match self.family {
            Some(family) => family,
            None => guess(&self.terms, blocks)?,
        };
        let request = self.request(&formula, family, blocks)?;
        let facts = learn(&request, blocks)?;
        self.assemble(request, facts)
    }

    /// What is asked for where the family is known.
    pub(crate) fn request<'f>(
        &self,
        formula: &'f str,
        family: Family,
        blocks: &dyn Blocks,
    ) -> Result<Request<'f>, RegressionError> {
        let resolved = self
            .terms
            .clone()
            .resolve(&|name: &str| blocks.is_text(name));
        let mut terms = resolved.map_err(|error| pointed(error, &self.formula))?;
        for (parameter, text) in terms.parameters.iter_mut().zip(&self.parameters) {
            let own = own_name(parameter.parameter()).to_owned();
            if family.parameters().contains(&own.as_str()) {
                parameter.rename_parameter(&own);
            }
            check_parameter(parameter.parameter(), family, &terms.response)?;
            let resolved = parameter.resolve(&|name: &str| blocks.is_text(name));
            *parameter = resolved.map_err(|error| pointed(error, text))?;
        }
        // The cutpoints are intercepts already.
        if family.form() == Form::Ordered {
            terms.intercept = Intercept::Present;
        }
        Ok(Request {
            formula,
            terms,
            family,
        })
    }

    fn assemble(
        &self,
        request: Request<'_>,
        mut facts: TableFacts,
    ) -> Result<Regression, RegressionError> {
        facts.notes.extend(self.date_notes());
        Regression::assemble(request, facts, &self.priors)
    }

    /// All formulas.
    pub(crate) fn title(&self) -> String {
        let parameters = self.parameters.iter().map(String::as_str);
        let all: Vec<&str> = std::iter::once(self.formula.as_str())
            .chain(parameters)
            .collect();
        all.join("; ")
    }

    /// What was made of dates that the formula reads.
    fn date_notes(&self) -> Vec<String> {
        let columns = self.columns();
        let read = self
            .dates
            .iter()
            .filter(|name| columns.contains(&name.as_str()));
        read.map(|name| format!("{name}: dates, read as days since 1970-01-01"))
            .collect()
    }
}

/// The name of a parameter here, if it is called otherwise elsewhere: brms's `zi` is `gate`.
pub(crate) fn own_name(name: &str) -> &str {
    lehr_formula::known_parameter(name).unwrap_or(name)
}

/// Refuses formulas of parameters that the family does not have, or that rows cannot vary.
fn check_parameter(
    name: &str,
    family: Family,
    response: &lehr_formula::Response,
) -> Result<(), RegressionError> {
    let wrong = |expected: String, hint: &str| {
        Err(RegressionError::Column {
            at: format!("formula of {name}"),
            expected,
            found: format!("{name} ~ ..."),
            hint: hint.into(),
        })
    };
    let own: Vec<&str> = family.parameters();
    let own: Vec<&str> = own.into_iter().filter(|own| can_vary(own)).collect();
    if response.errors.is_some() {
        return wrong(
            "no formula where se(...) gives the noise of each row".into(),
            "leave out one of the two",
        );
    }
    if own.contains(&name) {
        return Ok(());
    }
    match (&own[..], can_vary(name)) {
        (_, _) if name == "mu" => wrong(
            format!("a parameter of {family} besides its mean"),
            "the formula of the mean is the first: lehr fit 'y ~ x' ...",
        ),
        (_, false) => wrong(
            "a parameter that rows can vary".into(),
            "df and cutpoint are the same in all rows",
        ),
        ([], _) => wrong(
            format!("no formula: {family} has no parameter that rows can vary"),
            "choose a family that has one (lehr families)",
        ),
        (own, _) => wrong(
            format!("a parameter of {family}: {}", own.join(", ")),
            "lehr families lists the parameters of each family",
        ),
    }
}

pub(crate) fn pointed(error: FormulaError, formula: &str) -> RegressionError {
    RegressionError::Formula {
        error,
        source_text: formula.to_owned(),
    }
}

/// The family that suits a response if none was named. Whole numbers may be counts or
/// measurements, which only the user knows.
fn guess(terms: &Terms, table: &dyn Blocks) -> Result<Family, RegressionError> {
    let name = match guessed_from(terms) {
        Clue::Family(family) => return Ok(family),
        Clue::Column(name) => name,
    };
    // Rows are left out for the same missing values as in the fit.
    let mut lesson = Lesson::new(terms, Pupil::Guess(Guess::new(name)));
    table.teach(&mut lesson)?;
    let Pupil::Guess(guess) = lesson.pupil else {
        unreachable!("a lesson keeps its pupil");
    };
    guess.finish()
}

/// What tells the family.
pub(crate) enum Clue<'t> {
    /// The formula alone.
    Family(Family),
    /// The values of this column.
    Column(&'t str),
}

/// What tells the family if none was named.
pub(crate) fn guessed_from(terms: &Terms) -> Clue<'_> {
    if terms.response.errors.is_some() {
        return Clue::Family(Family::Gaussian);
    }
    if terms.response.trials.is_some() {
        return Clue::Family(Family::Binomial);
    }
    match &terms.response.outcome {
        Expr::Column(name) => Clue::Column(name),
        _ => Clue::Family(Family::Gaussian),
    }
}

/// What a response looks like.
#[derive(Serialize, Deserialize)]
pub(crate) struct Guess {
    name: String,
    levels: HashSet<String>,
    is_text: bool,
    is_binary: bool,
    is_whole: bool,
    most: f64,
}

impl Guess {
    pub(crate) fn new(name: &str) -> Guess {
        Guess {
            name: name.to_owned(),
            levels: HashSet::new(),
            is_text: false,
            is_binary: true,
            is_whole: true,
            most: 0.0,
        }
    }

    pub(crate) fn see(&mut self, block: &Table) {
        match block.column(&self.name) {
            Ok(Column::Boolean(_)) => {}
            Ok(Column::Category { levels: names, .. }) => {
                self.is_text = true;
                self.levels.extend(names.iter().take(3).cloned());
            }
            Ok(Column::Number(y)) => {
                self.is_binary &= y.iter().all(|&y| y == 0.0 || y == 1.0);
                self.is_whole &= y.iter().all(|&y| y >= 0.0 && y.fract() == 0.0);
                self.most = y.iter().copied().fold(self.most, f64::max);
            }
            _ => (self.is_binary, self.is_whole) = (false, false),
        }
    }

    /// Takes in what more rows look like.
    pub(crate) fn merge(&mut self, other: &Guess) {
        self.levels.extend(other.levels.iter().cloned());
        self.is_text |= other.is_text;
        self.is_binary &= other.is_binary;
        self.is_whole &= other.is_whole;
        self.most = self.most.max(other.most);
    }

    pub(crate) fn finish(&self) -> Result<Family, RegressionError> {
        Ok(match (self.is_text, self.is_binary) {
            (true, _) if self.levels.len() > 2 => Family::Categorical,
            (true, _) | (_, true) => Family::Bernoulli,
            _ if self.is_whole && self.most > 0.0 => {
                return Err(whole_numbers(&self.name, self.most));
            }
            _ => Family::Gaussian,
        })
    }
}

fn whole_numbers(name: &str, most: f64) -> RegressionError {
    RegressionError::Column {
        at: format!("column {name:?}"),
        expected: "a family to be named for whole numbers, which may be counts or measurements"
            .into(),
        found: format!("whole numbers up to {most} and no family"),
        hint: "--family poisson or negbinomial for counts, gaussian for measurements, ordinal for \
               ratings"
            .into(),
    }
}
