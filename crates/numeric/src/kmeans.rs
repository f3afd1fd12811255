//! Clusters of rows: k-means++ seeding (Arthur & Vassilvitskii 2007) and Lloyd's iterations.

use crate::stream::Stream;

/// Row-major rows, each read with a sign.
#[derive(Clone, Copy, Debug)]
pub struct SignedPoints<'a> {
    values: &'a [f64],
    columns: usize,
    /// Rows whose label is `false` are negated; if empty, no row is.
    labels: &'a [bool],
}

/// The reasons why rows cannot be clustered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClusterError {
    /// The values do not fill whole rows.
    #[error(
        "k-means: expected rows of {columns} values, found {values} values in all\n  hint: values are row-major"
    )]
    Shape {
        /// Values given.
        values: usize,
        /// Values in a row.
        columns: usize,
    },
    /// The number of labels is not the number of rows.
    #[error(
        "k-means: expected one label for each of {rows} rows, found {labels}\n  \
         hint: labels and rows come from the same table"
    )]
    Labels {
        /// Rows given.
        rows: usize,
        /// Labels given.
        labels: usize,
    },
    /// A value is NaN or infinite.
    #[error(
        "k-means: expected finite values, found another in row {row}\n  hint: fill or drop missing values first"
    )]
    Value {
        /// The row of the value.
        row: usize,
    },
    /// More clusters than distinct rows, or none.
    #[error(
        "k-means: expected between 1 and {distinct} clusters, found {clusters}\n  \
         hint: the table has {distinct} different rows"
    )]
    Clusters {
        /// Clusters asked for.
        clusters: usize,
        /// Distinct rows found.
        distinct: usize,
    },
}

impl<'a> SignedPoints<'a> {
    /// Rows of `columns` values each.
    pub fn new(values: &'a [f64], columns: usize) -> Result<Self, ClusterError> {
        if columns == 0 || !values.len().is_multiple_of(columns) {
            let values = values.len();
            return Err(ClusterError::Shape { values, columns });
        }
        if let Some(place) = values.iter().position(|x| !x.is_finite()) {
            let row = place / columns;
            return Err(ClusterError::Value { row });
        }
        Ok(Self {
            values,
            columns,
            labels: &[],
        })
    }

    /// The same rows, negated where the label is `false`: y·x with labels ±1, without a copy.
    pub fn with_signs(self, labels: &'a [bool]) -> Result<Self, ClusterError> {
        if labels.len() != self.count() {
            let (rows, labels) = (self.count(), labels.len());
            return Err(ClusterError::Labels { rows, labels });
        }
        Ok(Self { labels, ..self })
    }

    /// Number of rows.
    pub fn count(&self) -> usize {
        self.values.len() / self.columns
    }

    /// Values in a row.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// A row before its sign.
    fn row(&self, row: usize) -> &'a [f64] {
        &self.values[row * self.columns..][..self.columns]
    }

    fn sign(&self, row: usize) -> f64 {
        match self.labels.get(row) {
            Some(false) => -1.0,
            _ => 1.0,
        }
    }

    /// Adds a row to a sum, `factor` times.
    pub fn add(&self, row: usize, factor: f64, sum: &mut [f64]) {
        let factor = factor * self.sign(row);
        for (sum, x) in sum.iter_mut().zip(self.row(row)) {
            *sum += factor * x;
        }
    }

    /// Squared Euclidean distance of a row from a point.
    pub fn distance(&self, row: usize, point: &[f64]) -> f64 {
        let sign = self.sign(row);
        let mut sums = [0.0; 4];
        let (rows, rest) = self.row(row).as_chunks::<4>();
        let (points, points_rest) = point.as_chunks::<4>();
        for (x, c) in rows.iter().zip(points) {
            for lane in 0..4 {
                let apart = sign * x[lane] - c[lane];
                sums[lane] += apart * apart;
            }
        }
        let rest = rest.iter().zip(points_rest);
        let rest: f64 = rest.map(|(x, c)| (sign * x - c).powi(2)).sum();
        (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
    }
}

/// The result of clustering.
#[derive(Clone, Debug, PartialEq)]
pub struct Clusters {
    /// Means of the clusters, row-major.
    pub centroids: Vec<f64>,
    /// The cluster of every row.
    pub assignment: Vec<u32>,
    /// Rows in every cluster; none is empty.
    pub sizes: Vec<u64>,
    /// Sum of squared distances of rows from their centroids.
    pub scatter: f64,
    /// Lloyd's iterations taken.
    pub iterations: usize,
}

/// A bound that Lloyd's iterations practically never reach.
const ITERATIONS: usize = 100;

impl Clusters {
    /// Clusters rows; the same seed gives the same clusters.
    ///
    /// Ties go to the earlier cluster. A cluster left empty takes the row farthest from its own
    /// centroid.
    pub fn new(points: SignedPoints<'_>, clusters: usize, seed: u64) -> Result<Self, ClusterError> {
        let centroids = seed_centroids(points, clusters, seed)?;
        let mut found = Self {
            centroids,
            assignment: vec![u32::MAX; points.count()],
            sizes: vec![0; clusters],
            scatter: 0.0,
            iterations: 0,
        };
        while found.assign_points(points) && found.iterations < ITERATIONS {
            found.refill_empty(points);
            found.recentre_clusters(points);
            found.iterations += 1;
        }
        // The last centroids may have emptied a cluster, or may not be the means of their rows.
        if found.refill_empty(points) || found.iterations == ITERATIONS {
            found.recentre_clusters(points);
            found.scatter = found.within_scatter(points);
        }
        Ok(found)
    }

    /// Assigns every row to the nearest cluster; returns whether any changed.
    fn assign_points(&mut self, points: SignedPoints<'_>) -> bool {
        let mut changed = false;
        self.sizes.fill(0);
        self.scatter = 0.0;
        for row in 0..points.count() {
            let (mut nearest, mut least) = (0, f64::INFINITY);
            for (cluster, centroid) in self.centroids.chunks(points.columns).enumerate() {
                let distance = points.distance(row, centroid);
                if distance < least {
                    (nearest, least) = (cluster, distance);
                }
            }
            changed |= self.assignment[row] != nearest as u32;
            self.assignment[row] = nearest as u32;
            self.sizes[nearest] += 1;
            self.scatter += least;
        }
        changed
    }

    /// Gives every empty cluster the row farthest from its centroid; returns whether any was empty.
    fn refill_empty(&mut self, points: SignedPoints<'_>) -> bool {
        let clusters = 0..self.sizes.len();
        let empty: Vec<usize> = clusters.filter(|&c| self.sizes[c] == 0).collect();
        for &cluster in &empty {
            let alone = |row: &usize| self.sizes[self.assignment[*row] as usize] == 1;
            let away = |row: usize| points.distance(row, self.centroid(points, row));
            let candidates = (0..points.count()).filter(|row| !alone(row));
            let Some(row) = candidates.max_by(|&a, &b| away(a).total_cmp(&away(b))) else {
                unreachable!("there are more rows than clusters with one row");
            };
            self.sizes[self.assignment[row] as usize] -= 1;
            self.assignment[row] = cluster as u32;
            self.sizes[cluster] = 1;
            let centroid = &mut self.centroids[cluster * points.columns..][..points.columns];
            centroid.fill(0.0);
            points.add(row, 1.0, centroid);
        }
        !empty.is_empty()
    }

    /// The centroid of a row's cluster.
    fn centroid(&self, points: SignedPoints<'_>, row: usize) -> &[f64] {
        &self.centroids[self.assignment[row] as usize * points.columns..][..points.columns]
    }

    fn recentre_clusters(&mut self, points: SignedPoints<'_>) {
        self.centroids.fill(0.0);
        for row in 0..points.count() {
            let start = self.assignment[row] as usize * points.columns;
            points.add(row, 1.0, &mut self.centroids[start..][..points.columns]);
        }
        for (centroid, &size) in self.centroids.chunks_mut(points.columns).zip(&self.sizes) {
            for x in centroid {
                *x /= size as f64;
            }
        }
    }

    fn within_scatter(&self, points: SignedPoints<'_>) -> f64 {
        let rows = 0..points.count();
        rows.map(|row| points.distance(row, self.centroid(points, row)))
            .sum()
    }
}

/// k-means++: each next centre is a row drawn with probability proportional to its squared distance
/// from the nearest centre so far. All centres are distinct.
pub fn seed_centroids(
    points: SignedPoints<'_>,
    clusters: usize,
    seed: u64,
) -> Result<Vec<f64>, ClusterError> {
    let mut stream = Stream::new(seed, "k-means++", 0);
    let mut centroids = Vec::with_capacity(clusters * points.columns);
    let mut away = vec![f64::INFINITY; points.count()];
    for cluster in 0..clusters {
        let row = match cluster {
            0 if points.count() > 0 => Some(stream.below(points.count() as u64) as usize),
            _ => draw_weighted(&away, stream.uniform()),
        };
        let distinct = cluster;
        let row = row.ok_or(ClusterError::Clusters { clusters, distinct })?;
        centroids.resize((cluster + 1) * points.columns, 0.0);
        let centroid = &mut centroids[cluster * points.columns..];
        points.add(row, 1.0, centroid);
        for (row, away) in away.iter_mut().enumerate() {
            *away = away.min(points.distance(row, centroid));
        }
    }
    if clusters == 0 {
        let distinct = points.count();
        return Err(ClusterError::Clusters { clusters, distinct });
    }
    Ok(centroids)
}

/// A place drawn with probability proportional to its weight; `None` if all are zero.
fn draw_weighted(weights: &[f64], uniform: f64) -> Option<usize> {
    let total: f64 = weights.iter().sum();
    let mut left = uniform * total;
    let mut last = None;
    for (place, &weight) in weights.iter().enumerate() {
        if weight > 0.0 {
            last = Some(place);
            left -= weight;
            if left < 0.0 {
                break;
            }
        }
    }
    last
}

#[cfg(test)]
mod tests;
