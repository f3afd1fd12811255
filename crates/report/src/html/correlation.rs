//! The pairs of numbers with the strongest posterior correlation.

use crate::Draws;

/// Columns considered: all pairs of more columns would take longer than the fit.
const COLUMNS: usize = 200;
/// Draws that correlations are computed from.
const ROWS: usize = 2000;

/// Two columns of the draws and their correlation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pair {
    pub(super) first: usize,
    pub(super) second: usize,
    pub(super) correlation: f64,
}

/// The pairs of largest absolute correlation among the first columns, largest first.
pub(super) fn strongest_pairs(draws: &Draws, most: usize) -> Vec<Pair> {
    if draws.n_draws() < 3 {
        return Vec::new();
    }
    let columns = 0..draws.names.len().min(COLUMNS);
    let scores: Vec<Option<Vec<f64>>> = columns.map(|index| normal_scores(draws, index)).collect();
    let mut pairs = Vec::new();
    for (first, left) in scores.iter().enumerate() {
        for (second, right) in scores.iter().enumerate().skip(first + 1) {
            if let (Some(left), Some(right)) = (left, right) {
                let correlation = left.iter().zip(right).map(|(a, b)| a * b).sum();
                pairs.push(Pair {
                    first,
                    second,
                    correlation,
                });
            }
        }
    }
    pairs.sort_by(|a, b| b.correlation.abs().total_cmp(&a.correlation.abs()));
    pairs.truncate(most);
    pairs
}

/// A column centred and scaled to length one; `None` if it does not vary or is not finite.
fn normal_scores(draws: &Draws, index: usize) -> Option<Vec<f64>> {
    let every = draws.n_draws().div_ceil(ROWS);
    let values: Vec<f64> = draws.column(index).step_by(every).collect();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let length = values
        .iter()
        .map(|value| (value - mean).powi(2))
        .sum::<f64>()
        .sqrt();
    // Rounding alone gives a constant column a nonzero length.
    let varies = length.is_finite() && length > 1e-12 * mean.abs() && length > 0.0;
    varies.then(|| values.iter().map(|value| (value - mean) / length).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strongest_pair_comes_first_and_constants_never() {
        let row = |i: u32| {
            let x = f64::from(i);
            [x, 3.0, -2.0 * x + 1.0, (x * 2.4).sin()]
        };
        let draws = Draws {
            names: ["a", "constant", "b", "c"].map(crate::Name::from).to_vec(),
            values: (0..200).flat_map(row).collect(),
        };
        let pairs = strongest_pairs(&draws, 9);
        assert_eq!((pairs[0].first, pairs[0].second), (0, 2));
        assert!((pairs[0].correlation + 1.0).abs() < 1e-12);
        assert_eq!(pairs.len(), 3);
    }

    #[test]
    fn draws_that_are_not_finite_are_passed_over() {
        let draws = Draws {
            names: vec!["a".into(), "b".into()],
            values: vec![1.0, f64::NAN, 2.0, 1.0, 3.0, 2.0, 5.0, 4.0],
        };
        assert!(strongest_pairs(&draws, 4).is_empty());
    }
}
