//! The specification of one response: a formula, a family, priors.

use lehr_formula::{Formula, FormulaError, Intercept, Terms};
use lehr_learn::{Blocks, FamilyOrigin, LearnError, LearningRequest, Outline, ResponseForm};

use crate::family::Family;
use crate::learned_regression::Regression;
use crate::prior::GivenPriors;
use crate::term::parameter::can_vary;

/// The specification of one response: a formula whose columns are known to exist, with a family and
/// priors.
pub(crate) struct ResponseSpecification {
    /// The text of the formula, for errors.
    formula: String,
    pub(crate) terms: Terms,
    pub(crate) family: Option<Family>,
    pub(crate) priors: GivenPriors,
    pub(crate) dates: Vec<String>,
    /// The formulas of parameters as written.
    parameters: Vec<String>,
}

impl ResponseSpecification {
    /// A formula for a table with these columns; `.` does not stand for the other responses.
    pub(crate) fn new(
        formula: &Formula,
        columns: &[String],
        others: &[&str],
    ) -> Result<ResponseSpecification, LearnError> {
        let mut free: Vec<&String> = columns.iter().collect();
        free.retain(|name| !others.contains(&name.as_str()));
        let expand = || {
            let terms = formula.expand(&free)?;
            terms.check_columns(columns)?;
            Ok(terms)
        };
        Ok(ResponseSpecification {
            terms: expand().map_err(|error| pointed(error, formula.source()))?,
            formula: formula.source().to_owned(),
            family: None,
            priors: GivenPriors::default(),
            dates: Vec::new(),
            parameters: Vec::new(),
        })
    }

    /// Adds the formula of a parameter, such as `sigma ~ x`, with its text.
    pub(crate) fn add_formula(&mut self, text: &str, terms: Terms) -> Result<(), LearnError> {
        let name = own_name(terms.parameter());
        if (self.terms.parameters.iter()).any(|other| own_name(other.parameter()) == name) {
            return Err(LearnError::column(
                format!("--formula '{text}'"),
                "one formula for each parameter",
                format!("two for {name}"),
                "join their terms with +",
            ));
        }
        self.terms.parameters.push(terms);
        self.parameters.push(text.to_owned());
        Ok(())
    }

    /// Learns levels, scales and default priors from a table. Refuses specifications that cannot be
    /// fitted.
    pub(crate) fn learn(&self, blocks: &dyn Blocks) -> Result<Regression, LearnError> {
        let formula = self.title();
        let request = |form: Option<ResponseForm>| {
            let family = self.family.or(form.map(Family::usual));
            let family = family.expect("named by the user or told by the response");
            self.request(&formula, family, blocks)
        };
        let outline = Outline {
            terms: &self.terms,
            family: match self.family {
                Some(_) => FamilyOrigin::User,
                None => FamilyOrigin::Response,
            },
            request: &request,
        };
        let (request, mut facts) = outline.learn(blocks)?;
        facts.notes.extend(self.date_notes());
        Regression::assemble(request, facts, &self.priors)
    }

    /// The request to learn, once the family is known.
    pub(crate) fn request<'f>(
        &self,
        formula: &'f str,
        family: Family,
        blocks: &dyn Blocks,
    ) -> Result<LearningRequest<'f>, LearnError> {
        let is_text = |name: &str| blocks.is_text(name);
        let resolved = self.terms.clone().resolve_text(&is_text);
        let mut terms = resolved.map_err(|error| pointed(error, &self.formula))?;
        for (parameter, text) in terms.parameters.iter_mut().zip(&self.parameters) {
            let own = own_name(parameter.parameter()).to_owned();
            if family.parameters().contains(&own.as_str()) {
                parameter.rename_parameter(&own);
            }
            check_parameter(parameter.parameter(), family, &terms.response)?;
            let resolved = parameter.resolve_text(&is_text);
            *parameter = resolved.map_err(|error| pointed(error, text))?;
        }
        // The cutpoints already act as intercepts.
        if family.form() == ResponseForm::Ordered {
            terms.intercept = Intercept::Present;
        }
        Ok(LearningRequest {
            formula,
            terms,
            rule: family.rule(),
        })
    }

    /// All formulas.
    pub(crate) fn title(&self) -> String {
        let all = std::iter::once(&self.formula).chain(&self.parameters);
        let all: Vec<&str> = all.map(String::as_str).collect();
        all.join("; ")
    }

    /// Notes on the dates that the formula reads.
    fn date_notes(&self) -> Vec<String> {
        let columns = self.terms.column_names();
        let dates = self.dates.iter();
        let read = dates.filter(|name| columns.contains(&name.as_str()));
        let note = |name| format!("{name}: dates, read as days since 1970-01-01");
        read.map(note).collect()
    }
}

/// The name of a parameter here, if it has another name elsewhere: brms's `zi` is `gate`.
pub(crate) fn own_name(name: &str) -> &str {
    lehr_formula::known_parameter(name).unwrap_or(name)
}

/// Refuses formulas of parameters that the family does not have, or that cannot vary by row.
fn check_parameter(
    name: &str,
    family: Family,
    response: &lehr_formula::Response,
) -> Result<(), LearnError> {
    let wrong = |expected: String, hint: &str| {
        Err(LearnError::column(
            format!("formula of {name}"),
            expected,
            format!("{name} ~ ..."),
            hint,
        ))
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

pub(crate) fn pointed(error: FormulaError, formula: &str) -> LearnError {
    LearnError::Formula {
        error,
        source_text: formula.to_owned(),
    }
}
