//! Suggests the correct name for a misspelt one.

/// The candidate nearest to `name`, if one is near enough.
///
/// Letters may be inserted, deleted, replaced or swapped with a neighbour. At least one and at most
/// a third of them may differ, and upper and lower case count as equal. Of equally near candidates
/// the first wins.
pub fn nearest<'a, S: AsRef<str> + ?Sized + 'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a S>,
) -> Option<&'a str> {
    let wanted = name.to_lowercase();
    let length = wanted.chars().count();
    let allowed = (length / 3).max(1);
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let candidate = candidate.as_ref();
            let other = candidate.to_lowercase();
            let other_length = other.chars().count();
            if length.abs_diff(other_length) > allowed {
                return None;
            }
            let edits = strsim::osa_distance(&wanted, &other);
            // A single letter that differs from another is a different name, not a misspelling.
            let alike = edits <= allowed && edits < length.max(other_length);
            alike.then_some((edits, candidate))
        })
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swap_of_neighbours_is_one_edit() {
        let names = ["weight", "height", "größe"];
        assert_eq!(nearest("hieght", names), Some("height"));
        assert_eq!(nearest("grösse", names), Some("größe"));
        assert_eq!(nearest("gra", ["agr", "gar"]), Some("gar"));
    }

    #[test]
    fn case_is_forgiven_and_strangers_are_not_offered() {
        assert_eq!(nearest("HEIGHT", &["weight", "height"]), Some("height"));
        assert_eq!(nearest("zzz", ["weight", "height"]), None);
        assert_eq!(nearest("z", &["x", "y"]), None);
        assert_eq!(nearest("altitude", &["x", "y"]), None);
        assert_eq!(nearest("x10", &["x1", "y"]), Some("x1"));
        assert_eq!(nearest("", [""]), None);
    }

    #[test]
    fn the_first_of_equals_wins() {
        let names = [String::from("x1"), "x2".into()];
        assert_eq!(nearest("x3", &names), Some("x1"));
    }
}
