//! Grouping factors: the group of each row, and the multipliers of its random effects.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use lehr_formula::{
    EffectCorrelation, GroupTerm, Intercept, Round, TermBasis, TermLearner, effect_codings,
};
use lehr_table::{Labels, Moment};
use serde::{Deserialize, Serialize};

use crate::accumulator::merge_each;
use crate::error::{LearnError, list_names};
use crate::fixed_effects::{add_rows_to, check_size, check_width, evaluate, next_rounds};
use crate::option::NewLevels;
use crate::source::Source;

/// A group that the fitted table did not have, while codes are looked up.
const UNSEEN: u32 = u32::MAX;
/// With more random effects per group no table determines the covariance matrix.
const MOST_EFFECTS: usize = 100;

/// The random effects of one group term.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupingFactor {
    /// `site`, or `region:district`; `sigma.site` in the formula of a parameter.
    pub label: String,
    /// The parameter in whose formula it is; `None` for the formula of the response.
    pub of: Option<String>,
    columns: Vec<String>,
    /// The levels of each column that occur.
    levels: Vec<Arc<[String]>>,
    /// The combinations of levels that occur, sorted, one after another.
    combinations: Vec<u32>,
    bases: Vec<TermBasis>,
    intercept: Intercept,
    /// The effects: `Intercept`, the names of slopes.
    pub effects: Vec<String>,
    /// The root mean square of each effect's multiplier, by which the model divides it.
    pub scales: Vec<f64>,
    /// Whether the effects of one group are correlated.
    pub correlated: bool,
    /// The identifier that ties the effects to those of other responses.
    pub tie: Option<String>,
}

/// The rows of a table in the groups of a term.
pub struct Membership {
    /// The group of each row; unseen groups follow the known ones.
    pub codes: Vec<u32>,
    /// The names of the unseen groups in the order of their numbers.
    pub unseen: Vec<String>,
}

impl GroupingFactor {
    /// The number of groups.
    pub fn count(&self) -> usize {
        self.combinations.len() / self.columns.len()
    }

    /// The levels of a column, if it is one of those that define the groups.
    pub fn levels_of(&self, column: &str) -> Option<&[String]> {
        let place = self.columns.iter().position(|name| name == column)?;
        Some(&self.levels[place])
    }

    /// Whether a group has only an intercept.
    pub fn is_plain(&self) -> bool {
        self.bases.is_empty()
    }

    /// The name of a group, as in the names of its effects: `north`, `north:3`.
    pub fn group_name(&self, group: usize) -> String {
        let width = self.columns.len();
        let codes = &self.combinations[group * width..(group + 1) * width];
        let names = codes.iter().zip(&self.levels);
        let names = names.map(|(code, levels)| levels[*code as usize].as_str());
        names.collect::<Vec<&str>>().join(":")
    }

    /// The multiplier of each effect in each row.
    fn multipliers(&self, source: &Source<'_>) -> Result<Vec<Vec<f64>>, LearnError> {
        let mut columns = Vec::with_capacity(self.effects.len());
        if self.intercept == Intercept::Present {
            columns.push(vec![1.0; source.n_rows()]);
        }
        for basis in &self.bases {
            columns.extend(evaluate(basis, source)?);
        }
        Ok(columns)
    }

    /// The scaled multipliers, row-major.
    pub fn matrix(&self, source: &Source<'_>) -> Result<Vec<f64>, LearnError> {
        let (rows, width) = (source.n_rows(), self.effects.len());
        let mut matrix = vec![0.0; rows * width];
        for (place, values) in self.multipliers(source)?.into_iter().enumerate() {
            for (row, value) in values.iter().enumerate() {
                matrix[row * width + place] = value / self.scales[place];
            }
        }
        Ok(matrix)
    }

    /// The group of each row. Refuses unseen groups unless they are to be sampled.
    pub fn membership(
        &self,
        source: &Source<'_>,
        new_levels: NewLevels,
    ) -> Result<Membership, LearnError> {
        let columns = self.columns.iter().zip(&self.levels);
        let parts = columns.map(|(name, known)| GroupingColumn::new(source, name, known));
        let parts: Vec<GroupingColumn> = parts.collect();
        let width = parts.len();
        let known: HashMap<&[u32], u32> = self.combinations.chunks_exact(width).zip(0..).collect();
        let mut fresh: HashMap<Vec<u32>, u32> = HashMap::new();
        let mut unseen = Vec::new();
        let (mut key, count) = (vec![0; width], self.count() as u32);
        let mut codes = Vec::with_capacity(source.n_rows());
        for row in 0..source.n_rows() {
            for (slot, part) in key.iter_mut().zip(&parts) {
                *slot = part.places[part.codes[row] as usize];
            }
            codes.push(known.get(&key[..]).copied().unwrap_or_else(|| {
                let own = parts.iter().map(|part| part.codes[row]).collect();
                *fresh.entry(own).or_insert_with(|| {
                    unseen.push(joined(&parts, row));
                    count + unseen.len() as u32 - 1
                })
            }));
        }
        self.allowed(&unseen, new_levels)?;
        Ok(Membership { codes, unseen })
    }

    fn allowed(&self, unseen: &[String], new_levels: NewLevels) -> Result<(), LearnError> {
        if unseen.is_empty() || new_levels != NewLevels::Refuse {
            return Ok(());
        }
        Err(LearnError::column(
            format!("group {}", self.label),
            "groups of the table that was fitted",
            format!("{} new: {}", unseen.len(), list_names(unseen)),
            "draw effects for new groups with --new-levels sample",
        ))
    }
}

/// One column of a grouping factor in a table.
struct GroupingColumn {
    codes: Vec<u32>,
    names: Arc<[String]>,
    /// For each of the table's levels its place among the fitted ones.
    places: Vec<u32>,
}

impl GroupingColumn {
    fn new(source: &Source<'_>, column: &str, known: &[String]) -> GroupingColumn {
        let (codes, names) = source.labels(column);
        let fitted: HashMap<&str, u32> = known.iter().map(String::as_str).zip(0..).collect();
        let place = |name: &String| fitted.get(name.as_str()).copied().unwrap_or(UNSEEN);
        let places = names.iter().map(place).collect();
        GroupingColumn {
            codes,
            names,
            places,
        }
    }
}

fn joined(parts: &[GroupingColumn], row: usize) -> String {
    let name = |part: &GroupingColumn| part.names[part.codes[row] as usize].clone();
    parts.iter().map(name).collect::<Vec<String>>().join(":")
}

/// The groups of a term while they are learned.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct GroupingFactorLearner {
    term: GroupTerm,
    /// The parameter in whose formula the term is.
    of: Option<String>,
    bases: Vec<TermLearner>,
    labels: Vec<Labels>,
    found: HashSet<Vec<u32>>,
    /// Whether a round has shown all groups.
    settled: bool,
}

impl GroupingFactorLearner {
    pub(crate) fn new((of, term): (Option<&str>, &GroupTerm)) -> GroupingFactorLearner {
        let codings = effect_codings(term.intercept, &term.slopes);
        let bases = (term.slopes.iter().zip(codings))
            .map(|(slope, codings)| TermLearner::new(slope, &codings));
        GroupingFactorLearner {
            bases: bases.collect(),
            labels: vec![Labels::default(); term.grouping.len()],
            term: term.clone(),
            of: of.map(str::to_owned),
            found: HashSet::new(),
            settled: false,
        }
    }

    pub(crate) fn add_rows(&mut self, source: &Source<'_>) -> Result<(), LearnError> {
        add_rows_to(&mut self.bases, source)?;
        if self.settled {
            return Ok(());
        }
        let columns = self.term.grouping.iter().zip(&mut self.labels);
        let codes: Vec<Vec<u32>> = columns
            .map(|(name, labels)| {
                let (codes, names) = source.labels(name);
                labels.merged_codes(&codes, &names)
            })
            .collect();
        let mut key = vec![0; codes.len()];
        for row in 0..source.n_rows() {
            for (slot, codes) in key.iter_mut().zip(&codes) {
                *slot = codes[row];
            }
            if !self.found.contains(&key[..]) {
                self.found.insert(key.clone());
            }
        }
        Ok(())
    }

    /// Adds the results of a copy that has seen more rows.
    pub(crate) fn merge(&mut self, other: &GroupingFactorLearner) {
        merge_each(&mut self.bases, &other.bases, TermLearner::merge_learner);
        if self.settled {
            return;
        }
        let columns = self.labels.iter_mut().zip(&other.labels);
        let places = columns.map(|(own, other)| own.merge_labels(other));
        let places: Vec<Vec<u32>> = places.collect();
        let here = |key: &Vec<u32>| recoded(key, &places);
        self.found.extend(other.found.iter().map(here));
    }

    pub(crate) fn next_round(&mut self) -> Result<Round, LearnError> {
        self.settled = true;
        next_rounds(&mut self.bases)
    }

    /// The second stage of learning: the scales of the slopes.
    pub(crate) fn finish(self) -> Result<GroupingFactorScaler, LearnError> {
        let bases = self.bases.into_iter().map(TermLearner::into_basis);
        let bases: Vec<TermBasis> = bases.collect();
        for (slope, basis) in self.term.slopes.iter().zip(&bases) {
            check_width(slope, basis)?;
        }
        let effects = effects(&self.term, &bases)?;
        let (levels, combinations) = sorted(&self.labels, &self.found);
        let grouping = GroupingFactor {
            label: owned_label(self.of.as_deref(), &self.term.term_label()),
            of: self.of,
            columns: self.term.grouping.clone(),
            levels,
            combinations,
            bases,
            intercept: self.term.intercept,
            correlated: self.term.correlation == EffectCorrelation::Correlated && effects.len() > 1,
            scales: Vec::new(),
            tie: self.term.tie,
            effects,
        };
        Ok(GroupingFactorScaler {
            moments: vec![Moment::default(); grouping.effects.len()],
            grouping,
        })
    }
}

/// A group term while the scales of its slopes are learned.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct GroupingFactorScaler {
    grouping: GroupingFactor,
    moments: Vec<Moment>,
}

impl GroupingFactorScaler {
    pub(crate) fn add_rows(&mut self, source: &Source<'_>) -> Result<(), LearnError> {
        let columns = self.grouping.multipliers(source)?;
        for (moment, values) in self.moments.iter_mut().zip(columns) {
            for value in values {
                moment.push_value(value);
            }
        }
        Ok(())
    }

    /// Adds the results of a copy that has seen more rows.
    pub(crate) fn merge(&mut self, other: &GroupingFactorScaler) {
        merge_each(&mut self.moments, &other.moments, Moment::merge_sums);
    }

    pub(crate) fn finish(mut self) -> Result<GroupingFactor, LearnError> {
        let label = &self.grouping.label;
        let scale = |(name, moment): (&String, &Moment)| match moment.root_mean_square() {
            scale if scale > 0.0 => check_size(name, 0.0, scale).map(|()| scale),
            _ => Err(LearnError::column(
                name.clone(),
                format!("values other than 0 for slopes by {label}"),
                "none",
                "leave the slope out",
            )),
        };
        let pairs = self.grouping.effects.iter().zip(&self.moments);
        self.grouping.scales = pairs.map(scale).collect::<Result<_, _>>()?;
        Ok(self.grouping)
    }
}

/// The name of a term, which begins with the parameter in whose formula it is: `sigma.site`.
pub(crate) fn owned_label(of: Option<&str>, label: &str) -> String {
    match of {
        None => label.to_owned(),
        Some(parameter) => format!("{parameter}.{label}"),
    }
}

/// The effects that vary by group.
fn effects(term: &GroupTerm, bases: &[TermBasis]) -> Result<Vec<String>, LearnError> {
    let mut effects = Vec::new();
    if term.intercept == Intercept::Present {
        effects.push("Intercept".to_owned());
    }
    effects.extend(bases.iter().flat_map(TermBasis::column_names));
    if effects.len() <= MOST_EFFECTS {
        return Ok(effects);
    }
    Err(LearnError::column(
        term.to_string(),
        format!("at most {MOST_EFFECTS} effects by group"),
        effects.len().to_string(),
        "let fewer slopes vary",
    ))
}

/// The levels of each column and the combinations of them that occur, sorted.
fn sorted(labels: &[Labels], found: &HashSet<Vec<u32>>) -> (Vec<Arc<[String]>>, Vec<u32>) {
    let (levels, places): (Vec<_>, Vec<_>) = labels.iter().map(Labels::sorted_labels).unzip();
    let combinations = found.iter().map(|key| recoded(key, &places));
    let mut combinations: Vec<Vec<u32>> = combinations.collect();
    combinations.sort_unstable();
    (levels, combinations.into_iter().flatten().collect())
}

/// A combination of codes in other codes, given those of each column.
fn recoded(key: &[u32], places: &[Vec<u32>]) -> Vec<u32> {
    let codes = key.iter().zip(places);
    codes.map(|(code, places)| places[*code as usize]).collect()
}
