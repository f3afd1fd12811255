//! Weighted subsets of rows for logistic regression (Huggins, Campbell & Broderick 2016).

use crate::kmeans::{ClusterError, Clusters, Points};
use crate::stream::Stream;

/// How to build a coreset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoresetSettings {
    /// Draws; repeated rows are merged, so slightly fewer rows come out.
    pub size: usize,
    /// Clusters of the rows.
    pub clusters: usize,
    /// Radius of the ball of coefficients in which rows are told apart, the paper's R.
    pub radius: f64,
    /// Names the random streams.
    pub seed: u64,
}

impl CoresetSettings {
    /// Six clusters and radius six (METHODS §3).
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
    /// Different rows, increasing.
    pub rows: Vec<u32>,
    /// count/(size·p) of every row.
    pub weights: Vec<f64>,
}

/// A coreset that cannot be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CoresetError {
    /// The rows cannot be clustered.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// Nothing to draw or to draw from.
    #[error(
        "coreset: expected at least one row and one draw, found {rows} rows and {size} draws\n  hint: 256 draws are usual"
    )]
    Empty {
        /// Rows of the table.
        rows: usize,
        /// Draws asked for.
        size: usize,
    },
    /// A radius that is not a positive number.
    #[error("coreset: expected a positive radius, found {radius}\n  hint: 6 is usual")]
    Radius {
        /// The radius.
        radius: f64,
    },
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
            // Rounding may leave the sum of probabilities short of the last uniform.
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

/// Probability of every row: proportional to
/// 1/(1 + Σᵢ |Gᵢ⁽⁻ⁿ⁾| exp(−R‖mean(Gᵢ⁽⁻ⁿ⁾) − zₙ‖)) with z = y·x for labels y = ±1, G the clusters
/// of z, and ⁽⁻ⁿ⁾ leaving row n out of its own cluster (Huggins et al. 2016, theorem 3.1).
///
/// A table with fewer different rows than clusters gets one cluster for each.
pub fn probabilities(
    covariates: &[f64],
    columns: usize,
    labels: &[bool],
    settings: CoresetSettings,
) -> Result<Vec<f64>, CoresetError> {
    let points = Points::new(covariates, columns)?.signed(labels)?;
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
        .map(|row| 1.0 / (1.0 + crowd(points, &clusters, row, (radius, &mut own))))
        .collect();
    let total: f64 = importance.iter().sum();
    for share in &mut importance {
        *share /= total;
    }
    Ok(importance)
}

/// Σᵢ |Gᵢ⁽⁻ⁿ⁾| exp(−R‖mean(Gᵢ⁽⁻ⁿ⁾) − zₙ‖): how many other rows are like this one.
fn crowd(
    points: Points<'_>,
    clusters: &Clusters,
    row: usize,
    (radius, own): (f64, &mut Vec<f64>),
) -> f64 {
    let mut crowd = 0.0;
    for (cluster, centroid) in clusters.centroids.chunks(points.columns()).enumerate() {
        let size = clusters.sizes[cluster] as f64;
        if clusters.assignment[row] as usize != cluster {
            crowd += size * (-radius * points.distance(row, centroid).sqrt()).exp();
        } else if size > 1.0 {
            own.copy_from_slice(centroid);
            for x in &mut **own {
                *x *= size / (size - 1.0);
            }
            points.add(row, -1.0 / (size - 1.0), own);
            crowd += (size - 1.0) * (-radius * points.distance(row, own).sqrt()).exp();
        }
    }
    crowd
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A logistic problem with an intercept and correlated, uneven columns.
    fn problem(rows: usize) -> (Vec<f64>, Vec<bool>) {
        let mut stream = Stream::new(8, "problem", 0);
        let mut noise = vec![0.0; rows * 3];
        stream.fill_normal(&mut noise);
        let covariates: Vec<f64> = noise
            .chunks(3)
            .flat_map(|e| [1.0, 0.3 * e[0], 0.2 * e[0] + 0.1 * e[1].powi(3)])
            .collect();
        let labels = covariates
            .chunks(3)
            .map(|x| stream.uniform() < 1.0 / (1.0 + (-1.0 - 3.0 * x[1]).exp()))
            .collect();
        (covariates, labels)
    }

    fn log_likelihood(covariates: &[f64], labels: &[bool], weight: [f64; 3]) -> Vec<f64> {
        let one = |(x, &label): (&[f64], &bool)| {
            let logit: f64 = x.iter().zip(weight).map(|(x, w)| x * w).sum();
            -(if label { -logit } else { logit }).exp().ln_1p()
        };
        covariates.chunks(3).zip(labels).map(one).collect()
    }

    #[test]
    fn probabilities_are_those_of_the_formula_written_out() {
        let (covariates, labels) = problem(60);
        let settings = CoresetSettings::new(20, 3);
        let found = probabilities(&covariates, 3, &labels, settings).unwrap();
        let z: Vec<Vec<f64>> = covariates
            .chunks(3)
            .zip(&labels)
            .map(|(x, &y)| x.iter().map(|x| if y { *x } else { -x }).collect())
            .collect();
        let points = Points::new(&covariates, 3)
            .unwrap()
            .signed(&labels)
            .unwrap();
        let clusters = Clusters::new(points, 6, 3).unwrap();
        let importance: Vec<f64> = (0..60)
            .map(|n| {
                let crowd: f64 = (0..6)
                    .map(|c| {
                        let members: Vec<&Vec<f64>> = (0..60)
                            .filter(|&m| m != n && clusters.assignment[m] == c)
                            .map(|m| &z[m])
                            .collect();
                        let size = members.len() as f64;
                        let mean = |d: usize| members.iter().map(|x| x[d]).sum::<f64>() / size;
                        let apart: f64 = (0..3).map(|d| (mean(d) - z[n][d]).powi(2)).sum();
                        if members.is_empty() {
                            0.0
                        } else {
                            size * (-6.0 * apart.sqrt()).exp()
                        }
                    })
                    .sum();
                1.0 / (1.0 + crowd)
            })
            .collect();
        let total: f64 = importance.iter().sum();
        for (found, expected) in found.iter().zip(&importance) {
            assert!(
                (found * total / expected - 1.0).abs() < 1e-9,
                "{found} {expected}"
            );
        }
    }

    #[test]
    fn weights_sum_to_the_rows_and_the_log_likelihood_is_unbiased() {
        let (covariates, labels) = problem(400);
        let shared = probabilities(&covariates, 3, &labels, CoresetSettings::new(50, 1)).unwrap();
        let terms = log_likelihood(&covariates, &labels, [1.0, 2.0, -1.0]);
        let repeats = 4000;
        for (terms, whole) in [
            (vec![1.0; 400], 400.0),
            (terms.clone(), terms.iter().sum::<f64>()),
        ] {
            let estimates: Vec<f64> = (0..repeats)
                .map(|seed| {
                    let coreset = Coreset::draw(&shared, CoresetSettings::new(50, seed));
                    let pairs = coreset.rows.iter().zip(&coreset.weights);
                    pairs
                        .map(|(&row, weight)| weight * terms[row as usize])
                        .sum()
                })
                .collect();
            let error = crate::summary::sd(&estimates) / (repeats as f64).sqrt();
            let mean = crate::summary::mean(&estimates);
            assert!(
                (mean - whole).abs() < 4.0 * error,
                "{mean} ± {error} for {whole}"
            );
            assert!(error < 0.02 * whole.abs());
        }
    }

    #[test]
    fn rows_come_once_and_in_order_and_repeat_with_the_seed() {
        let (covariates, labels) = problem(300);
        let build = |seed| {
            Coreset::logistic(&covariates, 3, &labels, CoresetSettings::new(128, seed)).unwrap()
        };
        let coreset = build(5);
        assert!(coreset.rows.is_sorted_by(|a, b| a < b));
        assert!(
            (80..=128).contains(&coreset.rows.len()),
            "{}",
            coreset.rows.len()
        );
        assert!(coreset.weights.iter().all(|w| *w > 0.0 && w.is_finite()));
        assert_eq!(coreset, build(5));
        assert_ne!(coreset, build(6));
    }

    #[test]
    fn an_outlier_is_more_important_than_a_row_in_a_crowd() {
        let (mut covariates, labels) = problem(500);
        covariates[3 * 250 + 1] = 20.0;
        let found = probabilities(&covariates, 3, &labels, CoresetSettings::new(50, 1)).unwrap();
        let most = found.iter().copied().fold(0.0, f64::max);
        assert_eq!(found[250], most);
        assert!(most > 3.0 / 500.0, "{most}");
    }

    #[test]
    fn few_different_rows_get_a_cluster_each_and_mistakes_are_refused() {
        let covariates = [1.0, 2.0, 1.0, 2.0, 1.0, 2.0];
        let labels = [true, true, true];
        let settings = CoresetSettings::new(4, 1);
        let coreset = Coreset::logistic(&covariates, 2, &labels, settings).unwrap();
        let total: f64 = coreset.weights.iter().sum();
        assert!((total - 3.0).abs() < 1e-12);
        assert!(Coreset::logistic(&covariates, 2, &labels[..2], settings).is_err());
        assert!(Coreset::logistic(&[], 2, &[], settings).is_err());
        let radius = CoresetSettings {
            radius: -1.0,
            ..settings
        };
        assert!(Coreset::logistic(&covariates, 2, &labels, radius).is_err());
        let none = CoresetSettings {
            size: 0,
            ..settings
        };
        assert!(Coreset::logistic(&covariates, 2, &labels, none).is_err());
    }
}
