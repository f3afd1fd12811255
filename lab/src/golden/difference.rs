//! The differences of two transcripts, and their sizes.

use std::collections::HashMap;
use std::fmt;

use super::transcript::{Recorded, Transcript};

/// One line that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// The name of the line.
    pub name: String,
    /// The kind of difference.
    pub kind: MismatchKind,
}

/// The kind of difference of a line.
#[derive(Clone, Debug, PartialEq)]
pub enum MismatchKind {
    /// The older transcript does not have it.
    Added,
    /// The newer transcript does not have it.
    Removed,
    /// The lines have different numbers or texts.
    Changed {
        /// The older value.
        older: String,
        /// The newer value.
        newer: String,
        /// The largest relative difference of two numbers at one place that both lines show.
        relative: Option<f64>,
    },
}

impl Mismatch {
    /// The largest relative difference of its numbers, if it has any to compare.
    pub fn relative(&self) -> Option<f64> {
        match self.kind {
            MismatchKind::Changed { relative, .. } => relative,
            MismatchKind::Added | MismatchKind::Removed => None,
        }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.name;
        match &self.kind {
            MismatchKind::Added => write!(f, "{name}: only now"),
            MismatchKind::Removed => write!(f, "{name}: no longer"),
            MismatchKind::Changed {
                older,
                newer,
                relative,
            } => {
                match relative {
                    Some(0.0) => writeln!(f, "{name}: numbers that are not shown differ")?,
                    Some(size) => writeln!(f, "{name}: relative difference {size:.1e}")?,
                    None => writeln!(f, "{name}: differs")?,
                }
                write!(f, "  was {older}\n  is  {newer}")
            }
        }
    }
}

/// The lines that differ between two transcripts, those of the newer one first, in their order.
pub fn mismatches(older: &Transcript, newer: &Transcript) -> Vec<Mismatch> {
    let [old, new] = [older, newer].map(by_name);
    let changed = newer.lines.iter().filter_map(|line| {
        let kind = match old.get(&*line.name) {
            None => MismatchKind::Added,
            Some(value) if *value == line.value => return None,
            Some(value) => MismatchKind::Changed {
                older: (*value).to_owned(),
                newer: line.value.clone(),
                relative: relative(value, &line.value),
            },
        };
        Some((line, kind))
    });
    let removed = older.lines.iter();
    let removed = removed.filter(|line| !new.contains_key(&*line.name));
    let removed = removed.map(|line| (line, MismatchKind::Removed));
    let named = |(line, kind): (&Recorded, MismatchKind)| Mismatch {
        name: line.name.clone(),
        kind,
    };
    changed.chain(removed).map(named).collect()
}

fn by_name(of: &Transcript) -> HashMap<&str, &str> {
    let lines = of.lines.iter();
    lines.map(|line| (&*line.name, &*line.value)).collect()
}

/// The largest relative difference of the numbers that two lines show, if they show as many.
fn relative(one: &str, other: &str) -> Option<f64> {
    let (one, other) = (shown(one)?, shown(other)?);
    let pairs = (one.len() == other.len()).then(|| one.iter().zip(&other))?;
    let off = pairs.map(|(a, b)| {
        if a.to_bits() == b.to_bits() {
            return 0.0;
        }
        (a - b).abs() / a.abs().max(b.abs())
    });
    Some(off.fold(
        0.0,
        |most: f64, one| if one.is_nan() { one } else { most.max(one) },
    ))
}

/// The numbers that a line shows, from their bits; `None` for texts.
fn shown(value: &str) -> Option<Vec<f64>> {
    let bits = value
        .split("  ")
        .next()
        .filter(|_| !value.ends_with(['"', ']']))?;
    let words = bits.split(' ').filter(|word| word.len() == 16);
    let numbers = words.map(|word| u64::from_str_radix(word, 16).map(f64::from_bits));
    numbers.collect::<Result<_, _>>().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transcript(values: &[f64], text: &str) -> Transcript {
        let mut made = Transcript::new("avx2");
        made.numbers("a/fit/mean", values);
        made.text("a/fit/sentence", text);
        made
    }

    #[test]
    fn one_bit_is_told_with_its_size() {
        let (older, newer) = ([1.0, 2.0, 0.0], [1.0, 2.0 + 2.0 * f64::EPSILON, 0.0]);
        let (older, newer) = (transcript(&older, "well"), transcript(&newer, "well"));
        assert_eq!(mismatches(&older, &older), []);
        let found = mismatches(&older, &newer);
        assert_eq!(found.len(), 1);
        let words = found[0].to_string();
        assert!(
            words.starts_with("a/fit/mean: relative difference 2.2e-16\n"),
            "{words}"
        );
    }

    #[test]
    fn numbers_within_a_long_vector_are_told_to_differ() {
        let mut values: Vec<f64> = (0..40).map(f64::from).collect();
        let older = transcript(&values, "");
        values[20] = 20.5;
        let words = mismatches(&older, &transcript(&values, ""))[0].to_string();
        assert!(
            words.starts_with("a/fit/mean: numbers that are not shown differ"),
            "{words}"
        );
    }

    #[test]
    fn texts_and_lines_of_one_side_are_told() {
        let older = transcript(&[1.0], "reliable");
        let mut newer = transcript(&[1.0], "look again");
        newer.number("a/fit/more", 3.0);
        let kinds: Vec<MismatchKind> = (mismatches(&older, &newer).into_iter())
            .map(|one| one.kind)
            .collect();
        assert!(matches!(
            &kinds[..],
            [
                MismatchKind::Changed { relative: None, .. },
                MismatchKind::Added
            ]
        ));
        let back: Vec<_> = mismatches(&newer, &older).into_iter().collect();
        assert_eq!(back[1].kind, MismatchKind::Removed);
        assert_eq!(back[1].name, "a/fit/more");
    }

    #[test]
    fn a_number_that_is_none_any_more_differs_without_bound() {
        let older = transcript(&[1.0], "");
        let found = mismatches(&older, &transcript(&[f64::NAN], ""));
        let MismatchKind::Changed { relative, .. } = &found[0].kind else {
            panic!("{found:?}")
        };
        assert!(relative.unwrap().is_nan());
    }
}
