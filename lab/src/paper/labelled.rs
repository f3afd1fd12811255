//! Labelled rows, and their preparation.

use lehr_numeric::stream::Stream;
use lehr_table::Moment;

/// Features, row after row, and one label of 0 or 1 per row.
#[derive(Clone, Debug, PartialEq)]
pub struct Labelled {
    /// Features per row.
    pub width: usize,
    /// The features.
    pub x: Vec<f64>,
    /// The labels.
    pub y: Vec<f64>,
}

impl Labelled {
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.y.len()
    }

    /// These rows, in this order.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Labelled {
        let features = |&row: &usize| &self.x[row * self.width..(row + 1) * self.width];
        Labelled {
            width: self.width,
            x: rows.iter().flat_map(features).copied().collect(),
            y: rows.iter().map(|&row| self.y[row]).collect(),
        }
    }

    /// Two disjoint parts of these sizes, in an order that the seed determines. If there are too
    /// few rows both parts shrink by the same share.
    pub fn split(&self, (train, test): (usize, usize), seed: u64) -> (Labelled, Labelled) {
        let rows = self.rows();
        let wanted = train + test;
        let train = if wanted > rows {
            train * rows / wanted
        } else {
            train
        };
        let test = test.min(rows - train);
        let mut order: Vec<usize> = (0..rows).collect();
        Stream::new(seed, "split", 0).shuffle(&mut order);
        let (first, rest) = order.split_at(train);
        (self.select(first), self.select(&rest[..test]))
    }

    /// All rows of label 0, and as many of label 1 as give the ratio `ratio` to one (at least one
    /// row).
    #[must_use]
    pub fn imbalanced(&self, ratio: f64, seed: u64) -> Labelled {
        let place = |label: f64| move |&row: &usize| self.y[row] == label;
        let mut kept: Vec<usize> = (0..self.rows()).filter(place(0.0)).collect();
        let mut rare: Vec<usize> = (0..self.rows()).filter(place(1.0)).collect();
        let count = ((kept.len() as f64 / ratio).round() as usize).clamp(1, rare.len().max(1));
        Stream::new(seed, "imbalance", 0).shuffle(&mut rare);
        kept.extend(rare.iter().take(count));
        Stream::new(seed, "imbalance", 1).shuffle(&mut kept);
        self.select(&kept)
    }

    /// Both parts with the features shifted and scaled to mean 0 and deviation 1 on the first. A
    /// feature that is constant there becomes 0 everywhere.
    pub fn standardise(train: &mut Labelled, test: &mut Labelled) {
        let width = train.width;
        for feature in 0..width {
            let mut moment = Moment::default();
            for row in train.x.chunks_exact(width) {
                moment.push_value(row[feature]);
            }
            let (mean, scale) = (moment.mean(), moment.scale());
            let constant = scale <= 1e-12 * mean.abs().max(1e-300);
            let factor = if constant { 0.0 } else { 1.0 / scale };
            for part in [&mut *train, &mut *test] {
                for row in part.x.chunks_exact_mut(width) {
                    row[feature] = (row[feature] - mean) * factor;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(rows: usize) -> Labelled {
        Labelled {
            width: 2,
            x: (0..2 * rows).map(|k| k as f64).collect(),
            y: (0..rows)
                .map(|row| f64::from(row.is_multiple_of(3)))
                .collect(),
        }
    }

    #[test]
    fn parts_share_no_row_and_keep_features_with_their_labels() {
        let (train, test) = counted(30).split((20, 5), 3);
        assert_eq!((train.rows(), test.rows()), (20, 5));
        let mut seen = Vec::new();
        for part in [&train, &test] {
            for (x, y) in part.x.chunks_exact(2).zip(&part.y) {
                let row = (x[0] / 2.0) as usize;
                assert_eq!(x[1], x[0] + 1.0);
                assert_eq!(*y, f64::from(row.is_multiple_of(3)));
                seen.push(row);
            }
        }
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 25);
    }

    #[test]
    fn the_seed_names_the_split() {
        let all = counted(50);
        assert_eq!(all.split((30, 20), 1), all.split((30, 20), 1));
        assert_ne!(all.split((30, 20), 1).0, all.split((30, 20), 2).0);
    }

    #[test]
    fn too_few_rows_are_shared_out() {
        let (train, test) = counted(70).split((500, 200), 1);
        assert_eq!((train.rows(), test.rows()), (50, 20));
    }

    #[test]
    fn the_training_part_is_standardised_and_the_test_part_by_the_same_map() {
        let mut train = counted(9);
        train.x.iter_mut().skip(1).step_by(2).for_each(|x| *x = 7.0);
        let mut test = train.select(&[0, 8]);
        test.x[1] = 9.0;
        Labelled::standardise(&mut train, &mut test);
        let first: Vec<f64> = train.x.iter().step_by(2).copied().collect();
        let mean = first.iter().sum::<f64>() / 9.0;
        let square = first.iter().map(|x| x * x).sum::<f64>();
        assert!(mean.abs() < 1e-12, "{mean}");
        assert!((square / 9.0 - 1.0).abs() < 0.13, "{square}");
        assert!(train.x.iter().skip(1).step_by(2).all(|x| *x == 0.0));
        assert_eq!((test.x[0], test.x[2]), (first[0], first[8]));
        assert_eq!(test.x[1], 0.0);
    }

    #[test]
    fn an_imbalanced_set_has_the_ratio_that_was_asked_for() {
        let all = counted(300);
        let rare = all.imbalanced(10.0, 1);
        let ones = rare.y.iter().sum::<f64>();
        assert_eq!((rare.rows() as f64 - ones, ones), (200.0, 20.0));
        assert_eq!(all.imbalanced(1e9, 1).y.iter().sum::<f64>(), 1.0);
    }
}
