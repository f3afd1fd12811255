//! One column: numbers, rows of numbers, categories or Boolean values.

use std::sync::Arc;

use lehr_numeric::column::count_missing;

use crate::TableError;
use crate::kind::Kind;
use crate::level::{Levels, MISSING, encode_texts};

/// The values of one column. Each kind marks missing values in its own way.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// Numbers; NaN is a missing value. Infinities are values and are kept.
    Number(Vec<f64>),
    /// `width` numbers per row, row after row; NaN is a missing value.
    Matrix {
        /// Numbers per row; at least one.
        width: usize,
        /// Row-major, `width` × rows of them.
        values: Vec<f64>,
    },
    /// A level per row; [`MISSING`] marks a missing value.
    Category {
        /// An index into `levels` per row.
        codes: Vec<u32>,
        /// The names; sorted when they come from a file.
        levels: Arc<[String]>,
    },
    /// Boolean values; `None` is a missing value.
    Boolean(Vec<Option<bool>>),
}

impl Column {
    /// A category of codes into `names`, which may come in any order: its levels are sorted as
    /// those of a file are. Panics on a code that is neither in `names` nor [`MISSING`].
    pub fn sorted_category(mut codes: Vec<u32>, names: &[String]) -> Self {
        let mut found = Levels::default();
        let own: Vec<u32> = names.iter().map(|name| found.code_of(name)).collect();
        let (levels, place) = found.sorted_names();
        let place: Vec<u32> = own.iter().map(|code| place[*code as usize]).collect();
        crate::level::relabel_codes(&mut codes, &place);
        Self::Category { codes, levels }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Number(values) => values.len(),
            Self::Matrix { width, values } => values.len().checked_div(*width).unwrap_or(0),
            Self::Category { codes, .. } => codes.len(),
            Self::Boolean(values) => values.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The type of the column.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Number(_) => Kind::Number,
            Self::Matrix { width, .. } => Kind::Matrix { width: *width },
            Self::Category { .. } => Kind::Category,
            Self::Boolean(_) => Kind::Boolean,
        }
    }

    /// The number of missing values; in a matrix each number counts.
    pub fn count_missing(&self) -> usize {
        match self {
            Self::Number(values) | Self::Matrix { values, .. } => count_missing(values) as usize,
            Self::Category { codes, .. } => codes.iter().filter(|code| **code == MISSING).count(),
            Self::Boolean(values) => values.iter().filter(|value| value.is_none()).count(),
        }
    }

    /// The number of infinite values, which only numbers can have.
    pub fn count_infinite(&self) -> usize {
        match self {
            Self::Number(values) | Self::Matrix { values, .. } => {
                values.iter().filter(|value| value.is_infinite()).count()
            }
            Self::Category { .. } | Self::Boolean(_) => 0,
        }
    }

    /// Whether any value of `row` is missing. Panics if there is no such row.
    pub fn is_missing(&self, row: usize) -> bool {
        match self {
            Self::Number(values) => values[row].is_nan(),
            Self::Matrix { width, values } => {
                (values[row * width..(row + 1) * width].iter()).any(|value| value.is_nan())
            }
            Self::Category { codes, .. } => codes[row] == MISSING,
            Self::Boolean(values) => values[row].is_none(),
        }
    }

    /// The given rows in the given order. Panics on a row that does not exist.
    pub fn select_rows(&self, rows: &[usize]) -> Self {
        match self {
            Self::Number(values) => Self::Number(rows.iter().map(|&row| values[row]).collect()),
            Self::Matrix { width, values } => Self::Matrix {
                width: *width,
                values: (rows.iter())
                    .flat_map(|&row| &values[row * width..(row + 1) * width])
                    .copied()
                    .collect(),
            },
            Self::Category { codes, levels } => Self::Category {
                codes: rows.iter().map(|&row| codes[row]).collect(),
                levels: Arc::clone(levels),
            },
            Self::Boolean(values) => Self::Boolean(rows.iter().map(|&row| values[row]).collect()),
        }
    }

    /// Appends one row as numbers: a category as its code, Boolean values as 0 and 1, missing
    /// values as NaN. Panics if there is no such row.
    pub fn push_row(&self, row: usize, to: &mut Vec<f64>) {
        match self {
            Self::Number(values) => to.push(values[row]),
            Self::Matrix { width, values } => {
                to.extend_from_slice(&values[row * width..(row + 1) * width]);
            }
            Self::Category { codes, .. } => to.push(match codes[row] {
                MISSING => f64::NAN,
                code => f64::from(code),
            }),
            Self::Boolean(values) => {
                to.push(values[row].map_or(f64::NAN, |truth| f64::from(u8::from(truth))));
            }
        }
    }

    /// The column as a category: numbers become levels in numeric order, Boolean values `false` and
    /// `true`, and a category is returned unchanged. `None` for a matrix.
    pub fn to_category(&self) -> Option<Self> {
        let (codes, levels) = match self {
            Self::Category { .. } => return Some(self.clone()),
            Self::Matrix { .. } => return None,
            Self::Number(values) => encode_texts(
                (values.iter()).map(|value| (!value.is_nan()).then(|| (value + 0.0).to_string())),
            ),
            Self::Boolean(values) => encode_texts(
                values
                    .iter()
                    .map(|value| value.map(|truth| truth.to_string())),
            ),
        };
        Some(Self::Category { codes, levels })
    }

    /// The category with its codes pointing into `levels`, such as those of a fitted model. `name`
    /// is used only in the error, which counts the unknown levels.
    pub fn recode_levels(&self, name: &str, levels: &Arc<[String]>) -> Result<Self, TableError> {
        let Self::Category {
            codes,
            levels: mine,
        } = self
        else {
            return Err(TableError::WrongKind {
                name: name.into(),
                expected: "a category",
                found: self.kind(),
            });
        };
        let place = find_places(name, (mine, codes), levels)?;
        let mut codes = codes.clone();
        crate::level::relabel_codes(&mut codes, &place);
        Ok(Self::Category {
            codes,
            levels: Arc::clone(levels),
        })
    }
}

/// The place in `to` of each level in `from`; a level that no row uses may be absent.
fn find_places(
    name: &str,
    (from, codes): (&[String], &[u32]),
    to: &[String],
) -> Result<Vec<u32>, TableError> {
    let known: std::collections::HashMap<&str, u32> = (to.iter().zip(0..))
        .map(|(level, code)| (level.as_str(), code))
        .collect();
    let mut used = vec![false; from.len()];
    for &code in codes.iter().filter(|code| **code != MISSING) {
        used[code as usize] = true;
    }
    let unseen: Vec<&String> = (from.iter().zip(&used))
        .filter(|(level, used)| **used && !known.contains_key(level.as_str()))
        .map(|(level, _)| level)
        .collect();
    match unseen.first() {
        Some(example) => Err(TableError::UnseenLevel {
            name: name.into(),
            example: (*example).clone(),
            count: unseen.len(),
        }),
        None => Ok((from.iter())
            .map(|level| known.get(level.as_str()).copied().unwrap_or(MISSING))
            .collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn category(cells: &[&str]) -> Column {
        let (codes, levels) = encode_texts(cells.iter().map(Some));
        Column::Category { codes, levels }
    }

    #[test]
    fn missing_and_infinite_values_are_counted_apart() {
        let column = Column::Number(vec![1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
        assert_eq!((column.count_missing(), column.count_infinite()), (1, 2));
        let column = Column::Category {
            codes: vec![0, MISSING],
            levels: ["a".to_string()].into(),
        };
        assert_eq!((column.count_missing(), column.count_infinite()), (1, 0));
        assert_eq!(Column::Boolean(vec![None, Some(true)]).count_missing(), 1);
    }

    #[test]
    fn numbers_become_categories_in_numeric_order() {
        let column = Column::Number(vec![10.0, 2.0, f64::NAN, -0.0, 0.0]);
        let Some(Column::Category { codes, levels }) = column.to_category() else {
            panic!("a category");
        };
        assert_eq!(*levels, ["0".to_string(), "2".into(), "10".into()]);
        assert_eq!(codes, [2, 1, MISSING, 0, 0]);
    }

    #[test]
    fn levels_in_any_order_are_sorted() {
        let names = ["b".to_string(), "a".into()];
        let sorted = Column::sorted_category(vec![0, 1, MISSING], &names);
        assert_eq!(sorted.select_rows(&[0, 1]), category(&["b", "a"]));
        assert!(sorted.is_missing(2));
    }

    #[test]
    fn recoding_keeps_the_names_and_refuses_unseen_ones() {
        let levels: Arc<[String]> = ["z".to_string(), "a".into(), "b".into()].into();
        let column = category(&["b", "a"]).recode_levels("g", &levels).unwrap();
        assert_eq!(
            column,
            Column::Category {
                codes: vec![2, 1],
                levels: Arc::clone(&levels)
            }
        );
        let error = category(&["b", "x"])
            .recode_levels("g", &levels)
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "column \"g\": 1 levels were not seen before, such as \"x\""
        );
    }

    #[test]
    fn a_level_that_no_row_uses_need_not_be_known() {
        let column = category(&["a", "x"]).select_rows(&[0]);
        assert!(column.recode_levels("g", &["a".to_string()].into()).is_ok());
    }
}
