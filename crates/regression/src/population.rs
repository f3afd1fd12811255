//! The common columns: computed from the terms, standardised, and back.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use lehr_formula::{Coding, FormulaError, Intercept, Term, TermBasis, Terms};
use lehr_table::Moment;
use serde::{Deserialize, Serialize};

use crate::error::RegressionError;
use crate::source::Source;

/// A categorical column with more levels than this belongs into a group term.
const MOST_LEVELS: usize = 1000;
/// More columns than this are a cross of columns that was not meant.
const MOST_COLUMNS: usize = 10_000;

/// The common columns of a formula.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Population {
    bases: Vec<TermBasis>,
    /// The columns that vary, in the order of the terms.
    pub(crate) columns: Vec<Scaled>,
}

/// One column, which the model sees as `(x − mean)/scale`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Scaled {
    pub(crate) name: String,
    pub(crate) mean: f64,
    pub(crate) scale: f64,
    /// Its place among the columns of all bases.
    place: usize,
}

impl Population {
    /// Learns levels, means and scales. Columns are centred where there is an intercept to
    /// take up what that changes; without one their scale is the root of their mean square.
    pub(crate) fn fit(
        terms: &Terms,
        formula: &str,
        source: &Source<'_>,
    ) -> Result<(Population, Vec<String>), RegressionError> {
        let mut fit = Fit {
            intercept: terms.intercept,
            ..Fit::default()
        };
        let mut bases = Vec::with_capacity(terms.fixed.len());
        for (term, codings) in terms.fixed.iter().zip(terms.codings()) {
            let basis = fit_basis(term, &codings, source)
                .map_err(|error| pointed(error, terms, term, formula))?;
            for (name, values) in basis.names().into_iter().zip(evaluate(&basis, source)?) {
                fit.add(name, &values)?;
            }
            bases.push(basis);
        }
        fit.check(terms)?;
        let notes = fit.notes();
        let columns = fit.columns;
        Ok((Population { bases, columns }, notes))
    }

    /// The standardised columns of a table, row after row.
    pub(crate) fn matrix(&self, source: &Source<'_>) -> Result<Vec<f64>, RegressionError> {
        let (rows, width) = (source.n_rows(), self.columns.len());
        let mut matrix = vec![0.0; rows * width];
        let (mut place, mut kept) = (0, 0);
        for basis in &self.bases {
            for values in evaluate(basis, source)? {
                if let Some(column) = self.columns.get(kept).filter(|next| next.place == place) {
                    for (row, value) in values.iter().enumerate() {
                        matrix[row * width + kept] = (value - column.mean) / column.scale;
                    }
                    kept += 1;
                }
                place += 1;
            }
        }
        Ok(matrix)
    }
}

/// The columns while they are learnt.
struct Fit {
    intercept: Intercept,
    columns: Vec<Scaled>,
    constant: Vec<String>,
    twins: Vec<(String, String)>,
    seen: HashMap<u64, String>,
    place: usize,
}

impl Default for Fit {
    fn default() -> Fit {
        Fit {
            intercept: Intercept::Present,
            columns: Vec::new(),
            constant: Vec::new(),
            twins: Vec::new(),
            seen: HashMap::new(),
            place: 0,
        }
    }
}

impl Fit {
    fn add(&mut self, name: String, values: &[f64]) -> Result<(), RegressionError> {
        let place = self.place;
        self.place += 1;
        let (mean, scale) = match self.intercept {
            Intercept::Present => centre_and_scale(values),
            Intercept::Absent => (0.0, root_mean_square(values)),
        };
        // What is left of a spread this small is rounding; squares of tiny numbers vanish.
        let rounding = scale <= 4.0 * f64::EPSILON * mean.abs() && mean.abs() > 1e-140;
        if rounding || is_constant(values, self.intercept) {
            self.constant.push(name);
            return Ok(());
        }
        check_size(&name, mean, scale)?;
        if let Some(twin) = self.seen.insert(fingerprint(values), name.clone()) {
            self.twins.push((twin, name.clone()));
        }
        self.columns.push(Scaled {
            name,
            mean,
            scale,
            place,
        });
        Ok(())
    }

    fn check(&self, terms: &Terms) -> Result<(), RegressionError> {
        let nothing = self.columns.is_empty() && terms.groups.is_empty();
        if !nothing || self.constant.is_empty() {
            return Ok(());
        }
        let list = self.constant.join(", ");
        Err(RegressionError::Column {
            at: "formula".into(),
            expected: "a column that varies".into(),
            found: format!("the same value in every row of {list}"),
            hint: "write y ~ 1 for an intercept alone".into(),
        })
    }

    fn notes(&self) -> Vec<String> {
        let constant = self
            .constant
            .iter()
            .map(|name| format!("{name}: left out, it is the same in every row"));
        let twins = self.twins.iter().map(|(first, second)| {
            format!("{first} and {second} are equal: only the sum of their coefficients is known")
        });
        constant.chain(twins).collect()
    }
}

/// Fits the factors of a term and refuses those with too many levels.
pub(crate) fn fit_basis(
    term: &Term,
    codings: &[Coding],
    source: &Source<'_>,
) -> Result<TermBasis, RegressionError> {
    let basis = TermBasis::fit(term, codings, &|name| source.read(name))?;
    let mut width = 1_usize;
    for factor in &basis.factors {
        let levels = factor.levels().len();
        if levels > MOST_LEVELS {
            let name = factor.factor().columns()[0].to_owned();
            return Err(RegressionError::Column {
                at: format!("column {name:?}"),
                expected: format!("at most {MOST_LEVELS} levels for coefficients of their own"),
                found: levels.to_string(),
                hint: format!(
                    "write (1 | {}) for an effect that varies by group",
                    lehr_formula::quoted(&name)
                ),
            });
        }
        width = width.saturating_mul(factor.names().len());
    }
    if width > MOST_COLUMNS {
        return Err(RegressionError::Column {
            at: term.to_string(),
            expected: format!("at most {MOST_COLUMNS} columns"),
            found: width.to_string(),
            hint: "cross fewer levels, or use a group term such as (1 | a:b)".into(),
        });
    }
    Ok(basis)
}

/// Puts a caret under a column with too many levels.
fn pointed(error: RegressionError, terms: &Terms, term: &Term, formula: &str) -> RegressionError {
    let RegressionError::Column {
        at,
        expected,
        found,
        hint,
    } = &error
    else {
        return error;
    };
    let columns = term.factors.iter().flat_map(lehr_formula::Factor::columns);
    let Some(span) = columns.filter_map(|name| terms.span_of(name)).min() else {
        return error;
    };
    let message = format!("{at}: expected {expected}, found {found}");
    RegressionError::Formula {
        error: FormulaError::new(span, message).hint(hint.clone()),
        source_text: formula.to_owned(),
    }
}

pub(crate) fn evaluate(
    basis: &TermBasis,
    source: &Source<'_>,
) -> Result<Vec<Vec<f64>>, RegressionError> {
    Ok(basis.evaluate(&|name| source.read(name))?)
}

/// Whether the intercept, or nothing at all, says the same as the column.
fn is_constant(values: &[f64], intercept: Intercept) -> bool {
    let only = match intercept {
        Intercept::Present => values[0],
        Intercept::Absent => 0.0,
    };
    values.iter().all(|value| *value == only)
}

/// Refuses sizes whose ratios could leave the range of doubles.
pub(crate) fn check_size(at: &str, centre: f64, scale: f64) -> Result<(), RegressionError> {
    if (1e-140..1e140).contains(&scale) && centre.abs() < 1e140 {
        return Ok(());
    }
    Err(RegressionError::Column {
        at: at.to_owned(),
        expected: "numbers of a size from 1e-140 to 1e140".into(),
        found: "others".into(),
        hint: "give the column in another unit".into(),
    })
}

/// Mean and population standard deviation.
pub(crate) fn centre_and_scale(values: &[f64]) -> (f64, f64) {
    let mut moment = Moment::default();
    for value in values {
        moment.push(*value);
    }
    (moment.mean(), moment.scale())
}

/// √(Σ x²/n), without overflow short of its result's own.
pub(crate) fn root_mean_square(values: &[f64]) -> f64 {
    let most = values.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    if most == 0.0 {
        return 0.0;
    }
    let squares: f64 = values.iter().map(|x| (x / most).powi(2)).sum();
    most * (squares / values.len() as f64).sqrt()
}

fn fingerprint(values: &[f64]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for value in values {
        value.to_bits().hash(&mut hasher);
    }
    hasher.finish()
}
