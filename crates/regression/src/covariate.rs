//! A covariate whose true value is a latent of the row: measured with error, `me(x, sd)`, or missing in
//! some rows, `mi(x)`.
//!
//! True values are N(mean, sd²) over rows. Given what is seen of it, a row's is N(m, v²), so the predictor is
//! normal too: gaussian and lognormal responses take its variance up in closed form, others by quadrature.

use lehr_formula::{CovariateTerm, Intercept};
use lehr_graph::Expr;
use lehr_model::distribution::{Censored, Normal};
use lehr_model::{Row, Schema, Tracer};
use lehr_table::{Column, Moment};
use serde::{Deserialize, Serialize};

use crate::blueprint::{Blueprint, BlueprintBuilder};
use crate::coefficient::Reporter;
use crate::error::RegressionError;
use crate::family::{Family, Form};
use crate::law::{Domain, Kind, Law, sample};
use crate::named_draws::{Draws, NamedDraws};
use crate::prior::Parameter;
use crate::source::Source;

/// The model's columns of what is seen: as a covariate and as a response, with the spread of its
/// errors, or which rows lack it.
const MEASURED: &str = "measured";
const SEEN: &str = "measured_seen";
const ERROR: &str = "measured_error";
const GAP: &str = "measured_gap";

/// In the column of gaps: nothing is known of the row's value.
const UNKNOWN: f64 = 3.0;

/// The covariate as it was learnt of the fitted table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Covariate {
    term: CovariateTerm,
    /// What is taken away from values, and what they are divided by.
    centre: f64,
    pub(crate) scale: f64,
    mean: f64,
}

/// The covariate while its table is read.
pub(crate) struct CovariateLearner {
    term: CovariateTerm,
    moment: Moment,
    missing: usize,
}

impl CovariateLearner {
    pub(crate) fn new(term: &CovariateTerm) -> CovariateLearner {
        CovariateLearner {
            term: term.clone(),
            moment: Moment::default(),
            missing: 0,
        }
    }

    /// Takes in a block.
    pub(crate) fn see(&mut self, source: &Source<'_>) -> Result<(), RegressionError> {
        errors(&self.term, source)?;
        for value in values(&self.term, source) {
            if value.is_nan() {
                self.missing += 1;
            } else {
                self.moment.push(value);
            }
        }
        Ok(())
    }

    /// The covariate, if its values vary.
    pub(crate) fn finish(
        self,
        family: Family,
        intercept: Intercept,
    ) -> Result<(Covariate, Option<String>), RegressionError> {
        let (mean, scale) = (self.moment.mean(), self.moment.scale());
        let label = self.term.label();
        if self.moment.count() == 0 {
            return Err(RegressionError::Column {
                at: label,
                expected: "a value in some rows".into(),
                found: format!("none in {} rows", self.missing),
                hint: "leave the term out".into(),
            });
        }
        if self.moment.count() < 2 || scale <= 4.0 * f64::EPSILON * mean.abs() {
            return Err(RegressionError::Column {
                at: label,
                expected: "values that differ".into(),
                found: format!("{} values, all the same", self.moment.count()),
                hint: "leave the term out".into(),
            });
        }
        let is_centred = intercept == Intercept::Present || family.form() == Form::Ordered;
        let note = self.term.error.is_none().then(|| {
            let rows = self.moment.count() as usize + self.missing;
            format!("{label}: missing in {} of {rows} rows", self.missing)
        });
        let made = Covariate {
            term: self.term,
            centre: if is_centred { mean } else { 0.0 },
            scale,
            mean,
        };
        Ok((made, note))
    }
}

/// What is seen of the covariate; NaN where it is missing.
fn values(term: &CovariateTerm, source: &Source<'_>) -> Vec<f64> {
    source.numbers(&term.column).unwrap_or_default().to_vec()
}

/// The spread of its errors in every row; none where it has gaps instead.
fn errors(term: &CovariateTerm, source: &Source<'_>) -> Result<Option<Vec<f64>>, RegressionError> {
    let Some(expr) = &term.error else {
        return Ok(None);
    };
    let spreads = source.evaluate(expr)?;
    match spreads.iter().position(|spread| *spread <= 0.0) {
        None => Ok(Some(spreads)),
        Some(row) => Err(RegressionError::Column {
            at: format!("{term}, row {}", source.first + row + 1),
            expected: "errors of a standard deviation above 0".into(),
            found: spreads[row].to_string(),
            hint: format!(
                "give every row the spread of its error, a small one where {0} is as good as exact, or write {0} alone",
                term.column
            ),
        }),
    }
}

impl Covariate {
    /// The model's columns for a block.
    pub(crate) fn columns(
        &self,
        source: &Source<'_>,
    ) -> Result<Vec<(&'static str, Column)>, RegressionError> {
        let seen = values(&self.term, source);
        let standard = |value: &f64| {
            if value.is_nan() {
                0.0
            } else {
                (value - self.centre) / self.scale
            }
        };
        let own: Vec<f64> = seen.iter().map(standard).collect();
        // As a response it has its own unit, in which densities are told.
        let as_seen = |value: &f64| if value.is_nan() { self.centre } else { *value };
        let whole: Vec<f64> = seen.iter().map(as_seen).collect();
        let more = if let Some(spreads) = errors(&self.term, source)? {
            let spreads = spreads.iter().map(|spread| spread / self.scale);
            (ERROR, spreads.collect())
        } else {
            let gap = |value: &f64| if value.is_nan() { UNKNOWN } else { 0.0 };
            (GAP, seen.iter().map(gap).collect())
        };
        let columns = [(MEASURED, own), (SEEN, whole), more];
        Ok(columns
            .map(|(name, values)| (name, Column::Number(values)))
            .into())
    }

    /// As the formula has it.
    pub(crate) fn term(&self) -> String {
        self.term.to_string()
    }

    /// The names of the coefficient, and of the mean and the spread of true values.
    pub(crate) fn names(&self) -> [String; 3] {
        names(&self.term.label())
    }

    /// Mean and spread of true values on the original scale, from the model's.
    pub(crate) fn original(&self, mean: f64, spread: f64) -> [f64; 2] {
        [self.centre + self.scale * mean, self.scale * spread]
    }
}

fn names(label: &str) -> [String; 3] {
    [
        label.to_owned(),
        format!("{label}.mean"),
        format!("{label}.sd"),
    ]
}

/// The covariate in the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CovariatePlan {
    label: String,
    slope: Law,
    mean: Law,
    spread: Law,
    /// What the model's mean is less than the original one, both divided by the scale.
    pub(crate) shift: f64,
    scale: f64,
    /// Whether values are missing, and not measured with error.
    has_gaps: bool,
}

/// Its sites.
pub(crate) struct CovariateSites<'g> {
    pub(crate) slope: Expr<'g>,
    mean: Expr<'g>,
    spread: Expr<'g>,
}

/// What the covariate adds to a row's predictor: a mean, and the spread around it.
pub(crate) struct Contribution<'g> {
    pub(crate) mean: Expr<'g>,
    pub(crate) spread: Expr<'g>,
}

impl BlueprintBuilder<'_> {
    /// The slope and the distribution of true values, which can have priors.
    pub(crate) fn covariate_parameters(&self) -> Vec<Parameter> {
        let Some(covariate) = self.parts.covariate else {
            return Vec::new();
        };
        let [slope, mean, spread] = covariate.names();
        vec![
            Parameter::named(&slope, Domain::Real),
            Parameter::named(&mean, Domain::Real),
            Parameter::named(&spread, Domain::Positive),
        ]
    }

    /// The covariate with the user's priors or the default ones.
    pub(crate) fn covariate_plan(&mut self) -> Result<Option<CovariatePlan>, RegressionError> {
        let Some(covariate) = self.parts.covariate else {
            return Ok(None);
        };
        self.check_covariate(covariate)?;
        let (anchor, scale) = (self.parts.anchor, covariate.scale);
        let [name, mean, spread] = covariate.names();
        let unit = anchor.unit / scale;
        let slope = Law::new(Kind::Normal, &[0.0, 2.5 * anchor.widening * unit]);
        let centre = Law::new(Kind::Normal, &[covariate.mean, 2.5 * scale]);
        let width = Law::new(Kind::HalfNormal, &[2.0 * scale]);
        let one = std::slice::from_ref;
        Ok(Some(CovariatePlan {
            slope: self.choose(one(&name), &name, &slope, unit),
            mean: self.choose(one(&mean), &mean, &centre, scale),
            spread: self.choose(one(&spread), &spread, &width, scale),
            shift: covariate.centre / scale,
            scale,
            has_gaps: covariate.term.error.is_none(),
            label: name,
        }))
    }

    fn check_covariate(&self, covariate: &Covariate) -> Result<(), RegressionError> {
        let wrong = |expected: &str, found: String, hint: &str| {
            Err(RegressionError::Column {
                at: covariate.term.to_string(),
                expected: expected.into(),
                found,
                hint: hint.into(),
            })
        };
        if self.parts.family.form() == Form::Unordered {
            let family = self.parts.family;
            let hint = "compare two classes at a time with --family bernoulli";
            return wrong(
                "a family with one linear predictor",
                family.to_string(),
                hint,
            );
        }
        if let Some(smooth) = self.parts.induced {
            let hint = "add functions of one or two columns instead, as in gp(x1) + gp(x2, x3)";
            let found = smooth.label.clone();
            return wrong("no function by inducing points beside it", found, hint);
        }
        Ok(())
    }
}

impl CovariatePlan {
    /// The names of its sites.
    pub(crate) fn site_names(&self) -> [String; 3] {
        names(&self.label)
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

    /// What is known of a row's true value, times the slope: of errors of spread s the normal with
    /// the precision τ⁻² + s⁻², of gaps all or nothing.
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

    /// States how what is seen is distributed over rows.
    pub(crate) fn observe<'g>(&self, row: &Row<'_, 'g>, sites: &CovariateSites<'g>) {
        let mean = (sites.mean + self.shift) * self.scale;
        let spread = sites.spread * self.scale;
        if self.has_gaps {
            let whole = Normal::new(mean.broadcast(row.shape(&[])), spread);
            row.observe(SEEN, Censored::new(whole, row.number(GAP)));
            return;
        }
        let error = row.number(ERROR) * self.scale;
        let total = error.square() + spread.square();
        row.observe(SEEN, Normal::new(mean, total.sqrt()));
    }

    /// The name of the latent of each row: the true value less its mean, in units of its spread.
    pub(crate) fn local_name(&self) -> String {
        format!("{}.z", self.label)
    }
}

impl Reporter<'_> {
    /// `me(x)`, and the mean and the spread of true values.
    pub(crate) fn latent(&self, draws: &Draws<'_>, found: &mut Vec<NamedDraws>) {
        let (Some(plan), Some(covariate)) = (&self.blueprint.covariate, self.covariate) else {
            return;
        };
        let [slopes, means, spreads] = plan.site_names().map(|site| draws.entry(&site, 0));
        let unit = self.unit() / covariate.scale;
        let pairs = means.iter().zip(&spreads);
        let both = pairs.map(|(mean, spread)| covariate.original(*mean, *spread));
        let (means, spreads) = both.map(|[mean, spread]| (mean, spread)).unzip();
        let slopes = slopes.iter().map(|slope| slope * unit).collect();
        for (name, values) in covariate.names().into_iter().zip([slopes, means, spreads]) {
            let name = name.into();
            found.push(NamedDraws { name, values });
        }
    }
}

impl Blueprint {
    /// What the predictor is at the means of all columns more than where they are 0.
    pub(crate) fn shift<'g>(
        &self,
        m: &Tracer<'g>,
        weight: Option<Expr<'g>>,
        covariate: Option<&CovariateSites<'g>>,
    ) -> Option<Expr<'g>> {
        let means = || m.graph().constant([self.shifts.len()], &self.shifts);
        let common = weight.map(|weight| means().dot(weight));
        let latent = self.covariate.as_ref().zip(covariate);
        let latent = latent.map(|(plan, sites)| sites.slope * plan.shift);
        match (common, latent) {
            (Some(common), Some(latent)) => Some(common + latent),
            (common, latent) => common.or(latent),
        }
    }

    /// Takes a normal spread of the predictor up: into sigma where the response is normal around it, else
    /// as a latent of the row.
    pub(crate) fn spread_out<'g>(
        &self,
        row: &Row<'_, 'g>,
        at: Expr<'g>,
        own: &mut [Expr<'g>],
        spread: Expr<'g>,
    ) -> Expr<'g> {
        if matches!(self.family, Family::Gaussian | Family::LogNormal) {
            own[0] = (own[0].square() + spread.square()).sqrt();
            return at;
        }
        let plan = self.covariate.as_ref().expect("a covariate");
        at + row.local(&plan.local_name(), Normal::new(0.0, 1.0)) * spread
    }
}
