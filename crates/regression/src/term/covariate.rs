//! The plan and the sites of a covariate whose true value is a local latent.  True values are
//! N(mean, sd²) over rows. Given its observation, a row's value is N(m, v²), so the predictor is
//! normal, too: gaussian and lognormal responses include its variance in closed form, others by
//! quadrature.

use lehr_graph::Expr;
use lehr_learn::column_name::{ERROR, GAP, MEASURED, SEEN, UNKNOWN};
use lehr_learn::{Covariate, LearnError, ResponseForm, covariate_names};
use lehr_model::distribution::{CensoredDistribution, Normal};
use lehr_model::{Row, Schema, Tracer};
use serde::{Deserialize, Serialize};

use crate::law::{Domain, Kind, Law, sample};
use crate::prior::Parameter;
use crate::prior_book::PriorBook;

/// Advice in place of a function by inducing points.
pub(crate) const ADD_FUNCTIONS: &str =
    "add functions of one or two columns instead, as in gp(x1) + gp(x2, x3)";

/// The covariate in the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CovariatePlan {
    pub(crate) label: String,
    slope: Law,
    mean: Law,
    spread: Law,
    /// The model's mean less the original one, divided by the scale.
    pub(crate) shift: f64,
    scale: f64,
    /// Whether values are missing rather than measured with error.
    has_gaps: bool,
}

/// Its sites.
pub(crate) struct CovariateSites<'g> {
    pub(crate) slope: Expr<'g>,
    mean: Expr<'g>,
    spread: Expr<'g>,
}

/// The covariate's contribution to a row's predictor: a mean, and the standard deviation around it.
pub(crate) struct Contribution<'g> {
    pub(crate) mean: Expr<'g>,
    pub(crate) spread: Expr<'g>,
}

/// The slope and the distribution of true values, which can have priors.
pub(crate) fn covariate_parameters(covariate: &Covariate) -> Vec<Parameter> {
    let [slope, mean, spread] = covariate.names();
    vec![
        Parameter::named(&slope, Domain::Real),
        Parameter::named(&mean, Domain::Real),
        Parameter::named(&spread, Domain::Positive),
    ]
}

/// The covariate with the user's priors or the default ones.
pub(crate) fn covariate_plan(
    covariate: &Covariate,
    book: &mut PriorBook<'_>,
) -> Result<CovariatePlan, LearnError> {
    check_covariate(covariate, book)?;
    let (predictor, scale) = (&book.facts.predictor_scale, covariate.scale);
    let [name, mean, spread] = covariate.names();
    let unit = predictor.unit / scale;
    let slope = Law::new(Kind::Normal, &[0.0, 2.5 * predictor.widening * unit]);
    let centre = Law::new(Kind::Normal, &[covariate.mean, 2.5 * scale]);
    let width = Law::new(Kind::HalfNormal, &[2.0 * scale]);
    let one = std::slice::from_ref;
    Ok(CovariatePlan {
        slope: book.choose(one(&name), &slope, unit),
        mean: book.choose(one(&mean), &centre, scale),
        spread: book.choose(one(&spread), &width, scale),
        shift: covariate.centre / scale,
        scale,
        has_gaps: covariate.term.error.is_none(),
        label: name,
    })
}

fn check_covariate(covariate: &Covariate, book: &PriorBook<'_>) -> Result<(), LearnError> {
    let wrong = |expected: &str, found: String, hint: &str| {
        Err(LearnError::column(
            covariate.term.to_string(),
            expected,
            found,
            hint,
        ))
    };
    if book.family.form() == ResponseForm::Unordered {
        let (family, hint) = (
            book.family.to_string(),
            "compare two classes at a time with --family bernoulli",
        );
        return wrong("a family with one linear predictor", family, hint);
    }
    book.induced.map_or(Ok(()), |smooth| {
        let found = smooth.label.clone();
        wrong(
            "no function by inducing points beside it",
            found,
            ADD_FUNCTIONS,
        )
    })
}

impl CovariatePlan {
    /// The names of its sites.
    pub(crate) fn site_names(&self) -> [String; 3] {
        covariate_names(&self.label)
    }

    /// The columns that it reads.
    pub(crate) fn schema(&self, schema: Schema) -> Schema {
        let more = if self.has_gaps { GAP } else { ERROR };
        schema.number(MEASURED).number(SEEN).number(more)
    }

    pub(crate) fn sites<'g>(&self, m: &Tracer<'g>) -> CovariateSites<'g> {
        let [slope, mean, spread] = self.site_names();
        let one = std::slice::from_ref;
        let shift = m.graph().scalar(-self.shift);
        CovariateSites {
            slope: sample(m, &slope, one(&self.slope), &[]),
            mean: self.mean.sample_moved(m, &mean, shift),
            spread: sample(m, &spread, one(&self.spread), &[]),
        }
    }

    /// The distribution of a row's true value, times the slope: for errors of standard deviation s
    /// the normal with precision τ⁻² + s⁻²; for gaps the value is known exactly or not at all.
    pub(crate) fn contribution<'g>(
        &self,
        row: &Row<'_, 'g>,
        sites: &CovariateSites<'g>,
    ) -> Contribution<'g> {
        let measured = row.number(MEASURED);
        let CovariateSites {
            slope,
            mean,
            spread,
        } = *sites;
        if self.has_gaps {
            let is_gap = row.number(GAP).equal(slope.graph().scalar(UNKNOWN));
            return Contribution {
                mean: is_gap.select(mean, measured) * slope,
                spread: is_gap * (spread * slope),
            };
        }
        let error = row.number(ERROR);
        let total = error.square() + spread.square();
        let kept = spread.square() / total;
        Contribution {
            mean: ((measured - mean) * kept + mean) * slope,
            spread: error / total.sqrt() * (spread * slope),
        }
    }

    /// States the distribution of the observations over rows.
    pub(crate) fn observe<'g>(&self, row: &Row<'_, 'g>, sites: &CovariateSites<'g>) {
        let mean = (sites.mean + self.shift) * self.scale;
        let spread = sites.spread * self.scale;
        if self.has_gaps {
            let whole = Normal::new(mean.broadcast(row.batch_shape(&[])), spread);
            row.observe(SEEN, CensoredDistribution::new(whole, row.number(GAP)));
            return;
        }
        let error = row.number(ERROR) * self.scale;
        let total = error.square() + spread.square();
        row.observe(SEEN, Normal::new(mean, total.sqrt()));
    }
}
