//! The options of reading.

use std::sync::Arc;

/// The options of reading. The CSV settings are ignored for formats that describe themselves.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadOptions {
    /// The byte between CSV fields. `None`: a tab in `.tsv` files, otherwise a comma, or if the
    /// first line has no comma, whichever of `;`, tab and `|` it contains.
    pub delimiter: Option<u8>,
    /// The byte around CSV fields that contain delimiters; `None` if there is none.
    pub quote: Option<u8>,
    /// Whether the first CSV record names the columns.
    pub header: Header,
    /// CSV cells that mean a missing value, compared without surrounding blanks.
    pub missing_markers: Vec<String>,
    /// The treatment of missing values.
    pub missing: MissingPolicy,
    /// Columns whose missing values are kept, whatever the treatment of others.
    pub optional: Vec<String>,
    /// The columns to read, all if `None`. The order of the file is kept.
    pub columns: Option<Vec<String>>,
    /// Columns to read as categories even though they look like numbers or truth values. In CSV
    /// the text of a cell is its level (`1` and `1.0` differ), elsewhere the number is.
    pub categorical: Vec<String>,
    /// Columns to read as categories with these levels in this order. Other values are refused.
    pub levels: Vec<(String, Arc<[String]>)>,
    /// CSV types are inferred from this many records of the first file, and from further ones only
    /// until every column has shown a value. A column is numeric if more than half of its values
    /// are numbers; Boolean if all are `true` or `false` (in any case); numeric if it has no value;
    /// otherwise a category.
    pub sample_rows: usize,
    /// Rows that are decoded at a time.
    pub batch_rows: usize,
}

impl ReadOptions {
    /// The same options, with missing values of these columns kept.
    #[must_use]
    pub fn keep_columns(self, optional: &[&str]) -> ReadOptions {
        let optional = optional.iter().map(ToString::to_string);
        ReadOptions {
            optional: optional.collect(),
            ..self
        }
    }

    /// The options that determine the columns of a file; all others have their defaults.
    pub(super) fn of_schema(&self) -> ReadOptions {
        ReadOptions {
            delimiter: self.delimiter,
            quote: self.quote,
            header: self.header,
            missing_markers: self.missing_markers.clone(),
            sample_rows: self.sample_rows,
            ..ReadOptions::default()
        }
    }

    /// Whether a column is to be read as categories.
    pub(super) fn makes_category(&self, name: &str) -> bool {
        self.categorical.iter().any(|asked| asked == name) || self.levels_of(name).is_some()
    }

    /// The levels given for a column.
    pub(super) fn levels_of(&self, name: &str) -> Option<&Arc<[String]>> {
        let mut given = self.levels.iter();
        given
            .find(|(asked, _)| asked == name)
            .map(|(_, levels)| levels)
    }
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            delimiter: None,
            quote: Some(b'"'),
            header: Header::Present,
            missing_markers: vec![String::new(), "NA".into()],
            missing: MissingPolicy::Refuse,
            optional: Vec::new(),
            columns: None,
            categorical: Vec::new(),
            levels: Vec::new(),
            sample_rows: 10_000,
            batch_rows: 8192,
        }
    }
}

/// Whether the first CSV record names the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Header {
    /// It does. An empty name becomes `column_3`, by its place.
    Present,
    /// It is data; the columns are `column_1`, `column_2` and so on.
    Absent,
}

/// The treatment of missing values in the columns that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingPolicy {
    /// An error with the count of every column, after all rows were read.
    Refuse,
    /// Rows with missing values are dropped and counted.
    Drop,
    /// Missing values are kept.
    Keep,
}
