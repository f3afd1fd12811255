//! The paper's five tables, and the origin of their rows.

use std::path::{Path, PathBuf};

use lehr_numeric::stream::Stream;
use lehr_table::{Column, ReadOptions, Table, TableFiles};
use serde::{Deserialize, Serialize};

use crate::paper::error::PaperError;
use crate::paper::labelled::Labelled;

/// A table of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dataset {
    /// Collisions with a Higgs boson against background.
    Higgs,
    /// Collisions with supersymmetric particles against background.
    Susy,
    /// Electron neutrinos against muon neutrinos.
    MiniBoone,
    /// Forest cover: fir against the rest.
    CovTypeFir,
    /// Forest cover: pine against the rest.
    CovTypePine,
}

/// Rows that the paper trains on.
pub const PUBLISHED_ROWS: usize = 50_000;

/// The most rows of a table that are used: training and test rows together.
const MOST_ROWS: usize = 70_000;

impl Dataset {
    /// All of them, in the paper's order.
    pub const ALL: [Dataset; 5] = [
        Dataset::Higgs,
        Dataset::Susy,
        Dataset::MiniBoone,
        Dataset::CovTypeFir,
        Dataset::CovTypePine,
    ];

    /// The name in the paper.
    pub fn name(self) -> &'static str {
        match self {
            Dataset::Higgs => "Higgs",
            Dataset::Susy => "SUSY",
            Dataset::MiniBoone => "MiniBooNE",
            Dataset::CovTypeFir => "CovType-Fir",
            Dataset::CovTypePine => "CovType-Pine",
        }
    }

    /// The name on the command line.
    pub fn key(self) -> &'static str {
        match self {
            Dataset::Higgs => "higgs",
            Dataset::Susy => "susy",
            Dataset::MiniBoone => "miniboone",
            Dataset::CovTypeFir => "covtype-fir",
            Dataset::CovTypePine => "covtype-pine",
        }
    }

    /// The file that holds it.
    pub fn file(self) -> &'static str {
        match self {
            Dataset::Higgs => "higgs.parquet",
            Dataset::Susy => "susy.parquet",
            Dataset::MiniBoone => "miniboone.parquet",
            Dataset::CovTypeFir | Dataset::CovTypePine => "covtype.parquet",
        }
    }

    /// Features per row.
    pub fn width(self) -> usize {
        match self {
            Dataset::Higgs => 28,
            Dataset::Susy => 18,
            Dataset::MiniBoone => 50,
            Dataset::CovTypeFir | Dataset::CovTypePine => 54,
        }
    }

    /// The values of `y` that count as yes.
    fn positive(self) -> &'static [f64] {
        match self {
            Dataset::CovTypeFir => &[1.0, 6.0],
            Dataset::CovTypePine => &[2.0, 3.0],
            _ => &[1.0],
        }
    }
}

/// The origin of rows.
#[derive(Clone, Debug)]
pub enum Origin {
    /// Parquet files in a folder.
    Folder(PathBuf),
    /// Generated rows of the same widths, this many.
    StandIn {
        /// Rows of each table.
        rows: usize,
    },
}

impl Origin {
    /// All rows of a table, or as many as are used at all.
    pub fn read(&self, dataset: Dataset) -> Result<Labelled, PaperError> {
        match self {
            Origin::Folder(folder) => {
                self.check(&[dataset])?;
                read(folder, dataset)
            }
            Origin::StandIn { rows } => Ok(stand_in(dataset, *rows)),
        }
    }

    /// Refuses a folder in which one of these tables is missing, before any work.
    pub fn check(&self, datasets: &[Dataset]) -> Result<(), PaperError> {
        let Origin::Folder(folder) = self else {
            return Ok(());
        };
        let missing = |dataset: &&Dataset| !folder.join(dataset.file()).exists();
        match datasets.iter().find(missing) {
            Some(&dataset) => Err(PaperError::Missing {
                folder: folder.clone(),
                dataset,
            }),
            None => Ok(()),
        }
    }

    /// The origin of the rows, in words.
    pub fn words(&self) -> String {
        match self {
            Origin::Folder(_) => "the real tables".into(),
            Origin::StandIn { rows } => {
                format!("generated stand-ins of {rows} rows, not the real tables")
            }
        }
    }
}

fn read(folder: &Path, dataset: Dataset) -> Result<Labelled, PaperError> {
    let path = folder.join(dataset.file());
    let source = TableFiles::open_inputs(&[&path])?;
    let table = source.read_table(&ReadOptions::default(), &mut |_| {})?;
    let found = table.names().len() - 1;
    if found != dataset.width() {
        return Err(PaperError::Width {
            path,
            dataset,
            found,
        });
    }
    labelled(&table.head(MOST_ROWS), dataset)
}

fn labelled(table: &Table, dataset: Dataset) -> Result<Labelled, PaperError> {
    let names = table.names().iter().map(String::as_str);
    let features: Vec<&str> = names.filter(|name| *name != "y").collect();
    let yes = |label: &f64| f64::from(dataset.positive().contains(label));
    let y = table.number("y")?.iter().map(yes).collect();
    let Column::Matrix { width, values } = table.gather_columns(&features)? else {
        unreachable!("gathered columns are a matrix")
    };
    Ok(Labelled {
        width,
        x: values,
        y,
    })
}

/// Correlated features and labels of a logistic model with weights that depend on the name of the
/// data set. Features are as correlated as in the real tables, whose weakest direction makes
/// training slow.
fn stand_in(dataset: Dataset, rows: usize) -> Labelled {
    const SHARED: f64 = 0.97;
    let width = dataset.width();
    let mut stream = Stream::new(7, dataset.name(), 0);
    let weights: Vec<f64> = (0..width).map(|_| stream.normal()).collect();
    let mut x = vec![0.0; rows * width];
    stream.fill_normal(&mut x);
    let own = (1.0 - SHARED * SHARED).sqrt();
    let mut y = Vec::with_capacity(rows);
    for row in x.chunks_exact_mut(width) {
        for feature in 1..width {
            row[feature] = SHARED * row[feature - 1] + own * row[feature];
        }
        let logit: f64 = row.iter().zip(&weights).map(|(x, w)| 0.5 * x * w).sum();
        y.push(f64::from(stream.uniform() < 1.0 / (1.0 + (-logit).exp())));
    }
    Labelled { width, x, y }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stand_ins_have_the_widths_of_the_tables_and_both_labels() {
        for dataset in Dataset::ALL {
            let rows = stand_in(dataset, 400);
            assert_eq!((rows.width, rows.rows()), (dataset.width(), 400));
            let ones = rows.y.iter().sum::<f64>();
            assert!(ones > 60.0 && ones < 340.0, "{ones}");
        }
    }

    #[test]
    fn a_missing_file_is_named_with_where_it_goes() {
        let folder = tempfile::tempdir().unwrap();
        let origin = Origin::Folder(folder.path().to_owned());
        let error = origin.read(Dataset::CovTypePine).unwrap_err().to_string();
        assert!(error.contains("covtype.parquet"), "{error}");
        assert!(error.contains("--quick"), "{error}");
        assert!(error.contains("54 feature columns"), "{error}");
    }

    #[test]
    fn cover_types_become_two_tasks() {
        let table = Table::new()
            .with_number("a", vec![1.0, 2.0, 3.0])
            .and_then(|t| t.with_number("y", vec![1.0, 2.0, 6.0]))
            .unwrap();
        let fir = labelled(&table, Dataset::CovTypeFir).unwrap();
        let pine = labelled(&table, Dataset::CovTypePine).unwrap();
        assert_eq!(fir.y, [1.0, 0.0, 1.0]);
        assert_eq!(pine.y, [0.0, 1.0, 0.0]);
    }
}
