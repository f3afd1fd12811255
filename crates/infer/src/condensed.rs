//! Gaussian rows reduced by QR to about as many rows as there are latents: sufficient statistics of
//! all rows.  If log p(yₙ | z) = wₙ log N(yₙ; aₙ·z + bₙ, σ²), Householder reflections reduce the
//! matrix with the rows √wₙ (aₙ, yₙ − bₙ) to a triangle R with columns of the same lengths, so that
//!
//! ```text
//! Σ wₙ (yₙ − aₙ·z − bₙ)² = |r − R z|²        Σ wₙ log N = −½|r − R z|²/σ² − Σwₙ (ln σ + ½ ln 2π)
//! ```
//!  and the rows (R, r), with an equal share of the last term each, form a table. Cross-products
//!  AᵀA contain the same information, but squaring loses half of the digits of columns that are far
//!  from 0 or nearly collinear; reflections lose none, and need no centring.

use faer::{Mat, MatRef};
use lehr_density::job::all_rows;
use lehr_density::{
    Column, ColumnKind, Columns, Density, GaussianRows, Layout, LinearRows, Point, Predictors,
    ResponseKind, Role, RowData, RowSource, Rows, StoredForm, Values, probe_rows,
};
use lehr_graph::{Expr, Graph};
use lehr_rows::{Argument, Cut, RowBlock, RowJob, RowProgram, RowsError, fold};
use serde::{Deserialize, Serialize};

use crate::guide::HALF_LN_TWO_PI;

/// With more latents the triangle is no smaller than most tables.
const MOST_LATENTS: usize = 512;
/// Rows that are reflected together.
const BLOCK: usize = 2048;

const COMBINATION: &str = "combination";
const RESPONSE: &str = "response";

/// A density with the same prior and the same total likelihood as another one, on few rows. Its
/// single rows have no meaning.
pub struct ReducedDensity<'d> {
    density: &'d dyn Density,
    rows: &'d dyn GaussianRows,
    columns: Columns,
    data: RowData,
    /// The sites that the predictor reads.
    sites: Vec<usize>,
    /// The places of z on which the scale depends.
    shared: Vec<usize>,
    /// The share of a row in Σ wₙ.
    share: f64,
}

/// Whether a density can be reduced.
pub fn applies(density: &dyn Density) -> bool {
    density.gaussian().is_some() && density.latents().size() <= MOST_LATENTS
}

impl<'d> ReducedDensity<'d> {
    /// The density on reduced rows, by one pass over its own; `None` if it cannot be reduced.
    ///
    /// # Errors
    /// If rows cannot be reached.
    pub fn of(density: &'d dyn Density) -> Result<Option<ReducedDensity<'d>>, RowsError> {
        let (Some(rows), Some(linear)) = (density.gaussian(), density.linear()) else {
            return Ok(None);
        };
        if !applies(density) {
            return Ok(None);
        }
        let job = QrReduction::new(density, rows);
        let factor = fold(&*all_rows(density), &job)?;
        if !factor.is_finite() {
            return Ok(None);
        }
        let graph = Graph::new();
        let (at, some) = probe_rows(&graph, density);
        Ok(Some(ReducedDensity {
            density,
            rows,
            columns: columns(factor.width),
            share: factor.weight / (factor.width + 1) as f64,
            data: factor.into_data(),
            sites: job.sites,
            shared: linear.predictors(&at, &some).shared,
        }))
    }

    /// The reduced rows have bₙ = 0.
    fn predictor<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Expr<'g> {
        let own = |site: &usize| at.latents.slice(0, self.density.latents().range(*site));
        let read: Vec<Expr<'g>> = self.sites.iter().map(own).collect();
        let combination = rows.numbers(COMBINATION).expect("a condensed row");
        combination.dot(at.graph().concat(&read, 0))
    }
}

/// The sites that an affine function of z depends on.
fn read_sites(latents: &Layout, at: &Point<'_>, predictor: Expr<'_>) -> Vec<usize> {
    let graph = at.graph();
    let reads = |site: &usize| {
        let range = latents.range(*site);
        let zeros = |length: usize| graph.full([length], 0.0);
        let moved = graph.input("moved", [range.len()]);
        let parts = [zeros(range.start), moved, zeros(latents.size() - range.end)];
        let slope = graph.jvp(&[predictor], &[at.latents], &[graph.concat(&parts, 0)])[0];
        slope.as_number() != Some(0.0)
    };
    (0..latents.sites().len()).filter(reads).collect()
}

fn columns(width: usize) -> Columns {
    let column = |name: &str, kind, role| Column {
        name: name.into(),
        kind,
        role,
    };
    let kind = ResponseKind::Real;
    Columns(vec![
        column(
            COMBINATION,
            ColumnKind::Number { width: Some(width) },
            Role::Covariate,
        ),
        column(
            RESPONSE,
            ColumnKind::Number { width: None },
            Role::Response { kind },
        ),
    ])
}

/// (R, r), and Σ wₙ.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct QrFactor {
    /// Columns of R.
    width: usize,
    /// Row after row.
    values: Vec<f64>,
    weight: f64,
}

impl QrFactor {
    fn empty(width: usize) -> QrFactor {
        QrFactor {
            width,
            values: vec![0.0; (width + 1) * (width + 1)],
            weight: 0.0,
        }
    }

    /// Reflects more rows into the triangle.
    fn add(&mut self, length: usize, entry: impl Fn(usize, usize) -> f64) {
        let size = self.width + 1;
        let stacked = Mat::from_fn(size + length, size, |i, j| {
            if i < size {
                self.values[i * size + j]
            } else {
                entry(i - size, j)
            }
        });
        let reflected = stacked.qr();
        let upper: MatRef<'_, f64> = reflected.thin_R();
        let above = |k: usize| {
            let (i, j) = (k / size, k % size);
            if i <= j { upper[(i, j)] } else { 0.0 }
        };
        self.values = (0..size * size).map(above).collect();
    }

    fn is_finite(&self) -> bool {
        self.weight.is_finite() && self.values.iter().all(|one| one.is_finite())
    }

    fn into_data(self) -> RowData {
        let QrFactor { width, values, .. } = self;
        let rows = values.chunks_exact(width + 1);
        let combination: Vec<f64> = rows
            .clone()
            .flat_map(|row| &row[..width])
            .copied()
            .collect();
        let response: Vec<f64> = rows.map(|row| row[width]).collect();
        let numbers = |width, values: Vec<f64>| Values::Numbers {
            width,
            values: values.into(),
        };
        RowData::new(
            width + 1,
            vec![numbers(width, combination), numbers(1, response)],
        )
    }
}

/// The QR reduction of the Gaussian rows of a density.
pub(crate) struct QrReduction<'d> {
    density: &'d dyn Density,
    rows: &'d dyn GaussianRows,
    /// The sites that the predictor reads.
    sites: Vec<usize>,
    /// How many latents those have.
    width: usize,
    /// Where the predictor is expanded.
    origin: Vec<f64>,
    /// The directions of those latents, one per lane.
    directions: Vec<f64>,
}

impl<'d> QrReduction<'d> {
    pub(crate) fn new(density: &'d dyn Density, rows: &'d dyn GaussianRows) -> Self {
        let (latents, graph) = (density.latents(), Graph::new());
        let (at, some) = probe_rows(&graph, density);
        let sites = read_sites(latents, &at, rows.gaussian_terms(&at, &some).predictor);
        let places = sites.iter().flat_map(|site| latents.range(*site));
        let unit = |place: usize| (0..latents.size()).map(move |k| f64::from(u8::from(k == place)));
        QrReduction {
            density,
            rows,
            width: places.clone().count(),
            origin: vec![0.0; latents.size()],
            directions: places.flat_map(unit).collect(),
            sites,
        }
    }

    /// The job for this model.
    ///
    /// # Errors
    /// If its rows are not Gaussian.
    pub(crate) fn read(density: &'d dyn Density) -> Result<Self, RowsError> {
        let rows = density.gaussian().ok_or_else(|| {
            RowsError::Lost(
                "rows: expected a model of Gaussian rows, found another\n  hint: give workers the model of the fit"
                    .into(),
            )
        })?;
        Ok(QrReduction::new(density, rows))
    }
}

impl RowJob for QrReduction<'_> {
    const NAME: &'static str = "QR factor";

    type Partial = QrFactor;
    type Machine = RowProgram;

    fn cut(&self) -> Cut {
        Cut::AtMost(BLOCK)
    }

    fn machine(&self, rows: usize) -> RowProgram {
        let size = self.origin.len();
        let sizes = [Argument::Shared(size), Argument::PerLane(size)];
        let shape = (self.width, rows);
        RowProgram::new(self.density.columns(), shape, &sizes, &|inputs, rows| {
            row_terms(self.rows, inputs, rows)
        })
    }

    fn empty(&self) -> QrFactor {
        QrFactor::empty(self.width)
    }

    fn add_block(&self, machine: &mut RowProgram, block: &RowBlock<'_>, into: &mut QrFactor) {
        block.place(machine);
        let found = machine.run(&[&self.origin, &self.directions]);
        let (slopes, left) = (found.output(0), found.output(1));
        let (width, length) = (self.width, block.len());
        let weights = found.output(2).iter().cycle().take(length);
        into.weight += weights.sum::<f64>();
        into.add(length, |n, j| match j {
            j if j < width => slopes[j * length + n],
            _ => left[n],
        });
    }

    /// Triangles are not added but reflected into one another.
    fn merge(&self, into: &mut QrFactor, next: QrFactor) {
        let size = into.width + 1;
        if next.width == into.width {
            into.add(size, |i, j| next.values[i * size + j]);
            into.weight += next.weight;
        } else {
            into.weight = f64::NAN;
        }
    }

    fn message(&self) -> Vec<u8> {
        Vec::new()
    }
}

/// √wₙ aₙ along one direction per lane, √wₙ (yₙ − bₙ), and wₙ.
fn row_terms<'g>(own: &dyn GaussianRows, inputs: &[Expr<'g>], rows: &Rows<'g>) -> Vec<Expr<'g>> {
    let graph = inputs[0].graph();
    let at = Point::new(inputs[0], graph.full([0], 0.0));
    let terms = own.gaussian_terms(&at, rows);
    let slope = graph.jvp(&[terms.predictor], &[at.latents], &[inputs[1]])[0];
    let left = terms.response - terms.predictor;
    match terms.weight {
        Some(weight) => {
            let root = weight.sqrt();
            vec![slope * root, left * root, weight]
        }
        None => vec![slope, left, graph.full([1], 1.0)],
    }
}

impl Density for ReducedDensity<'_> {
    fn latents(&self) -> &Layout {
        self.density.latents()
    }

    fn params(&self) -> &Layout {
        self.density.params()
    }

    fn columns(&self) -> &Columns {
        &self.columns
    }

    fn source(&self) -> &dyn RowSource {
        &self.data
    }

    fn log_prior<'g>(&self, at: &Point<'g>) -> Expr<'g> {
        self.density.log_prior(at)
    }

    fn log_likelihood<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Expr<'g> {
        let scale = self.rows.noise_scale(at);
        let response = rows.numbers(RESPONSE).expect("a condensed row");
        let off = (response - self.predictor(at, rows)) * scale.recip();
        off.square() * -0.5 - (scale.ln() + HALF_LN_TWO_PI) * self.share
    }

    fn origin(&self) -> Option<StoredForm> {
        self.density.origin()
    }

    fn linear(&self) -> Option<&dyn LinearRows> {
        Some(self)
    }
}

impl LinearRows for ReducedDensity<'_> {
    fn predictors<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Predictors<'g> {
        Predictors {
            rows: vec![self.predictor(at, rows)],
            shared: self.shared.clone(),
        }
    }
}
