//! Robust linear regression with a precision for each row, and the same in closed form.

use lehr_graph::math::lgamma;
use lehr_model::distribution::{Distribution, Gamma, HalfNormal, Normal, StudentT};
use lehr_model::{Bound, Model};
use lehr_numeric::stream::Stream;
use lehr_table::{Column, ReadOptions, Table, TableFiles};

use crate::paper::dataset::Origin;
use crate::paper::error::PaperError;
use crate::paper::labelled::Labelled;

/// A table of the paper's study of local latents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows {
    /// The name in the paper.
    pub(crate) name: &'static str,
    /// The file that holds it.
    file: &'static str,
    /// Features per row.
    width: usize,
    /// Published gains over mean field with K = 8 and 16, and of the oracle, with their errors.
    pub(crate) published: [(f64, f64); 3],
}

/// Both tables.
pub(crate) const TABLES: [Rows; 2] = [
    Rows {
        name: "Pol",
        file: "pol.parquet",
        width: 26,
        published: [(91.4, 3.3), (136.4, 3.6), (360.2, 2.6)],
    },
    Rows {
        name: "Elevators",
        file: "elevators.parquet",
        width: 18,
        published: [(186.3, 5.3), (366.8, 5.5), (758.0, 2.5)],
    },
];

/// y ~ N(x·b + a, σ²/τₙ), τₙ ~ Gamma(ν/2, ν/2) on standardised rows, all of which train.
pub(crate) struct Robust {
    /// With a local latent of each row.
    pub(crate) mixture: Bound,
    /// Student's t: the latents integrated out in closed form.
    pub(crate) closed: Bound,
    /// N
    pub(crate) rows: usize,
}

impl Robust {
    /// The regression on a table, with ν degrees of freedom and at most this many rows.
    pub(crate) fn new(
        table: Rows,
        origin: &Origin,
        (df, most): (f64, usize),
    ) -> Result<Robust, PaperError> {
        let mut data = match origin {
            Origin::Folder(folder) => read(&folder.join(table.file), table.name, table.width)?,
            Origin::StandIn { rows } => stand_in(table, *rows, df),
        };
        let rows = data.rows().min(most);
        data.x.truncate(rows * data.width);
        data.y.truncate(rows);
        let mut none = Labelled {
            width: data.width,
            x: Vec::new(),
            y: Vec::new(),
        };
        Labelled::standardise(&mut data, &mut none);
        standardise(&mut data.y);
        let table = Table::new()
            .with_matrix("x", rows, data.width, data.x)?
            .with_number("y", data.y)?;
        Ok(Robust {
            mixture: mixture(data.width, df).bind(&table)?,
            closed: closed(data.width, df).bind(&table)?,
            rows,
        })
    }
}

fn mixture(width: usize, df: f64) -> Model {
    Model::new(move |m| {
        let level = m.sample("level", Normal::new(0.0, 1.0));
        let weight = m.sample("weight", Normal::new(0.0, 1.0).expand([width]));
        let scale = m.sample("scale", HalfNormal::new(1.0));
        m.rows(|row| {
            let precision = row.local("precision", Gamma::new(0.5 * df, 0.5 * df));
            let mean = row.matrix("x").dot(weight) + level;
            row.observe("y", Normal::new(mean, scale / precision.sqrt()));
        });
    })
}

fn closed(width: usize, df: f64) -> Model {
    Model::new(move |m| {
        let level = m.sample("level", Normal::new(0.0, 1.0));
        let weight = m.sample("weight", Normal::new(0.0, 1.0).expand([width]));
        let scale = m.sample("scale", HalfNormal::new(1.0));
        m.rows(|row| {
            let mean = row.matrix("x").dot(weight) + level;
            row.observe("y", StudentT::new(df, mean, scale));
        });
    })
}

/// R(α) = ln Γ(α) − α ln α + α + ½ ln α − ½ ln 2π at α = ½(ν + 1): the divergence of the best
/// normal for the log precision of a row from its posterior, the same for every row.
pub(crate) fn remainder(df: f64) -> f64 {
    let alpha = 0.5 * (df + 1.0);
    lgamma(alpha) - alpha * alpha.ln() + alpha + 0.5 * alpha.ln() - 0.5 * std::f64::consts::TAU.ln()
}

/// A table of so many columns and a response of numbers.
pub(crate) fn read(
    path: &std::path::Path,
    name: &str,
    width: usize,
) -> Result<Labelled, PaperError> {
    let problem = |problem: String| PaperError::Rows {
        path: path.into(),
        problem,
    };
    if !path.exists() {
        let words = format!("expected the {name} table, found no such file");
        return Err(problem(words));
    }
    let table =
        TableFiles::open_inputs(&[path])?.read_table(&ReadOptions::default(), &mut |_| {})?;
    let names = table.names().iter().map(String::as_str);
    let features: Vec<&str> = names.filter(|name| *name != "y").collect();
    let found = features.len();
    if found != width {
        return Err(problem(format!(
            "expected {width} columns and y, found {found} columns beside y"
        )));
    }
    let y = table.number("y")?.to_vec();
    let Column::Matrix { width, values } = table.gather_columns(&features)? else {
        unreachable!("gathered columns are a matrix")
    };
    Ok(Labelled {
        width,
        x: values,
        y,
    })
}

/// Rows of the model itself.
fn stand_in(table: Rows, rows: usize, df: f64) -> Labelled {
    let width = table.width;
    let mut stream = Stream::new(7, table.name, 0);
    let weights: Vec<f64> = (0..width).map(|_| 0.3 * stream.normal()).collect();
    let mut x = vec![0.0; rows * width];
    stream.fill_normal(&mut x);
    let mut y = Vec::with_capacity(rows);
    for row in x.chunks_exact(width) {
        let mean: f64 = row.iter().zip(&weights).map(|(x, w)| x * w).sum();
        let squares: f64 = (0..df.round().max(1.0) as usize)
            .map(|_| stream.normal().powi(2))
            .sum();
        y.push(mean + 0.5 * stream.normal() * (df / squares).sqrt());
    }
    Labelled { width, x, y }
}

fn standardise(values: &mut [f64]) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let square = values.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / count;
    for value in values {
        *value = (*value - mean) / square.sqrt();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remainder_is_the_known_number_and_falls_as_a_twelfth_of_alpha() {
        assert!(
            (remainder(4.0) - 0.033_162).abs() < 1e-6,
            "{}",
            remainder(4.0)
        );
        let alpha = 0.5 * (400.0 + 1.0);
        assert!((remainder(400.0) * 12.0 * alpha - 1.0).abs() < 1e-4);
    }
}
