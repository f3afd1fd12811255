//! Weighted subsets of rows for logistic regression (Huggins, Campbell & Broderick 2016).

use lehr_numeric::kmeans::{ClusterError, Clusters, SignedPoints};
use lehr_numeric::stream::Stream;

use crate::error::CoresetError;

/// How to build a coreset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoresetSettings {
    /// Draws; repeated rows are merged, so slightly fewer rows result.
    pub size: usize,
    /// Clusters of the rows.
    pub clusters: usize,
    /// Radius of the ball of coefficients in which rows are compared, the paper's R.
    pub radius: f64,
    /// Names the random streams.
    pub seed: u64,
}

impl CoresetSettings {
    /// Six clusters and radius six, as Jankowiak & Phan (2022) use.
    pub fn new(size: usize, seed: u64) -> Self {
        Self {
            size,
            clusters: 6,
            radius: 6.0,
            seed,
        }
    }
}

/// Rows with weights whose weighted log likelihood estimates that of all rows without bias.
#[derive(Clone, Debug, PartialEq)]
pub struct Coreset {
    /// Distinct rows, increasing.
    pub rows: Vec<u32>,
    /// count/(size·p) of every row.
    pub weights: Vec<f64>,
}

impl Coreset {
    /// The coreset of a logistic regression: rows of covariates and their binary labels.
    ///
    /// Rows are drawn with replacement by [`probabilities`], repeats merged.
    pub fn logistic(
        covariates: &[f64],
        columns: usize,
        labels: &[bool],
        settings: CoresetSettings,
    ) -> Result<Self, CoresetError> {
        let probabilities = probabilities(covariates, columns, labels, settings)?;
        Ok(Self::draw(&probabilities, settings))
    }

    /// Multinomial draws by sorted uniforms in one walk over the rows.
    fn draw(probabilities: &[f64], settings: CoresetSettings) -> Self {
        let mut uniforms = vec![0.0; settings.size];
        Stream::new(settings.seed, "coreset", 0).fill_uniform(&mut uniforms);
        uniforms.sort_unstable_by(f64::total_cmp);
        let mut coreset = Self {
            rows: Vec::new(),
            weights: Vec::new(),
        };
        let (mut reached, mut drawn) = (0.0, 0);
        for (row, &probability) in probabilities.iter().enumerate() {
            reached += probability;
            let last = row + 1 == probabilities.len();
            let before = drawn;
            // Rounding may leave the sum of probabilities below the last uniform.
            while drawn < settings.size && (uniforms[drawn] < reached || last) {
                drawn += 1;
            }
            if drawn > before {
                coreset.rows.push(row as u32);
                let count = (drawn - before) as f64;
                coreset
                    .weights
                    .push(count / (settings.size as f64 * probability));
            }
        }
        coreset
    }
}

/// Probability of every row: proportional to 1/(1 + Σᵢ |Gᵢ⁽⁻ⁿ⁾| exp(−R‖mean(Gᵢ⁽⁻ⁿ⁾) − zₙ‖)) with z
/// = y·x for labels y = ±1, G the clusters of z, and ⁽⁻ⁿ⁾ leaving row n out of its own cluster
/// (Huggins et al. 2016, theorem 3.1).  A table with fewer distinct rows than clusters gets one
/// cluster for each.
pub fn probabilities(
    covariates: &[f64],
    columns: usize,
    labels: &[bool],
    settings: CoresetSettings,
) -> Result<Vec<f64>, CoresetError> {
    let points = SignedPoints::new(covariates, columns)?.with_signs(labels)?;
    let (rows, size, radius) = (points.count(), settings.size, settings.radius);
    if rows == 0 || size == 0 {
        return Err(CoresetError::Empty { rows, size });
    }
    if !(radius > 0.0 && radius.is_finite()) {
        return Err(CoresetError::Radius { radius });
    }
    let clusters = match Clusters::new(points, settings.clusters, settings.seed) {
        Err(ClusterError::Clusters { distinct, .. }) if settings.clusters > distinct => {
            Clusters::new(points, distinct, settings.seed)?
        }
        other => other?,
    };
    let mut own = vec![0.0; columns];
    let mut importance: Vec<f64> = (0..rows)
        .map(|row| 1.0 / (1.0 + crowd(points, &clusters, row, radius, &mut own)))
        .collect();
    let total: f64 = importance.iter().sum();
    for share in &mut importance {
        *share /= total;
    }
    Ok(importance)
}

/// Σᵢ |Gᵢ⁽⁻ⁿ⁾| exp(−R‖mean(Gᵢ⁽⁻ⁿ⁾) − zₙ‖): the number of similar rows.
fn crowd(
    points: SignedPoints<'_>,
    clusters: &Clusters,
    row: usize,
    radius: f64,
    own: &mut [f64],
) -> f64 {
    let mut crowd = 0.0;
    for (cluster, centroid) in clusters.centroids.chunks(points.columns()).enumerate() {
        let size = clusters.sizes[cluster] as f64;
        if clusters.assignment[row] as usize != cluster {
            crowd += size * (-radius * points.distance(row, centroid).sqrt()).exp();
        } else if size > 1.0 {
            own.copy_from_slice(centroid);
            for x in &mut *own {
                *x *= size / (size - 1.0);
            }
            points.add(row, -1.0 / (size - 1.0), own);
            crowd += (size - 1.0) * (-radius * points.distance(row, own).sqrt()).exp();
        }
    }
    crowd
}

#[cfg(test)]
mod tests;
