//! The names of tables on the command line, and the options of reading them.

use std::str::FromStr;
use std::sync::Arc;

use anyhow::{Result, anyhow};
use clap::{Args, ValueEnum};
use lehr::regression::SavedFit;
use lehr::table::{Header, MissingPolicy, ReadOptions, Table, TableFiles};

use crate::live::Live;

/// The treatment of rows with missing values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum MissingRows {
    /// They are an error that counts them
    #[default]
    Refuse,
    /// They are left out and counted
    Drop,
}

/// How files are read; the flags for CSV are ignored for formats that describe themselves.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct ReadingArgs {
    /// What becomes of rows with missing values
    #[arg(long, value_enum, default_value_t, value_name = "refuse|drop")]
    missing: MissingRows,
    /// A CSV cell that means missing, besides an empty one and NA (may be repeated)
    #[arg(long, value_name = "TEXT")]
    missing_text: Vec<String>,
    /// The character between CSV fields [default: by the file's name and first line]
    #[arg(long, value_name = "CHAR")]
    delimiter: Option<String>,
    /// The first CSV record is data; columns are called `column_1`, `column_2`, …
    #[arg(long)]
    no_header: bool,
    /// Read these columns as categories although they look like numbers
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    categorical: Vec<String>,
    /// The order of the response's levels, e.g. 'quality: poor < fair < good'; of two classes
    /// the last counts as 1
    #[arg(long, value_name = "LEVELS")]
    levels: Vec<LevelOrder>,
}

/// A column and its levels in order, as typed: `quality: poor < fair < good`.
#[derive(Clone, Debug)]
struct LevelOrder {
    column: String,
    levels: Arc<[String]>,
}

impl FromStr for LevelOrder {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<LevelOrder> {
        let wrong = |problem: &str| anyhow!("expected 'column: first < second < third', {problem}");
        let (column, levels) = (text.split_once(':')).ok_or_else(|| wrong("found no colon"))?;
        let levels: Vec<String> = levels.split('<').map(|one| one.trim().to_owned()).collect();
        let repeated = (levels.iter().enumerate()).find(|(at, one)| levels[..*at].contains(one));
        if let Some((_, level)) = repeated {
            return Err(wrong(&format!("found {level:?} twice")));
        }
        if levels.len() < 2 || levels.iter().any(String::is_empty) || column.trim().is_empty() {
            return Err(wrong(&format!("found {text:?}")));
        }
        Ok(LevelOrder {
            column: column.trim().to_owned(),
            levels: levels.into(),
        })
    }
}

impl ReadingArgs {
    /// The options, for some columns or all.
    pub(crate) fn read_options(&self, columns: Option<Vec<String>>) -> Result<ReadOptions> {
        let usual = ReadOptions::default();
        Ok(ReadOptions {
            delimiter: self.delimiter.as_deref().map(parse_byte).transpose()?,
            header: if self.no_header {
                Header::Absent
            } else {
                Header::Present
            },
            missing_markers: (usual.missing_markers.iter().chain(&self.missing_text))
                .cloned()
                .collect(),
            missing: match self.missing {
                MissingRows::Drop => MissingPolicy::Drop,
                MissingRows::Refuse => MissingPolicy::Refuse,
            },
            columns,
            categorical: self.categorical.clone(),
            levels: (self.levels.iter())
                .map(|one| (one.column.clone(), Arc::clone(&one.levels)))
                .collect(),
            ..usual
        })
    }

    /// The options for the columns that the model of a fit reads.
    pub(crate) fn fitted(&self, saved: &SavedFit) -> Result<ReadOptions> {
        let columns = saved.subject.columns().into_iter().map(str::to_owned);
        let options = self.read_options(Some(columns.collect()))?;
        Ok(options.keep_columns(&saved.subject.optional_columns()))
    }

    /// Reads all rows of the columns that the model of a fit reads.
    pub(crate) fn fitted_table(
        &self,
        saved: &SavedFit,
        source: &TableFiles,
        live: &Live,
    ) -> Result<Table> {
        let options = self.fitted(saved)?;
        Ok(source.read_table(&options, &mut |progress| live.rows(progress))?)
    }

    /// Reads all rows of some columns; the optional ones may have missing values.
    pub(crate) fn read_table(
        &self,
        source: &TableFiles,
        (columns, optional): (Vec<String>, &[&str]),
        live: &Live,
    ) -> Result<Table> {
        let options = self.read_options(Some(columns))?.keep_columns(optional);
        Ok(source.read_table(&options, &mut |progress| live.rows(progress))?)
    }
}

/// A delimiter as typed: one character, `tab` or `\t`.
fn parse_byte(text: &str) -> Result<u8> {
    match text {
        "tab" | "\\t" => Ok(b'\t'),
        _ if text.len() == 1 => Ok(text.as_bytes()[0]),
        _ => Err(anyhow!(
            "--delimiter: expected one character or tab, found {text:?}\n  hint: --delimiter ';'"
        )),
    }
}
