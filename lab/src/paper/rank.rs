//! Ranks, as the paper's Table 2 has them: 1 for the best, ties share the mean of their places.

/// The rank of each value, 1 for the largest. Missing values have no rank.
pub(crate) fn ranks(values: &[Option<f64>]) -> Vec<Option<f64>> {
    let rank = |value: f64| {
        let others = || values.iter().flatten();
        let above = others().filter(|other| **other > value).count() as f64;
        let level = others().filter(|other| **other == value).count() as f64;
        above + f64::midpoint(1.0, level)
    };
    values.iter().map(|value| value.map(rank)).collect()
}

/// The mean of each method's ranks over several problems, each a list of values by method.
pub(crate) fn mean_ranks(problems: &[Vec<Option<f64>>]) -> Vec<Option<f64>> {
    let methods = problems.first().map_or(0, Vec::len);
    let by_problem: Vec<Vec<Option<f64>>> = problems.iter().map(|p| ranks(p)).collect();
    let mean = |method: usize| {
        let known: Vec<f64> = by_problem
            .iter()
            .filter_map(|ranks| ranks[method])
            .collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    };
    (0..methods).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_is_first_and_ties_share_their_places() {
        let found = ranks(&[Some(-3.0), None, Some(-1.0), Some(-3.0)]);
        assert_eq!(found, [Some(2.5), None, Some(1.0), Some(2.5)]);
    }

    #[test]
    fn ranks_are_averaged_over_problems() {
        let problems = [
            vec![Some(1.0), Some(2.0), None],
            vec![Some(5.0), Some(4.0), Some(9.0)],
        ];
        assert_eq!(mean_ranks(&problems), [Some(2.0), Some(2.0), Some(1.0)]);
        assert!(mean_ranks(&[]).is_empty());
    }
}
