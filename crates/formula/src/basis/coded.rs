//! The levels of a column with the coding that was learned from the table.

use serde::{Deserialize, Serialize};

use super::error::BasisError;
use super::label::ColumnLabel;
use super::level::LevelSet;
use crate::coded::{CodedColumn, Contrast, LevelCoding};

/// The levels of a column, their order and their contrasts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct CodedLevels {
    /// Ascending.
    pub(super) levels: LevelSet,
    /// The place among `levels` of each level in the order of the formula.
    order: Vec<u32>,
    /// The places, in that order, of the levels that have a column.
    kept: Vec<usize>,
    contrast: Contrast,
    label: String,
}

impl CodedLevels {
    /// Orders the levels of a table. Refuses levels that the formula names and no row has, and
    /// levels that rows have and the formula does not name.
    pub(super) fn new(
        coded: &CodedColumn,
        levels: LevelSet,
        coding: LevelCoding,
    ) -> Result<CodedLevels, BasisError> {
        let names = levels.level_names();
        let place = |name: &String| {
            let found = names.iter().position(|level| level == name);
            found.ok_or_else(|| find_level(coded, name, &names))
        };
        let order: Vec<usize> = match &coded.order[..] {
            [] => (0..names.len()).collect(),
            given => given.iter().map(place).collect::<Result<_, _>>()?,
        };
        if let Some(missing) = (0..names.len()).find(|one| !order.contains(one)) {
            return Err(BasisError::UnnamedLevel {
                column: coded.column.clone(),
                level: names[missing].clone(),
            });
        }
        let reference = match &coded.reference {
            None => None,
            Some(name) => {
                let place = place(name)?;
                order.iter().position(|one| *one == place)
            }
        };
        let (kept, contrast, label) = match coding {
            LevelCoding::Treatment => (
                coded.contrast.kept_levels(names.len(), reference),
                coded.contrast,
                coded.label(),
            ),
            // In full coding no level is left out: each has a column of its own.
            LevelCoding::Full => {
                let plain = CodedColumn {
                    contrast: Contrast::Treatment,
                    ..coded.clone()
                };
                let all = (0..names.len()).collect();
                (all, Contrast::Treatment, plain.label())
            }
        };
        Ok(CodedLevels {
            levels,
            order: order.into_iter().map(|place| place as u32).collect(),
            kept,
            contrast,
            label,
        })
    }

    /// The levels in order.
    pub(super) fn column_names(&self) -> Vec<String> {
        let names = self.levels.level_names();
        let ordered = self.order.iter();
        ordered
            .map(|place| names[*place as usize].clone())
            .collect()
    }

    pub(super) fn column_labels(&self) -> Vec<ColumnLabel> {
        let names = self.column_names();
        let kept = self.kept.iter();
        kept.map(|place| ColumnLabel::level_of(&self.label, names[*place].clone()))
            .collect()
    }

    /// The place in order of each level, counted in ascending order.
    pub(super) fn column_ranks(&self) -> Vec<usize> {
        let mut ranks = vec![0; self.order.len()];
        for (place, level) in self.order.iter().enumerate() {
            ranks[*level as usize] = place;
        }
        ranks
    }

    /// The columns for rows whose levels, counted in ascending order, are `codes`.
    pub(super) fn level_columns(&self, codes: &[u32]) -> Vec<Vec<f64>> {
        let rank = self.column_ranks();
        let column = |column: &usize| {
            let value = |row: usize| self.contrast.contrast_value(row, *column, &self.kept);
            let values: Vec<f64> = rank.iter().map(|row| value(*row)).collect();
            codes.iter().map(|code| values[*code as usize]).collect()
        };
        self.kept.iter().map(column).collect()
    }
}

fn find_level(coded: &CodedColumn, level: &str, names: &[String]) -> BasisError {
    BasisError::AbsentLevel {
        column: coded.column.clone(),
        level: level.to_owned(),
        hint: crate::spelling::suggestion(level, "the column", names),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(contrast: Contrast, reference: Option<&str>, order: &[&str]) -> CodedLevels {
        let coded = CodedColumn {
            column: "shift".into(),
            contrast,
            reference: reference.map(str::to_owned),
            order: order.iter().map(|level| (*level).to_owned()).collect(),
        };
        let found = ["day", "late", "night"].map(str::to_owned).to_vec();
        CodedLevels::new(&coded, LevelSet::Text(found), LevelCoding::Treatment).unwrap()
    }

    /// The contrast matrices that R prints, column by column.
    #[test]
    fn contrasts_are_those_of_r() {
        let columns = |coded: &CodedLevels| coded.level_columns(&[0, 1, 2]);
        let treatment = levels(Contrast::Treatment, Some("late"), &[]);
        assert_eq!(columns(&treatment), [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]);
        let sum = levels(Contrast::Sum, None, &[]);
        assert_eq!(columns(&sum), [[1.0, 0.0, -1.0], [0.0, 1.0, -1.0]]);
        let helmert = levels(Contrast::Helmert, None, &[]);
        assert_eq!(columns(&helmert), [[-1.0, 1.0, 0.0], [-1.0, -1.0, 2.0]]);
        let ordered = levels(Contrast::Helmert, None, &["night", "day", "late"]);
        assert_eq!(columns(&ordered), [[1.0, 0.0, -1.0], [-1.0, 2.0, -1.0]]);
        assert_eq!(ordered.column_names(), ["night", "day", "late"]);
    }
}
