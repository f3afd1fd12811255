//! The columns of the fixed effects: computed from the terms, standardised, and transformed back.

use std::borrow::Cow;
use std::collections::HashMap;

use lehr_formula::{
    ColumnLabel, Factor, FactorBasis, FormulaError, Intercept, Round, Term, TermBasis, TermLearner,
    Terms,
};
use serde::{Deserialize, Serialize};

use crate::accumulator::merge_each;
use crate::error::LearnError;
use crate::number_column::collinear::CrossProducts;
use crate::number_column::column_learner::ColumnLearner;
use crate::number_column::scaled_matrix::ScaledMatrix;
use crate::response_rule::ResponseForm;
use crate::source::Source;

/// A categorical column with more levels should be a grouping factor.
const MOST_LEVELS: usize = 1000;
/// More columns probably come from an unintended interaction.
const MOST_COLUMNS: usize = 10_000;

/// The columns of a formula's fixed effects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FixedEffects {
    bases: Vec<TermBasis>,
    /// The columns that vary, in the order of the terms.
    pub columns: Vec<ScaledColumn>,
}

/// One column, which the model sees as `(x − mean)/scale`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScaledColumn {
    /// The name of its coefficient.
    pub name: String,
    /// Its mean over the fitted rows, or 0 if the formula has no intercept.
    pub mean: f64,
    /// Its standard deviation over the fitted rows.
    pub scale: f64,
    /// A typical difference between rows: its standard deviation or, for a column with two values,
    /// their distance, however rare one of them is.
    pub contrast: f64,
    /// Its place among the columns of all bases.
    place: usize,
}

impl FixedEffects {
    /// Removes the terms without varying columns, so that predictions do not need them; returns
    /// which terms remain.
    pub fn prune(&mut self) -> Vec<bool> {
        let (mut first, mut removed, mut kept) = (0, 0, Vec::new());
        for basis in &self.bases {
            let own = first..first + basis.column_names().len();
            let columns = self.columns.iter_mut();
            let mut stays = false;
            for column in columns.filter(|one| own.contains(&one.place)) {
                stays = true;
                column.place -= removed;
            }
            kept.push(stays);
            removed += if stays { 0 } else { own.len() };
            first = own.end;
        }
        let mut stays = kept.iter();
        self.bases.retain(|_| stays.next() == Some(&true));
        kept
    }

    /// The factors of all terms.
    pub fn factors(&self) -> impl Iterator<Item = &FactorBasis> {
        self.bases.iter().flat_map(|basis| &basis.factors)
    }

    /// mean/scale of each column.
    pub fn shifts(&self) -> Vec<f64> {
        let columns = self.columns.iter();
        columns.map(|column| column.mean / column.scale).collect()
    }

    /// The names of the columns that vary, with their levels separate.
    pub fn labels(&self) -> Vec<ColumnLabel> {
        let all = self.bases.iter().flat_map(TermBasis::column_labels);
        let all: Vec<ColumnLabel> = all.collect();
        let columns = self.columns.iter();
        columns.map(|column| all[column.place].clone()).collect()
    }

    /// The standardised columns of a table, row-major.
    pub fn matrix(&self, source: &Source<'_>) -> Result<Vec<f64>, LearnError> {
        let mut matrix = vec![0.0; source.n_rows() * self.columns.len()];
        self.scaled(source)?.fill(0..source.n_rows(), &mut matrix);
        Ok(matrix)
    }

    /// The same, computed row by row on request.
    pub fn scaled<'s>(&'s self, source: &'s Source<'_>) -> Result<ScaledMatrix<'s>, LearnError> {
        let mut kept = ScaledMatrix::default();
        let mut place = 0;
        for basis in &self.bases {
            for values in columns(basis, source)? {
                if let Some(column) = self.columns.get(kept.width()).filter(|c| c.place == place) {
                    kept.push((column.mean, column.scale), values);
                }
                place += 1;
            }
        }
        Ok(kept)
    }
}

/// The constants of the terms while they are learned.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct FixedEffectsLearner {
    learners: Vec<TermLearner>,
}

impl FixedEffectsLearner {
    pub(crate) fn new(terms: &Terms) -> FixedEffectsLearner {
        let pairs = terms.fixed.iter().zip(terms.term_codings());
        let learners = pairs.map(|(term, codings)| TermLearner::new(term, &codings));
        FixedEffectsLearner {
            learners: learners.collect(),
        }
    }

    pub(crate) fn add_rows(&mut self, source: &Source<'_>) -> Result<(), LearnError> {
        add_rows_to(&mut self.learners, source)
    }

    /// Adds the results of a copy that has seen more rows.
    pub(crate) fn merge(&mut self, other: &FixedEffectsLearner) {
        merge_each(
            &mut self.learners,
            &other.learners,
            TermLearner::merge_learner,
        );
    }

    pub(crate) fn next_round(&mut self) -> Result<Round, LearnError> {
        next_rounds(&mut self.learners)
    }

    /// The second stage of learning: the means and scales of the columns.
    pub(crate) fn finish(
        self,
        terms: &Terms,
        formula: &str,
    ) -> Result<FixedEffectsScaler, LearnError> {
        let mut bases = Vec::with_capacity(terms.fixed.len());
        for (term, learner) in terms.fixed.iter().zip(self.learners) {
            let basis = learner.into_basis();
            check_width(term, &basis).map_err(|error| pointed(error, terms, term, formula))?;
            bases.push(basis);
        }
        let columns: Vec<ColumnLearner> = bases.iter().flat_map(ColumnLearner::of).collect();
        Ok(FixedEffectsScaler {
            intercept: terms.intercept,
            products: CrossProducts::new(columns.len(), terms.intercept),
            bases,
            columns,
        })
    }
}

/// Passes a block to the constants of terms.
pub(crate) fn add_rows_to(
    learners: &mut [TermLearner],
    source: &Source<'_>,
) -> Result<(), LearnError> {
    for learner in learners {
        learner.add_rows(&|name| source.read(name), source.first)?;
    }
    Ok(())
}

/// Ends a round of several learners: another one follows if any of them needs it.
pub(crate) fn latest_round(
    mut rounds: impl Iterator<Item = Result<Round, LearnError>>,
) -> Result<Round, LearnError> {
    rounds.try_fold(Round::Last, |latest, round| match round? {
        Round::Another => Ok(Round::Another),
        Round::Last => Ok(latest),
    })
}

/// Ends a round of terms.
pub(crate) fn next_rounds(learners: &mut [TermLearner]) -> Result<Round, LearnError> {
    let rounds = learners.iter_mut().map(TermLearner::next_round);
    latest_round(rounds.map(|round| Ok(round?)))
}

/// The columns while their means and scales are learned.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct FixedEffectsScaler {
    intercept: Intercept,
    bases: Vec<TermBasis>,
    columns: Vec<ColumnLearner>,
    /// `None` if there are too many columns.
    products: Option<CrossProducts>,
}

impl FixedEffectsScaler {
    /// Adds a block with its response.
    pub(crate) fn add_rows(
        &mut self,
        source: &Source<'_>,
        response: &[f64],
    ) -> Result<(), LearnError> {
        let mut all = Vec::with_capacity(self.columns.len());
        for basis in &self.bases {
            all.extend(columns(basis, source)?);
        }
        for (values, column) in all.iter().zip(&mut self.columns) {
            column.push(values);
            column.compare(values, response);
        }
        if let Some(products) = &mut self.products {
            products.add_rows(&all);
        }
        Ok(())
    }

    /// Adds the results of a copy that has seen more rows.
    pub(crate) fn merge(&mut self, other: &FixedEffectsScaler) {
        merge_each(&mut self.columns, &other.columns, ColumnLearner::merge);
        if let (Some(own), Some(other)) = (&mut self.products, &other.products) {
            own.merge(other);
        }
    }

    /// The columns that vary, and notes for the user on the others. Columns are centred if there is
    /// an intercept that absorbs the change; without one their scale is the root mean square.
    pub(crate) fn finish(
        self,
        terms: &Terms,
        form: ResponseForm,
    ) -> Result<(FixedEffects, Vec<String>), LearnError> {
        let mut found = ColumnSelection::default();
        let separations = self.columns.iter().filter_map(|c| c.separation(form));
        let separations: Vec<String> = separations.collect();
        for (place, column) in self.columns.into_iter().enumerate() {
            found.add(place, column, self.intercept)?;
        }
        found.check(terms)?;
        let mut notes = found.notes();
        let products = self.products.iter();
        notes.extend(products.flat_map(|products| found.relations(products)));
        notes.extend(separations);
        let (bases, columns) = (self.bases, found.columns);
        Ok((FixedEffects { bases, columns }, notes))
    }
}

/// The columns, sorted by what happens to them.
#[derive(Default)]
struct ColumnSelection {
    columns: Vec<ScaledColumn>,
    constant: Vec<String>,
    twins: Vec<(String, String)>,
    seen: HashMap<u64, String>,
}

impl ColumnSelection {
    fn add(
        &mut self,
        place: usize,
        column: ColumnLearner,
        intercept: Intercept,
    ) -> Result<(), LearnError> {
        let Some((mean, scale)) = column.scaled(intercept) else {
            self.constant.push(column.name);
            return Ok(());
        };
        let contrast = column.contrast(scale);
        let name = column.name;
        check_size(&name, mean, scale)?;
        let digest = column.digest.0;
        if let Some(twin) = self.seen.insert(digest, name.clone()) {
            self.twins.push((twin, name.clone()));
        }
        self.columns.push(ScaledColumn {
            name,
            mean,
            scale,
            contrast,
            place,
        });
        Ok(())
    }

    fn check(&self, terms: &Terms) -> Result<(), LearnError> {
        let nothing = self.columns.is_empty() && terms.other_parameters() == 0;
        if !nothing || self.constant.is_empty() {
            return Ok(());
        }
        let list = self.constant.join(", ");
        Err(LearnError::column(
            "formula",
            "a column that varies",
            format!("the same value in every row of {list}"),
            "write y ~ 1 for an intercept alone",
        ))
    }

    /// Columns that others determine, except those that equal another.
    fn relations(&self, products: &CrossProducts) -> Vec<String> {
        let places: Vec<usize> = self.columns.iter().map(|column| column.place).collect();
        let name = |place: &usize| {
            let column = self.columns.iter().find(|column| column.place == *place);
            column.map_or_else(String::new, |column| column.name.clone())
        };
        let relations = products.relations(&places).into_iter();
        let named = relations.map(|relation| relation.iter().map(name).collect::<Vec<String>>());
        let is_twin = |names: &Vec<String>| match &names[..] {
            [first, second] => self.twins.contains(&(first.clone(), second.clone())),
            _ => false,
        };
        let note = |names: Vec<String>| {
            let (last, others) = names.split_last().expect("a column and what it is made of");
            format!(
                "{last} is determined by {} (exactly collinear): the priors decide how an effect is shared among them",
                others.join(", ")
            )
        };
        named.filter(|names| !is_twin(names)).map(note).collect()
    }

    fn notes(&self) -> Vec<String> {
        let constant = self.constant.iter();
        let constant =
            constant.map(|name| format!("{name}: left out, it is the same in every row"));
        let twins = self.twins.iter().map(|(first, second)| {
            format!("{first} and {second} are equal: only the sum of their coefficients is known")
        });
        constant.chain(twins).collect()
    }
}

/// Refuses factors with too many levels.
pub(crate) fn check_width(term: &Term, basis: &TermBasis) -> Result<(), LearnError> {
    let mut width = 1_usize;
    for factor in &basis.factors {
        let levels = factor.level_names().len();
        if levels > MOST_LEVELS {
            let name = factor.factor().column_names()[0].to_owned();
            return Err(LearnError::column(
                format!("column {name:?}"),
                format!("at most {MOST_LEVELS} levels for coefficients of their own"),
                levels.to_string(),
                format!(
                    "write (1 | {}) for an effect that varies by group",
                    lehr_formula::quote_name(&name)
                ),
            ));
        }
        width = width.saturating_mul(factor.column_names().len());
    }
    if width > MOST_COLUMNS {
        return Err(LearnError::column(
            term.to_string(),
            format!("at most {MOST_COLUMNS} columns"),
            width.to_string(),
            "cross fewer levels, or use a group term such as (1 | a:b)",
        ));
    }
    Ok(())
}

/// Adds the place in the formula to the error of a column with too many levels.
fn pointed(error: LearnError, terms: &Terms, term: &Term, formula: &str) -> LearnError {
    let LearnError::Column {
        at,
        expected,
        found,
        hint,
    } = &error
    else {
        return error;
    };
    let columns = term.factors.iter().flat_map(Factor::column_names);
    let Some(span) = columns.filter_map(|name| terms.span_of(name)).min() else {
        return error;
    };
    let message = format!("{at}: expected {expected}, found {found}");
    LearnError::Formula {
        error: FormulaError::new(span, message).with_hint(hint.clone()),
        source_text: formula.to_owned(),
    }
}

/// The columns of a term; a term that is a column of the table is not copied.
fn columns<'s>(
    basis: &TermBasis,
    source: &'s Source<'_>,
) -> Result<Vec<Cow<'s, [f64]>>, LearnError> {
    if let Some(values) = basis.column().and_then(|name| source.numbers(name)) {
        return Ok(vec![Cow::Borrowed(values)]);
    }
    let made = evaluate(basis, source)?;
    Ok(made.into_iter().map(Cow::Owned).collect())
}

pub(crate) fn evaluate(
    basis: &TermBasis,
    source: &Source<'_>,
) -> Result<Vec<Vec<f64>>, LearnError> {
    Ok(basis.evaluate_columns(&|name| source.read(name))?)
}

/// Refuses sizes whose ratios could leave the range of doubles.
pub(crate) fn check_size(at: &str, centre: f64, scale: f64) -> Result<(), LearnError> {
    if (1e-140..1e140).contains(&scale) && centre.abs() < 1e140 {
        return Ok(());
    }
    Err(LearnError::column(
        at,
        "numbers of a size from 1e-140 to 1e140",
        "others",
        "give the column in another unit",
    ))
}
