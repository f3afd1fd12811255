//! The model of the speed tables: logistic regression with N(0, 1) weights.

use anyhow::Result;
use lehr_model::distribution::{Bernoulli, Distribution, Normal};
use lehr_model::{Bound, Model};
use lehr_numeric::stream::Stream;
use lehr_table::Table;

/// The regression on these rows: `x` holds one row of `columns` numbers per label in `y`.
pub fn regression(x: Vec<f64>, y: Vec<f64>, columns: usize) -> Result<Bound> {
    let table = Table::new()
        .with_matrix("x", y.len(), columns, x)?
        .with_number("y", y)?;
    let model = Model::new(move |m| {
        let weight = m.sample("weight", Normal::new(0.0, 1.0).expand([columns]));
        m.rows(|row| {
            let logit = row.matrix("x").dot(weight);
            row.observe("y", Bernoulli::with_logit(logit));
        });
    });
    Ok(model.bind(&table)?)
}

/// The regression on generated rows of independent standard normal columns.
pub fn generate(rows: usize, columns: usize) -> Result<Bound> {
    let mut stream = Stream::new(1, "bench", 0);
    let weights: Vec<f64> = (0..columns).map(|_| stream.normal()).collect();
    let scale = 1.0 / (columns as f64).sqrt();
    let mut x = vec![0.0; rows * columns];
    stream.fill_normal(&mut x);
    let label = |row: &[f64]| {
        let logit: f64 = row.iter().zip(&weights).map(|(x, w)| scale * x * w).sum();
        f64::from(stream.uniform() < 1.0 / (1.0 + (-logit).exp()))
    };
    let y = x.chunks_exact(columns).map(label).collect();
    regression(x, y, columns)
}
