//! Monotonic effects `mo(x)`: a slope, and the shares of the steps between ordered levels.

use lehr_formula::{Coding, Factor, MonotonicTerm, Round, Term, TermBasis, TermLearner};
use lehr_graph::Expr;
use lehr_model::distribution::Dirichlet;
use lehr_model::{Schema, Tracer};
use serde::{Deserialize, Serialize};

use crate::blueprint::BlueprintBuilder;
use crate::column_name::monotonic_column;
use crate::error::RegressionError;
use crate::law::{Domain, Kind, Law, sample};
use crate::population::{see_all, turn_all};
use crate::prior::Parameter;
use crate::source::Source;

/// Fewer levels than this have no order to speak of, and more are a quantity.
const FEWEST: usize = 3;
const MOST: usize = 50;

/// A monotonic effect as it was learnt of the fitted table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Monotonic {
    /// `mo(income)`.
    pub(crate) label: String,
    basis: TermBasis,
}

/// A monotonic effect while its table is read.
pub(crate) struct MonotonicLearner {
    label: String,
    column: String,
    levels: Vec<TermLearner>,
}

impl MonotonicLearner {
    pub(crate) fn new(term: &MonotonicTerm) -> MonotonicLearner {
        let factor = Term::of(Factor::Coded(term.coded.clone()));
        MonotonicLearner {
            label: term.label(),
            column: term.coded.column.clone(),
            levels: vec![TermLearner::new(&factor, &[Coding::Full])],
        }
    }

    pub(crate) fn see(&mut self, source: &Source<'_>) -> Result<(), RegressionError> {
        see_all(&mut self.levels, source)
    }

    pub(crate) fn turn(&mut self) -> Result<Round, RegressionError> {
        turn_all(&mut self.levels)
    }

    /// The effect, if the column can have one.
    pub(crate) fn finish(mut self) -> Result<Monotonic, RegressionError> {
        let learner = self.levels.pop().expect("one column");
        let made = Monotonic {
            label: self.label,
            basis: learner.finish(),
        };
        let (column, count) = (lehr_formula::quoted(&self.column), made.levels().len());
        let (expected, hint) = match count {
            ..FEWEST => (
                format!("at least {FEWEST} levels"),
                format!("write C({column}) for a difference"),
            ),
            FEWEST..=MOST => return Ok(made),
            _ => (
                format!("at most {MOST} levels"),
                format!("write s({column}) for a smooth function of a quantity"),
            ),
        };
        Err(RegressionError::Column {
            at: made.label,
            expected,
            found: count.to_string(),
            hint,
        })
    }
}

impl Monotonic {
    /// The levels in order.
    pub(crate) fn levels(&self) -> Vec<String> {
        self.basis.factors[0].levels()
    }

    /// The name of the shares of its steps.
    pub(crate) fn step_name(&self) -> String {
        format!("{}.step", self.label)
    }

    /// The place of each row's level in the order. Refuses levels that were not fitted.
    pub(crate) fn ranks(&self, source: &Source<'_>) -> Result<Vec<u32>, RegressionError> {
        Ok(self.basis.factors[0].ranks(&|name| source.read(name))?)
    }

    /// The column, and its levels in order.
    pub(crate) fn order(&self) -> (&str, Vec<String>) {
        (self.basis.factors[0].factor().columns()[0], self.levels())
    }
}

/// A monotonic effect of the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct MonotonicPlan {
    label: String,
    pub(crate) levels: usize,
    slope: Law,
    concentration: Law,
}

impl BlueprintBuilder<'_> {
    /// The slopes and steps, which can have priors.
    pub(crate) fn monotonic_parameters(effects: &[Monotonic]) -> Vec<Parameter> {
        let both = |effect: &Monotonic| {
            [
                Parameter::named(&effect.label, Domain::Real),
                Parameter::named(&effect.step_name(), Domain::Simplex),
            ]
        };
        effects.iter().flat_map(both).collect()
    }

    /// The effects with the user's priors or the default ones: that of the whole way from the first to
    /// the last level is the one of a difference of levels.
    pub(crate) fn monotonic_plans(&mut self) -> Vec<MonotonicPlan> {
        let (anchor, effects) = (self.parts.anchor, self.parts.monotonics);
        let plan = |effect: &Monotonic| {
            let levels = effect.levels().len();
            let scale = 2.5 * anchor.widening * anchor.unit / (levels - 1) as f64;
            let slope = Law::new(Kind::Normal, &[0.0, scale]);
            let (name, steps) = (effect.label.clone(), effect.step_name());
            let even = Law::new(Kind::Dirichlet, &[1.0]);
            MonotonicPlan {
                slope: self.choose(std::slice::from_ref(&name), &name, &slope, anchor.unit),
                concentration: self.choose(std::slice::from_ref(&steps), &steps, &even, 1.0),
                label: name,
                levels,
            }
        };
        effects.iter().map(plan).collect()
    }
}

impl MonotonicPlan {
    pub(crate) fn slope_site(&self, head: &str) -> String {
        format!("{}{head}", self.label)
    }

    pub(crate) fn step_site(&self, head: &str) -> String {
        format!("{}.step{head}", self.label)
    }

    /// The columns that it reads.
    pub(crate) fn schema(&self, place: usize, schema: Schema) -> Schema {
        schema.index(&monotonic_column(place), self.levels)
    }

    /// The effect of each level: b D (ζ₁ + … + ζₖ), 0 at the first.
    pub(crate) fn sites<'g>(&self, m: &Tracer<'g>, head: &str) -> Expr<'g> {
        let steps = self.levels - 1;
        let law = std::slice::from_ref(&self.slope);
        let slope = sample(m, &self.slope_site(head), law, &[]);
        let concentration = vec![self.concentration.concentration(); steps];
        let shares = m.sample(&self.step_site(head), Dirichlet::new(concentration));
        let is_below = |k: usize| f64::from(u8::from(k % steps < k / steps));
        let below: Vec<f64> = (0..self.levels * steps).map(is_below).collect();
        let sums = m.graph().constant([self.levels, steps], &below).dot(shares);
        sums * slope * steps as f64
    }
}
