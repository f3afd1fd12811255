//! The plan and the sites of monotonic effects: a slope, and the shares of the steps between ordered levels.

use lehr_graph::Expr;
use lehr_learn::Monotonic;
use lehr_model::distribution::Dirichlet;
use lehr_model::{Schema, Tracer};
use serde::{Deserialize, Serialize};

use crate::column_name::monotonic_column;
use crate::law::{Domain, Kind, Law, sample};
use crate::prior::Parameter;
use crate::prior_book::PriorBook;

/// A monotonic effect of the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct MonotonicPlan {
    label: String,
    pub(crate) levels: usize,
    slope: Law,
    concentration: Law,
}

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

/// The effects with the user's priors or the default ones: the difference between the first and the
/// last level has the prior of a difference of levels.
pub(crate) fn monotonic_plans(book: &mut PriorBook<'_>) -> Vec<MonotonicPlan> {
    let facts = book.facts;
    let predictor = &facts.predictor_scale;
    let plan = |effect: &Monotonic| {
        let levels = effect.levels().len();
        let scale = 2.5 * predictor.widening * predictor.unit / (levels - 1) as f64;
        let slope = Law::new(Kind::Normal, &[0.0, scale]);
        let (name, steps) = (effect.label.clone(), effect.step_name());
        let even = Law::new(Kind::Dirichlet, &[1.0]);
        MonotonicPlan {
            slope: book.choose(std::slice::from_ref(&name), &slope, predictor.unit),
            concentration: book.choose(&[steps], &even, 1.0),
            label: name,
            levels,
        }
    };
    facts.monotonics.iter().map(plan).collect()
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
