//! The Gaussian process by inducing points that the paper's tables, the speed tables and the peer share.

use anyhow::Result;
use lehr_density::Support;
use lehr_model::gp::{InducedGp, Rbf};
use lehr_model::{Bound, Model};
use lehr_numeric::stream::Stream;
use lehr_table::Table;

/// The response of rows to the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Response {
    /// Normal around the function, with learned σ.
    Normal,
    /// Student's t around the function, with learned σ and ν.
    Robust,
    /// Outcomes with the function as logit.
    Outcome,
}

/// A function of the columns of `x` by its values at these places, row-major. All parameters except
/// the values are learned, starting from s = 1 (2 for a logit), ℓ = √d, σ = ½ and ν = 4.
pub fn model(response: Response, places: Vec<f64>, width: usize) -> Model {
    Model::new(move |m| {
        let start = match response {
            Response::Outcome => 2.0,
            _ => 1.0,
        };
        let scale = m.param("scale", start, Support::Positive);
        let lengths = vec![(width as f64).sqrt(); width];
        let lengths = m.param("lengthscale", lengths, Support::Positive);
        let points = m.graph().constant([places.len() / width, width], &places);
        let points = m.param("points", points, Support::Real);
        let gp = InducedGp::new(m, "f", Rbf::new(scale, lengths), points);
        let sigma = || m.param("sigma", 0.5, Support::Positive);
        let noise = (response != Response::Outcome).then(sigma);
        let excess = || m.param("nu-2", 2.0, Support::Positive);
        let df = (response == Response::Robust).then(|| excess() + 2.0);
        m.rows(|row| {
            let f = gp.marginal_at(row.matrix("x"));
            match (noise, df) {
                (Some(sigma), Some(df)) => row.observe("y", f.student_t(df, sigma)),
                (Some(sigma), None) => row.observe("y", f.normal(sigma)),
                _ => row.observe("y", f.bernoulli()),
            }
        });
    })
}

/// A robust process on generated rows, by this many inducing points.
pub fn generate(rows: usize, columns: usize, points: usize) -> Result<Bound> {
    let mut stream = Stream::new(1, "bench", 0);
    let mut x = vec![0.0; rows * columns];
    stream.fill_normal(&mut x);
    let wave = |row: &[f64]| row.iter().map(|x| (1.3 * x).sin()).sum::<f64>();
    let noise = |value: f64| value + 0.3 * stream.normal();
    let y = x.chunks_exact(columns).map(wave).map(noise).collect();
    let places = x[..points * columns].to_vec();
    let table = Table::new()
        .with_matrix("x", rows, columns, x)?
        .with_number("y", y)?;
    Ok(model(Response::Robust, places, columns).bind(&table)?)
}
