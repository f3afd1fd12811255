//! Penalised smooths in the model: the prior of the standard deviation, the sites, and the
//! contributions to rows.

use lehr_graph::Expr;
use lehr_learn::{Link, Spline};
use lehr_model::distribution::{Distribution, Normal};
use lehr_model::{Row, Schema, Tracer};
use serde::{Deserialize, Serialize};

use super::centring::{PartialCentring, row_information};
use super::parameter::parameter_link;
use crate::column_name::spline_column;
use crate::law::{Domain, Kind, Law, sample};
use crate::prior::Parameter;
use crate::prior_book::PriorBook;

/// A smooth of the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SplinePlan {
    pub(crate) label: String,
    /// The parameter in whose formula it is; `None` for the formula of the response.
    pub(crate) of: Option<String>,
    /// The divisor of the column that multiplies it.
    pub(crate) scale: f64,
    spread: Law,
    /// The standard deviation of each weight if that of the smooth is 1.
    roots: Vec<f64>,
    /// The centring of the weights; `None` for the weights themselves, if some functions are zero
    /// in every row.
    centring: Option<PartialCentring>,
    pub(crate) words: String,
}

/// The sites of a smooth in one run of the model.
pub(crate) struct SplineSites<'g> {
    /// The coefficients of the functions.
    coefficient: Expr<'g>,
}

impl<'g> SplineSites<'g> {
    /// The contribution of the smooth at this place to each row.
    pub(crate) fn effect(&self, row: &Row<'_, 'g>, place: usize) -> Expr<'g> {
        row.matrix(&spline_column(place)).dot(self.coefficient)
    }
}

/// The standard deviations of smooths, which can have priors.
pub(crate) fn spline_parameters(splines: &[Spline]) -> Vec<Parameter> {
    let parameter = |spline: &Spline| Parameter {
        names: spline.spread_names.clone(),
        domain: Domain::Positive,
    };
    splines.iter().map(parameter).collect()
}

/// The smooths with the user's priors or the default ones.
pub(crate) fn spline_plans(book: &mut PriorBook<'_>) -> Vec<SplinePlan> {
    let splines = &book.facts.splines;
    let plan = |spline: &Spline| {
        let (unit, usual, link) = spline_scales(spline, book);
        let unit = unit / spline.multiplier.scale();
        let information = spline.seen.0 as f64 * row_information(link);
        let names = &spline.spread_names;
        // Weights of rough functions are small relative to the standard deviation: a rough curve
        // needs one of many times its own size, so the prior has a heavy tail.
        let default = Law::new(Kind::HalfStudentT, &[3.0, usual * unit]);
        SplinePlan {
            label: spline.label.clone(),
            of: spline.of.clone(),
            scale: spline.multiplier.scale(),
            spread: book.choose(names, &default, unit),
            centring: (!spline.has_unseen)
                .then(|| PartialCentring::of_independent(&spline.roots, information)),
            roots: spline.roots.clone(),
            words: spline.words(),
        }
    };
    splines.iter().map(plan).collect()
}

/// The unit of the smooth's predictor, the default size of a curve in it, and the link.
fn spline_scales(spline: &Spline, book: &PriorBook<'_>) -> (f64, f64, Link) {
    match &spline.of {
        None => (book.unit(), 2.5, book.family.link()),
        Some(name) => (1.0, 1.0, parameter_link(book.family, name).as_link()),
    }
}

impl SplinePlan {
    pub(crate) fn spread_site(&self, head: &str) -> String {
        format!("sd({}){head}", self.label)
    }

    pub(crate) fn weight_site(&self, head: &str) -> String {
        match self.centring {
            Some(_) => format!("standard({}){head}", self.label),
            None => format!("effect({}){head}", self.label),
        }
    }

    /// The columns that it reads.
    pub(crate) fn schema(&self, place: usize, schema: Schema) -> Schema {
        schema.matrix(&spline_column(place), self.roots.len())
    }

    /// The standard deviation and the weights.
    pub(crate) fn sites<'g>(&self, m: &Tracer<'g>, head: &str) -> SplineSites<'g> {
        let law = std::slice::from_ref(&self.spread);
        let spread = sample(m, &self.spread_site(head), law, &[]);
        let width = self.roots.len();
        let name = self.weight_site(head);
        let Some(centring) = &self.centring else {
            let scales = m.graph().constant([width], &self.roots) * spread;
            return SplineSites {
                coefficient: m.sample(&name, Normal::new(0.0, scales).expand([width])),
            };
        };
        let [factor, scale] = centring.logs(self.log_amplitudes(spread)).map(Expr::exp);
        let weight = m.sample(&name, Normal::new(0.0, scale).expand([width]));
        SplineSites {
            coefficient: weight * factor,
        }
    }

    /// ln of the standard deviation of each coefficient.
    fn log_amplitudes<'g>(&self, spread: Expr<'g>) -> Expr<'g> {
        let logs: Vec<f64> = self.roots.iter().map(|root| root.ln()).collect();
        spread.graph().constant([logs.len()], &logs) + spread.ln()
    }

    /// The factors from the weights of a draw with this standard deviation to coefficients.
    pub(crate) fn factors(&self, spread: f64) -> Vec<f64> {
        let Some(centring) = &self.centring else {
            return vec![1.0; self.roots.len()];
        };
        let logs: Vec<f64> = self.roots.iter().map(|root| (root * spread).ln()).collect();
        centring.factors(&logs)
    }
}
