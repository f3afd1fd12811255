//! Finds the name a user most likely meant.

/// The candidate closest to `name` by edit distance (insert, delete, replace, swap of
/// neighbours; case is ignored), if it is within a third of the name's length, at least one.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted: Vec<char> = name.to_lowercase().chars().collect();
    let allowed = (wanted.len() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (distance(&wanted, candidate), candidate))
        .filter(|(edits, _)| *edits <= allowed)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

/// Optimal string alignment distance; three rows of the table are kept.
fn distance(wanted: &[char], candidate: &str) -> usize {
    let other: Vec<char> = candidate.to_lowercase().chars().collect();
    let mut before = vec![0; other.len() + 1];
    let mut above: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in wanted.iter().enumerate() {
        let mut row = vec![i + 1; other.len() + 1];
        for (j, b) in other.iter().enumerate() {
            let replaced = above[j] + usize::from(a != b);
            row[j + 1] = replaced.min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == other[j - 1] && wanted[i - 1] == *b {
                row[j + 1] = row[j + 1].min(before[j - 1] + 1);
            }
        }
        before = std::mem::replace(&mut above, row);
    }
    above[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swap_of_neighbours_is_one_edit() {
        let wanted: Vec<char> = "hieght".chars().collect();
        assert_eq!(distance(&wanted, "height"), 1);
        assert_eq!(distance(&wanted, "Height"), 1);
        assert_eq!(distance(&wanted, ""), 6);
    }

    #[test]
    fn the_closest_name_is_suggested_and_a_far_one_is_not() {
        let names = ["weight", "height", "größe"];
        assert_eq!(nearest("hieght", names), Some("height"));
        assert_eq!(nearest("grösse", names), Some("größe"));
        assert_eq!(nearest("zzz", names), None);
    }
}
