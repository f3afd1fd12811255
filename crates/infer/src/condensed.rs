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
use lehr_density::rows_here;
use lehr_density::{
    Column, ColumnKind, Columns, Density, GaussianRows, Layout, LinearRows, Point, Predictors,
    Query, ResponseKind, Role, RowData, RowSource, Rows, Stored, Values, probe_rows,
};
use lehr_graph::{Expr, Graph, Workspace};
use lehr_rows::RowPass;

use crate::guide::HALF_LN_TWO_PI;
use crate::question::Question;

/// With more latents the triangle is no smaller than most tables.
const MOST_LATENTS: usize = 512;
/// Rows that are reflected together.
pub(crate) const BLOCK: usize = 2048;

const COMBINATION: &str = "combination";
const RESPONSE: &str = "response";

/// A density with the same prior and the same total likelihood as another one, on few rows. Its
/// single rows have no meaning.
pub struct Condensed<'d> {
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

impl<'d> Condensed<'d> {
    /// The density on reduced rows, by one pass over its own; `None` if it cannot be reduced.
    pub fn of(density: &'d dyn Density) -> Option<Condensed<'d>> {
        let rows = density.gaussian().filter(|_| applies(density))?;
        let graph = Graph::new();
        let (at, some) = probe_rows(&graph, density);
        let shared = density.linear()?.predictors(&at, &some).shared;
        let sites = read_sites(
            density.latents(),
            &at,
            rows.gaussian_terms(&at, &some).predictor,
        );
        let triangle = match density.elsewhere() {
            Some(all) => Triangle::gathered(density, &sites, &all.each(Query::Triangle, &[])),
            None => Triangle::of(density),
        }?;
        Some(Condensed {
            density,
            rows,
            columns: columns(triangle.width),
            share: triangle.weight / (triangle.width + 1) as f64,
            data: triangle.into_data(),
            sites,
            shared,
        })
    }

    /// The reduced rows have bₙ = 0.
    fn predictor<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Expr<'g> {
        let own = |site: &usize| at.latents.slice(0, self.density.latents().range(*site));
        let read: Vec<Expr<'g>> = self.sites.iter().map(own).collect();
        let combination = rows.numbers(COMBINATION).expect("a condensed row");
        combination.dot(at.graph().concat(&read, 0))
    }
}

/// The triangle of a density's rows, row-major, and the sum of their weights: the statistics that
/// another process needs from local rows. Values that are not finite become NaN.
pub(crate) fn triangle(density: &dyn Density) -> Vec<Vec<f64>> {
    let found = density.gaussian().and_then(|_| Triangle::of(density));
    found.map_or_else(nothing, Triangle::into_parts)
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
struct Triangle {
    /// Columns of R.
    width: usize,
    values: Mat<f64>,
    weight: f64,
}

impl Triangle {
    /// The triangle of all partitions' triangles; `None` if a number is not finite.
    fn gathered(
        density: &dyn Density,
        sites: &[usize],
        parts: &[Vec<Vec<f64>>],
    ) -> Option<Triangle> {
        let width = (sites
            .iter()
            .map(|site| density.latents().range(*site).len()))
        .sum();
        let mut triangle = Triangle::empty(width);
        let size = width + 1;
        for part in parts {
            if part[0].len() != size * size || part.iter().flatten().any(|one| !one.is_finite()) {
                return None;
            }
            triangle.add(size, |i, j| part[0][i * size + j]);
            triangle.weight += part[1][0];
        }
        Some(triangle)
    }

    fn empty(width: usize) -> Triangle {
        Triangle {
            width,
            values: Mat::zeros(width + 1, width + 1),
            weight: 0.0,
        }
    }

    fn into_parts(self) -> Vec<Vec<f64>> {
        let size = self.width + 1;
        let entry = |k: usize| self.values[(k / size, k % size)];
        vec![(0..size * size).map(entry).collect(), vec![self.weight]]
    }

    /// The triangle of all rows; `None` if a number is not finite.
    fn of(density: &dyn Density) -> Option<Triangle> {
        let question = Question {
            query: Query::Triangle,
            density,
        };
        let (lanes, sizes) = (question.lanes(), question.arguments());
        let mut pass = RowPass::in_blocks(
            rows_here(density),
            (lanes, BLOCK),
            &sizes,
            |inputs, rows| question.write(inputs, rows),
        );
        let mut reflection = Reflection::new(density);
        let arguments = reflection.arguments();
        pass.each(&[&arguments[0], &arguments[1]], |block, found| {
            reflection.add(block.len(), found);
            None::<()>
        });
        reflection.finite()
    }

    /// Reflects more rows into the triangle.
    fn add(&mut self, length: usize, entry: impl Fn(usize, usize) -> f64) {
        let size = self.width + 1;
        let stacked = Mat::from_fn(size + length, size, |i, j| {
            if i < size {
                self.values[(i, j)]
            } else {
                entry(i - size, j)
            }
        });
        let reflected = stacked.qr();
        let upper: MatRef<'_, f64> = reflected.thin_R();
        let above = |i: usize, j: usize| if i <= j { upper[(i, j)] } else { 0.0 };
        self.values = Mat::from_fn(size, size, above);
    }

    fn into_data(self) -> RowData {
        let Triangle { width, values, .. } = self;
        let rows = width + 1;
        let entry = |k: usize| values[(k / width, k % width)];
        let combination: Vec<f64> = (0..rows * width).map(entry).collect();
        let response: Vec<f64> = (0..rows).map(|i| values[(i, width)]).collect();
        let numbers = |width, values: Vec<f64>| Values::Numbers {
            width,
            values: values.into(),
        };
        RowData::new(
            rows,
            vec![numbers(width, combination), numbers(1, response)],
        )
    }
}

/// A triangle while rows are added to it.
pub(crate) struct Reflection {
    latents: usize,
    /// The latents on which the predictor depends, by their places in z.
    places: Vec<usize>,
    triangle: Triangle,
}

impl Reflection {
    /// The reduction before any row, for a density with Gaussian rows.
    pub(crate) fn new(density: &dyn Density) -> Reflection {
        let places = places(density);
        Reflection {
            latents: density.latents().size(),
            triangle: Triangle::empty(places.len()),
            places,
        }
    }

    /// The expansion point of the predictor, and the directions.
    pub(crate) fn arguments(&self) -> [Vec<f64>; 2] {
        let size = self.latents;
        let mut directions = vec![0.0; self.places.len() * size];
        for (lane, place) in self.places.iter().enumerate() {
            directions[lane * size + place] = 1.0;
        }
        [vec![0.0; size], directions]
    }

    /// Reflects `length` rows, for which [`row_terms`] were computed.
    pub(crate) fn add(&mut self, length: usize, found: &Workspace) {
        let (slopes, left) = (found.output(0), found.output(1));
        let width = self.places.len();
        let weights = found.output(2).iter().cycle().take(length);
        self.triangle.weight += weights.sum::<f64>();
        self.triangle.add(length, |n, j| match j {
            j if j < width => slopes[j * length + n],
            _ => left[n],
        });
    }

    fn finite(self) -> Option<Triangle> {
        let Triangle { values, weight, .. } = &self.triangle;
        let finite = values.as_ref().is_all_finite() && weight.is_finite();
        finite.then_some(self.triangle)
    }

    /// The triangle, row-major, and the sum of the weights. Values that are not finite become NaN.
    pub(crate) fn into_parts(self) -> Vec<Vec<f64>> {
        self.finite().map_or_else(nothing, Triangle::into_parts)
    }
}

fn nothing() -> Vec<Vec<f64>> {
    vec![vec![f64::NAN]; 2]
}

/// The latents on which Gaussian rows depend through their predictor, by their places in z; empty
/// for other rows.
fn places(density: &dyn Density) -> Vec<usize> {
    let Some(rows) = density.gaussian() else {
        return Vec::new();
    };
    let graph = Graph::new();
    let (at, some) = probe_rows(&graph, density);
    let latents = density.latents();
    let sites = read_sites(latents, &at, rows.gaussian_terms(&at, &some).predictor);
    sites.iter().flat_map(|site| latents.range(*site)).collect()
}

/// Columns of the triangle, without the last.
pub(crate) fn width(density: &dyn Density) -> usize {
    places(density).len()
}

/// √wₙ aₙ along one direction per lane, √wₙ (yₙ − bₙ), and wₙ.
pub(crate) fn row_terms<'g>(
    own: &dyn GaussianRows,
    inputs: &[Expr<'g>],
    rows: &Rows<'g>,
) -> Vec<Expr<'g>> {
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

impl Density for Condensed<'_> {
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

    fn origin(&self) -> Option<Stored> {
        self.density.origin()
    }

    fn linear(&self) -> Option<&dyn LinearRows> {
        Some(self)
    }
}

impl LinearRows for Condensed<'_> {
    fn predictors<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Predictors<'g> {
        Predictors {
            rows: vec![self.predictor(at, rows)],
            shared: self.shared.clone(),
        }
    }
}
