//! Smooth functions in the model: sizes and priors, sites, and what rows add.

use lehr_formula::Intercept;
use lehr_graph::{Expr, Shape};
use lehr_model::distribution::{Distribution, Normal};
use lehr_model::gp::{Axis, Basis};
use lehr_model::{Row, Schema, Tracer};
use serde::{Deserialize, Serialize};

use super::Smooth;
use super::centring::{Centring, row_information};
use crate::blueprint::BlueprintBuilder;
use crate::column_name::{basis_column, level_column};
use crate::error::RegressionError;
use crate::law::{Domain, Kind, Law, sample, short};
use crate::law_site::sample_runs;
use crate::prior::Parameter;

/// The lengthscales, in half ranges, between which 95 % of the default prior lie: of one column, of
/// two, and on a circle in half periods.
const USUAL: [f64; 3] = [0.2, 0.4, 0.1];
/// Longer lengthscales than this, in half ranges, all make lines of a function.
const LONGEST: f64 = 3.0;
/// The standard normal's 97.5 % point.
const TAIL: f64 = 1.959_963_984_540_054;

/// A smooth function of the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SmoothPlan {
    pub(crate) label: String,
    pub(crate) basis: Basis,
    /// How many levels have a function of their own; 0 for one function.
    pub(crate) levels: usize,
    pub(crate) scale: Law,
    /// In half ranges of the columns.
    pub(crate) lengthscales: Vec<Law>,
    pub(crate) centring: Centring,
    /// What is taken away from each function of the basis: its mean over fitted rows where there is
    /// an intercept to have it. Intercept and function could hardly be told apart otherwise.
    centre: Vec<f64>,
}

/// The sites of a smooth function in one run of the model.
pub(crate) struct SmoothSites<'g> {
    /// `[k]`, or `[levels, k]`: what the functions of the basis are multiplied by.
    coefficient: Expr<'g>,
}

impl Smooth {
    /// The names that a prior of a lengthscale may be given under, the most particular first, and
    /// the one it is shown under.
    pub(crate) fn lengthscale_names(&self) -> Vec<Vec<String>> {
        let shared = format!("{}.lengthscale", self.label);
        match self.inputs.len() {
            1 => vec![vec![shared]],
            _ => (self.inputs.iter())
                .map(|input| vec![format!("{shared}[{input}]"), shared.clone()])
                .collect(),
        }
    }

    /// The mean of each function of the basis over the rows that were kept.
    fn means(&self, basis: &Basis) -> Vec<f64> {
        let mut means = vec![0.0; basis.width()];
        let rows = self.places[0].len() as f64;
        for row in basis.features(&self.places).chunks_exact(means.len()) {
            for (mean, value) in means.iter_mut().zip(row) {
                *mean += value / rows;
            }
        }
        means
    }

    fn scale_name(&self) -> String {
        format!("{}.scale", self.label)
    }

    /// In what lengthscales are measured: half the range of each column, or half the period.
    pub(crate) fn units(&self) -> Vec<f64> {
        match self.period {
            Some(period) => vec![0.5 * period],
            None => (self.ranges.iter())
                .map(|[low, high]| 0.5 * (high - low))
                .collect(),
        }
    }

    /// Log-normal with 2.5 % on either side of the usual lengthscales.
    fn default_lengthscale(&self, unit: f64) -> Law {
        let least = match (self.period, self.inputs.len()) {
            (Some(_), _) => USUAL[2],
            (None, columns) => USUAL[columns - 1],
        };
        let location = unit.ln() + 0.5 * least.ln();
        Law::new(Kind::LogNormal, &[location, -0.5 * least.ln() / TAIL])
    }

    /// The basis for the lengthscales that the priors, here in units, allow for.
    fn basis(&self, laws: &[Law]) -> Result<Basis, RegressionError> {
        let axis = |(law, range): (&Law, &[f64; 2])| {
            let [least, most] = law.quantiles([0.025, 0.975]);
            match self.period {
                Some(period) => Axis::circle(self.kernel, period, least),
                None => Axis::interval(self.kernel, *range, [least, most.min(LONGEST)]),
            }
        };
        let mut axes: Vec<Axis> = laws.iter().zip(&self.ranges).map(axis).collect();
        if let Some(k) = self.k {
            resize(&mut axes, k);
        }
        let basis = Basis::new(self.kernel, axes);
        self.check_width(basis.width())?;
        Ok(basis)
    }
}

/// So many functions in all, shared out as the axes need them.
fn resize(axes: &mut [Axis], k: usize) {
    if let [only] = axes {
        only.count = if only.boundary.is_some() { k } else { k / 2 };
        return;
    }
    let needed: f64 = axes.iter().map(|axis| axis.count as f64).product();
    let factor = (k as f64 / needed).powf(1.0 / axes.len() as f64);
    for axis in axes.iter_mut() {
        axis.count = ((axis.count as f64 * factor).floor() as usize).max(1);
    }
}

/// The functions of a basis less a constant each, row after row.
fn centred(basis: &Basis, centre: &[f64], inputs: &[Vec<f64>]) -> Vec<f64> {
    let mut features = basis.features(inputs);
    for row in features.chunks_exact_mut(basis.width()) {
        for (value, centre) in row.iter_mut().zip(centre) {
            *value -= centre;
        }
    }
    features
}

impl BlueprintBuilder<'_> {
    /// The parameters of smooth functions that can have priors.
    pub(crate) fn smooth_parameters(smooths: &[Smooth]) -> Vec<Parameter> {
        let parameters = smooths.iter().flat_map(|smooth| {
            let scale = vec![smooth.scale_name()];
            let names = std::iter::once(scale).chain(smooth.lengthscale_names());
            names.map(|names| Parameter {
                names,
                domain: Domain::Positive,
            })
        });
        parameters.collect()
    }

    /// The smooth functions with the user's priors or the default ones. `unit` is that of the
    /// linear predictor.
    pub(crate) fn smooth_plans(
        &mut self,
        smooths: &[Smooth],
        unit: f64,
    ) -> Result<Vec<SmoothPlan>, RegressionError> {
        let rows = self.parts.n_rows as f64 * row_information(self.parts.family.link());
        let mut plans = Vec::with_capacity(smooths.len());
        for smooth in smooths {
            let own = unit / smooth.multiplier_scale();
            let default = Law::new(Kind::HalfNormal, &[own]);
            let name = smooth.scale_name();
            let scale = self.choose(std::slice::from_ref(&name), &name, &default, own);
            let mut lengthscales = Vec::new();
            for (names, unit) in smooth.lengthscale_names().iter().zip(smooth.units()) {
                let default = smooth.default_lengthscale(unit);
                lengthscales.push(self.choose(names, &names[0], &default, unit));
            }
            let basis = smooth.basis(&lengthscales)?;
            let levels = smooth.levels().len();
            let centre = match self.parts.intercept {
                Intercept::Present if smooth.is_plain() => smooth.means(&basis),
                _ => vec![0.0; basis.width()],
            };
            let features = centred(&basis, &centre, &smooth.places);
            let own = rows / (levels.max(1) * smooth.places[0].len()) as f64;
            let medians: Vec<f64> = (lengthscales.iter())
                .map(|law| law.quantiles([0.5])[0])
                .collect();
            plans.push(SmoothPlan {
                label: smooth.label.clone(),
                centring: Centring::new(&basis, &features, own, &medians),
                centre,
                basis,
                levels,
                scale,
                lengthscales,
            });
        }
        Ok(plans)
    }
}

impl SmoothPlan {
    pub(crate) fn scale_site(&self, head: &str) -> String {
        format!("{}.scale{head}", self.label)
    }

    pub(crate) fn lengthscale_site(&self, head: &str) -> String {
        format!("{}.lengthscale{head}", self.label)
    }

    pub(crate) fn weight_site(&self, head: &str) -> String {
        format!("{}.weight{head}", self.label)
    }

    /// What its weights multiply at these places, row after row.
    pub(crate) fn features(&self, inputs: &[Vec<f64>]) -> Vec<f64> {
        centred(&self.basis, &self.centre, inputs)
    }

    /// The columns that it reads.
    pub(crate) fn schema(&self, place: usize, schema: Schema) -> Schema {
        let schema = schema.matrix(&basis_column(place), self.basis.width());
        match self.levels {
            0 => schema,
            levels => schema.index(&level_column(place), levels),
        }
    }

    /// Scale, lengthscales and weights.
    pub(crate) fn sites<'g>(&self, m: &Tracer<'g>, head: &str) -> SmoothSites<'g> {
        let law = std::slice::from_ref(&self.scale);
        let scale = sample(m, &self.scale_site(head), law, &[]);
        let name = self.lengthscale_site(head);
        let lengthscales = match self.lengthscales.len() {
            1 => sample(m, &name, &self.lengthscales, &[]),
            _ => sample_runs(m, &name, &self.lengthscales, None),
        };
        let width = self.basis.width();
        let shape = match self.levels {
            0 => Shape::new(&[width]),
            levels => Shape::new(&[levels, width]),
        };
        let amplitudes = self.basis.log_amplitudes(scale, lengthscales);
        let [factor, spread] = self.centring.logs(amplitudes).map(Expr::exp);
        let weight = m.sample(
            &self.weight_site(head),
            Normal::new(0.0, spread).expand(shape),
        );
        SmoothSites {
            coefficient: weight * factor,
        }
    }

    /// What it adds in each row.
    pub(crate) fn effect<'g>(
        &self,
        row: &Row<'_, 'g>,
        place: usize,
        sites: &SmoothSites<'g>,
    ) -> Expr<'g> {
        let features = row.matrix(&basis_column(place));
        if self.levels == 0 {
            return features.dot(sites.coefficient);
        }
        let own = sites.coefficient.at(row.index(&level_column(place)));
        (features * own).sum_axis(1)
    }

    /// The basis in words, for lengthscales as the user measures them.
    pub(crate) fn words(&self) -> String {
        let kernel = self.basis.kernel();
        let ranges = self.basis.axes().iter().map(|axis| {
            let [least, most] = axis.covered(kernel).map(|one| one * axis.unit);
            match axis.boundary {
                Some(_) => format!("{} to {}", short(least), short(most)),
                None => format!("{} on", short(least)),
            }
        });
        let ranges: Vec<String> = ranges.collect();
        format!(
            "{} functions, for lengthscales from {}",
            self.basis.width(),
            ranges.join(" and ")
        )
    }
}
