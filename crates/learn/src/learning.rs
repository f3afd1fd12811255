//! The facts that a regression learns from its table before any row is bound: levels, scales, and
//! the scale of the linear predictor.

use std::iter::once;

use lehr_formula::{Round, Terms};
use lehr_table::Table;
use serde::{Deserialize, Serialize};

use crate::accumulator::{Learner, merge_each};
use crate::column_use::evaluate_offset;
use crate::error::LearnError;
use crate::fixed_effects::{
    FixedEffects, FixedEffectsLearner, FixedEffectsScaler, check_size, latest_round,
};
use crate::grouping_factor::{GroupingFactor, GroupingFactorLearner, GroupingFactorScaler};
use crate::profile::{ColumnProfile, ProfileLearner};
use crate::response::censoring::StatusCount;
use crate::response::predictor_scale::{PredictorScale, ResponseBlock, ResponseProfile};
use crate::response::response_column::{ClassLearner, ResponseColumn};
use crate::response_rule::ResponseRule;
use crate::response_rule::{Link, ResponseForm};
use crate::smooth_term::covariate::{Covariate, CovariateLearner};
use crate::smooth_term::monotonic::{Monotonic, MonotonicLearner};
use crate::smooth_term::smooth::{Smooth, SmoothLearner};
use crate::smooth_term::spline::{Spline, SplineLearner};
use crate::source::Source;
use crate::table_source::{Blocks, learned};

/// A formula in the form in which it is fitted to a table.
pub struct LearningRequest<'a> {
    /// The text of the formula, for errors.
    pub formula: &'a str,
    /// The terms of the formula.
    pub terms: Terms,
    /// The requirements of the family on the response.
    pub rule: ResponseRule,
}

/// All facts learned from a table.
pub struct TableFacts {
    /// The conversion of the response to numbers.
    pub outcome: ResponseColumn,
    /// The columns of the fixed effects.
    pub population: FixedEffects,
    /// The group terms.
    pub groupings: Vec<GroupingFactor>,
    /// The Gaussian processes.
    pub smooths: Vec<Smooth>,
    /// The penalised smooths.
    pub splines: Vec<Spline>,
    /// The monotonic effects.
    pub monotonics: Vec<Monotonic>,
    /// The columns of the formula of each parameter.
    pub parameters: Vec<FixedEffects>,
    /// The covariate with errors or gaps.
    pub covariate: Option<Covariate>,
    /// The expected linear predictor.
    pub predictor_scale: PredictorScale,
    /// The number of rows.
    pub n_rows: usize,
    /// Statistics of the columns of the fixed effects.
    pub profiles: Vec<ColumnProfile>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// Learns from all rows in as many rounds as the terms need, and one more. Memory does not grow
/// with the rows.
pub(crate) fn learn_in_rounds(
    request: &LearningRequest<'_>,
    blocks: &dyn Blocks,
) -> Result<TableFacts, LearnError> {
    let terms = &request.terms;
    let mut levels = LevelAccumulator::new(request)?;
    loop {
        (levels, _) = round(terms, levels, blocks)?;
        if levels.next_round()? == Round::Last {
            break;
        }
    }
    let scales = levels.finish(request, blocks)?;
    let (scales, n_rows) = round(terms, scales, blocks)?;
    scales.finish(terms, n_rows)
}

/// Passes all rows once, and counts them.
pub(crate) fn round<P: Learner>(
    terms: &Terms,
    learner: P,
    blocks: &dyn Blocks,
) -> Result<(P, usize), LearnError> {
    match learned(terms, learner, blocks)? {
        (_, 0) => Err(LearnError::NoRows),
        found => Ok(found),
    }
}

/// The first stage: levels and constants of terms. Terms whose knots and places are chosen from the
/// rows in table order are learned in this process only.
#[derive(Clone, Serialize, Deserialize)]
pub struct LevelAccumulator {
    outcome: ClassLearner,
    population: FixedEffectsLearner,
    groupings: Vec<GroupingFactorLearner>,
    parameters: Vec<FixedEffectsLearner>,
    #[serde(skip)]
    smooths: Vec<SmoothLearner>,
    #[serde(skip)]
    splines: Vec<SplineLearner>,
    #[serde(skip)]
    monotonics: Vec<MonotonicLearner>,
}

impl LevelAccumulator {
    pub fn new(request: &LearningRequest<'_>) -> Result<LevelAccumulator, LearnError> {
        let terms = &request.terms;
        let (monotonics, parameters) = (terms.monotonics.iter(), terms.parameters.iter());
        let outcome = ResponseColumn::new(&request.rule, &terms.response)?;
        Ok(LevelAccumulator {
            outcome: ClassLearner::new(outcome),
            population: FixedEffectsLearner::new(terms),
            groupings: terms.all_groups().map(GroupingFactorLearner::new).collect(),
            smooths: terms.smooths.iter().map(SmoothLearner::new).collect(),
            splines: terms.all_splines().map(SplineLearner::new).collect(),
            monotonics: monotonics.map(MonotonicLearner::new).collect(),
            parameters: parameters.map(FixedEffectsLearner::new).collect(),
        })
    }

    pub fn next_round(&mut self) -> Result<Round, LearnError> {
        let fixed = once(&mut self.population).chain(&mut self.parameters);
        let rounds = fixed.map(FixedEffectsLearner::next_round);
        let groupings = self.groupings.iter_mut();
        let groupings = groupings.map(GroupingFactorLearner::next_round);
        let monotonics = self.monotonics.iter_mut().map(MonotonicLearner::next_round);
        let splines = self.splines.iter_mut().map(SplineLearner::next_round);
        let smooths = self.smooths.iter_mut().map(SmoothLearner::next_round);
        let rounds = rounds.chain(groupings).chain(monotonics);
        latest_round(rounds.chain(splines).chain(smooths))
    }

    pub fn finish(
        self,
        request: &LearningRequest<'_>,
        blocks: &dyn Blocks,
    ) -> Result<ScaleAccumulator, LearnError> {
        let (outcome, notes) = self.outcome.finish(&|name| blocks.is_text(name))?;
        let groupings = self.groupings.into_iter();
        let groupings = groupings.map(GroupingFactorLearner::finish);
        let smooths = self.smooths.into_iter().map(SmoothLearner::finish);
        let monotonics = self.monotonics.into_iter().map(MonotonicLearner::finish);
        let splines = self.splines.into_iter();
        let parameters = (self.parameters.into_iter().zip(&request.terms.parameters))
            .map(|(learner, terms)| learner.finish(terms, request.formula));
        Ok(ScaleAccumulator {
            population: self.population.finish(&request.terms, request.formula)?,
            groupings: groupings.collect::<Result<_, _>>()?,
            smooths: smooths.collect::<Result<_, _>>()?,
            monotonics: monotonics.collect::<Result<_, _>>()?,
            splines: splines.flat_map(SplineLearner::finish).collect(),
            parameters: parameters.collect::<Result<_, _>>()?,
            observed: ResponseProfile::new(&outcome.rule, outcome.classes.len()),
            surplus: f64::INFINITY,
            statuses: StatusCount::default(),
            covariate: (request.terms.covariate.as_ref()).map(CovariateLearner::new),
            profiles: ProfileLearner::new(&request.terms),
            outcome,
            notes,
        })
    }
}

impl Learner for LevelAccumulator {
    fn add_rows(&mut self, terms: &Terms, block: &Table, first: usize) -> Result<(), LearnError> {
        let source = &Source::of_terms(terms, block, first)?;
        self.outcome.add_rows(source);
        let mut fixed = once(&mut self.population).chain(&mut self.parameters);
        fixed.try_for_each(|one| one.add_rows(source))?;
        (self.groupings.iter_mut()).try_for_each(|one| one.add_rows(source))?;
        (self.monotonics.iter_mut()).try_for_each(|one| one.add_rows(source))?;
        (self.splines.iter_mut()).try_for_each(|one| one.add_rows(source))?;
        (self.smooths.iter_mut()).try_for_each(|one| one.add_rows(source))
    }

    fn merge(&mut self, other: &LevelAccumulator) {
        self.outcome.merge(&other.outcome);
        self.population.merge(&other.population);
        let (own, later) = (&mut self.parameters, &other.parameters);
        merge_each(own, later, FixedEffectsLearner::merge);
        let (own, later) = (&mut self.groupings, &other.groupings);
        merge_each(own, later, GroupingFactorLearner::merge);
    }
}

/// The second stage: the scales of the terms' columns, and the response.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct ScaleAccumulator {
    outcome: ResponseColumn,
    population: FixedEffectsScaler,
    groupings: Vec<GroupingFactorScaler>,
    smooths: Vec<Smooth>,
    splines: Vec<Spline>,
    monotonics: Vec<Monotonic>,
    parameters: Vec<FixedEffectsScaler>,
    observed: ResponseProfile,
    /// The least excess of failures over successes.
    surplus: f64,
    /// The number of rows of each censoring state.
    statuses: StatusCount,
    /// Learned in this process only.
    #[serde(skip)]
    covariate: Option<CovariateLearner>,
    profiles: ProfileLearner,
    notes: Vec<String>,
}

impl ScaleAccumulator {
    pub fn finish(mut self, terms: &Terms, n_rows: usize) -> Result<TableFacts, LearnError> {
        self.notes.extend(self.outcome.trials_note(self.surplus));
        (self.notes).extend(self.statuses.note(&terms.response));
        let (population, more) = self.population.finish(terms, self.outcome.rule.form)?;
        self.notes.extend(more);
        let mut parameters = Vec::with_capacity(self.parameters.len());
        for (fit, terms) in self.parameters.into_iter().zip(&terms.parameters) {
            // Separation concerns the mean only.
            let (population, more) = fit.finish(terms, ResponseForm::Real)?;
            let name = terms.parameter();
            (self.notes).extend(more.into_iter().map(|note| format!("{name}: {note}")));
            parameters.push(population);
        }
        let form = self.outcome.rule.form;
        let covariate = self.covariate.map(|one| one.finish(form, terms.intercept));
        let (covariate, note) = covariate.transpose()?.unzip();
        self.notes.extend(note.flatten());
        let groupings = self.groupings.into_iter().map(GroupingFactorScaler::finish);
        let groupings: Vec<GroupingFactor> = groupings.collect::<Result<_, _>>()?;
        let rows = self.observed.rows();
        if terms.response.errors.is_none() {
            (self.notes).extend(lonely(&groupings, rows, &self.outcome.rule));
        }
        let predictor_scale = predictor_scale(terms, &self.outcome, &self.observed)?;
        if let Some(value) = self.observed.constant() {
            let place = self.outcome.place();
            (self.notes).push(format!("{place}: {value} in every row, so priors decide"));
        }
        Ok(TableFacts {
            n_rows,
            profiles: self.profiles.finish(),
            outcome: self.outcome,
            population,
            groupings,
            smooths: self.smooths,
            splines: self.splines,
            monotonics: self.monotonics,
            parameters,
            covariate,
            predictor_scale,
            notes: self.notes,
        })
    }
}

impl Learner for ScaleAccumulator {
    fn add_rows(&mut self, terms: &Terms, block: &Table, first: usize) -> Result<(), LearnError> {
        let source = &Source::of_terms(terms, block, first)?;
        self.profiles.add_rows(source);
        if let Some(covariate) = &mut self.covariate {
            covariate.add_rows(source)?;
        }
        let values = self.outcome.values(source)?;
        let mut fixed = once(&mut self.population).chain(&mut self.parameters);
        fixed.try_for_each(|one| one.add_rows(source, &values))?;
        (self.groupings.iter_mut()).try_for_each(|one| one.add_rows(source))?;
        self.outcome.errors(source)?;
        let limits = self.outcome.limits(source)?;
        (self.outcome).check_within(&values, &limits, source.first)?;
        if let Some(known) = self.outcome.censored_response(source, &values)? {
            self.statuses.add_rows(&known.status);
        }
        let trials = self.outcome.trials(source)?;
        let offset = evaluate_offset(terms, source)?;
        if let Some(trials) = &trials {
            self.outcome.check_hits(&values, trials, source.first)?;
            let pairs = values.iter().zip(trials);
            let surplus = pairs.map(|(hits, all)| all - 2.0 * hits);
            self.surplus = surplus.fold(self.surplus, f64::min);
        }
        self.observed.add_rows(&ResponseBlock {
            values: &values,
            trials: trials.as_deref(),
            offset: offset.as_deref(),
        });
        Ok(())
    }

    fn merge(&mut self, other: &ScaleAccumulator) {
        self.population.merge(&other.population);
        let (own, later) = (&mut self.parameters, &other.parameters);
        merge_each(own, later, FixedEffectsScaler::merge);
        let (own, later) = (&mut self.groupings, &other.groupings);
        merge_each(own, later, GroupingFactorScaler::merge);
        self.observed.merge(&other.observed);
        self.surplus = self.surplus.min(other.surplus);
        self.statuses.merge(other.statuses);
        self.profiles.merge(&other.profiles);
    }
}

/// Group terms in which each row is a group, so that their standard deviation cannot be
/// distinguished from the noise.
fn lonely(groupings: &[GroupingFactor], rows: usize, rule: &ResponseRule) -> Vec<String> {
    let has_own_noise = rule.link == Link::Identity || rule.form == ResponseForm::Two;
    let alone = (groupings.iter())
        .filter(|grouping| has_own_noise && grouping.of.is_none())
        .filter(|grouping| rows > 1 && grouping.count() == rows);
    let note = |grouping: &GroupingFactor| {
        let label = &grouping.label;
        format!(
            "{label}: every row is a group of its own, so only priors tell sd({label}) from the noise"
        )
    };
    alone.map(note).collect()
}

/// The expected predictor; refuses responses without variation from which no noise can be learned.
fn predictor_scale(
    terms: &Terms,
    outcome: &ResponseColumn,
    observed: &ResponseProfile,
) -> Result<PredictorScale, LearnError> {
    let rule = &outcome.rule;
    if rule.form == ResponseForm::Unordered && observed.has_offset() {
        return Err(LearnError::mismatch(
            rule.family.clone(),
            "no offset",
            terms.to_string(),
            "an offset would be added to each class alike; leave it out",
        ));
    }
    let predictor_scale = observed.predictor_scale(terms.intercept);
    let learns_noise = matches!(
        rule.form,
        ResponseForm::Real | ResponseForm::Positive | ResponseForm::Share | ResponseForm::Direction
    );
    let found = match (observed.constant(), predictor_scale.unit == 0.0) {
        (Some(value), _) if learns_noise => Some(format!("{value} in every row")),
        (_, true) if observed.has_offset() => Some("nothing besides the offset".into()),
        _ => None,
    };
    if let Some(found) = found {
        return Err(LearnError::column(
            outcome.place(),
            format!("values that differ for family {rule}"),
            found,
            "there is no noise to learn from a constant",
        ));
    }
    for centre in &predictor_scale.centre {
        check_size(&outcome.place(), *centre, predictor_scale.unit)?;
    }
    Ok(predictor_scale)
}
