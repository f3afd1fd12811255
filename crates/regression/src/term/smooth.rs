//! Gaussian-process terms in the model: sizes and priors, sites, and contributions to rows.

use lehr_formula::{ColumnExpr, Intercept, KernelName};
use lehr_graph::{Expr, Shape};
use lehr_learn::{Dependence, LearnError, Smooth, Source};
use lehr_model::distribution::{Distribution, Normal};
use lehr_model::gp::{BasisAxis, GpBasis, Kernel};
use lehr_model::{Row, Schema, Tracer};
use serde::{Deserialize, Serialize};

use super::centring::{PartialCentring, row_information};
use crate::column_name::{basis_column, level_column};
use crate::law::{Domain, Kind, Law, sample, short};
use crate::law_site::sample_runs;
use crate::prior::Parameter;
use crate::prior_book::PriorBook;

/// The lower ends of the default prior's 95 % range of lengthscales, in half ranges for one and two
/// columns, and in half periods for a periodic kernel.
const USUAL: [f64; 3] = [0.2, 0.4, 0.1];
/// Functions with longer lengthscales, in half ranges, are all nearly linear.
const LONGEST: f64 = 3.0;
/// The 97.5 % quantile of the standard normal.
const TAIL: f64 = 1.959_963_984_540_054;

/// A smooth function of the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SmoothPlan {
    pub(crate) label: String,
    pub(crate) basis: GpBasis,
    /// How many levels have their own function; 0 for one function.
    pub(crate) levels: usize,
    pub(crate) scale: Law,
    /// In half ranges of the columns.
    pub(crate) lengthscales: Vec<Law>,
    pub(crate) centring: PartialCentring,
    /// The constant subtracted from each basis function: its mean over fitted rows if there is an
    /// intercept. Otherwise intercept and function could hardly be distinguished.
    centre: Vec<f64>,
}

/// The model's columns of a smooth function.
pub(crate) struct SmoothColumns {
    /// The basis functions, row-major.
    pub(crate) features: Vec<f64>,
    /// The level of each row, if each level has its own function.
    pub(crate) levels: Option<Vec<u32>>,
    /// Rows outside the fitted range.
    pub(crate) outside: usize,
}

/// The sites of a smooth function in one run of the model.
pub(crate) struct SmoothSites<'g> {
    /// `[k]`, or `[levels, k]`: the coefficients of the basis functions.
    coefficient: Expr<'g>,
}

/// The mean of each column of a row-major matrix.
pub(crate) fn column_means(values: &[f64], width: usize) -> Vec<f64> {
    let mut means = vec![0.0; width];
    let rows = (values.len() / width).max(1) as f64;
    for row in values.chunks_exact(width) {
        for (mean, value) in means.iter_mut().zip(row) {
            *mean += value / rows;
        }
    }
    means
}

/// Log-normal with 2.5 % on either side of the default range.
fn default_lengthscale(smooth: &Smooth, unit: f64) -> Law {
    let least = match (smooth.period, smooth.inputs.len()) {
        (Some(_), _) => USUAL[2],
        (None, columns) => USUAL[columns - 1],
    };
    let location = unit.ln() + 0.5 * least.ln();
    Law::new(Kind::LogNormal, &[location, -0.5 * least.ln() / TAIL])
}

/// The basis for the range of lengthscales under their priors, here in units.
fn basis_for(smooth: &Smooth, laws: &[Law]) -> Result<GpBasis, LearnError> {
    let kernel = kernel_of(smooth.kernel);
    let axis = |(law, range): (&Law, &[f64; 2])| {
        let [least, most] = law.quantiles([0.025, 0.975]);
        match smooth.period {
            Some(period) => BasisAxis::on_circle(kernel, period, least),
            None => BasisAxis::on_interval(kernel, *range, [least, most.min(LONGEST)]),
        }
    };
    let mut axes: Vec<BasisAxis> = laws.iter().zip(&smooth.ranges).map(axis).collect();
    if let Some(k) = smooth.k {
        resize(&mut axes, k);
    }
    let basis = GpBasis::new(kernel, axes);
    smooth.check_width(basis.width())?;
    Ok(basis)
}

/// The covariance function with this name.
pub(crate) fn kernel_of(name: KernelName) -> Kernel {
    match name {
        KernelName::Rbf => Kernel::Rbf,
        KernelName::Matern32 => Kernel::Matern32,
        KernelName::Matern52 => Kernel::Matern52,
    }
}

/// Sets the total number of functions, divided among the axes in proportion to their needs.
fn resize(axes: &mut [BasisAxis], k: usize) {
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

/// The basis functions less a constant each, row-major.
fn centred(basis: &GpBasis, centre: &[f64], inputs: &[Vec<f64>]) -> Vec<f64> {
    let mut features = basis.features(inputs);
    for row in features.chunks_exact_mut(basis.width()) {
        for (value, centre) in row.iter_mut().zip(centre) {
            *value -= centre;
        }
    }
    features
}

/// The parameters of Gaussian-process terms that can have priors.
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

/// The Gaussian-process terms with the user's priors or the default ones.
pub(crate) fn smooth_plans(book: &mut PriorBook<'_>) -> Result<Vec<SmoothPlan>, LearnError> {
    let (unit, smooths) = (book.unit(), &book.facts.smooths);
    let rows = book.facts.n_rows as f64 * row_information(book.family.link());
    let mut plans = Vec::with_capacity(smooths.len());
    for smooth in smooths {
        let own = unit / smooth.multiplier_scale();
        let default = Law::new(Kind::HalfNormal, &[own]);
        let scale = book.choose(&[smooth.scale_name()], &default, own);
        let mut lengthscales = Vec::new();
        for (names, unit) in smooth.lengthscale_names().iter().zip(smooth.units()) {
            let default = default_lengthscale(smooth, unit);
            lengthscales.push(book.choose(names, &default, unit));
        }
        let basis = basis_for(smooth, &lengthscales)?;
        let levels = smooth.levels().len();
        let centre = match book.terms.intercept {
            Intercept::Present if smooth.is_plain() => {
                column_means(&basis.features(&smooth.places), basis.width())
            }
            _ => vec![0.0; basis.width()],
        };
        let features = centred(&basis, &centre, &smooth.places);
        let own = rows / (levels.max(1) * smooth.places[0].len()) as f64;
        let median = |law: &Law| law.quantiles([0.5])[0];
        let medians: Vec<f64> = lengthscales.iter().map(median).collect();
        plans.push(SmoothPlan {
            label: smooth.label.clone(),
            centring: PartialCentring::new(&basis, &features, own, &medians),
            centre,
            basis,
            levels,
            scale,
            lengthscales,
        });
    }
    Ok(plans)
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

    /// The basis functions at these places, which the weights multiply, row-major.
    pub(crate) fn features(&self, inputs: &[Vec<f64>]) -> Vec<f64> {
        centred(&self.basis, &self.centre, inputs)
    }

    /// The model's columns for rows of a table. Refuses rows outside the domain of the function.
    pub(crate) fn columns(
        &self,
        smooth: &Smooth,
        source: &Source<'_>,
    ) -> Result<SmoothColumns, LearnError> {
        let inputs = source.evaluate_all(&smooth.inputs)?;
        let outside = self.outside(smooth, &inputs, source)?;
        let mut features = self.features(&inputs);
        let mut levels = None;
        match &smooth.by {
            Dependence::Nothing => {}
            Dependence::Multiplied { column, scale } => {
                let values = source.evaluate(&ColumnExpr::Column(column.clone()))?;
                let rows = features.chunks_exact_mut(self.basis.width());
                for (row, value) in rows.zip(&values) {
                    for one in row {
                        *one *= value / scale;
                    }
                }
            }
            Dependence::PerLevel(basis) => {
                levels = Some(basis.factors[0].level_codes(&|name| source.read(name))?);
            }
        }
        Ok(SmoothColumns {
            features,
            levels,
            outside,
        })
    }

    /// The number of rows outside the fitted range. Refuses rows beyond the boundary of the basis.
    fn outside(
        &self,
        smooth: &Smooth,
        inputs: &[Vec<f64>],
        source: &Source<'_>,
    ) -> Result<usize, LearnError> {
        let mut outside = vec![false; source.n_rows()];
        for ((axis, values), input) in self.basis.axes().iter().zip(inputs).zip(&smooth.inputs) {
            let Some(boundary) = axis.boundary else {
                continue;
            };
            let reach = boundary * axis.unit;
            for (row, value) in values.iter().enumerate() {
                let at = axis.place_on_axis(*value).abs();
                if at > boundary {
                    let row = source.first + row + 1;
                    let (low, high) = (axis.centre - reach, axis.centre + reach);
                    return Err(beyond(&smooth.label, input, row, *value, [low, high]));
                }
                // The ends of the range may differ from 1 by rounding.
                outside[row] |= at > 1.0 + 1e-9;
            }
        }
        Ok(outside.iter().filter(|is_outside| **is_outside).count())
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

    /// Its contribution to each row.
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

    /// A description of the basis, with lengthscales in the user's units.
    pub(crate) fn words(&self) -> String {
        let kernel = self.basis.kernel();
        let ranges = self.basis.axes().iter().map(|axis| {
            let [least, most] = axis.covered_interval(kernel).map(|one| one * axis.unit);
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

fn beyond(
    label: &str,
    input: &ColumnExpr,
    row: usize,
    value: f64,
    [low, high]: [f64; 2],
) -> LearnError {
    LearnError::column(
        format!("{label}, row {row}"),
        format!("{input} from {} to {}", short(low), short(high)),
        value.to_string(),
        "so far from the fitted rows the function is not known: leave such rows out, or fit with rows of \
            that kind",
    )
}
