//! The response as numbers of its family, each row checked.

use std::collections::HashMap;

use lehr_formula::{ColumnExpr, Response, Trials};
use lehr_numeric::column;
use lehr_table::{Column, Labels};
use serde::{Deserialize, Serialize};

use crate::error::{LearnError, list_names};
use crate::response_rule::ResponseForm;
use crate::response_rule::ResponseRule;
use crate::source::Source;

/// More classes are probably numbers or groups mistaken for classes.
const MOST_CLASSES: usize = 1000;

/// The advice on a response of one class.
const ONE_CLASS: &str = "there is nothing to tell apart; look at how the rows were chosen";

/// With more distinct numbers a column is a quantity and not ordered classes.
const MOST_ORDERED_NUMBERS: usize = 20;

/// The conversion of a table's response to numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResponseColumn {
    /// The requirements of the family.
    pub rule: ResponseRule,
    /// The left side of the formula.
    pub response: Response,
    /// The classes in the order of their numbers; empty if the response is a number.
    pub classes: Vec<String>,
}

/// Whether a class is a number that is not whole, as those of a quantity are.
fn is_fraction(class: &str) -> bool {
    let number = class.parse::<f64>();
    number.is_ok_and(|number| number.fract() != 0.0)
}

impl ResponseColumn {
    /// The response of a family before its classes are known.
    pub fn new(rule: &ResponseRule, response: &Response) -> Result<ResponseColumn, LearnError> {
        check_response(rule, response)?;
        let outcome = ResponseColumn {
            rule: rule.clone(),
            response: response.clone(),
            classes: Vec::new(),
        };
        match outcome.response.outcome {
            ColumnExpr::Column(_) => Ok(outcome),
            _ if !rule.is_class() => Ok(outcome),
            ref other => {
                let hint = "make a column of it in the table first";
                Err(outcome.refused("a column", other.to_string(), hint))
            }
        }
    }

    /// `column "y"`, or the expression.
    pub fn place(&self) -> String {
        match &self.response.outcome {
            ColumnExpr::Column(name) => format!("column {name:?}"),
            other => other.to_string(),
        }
    }

    fn refused(&self, expected: &str, found: String, hint: &str) -> LearnError {
        LearnError::column(
            self.place(),
            format!("{expected} for family {}", self.rule),
            found,
            hint,
        )
    }

    fn check_classes(&self, classes: Vec<String>) -> Result<Vec<String>, LearnError> {
        let found = match &classes[..] {
            [only] => format!("only {only:?}"),
            many => format!("{}", many.len()),
        };
        if self.rule.form == ResponseForm::Two && classes.len() != 2 {
            let hint = match classes.len() {
                1 => ONE_CLASS,
                _ => "use --family categorical, or ordinal if the classes are ordered",
            };
            return Err(self.refused("0 and 1, true and false or two levels", found, hint));
        }
        if classes.len() < 2 {
            return Err(self.refused("two classes or more", found, ONE_CLASS));
        }
        if classes.len() > MOST_CLASSES {
            let expected = format!("at most {MOST_CLASSES} classes");
            let hint = "use --family gaussian or poisson if the response is a number";
            return Err(self.refused(&expected, found, hint));
        }
        Ok(classes)
    }

    /// Notes for the user on the classes.
    fn notes(&self, is_text: &dyn Fn(&str) -> bool) -> Vec<String> {
        let ColumnExpr::Column(name) = &self.response.outcome else {
            return Vec::new();
        };
        match (self.rule.form, &self.classes[..]) {
            (ResponseForm::Two, [zero, one]) if is_text(name) => {
                vec![format!("{name}: {one:?} counts as 1 and {zero:?} as 0")]
            }
            (ResponseForm::Unordered, [first, ..]) => {
                vec![format!("{name}: {first:?} is the reference class")]
            }
            (ResponseForm::Ordered, classes) => {
                let order = classes.join(" < ");
                let is_number = |class: &String| class.parse::<f64>().is_ok();
                let by_alphabet = classes.is_sorted() && !classes.iter().all(is_number);
                let hint = if by_alphabet {
                    format!(", by the alphabet; --levels '{name}: ...' sets another")
                } else {
                    String::new()
                };
                vec![format!("{name}: the order is {order}{hint}")]
            }
            _ => Vec::new(),
        }
    }

    /// The response in every row, checked against the family.
    pub fn values(&self, source: &Source<'_>) -> Result<Vec<f64>, LearnError> {
        let name = match &self.response.outcome {
            ColumnExpr::Column(name) => name,
            expr => return self.checked(source.evaluate(expr)?, source.first),
        };
        match (self.rule.is_class(), source.column(name)) {
            (true, Column::Number(values)) if self.rule.form == ResponseForm::Two => {
                self.checked(values.clone(), source.first)
            }
            (true, _) => self.class_numbers(name, source),
            (false, Column::Category { levels, .. }) => {
                let hint = match levels.len() {
                    2 => "use --family bernoulli for two classes",
                    _ => "use --family categorical or ordinal for classes",
                };
                Err(self.refused("numbers", "text".into(), hint))
            }
            (false, _) => {
                let values = source.numbers(name).unwrap_or_default();
                self.checked(values.to_vec(), source.first)
            }
        }
    }

    fn class_numbers(&self, name: &str, source: &Source<'_>) -> Result<Vec<f64>, LearnError> {
        let (codes, levels) = source.labels(name);
        let classes = self.classes.iter().map(String::as_str);
        let known: HashMap<&str, f64> = classes.zip((0..).map(f64::from)).collect();
        // An unknown class has no number.
        let number = |level: &String| known.get(level.as_str()).copied().unwrap_or(f64::NAN);
        let by_level: Vec<f64> = levels.iter().map(number).collect();
        let numbers: Vec<f64> = codes.iter().map(|code| by_level[*code as usize]).collect();
        match numbers.iter().position(|number| number.is_nan()) {
            None => Ok(numbers),
            Some(row) => Err(LearnError::column(
                format!("{}, row {}", self.place(), source.first + row + 1),
                "a class of the table that was fitted",
                format!("{:?}", levels[codes[row] as usize]),
                format!("the classes are {}", list_names(&self.classes)),
            )),
        }
    }

    fn checked(&self, values: Vec<f64>, first: usize) -> Result<Vec<f64>, LearnError> {
        let form = self.rule.form;
        let (sound, expected, hint) = demand(form);
        let wrong = match form {
            ResponseForm::Real => None,
            ResponseForm::Two => column::first_other(&values, [0.0, 1.0]),
            _ => values.iter().position(|value| !sound(*value)),
        };
        let Some(row) = wrong else {
            return Ok(values);
        };
        let count = values.iter().filter(|value| !sound(**value)).count();
        Err(LearnError::column(
            format!("{}, row {}", self.place(), first + row + 1),
            format!("{expected} for family {}", self.rule),
            format!("{}{}", values[row], such_rows(count)),
            hint,
        ))
    }

    /// The standard errors of every row's response; `None` where they are not given.
    pub fn errors(&self, source: &Source<'_>) -> Result<Option<Vec<f64>>, LearnError> {
        let Some(expr) = &self.response.errors else {
            return Ok(None);
        };
        let values = source.evaluate(expr)?;
        match values.iter().position(|error| *error <= 0.0) {
            None => Ok(Some(values)),
            Some(row) => Err(LearnError::column(
                format!("se({expr}), row {}", source.first + row + 1),
                "a standard error above 0",
                values[row].to_string(),
                "",
            )),
        }
    }

    /// The trials in every row; `None` for families without.
    pub fn trials(&self, source: &Source<'_>) -> Result<Option<Vec<f64>>, LearnError> {
        match &self.response.trials {
            None => Ok(None),
            Some(Trials::Count(count)) => Ok(Some(vec![*count as f64; source.n_rows()])),
            Some(Trials::Column(name)) => {
                let values = source.evaluate(&ColumnExpr::Column(name.clone()))?;
                let place = format!("column {name:?}");
                counted(&values, &place, "trials", source.first)?;
                Ok(Some(values))
            }
            Some(Trials::Failures(failures)) => {
                let missed = source.evaluate(failures)?;
                counted(&missed, &failures.to_string(), "failures", source.first)?;
                let hits = source.evaluate(&self.response.outcome)?;
                Ok(Some(hits.iter().zip(&missed).map(|(a, b)| a + b).collect()))
            }
        }
    }

    /// Refuses more successes than trials; `first` is the number of the first row in the whole
    /// table.
    pub fn check_hits(&self, hits: &[f64], trials: &[f64], first: usize) -> Result<(), LearnError> {
        let wrong = |row: usize| hits[row] > trials[row];
        let Some(row) = (0..hits.len()).find(|&row| wrong(row)) else {
            return Ok(());
        };
        let count = (row..hits.len()).filter(|&row| wrong(row)).count();
        Err(LearnError::column(
            format!("{}, row {}", self.place(), first + row + 1),
            format!("at most {} successes, the trials there", trials[row]),
            format!("{}{}", hits[row], such_rows(count)),
            "trials(...) counts all trials; failures go into cbind(successes, failures)",
        ))
    }

    /// A note on the meaning of the columns. `surplus` is the least excess of failures over
    /// successes: if failures never fall short, they may be trials by mistake.
    pub fn trials_note(&self, surplus: f64) -> Option<String> {
        let (response, hits) = (&self.response, &self.response.outcome);
        Some(match response.trials.as_ref()? {
            Trials::Count(count) => {
                format!("{response}: {hits} counts successes among {count} trials")
            }
            Trials::Column(trials) => {
                format!("{response}: {hits} counts successes, {trials} the trials")
            }
            Trials::Failures(failures) => {
                let doubt = match failures {
                    ColumnExpr::Column(_) if surplus >= 0.0 => format!(
                        "; if {failures} counts the trials, write {hits} | trials({failures})"
                    ),
                    _ => String::new(),
                };
                format!("{response}: {hits} counts successes, {failures} the failures{doubt}")
            }
        })
    }

    /// A valid value of the family, for rows whose response is unknown.
    pub fn stand_in(&self) -> f64 {
        match self.rule.form {
            ResponseForm::Positive => 1.0,
            ResponseForm::Share => 0.5,
            _ => 0.0,
        }
    }
}

/// The classes of a response while they are gathered.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct ClassLearner {
    outcome: ResponseColumn,
    labels: Labels,
    /// Whether the response is a column of numbers.
    is_number: bool,
    /// Classes that are known in advance.
    given: Option<Vec<String>>,
}

impl ClassLearner {
    pub(crate) fn new(outcome: ResponseColumn) -> ClassLearner {
        ClassLearner {
            outcome,
            labels: Labels::default(),
            is_number: false,
            given: None,
        }
    }

    pub(crate) fn add_rows(&mut self, source: &Source<'_>) {
        let ColumnExpr::Column(name) = &self.outcome.response.outcome else {
            return;
        };
        if !self.outcome.rule.is_class() {
            return;
        }
        let binary = self.outcome.rule.form == ResponseForm::Two;
        self.is_number |= matches!(source.column(name), Column::Number(_));
        match source.column(name) {
            Column::Number(_) if binary => self.given = Some(vec!["0".into(), "1".into()]),
            Column::Boolean(_) => self.given = Some(vec!["false".into(), "true".into()]),
            column => {
                if let Column::Category { levels, .. } = column
                    && binary
                    && levels.len() == 2
                {
                    self.given.get_or_insert_with(|| levels.to_vec());
                }
                let (codes, levels) = source.labels(name);
                self.labels.merged_codes(&codes, &levels);
            }
        }
    }

    /// Adds the results of a copy that has seen more rows.
    pub(crate) fn merge(&mut self, other: &ClassLearner) {
        self.labels.merge_labels(&other.labels);
        self.is_number |= other.is_number;
        self.given = self.given.take().or_else(|| other.given.clone());
    }

    /// The response with its classes, and notes for the user on them.
    pub(crate) fn finish(
        self,
        is_text: &dyn Fn(&str) -> bool,
    ) -> Result<(ResponseColumn, Vec<String>), LearnError> {
        let mut outcome = self.outcome;
        if outcome.rule.is_class() {
            let (found, _) = self.labels.sorted_labels();
            let ordered = outcome.rule.form == ResponseForm::Ordered && self.is_number;
            if ordered && found.len() > MOST_ORDERED_NUMBERS {
                let expected = format!("at most {MOST_ORDERED_NUMBERS} numbers as classes");
                let hint = "use --family gaussian for a quantity, or cut it into classes first";
                return Err(outcome.refused(&expected, found.len().to_string(), hint));
            }
            // Steps of one half may be ordered classes, but no names of classes.
            let unordered = outcome.rule.form == ResponseForm::Unordered && self.is_number;
            let mut fractions = found.iter().filter(|class| unordered && is_fraction(class));
            if let Some(fraction) = fractions.next() {
                let hint =
                    "use --family gaussian or student for a quantity, or cut it into classes first";
                return Err(outcome.refused(
                    "classes",
                    format!("numbers such as {fraction}"),
                    hint,
                ));
            }
            outcome.classes = match self.given {
                Some(given) if found.iter().all(|class| given.contains(class)) => given,
                _ => outcome.check_classes(found.to_vec())?,
            };
        }
        let notes = outcome.notes(is_text);
        Ok((outcome, notes))
    }
}

/// The numbers that a family allows, in words, and advice on others.
fn demand(form: ResponseForm) -> (fn(f64) -> bool, &'static str, &'static str) {
    let whole: fn(f64) -> bool = |y| y >= 0.0 && y.fract() == 0.0;
    match form {
        ResponseForm::Real => (|_| true, "a number", ""),
        ResponseForm::Two => (
            |y| y == 0.0 || y == 1.0,
            "0 or 1",
            "use --family poisson for counts, gaussian for numbers, categorical for classes",
        ),
        ResponseForm::Positive => (
            |y| y > 0.0,
            "a number above 0",
            "use --family gaussian, or leave such rows out",
        ),
        ResponseForm::Share => (
            |y| y > 0.0 && y < 1.0,
            "a number strictly between 0 and 1",
            "use --family binomial if it is a proportion of counts, bernoulli if it is 0 or 1",
        ),
        ResponseForm::Direction => (
            |y| y.abs() <= std::f64::consts::PI,
            "an angle in radians from -pi to pi",
            "write I(y - 6.283185307179586 * (y > 3.141592653589793)) ~ ... for angles from 0 to 2 pi, I(y * \
             0.017453292519943295) for degrees",
        ),
        ResponseForm::Successes => (
            whole,
            "a whole number from 0 on",
            "successes are counted, not divided by the trials",
        ),
        ResponseForm::Count | ResponseForm::Unordered | ResponseForm::Ordered => (
            whole,
            "a whole number from 0 on",
            "use --family gamma for positive numbers, gaussian for any",
        ),
    }
}

/// Refuses numbers that are not whole numbers of trials or failures.
fn counted(values: &[f64], at: &str, what: &str, first: usize) -> Result<(), LearnError> {
    let whole = |value: &f64| *value >= 0.0 && value.fract() == 0.0;
    match values.iter().position(|value| !whole(value)) {
        None => Ok(()),
        Some(row) => Err(LearnError::column(
            format!("{at}, row {}", first + row + 1),
            format!("a whole number of {what}"),
            values[row].to_string(),
            match what {
                "failures" => "write successes | trials(n) where n counts all trials".into(),
                _ => String::new(),
            },
        )),
    }
}

/// Refuses a response that the family does not take: with or without trials, with standard errors,
/// or with bounds that need a distribution function in closed form.
fn check_response(rule: &ResponseRule, response: &Response) -> Result<(), LearnError> {
    let counts_successes = rule.form == ResponseForm::Successes;
    let has_bounds = response.censoring.is_some() || response.truncation.is_some();
    let (expected, hint) = match &response.trials {
        None if counts_successes => {
            return Err(LearnError::mismatch(
                &rule.family,
                "a number of trials",
                "none",
                "write cbind(successes, failures) ~ ... or successes | trials(n) ~ ...",
            ));
        }
        Some(_) if !counts_successes => (
            "a response without trials",
            "only --family binomial and beta_binomial count successes among trials",
        ),
        _ if response.errors.is_some() && !rule.takes_errors => (
            "a response without standard errors",
            "only --family gaussian takes se(...)",
        ),
        _ if has_bounds && !rule.has_tails => (
            "a response without cens(...) and trunc(...)",
            "the families gaussian, lognormal, exponential, weibull and poisson have them",
        ),
        _ => return Ok(()),
    };
    Err(LearnError::mismatch(
        &rule.family,
        expected,
        response.to_string(),
        hint,
    ))
}

fn such_rows(count: usize) -> String {
    match count {
        0 | 1 => String::new(),
        _ => format!(" ({count} such rows)"),
    }
}
