//! The names behind category codes.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The code of a missing category.
pub const MISSING: u32 = u32::MAX;

/// Assigns codes to names in the order of first appearance, until all are known and can be sorted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<String>", into = "Vec<String>")]
pub struct Levels {
    codes: HashMap<Arc<str>, u32>,
    names: Vec<Arc<str>>,
}

/// From names in the order of their codes.
impl From<Vec<String>> for Levels {
    fn from(names: Vec<String>) -> Levels {
        let mut levels = Levels::default();
        for name in &names {
            levels.code_of(name);
        }
        levels
    }
}

impl From<Levels> for Vec<String> {
    fn from(levels: Levels) -> Vec<String> {
        levels.in_order().to_vec()
    }
}

impl Levels {
    /// The code of `name`, a new one if it was not seen before.
    pub fn code_of(&mut self, name: &str) -> u32 {
        if let Some(&code) = self.codes.get(name) {
            return code;
        }
        let code = u32::try_from(self.names.len()).expect("fewer than 2^32 levels");
        let name: Arc<str> = name.into();
        self.names.push(Arc::clone(&name));
        self.codes.insert(name, code);
        code
    }

    /// The names in sorted order, numerically if all are numbers, and for every code its place
    /// among them.
    pub fn sorted_names(&self) -> (Arc<[String]>, Vec<u32>) {
        let mut order: Vec<usize> = (0..self.names.len()).collect();
        match self.parse_numbers() {
            Some(numbers) => order.sort_by(|&a, &b| {
                (numbers[a].total_cmp(&numbers[b])).then_with(|| self.names[a].cmp(&self.names[b]))
            }),
            None => order.sort_by(|&a, &b| self.names[a].cmp(&self.names[b])),
        }
        let mut place = vec![0; order.len()];
        for (new, &old) in order.iter().enumerate() {
            place[old] = new as u32;
        }
        let names = order.iter().map(|&old| self.names[old].to_string());
        (names.collect(), place)
    }

    /// The names in the order of their codes.
    pub(crate) fn in_order(&self) -> Arc<[String]> {
        self.names.iter().map(ToString::to_string).collect()
    }

    /// The names as numbers when all of them are, so that 2 sorts before 10.
    fn parse_numbers(&self) -> Option<Vec<f64>> {
        self.names.iter().map(|name| name.parse().ok()).collect()
    }
}

/// Codes and sorted levels of cells; `None` is a missing cell.
pub(crate) fn encode_texts<S: AsRef<str>>(
    cells: impl IntoIterator<Item = Option<S>>,
) -> (Vec<u32>, Arc<[String]>) {
    let mut levels = Levels::default();
    let mut codes: Vec<u32> = (cells.into_iter())
        .map(|cell| cell.map_or(MISSING, |name| levels.code_of(name.as_ref())))
        .collect();
    let (names, place) = levels.sorted_names();
    relabel_codes(&mut codes, &place);
    (codes, names)
}

/// Replaces every code by its place; missing stays missing.
pub(crate) fn relabel_codes(codes: &mut [u32], place: &[u32]) {
    for code in codes.iter_mut().filter(|code| **code != MISSING) {
        *code = place[*code as usize];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_sort_as_numbers_when_all_are_and_as_text_otherwise() {
        let (codes, levels) = encode_texts([Some("10"), None, Some("2"), Some("10")]);
        assert_eq!(*levels, ["2".to_string(), "10".into()]);
        assert_eq!(codes, [1, MISSING, 0, 1]);
        let (_, levels) = encode_texts([Some("b"), Some("10"), Some("2")]);
        assert_eq!(*levels, ["10".to_string(), "2".into(), "b".into()]);
    }
}
