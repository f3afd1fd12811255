//! Surrogate rows from k-means centroids, which contain no row of the table.

use lehr_density::{Column, ColumnKind, Density, Role, RowSet, Values};
use lehr_numeric::kmeans::{Clusters, SignedPoints};
use lehr_numeric::stream::Stream;

use super::covariate::Covariates;
use super::kind::SurrogateRequest;
use super::row_surrogate::random_rows;
use super::{FixedRows, SurrogateKind};
use crate::error::SurrogateError;

/// The centroids of the table's covariates as rows.
///
/// A table with more rows than the limit is represented by that many random ones.
pub(crate) fn centroids(order: &SurrogateRequest<'_>) -> Result<FixedRows, SurrogateError> {
    let (density, settings, seed) = (order.density, order.settings, order.setup.seed);
    let covariates = numeric_covariates(density, settings.kind)?;
    let most = settings.clustered_rows.max(settings.rows);
    let n_rows = density.n_rows();
    let matrix = if n_rows <= most {
        covariates.read(density.source(), &RowSet::Range(0..n_rows))
    } else {
        // A different seed from that of a surrogate's own rows, so that the two do not coincide.
        let seed = Stream::new(seed, "clustered rows", 0).below(u64::MAX);
        let rows = random_rows(density, most, seed);
        covariates.read(density.source(), &RowSet::List(&rows))
    };
    let points = SignedPoints::new(&matrix, covariates.width())?;
    let clusters = Clusters::new(points, settings.rows, seed)?;
    Ok(rows_of(density, &covariates, &clusters.centroids))
}

/// The covariates, if there are any and all of them are numbers.
fn numeric_covariates(
    density: &dyn Density,
    kind: SurrogateKind,
) -> Result<Covariates, SurrogateError> {
    let is_index = |column: &&Column| matches!(column.kind, ColumnKind::Index { .. });
    if let Some(column) = density.columns().iter().find(is_index) {
        let column = &column.name;
        return Err(SurrogateError::refusal(format!(
            "{kind} takes means of covariates, but the model reads {column:?} as an index\n  \
             hint: rand± keeps rows as they are"
        )));
    }
    Covariates::of(density.columns()).filled(kind)
}

/// Rows with these covariates; each has the weight of an average row of the table.
fn rows_of(density: &dyn Density, covariates: &Covariates, centroids: &[f64]) -> FixedRows {
    let stride = covariates.width();
    let length = centroids.len() / stride;
    let mut values: Vec<Values> = (density.columns().iter().enumerate())
        .map(|(place, column)| {
            let width = column.kind.width();
            let fill = match column.role {
                Role::Weight => mean(density, place),
                _ => 0.0,
            };
            let values = vec![fill; length * width].into();
            Values::Numbers { width, values }
        })
        .collect();
    for (place, range) in covariates.ranges() {
        let rows = centroids.chunks_exact(stride);
        values[place] = Values::Numbers {
            width: range.len(),
            values: rows.flat_map(|row| &row[range.clone()]).copied().collect(),
        };
    }
    FixedRows::from_values(density, length, values)
}

fn mean(density: &dyn Density, place: usize) -> f64 {
    let n_rows = density.n_rows();
    let mut values = vec![0.0; n_rows];
    let all = RowSet::Range(0..n_rows);
    density.source().copy_numbers(place, &all, &mut values);
    lehr_numeric::summary::mean(&values)
}
