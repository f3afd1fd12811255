//! Chains over a latent of each row, as the other side's `AutoSemiDAIS` has them.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use lehr_density::Density;
use lehr_infer::annealed::AnnealedStart;
use lehr_infer::guide::{Feed, MeanField};
use lehr_infer::local::{RowBase, RowChains, Semi, alike};
use lehr_infer::train::Score;
use lehr_model::distribution::{Distribution, Gamma, HalfNormal, Normal};
use lehr_model::{Bound, Model};
use lehr_table::Table;
use serde::Deserialize;

use crate::logistic::doubles;

/// ν
const DF: f64 = 4.0;

/// A guide with a chain for each row.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct LocalCase {
    chain_steps: usize,
    batch: usize,
    base: Base,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Base {
    Newton,
    Own,
}

/// Robust regression with a precision of each row's own, on a table that the other side has written.
pub(crate) fn read(path: &Path, rows: usize, columns: usize) -> Result<Bound> {
    let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
    ensure!(
        bytes.len() == 8 * rows * (columns + 1),
        "{}",
        path.display()
    );
    let (x, y) = bytes.split_at(8 * rows * columns);
    let model = Model::new(move |m| {
        let weight = m.sample("weight", Normal::new(0.0, 1.0).expand([columns]));
        let scale = m.sample("scale", HalfNormal::new(1.0));
        m.rows(|row| {
            let precision = row.local("precision", Gamma::new(0.5 * DF, 0.5 * DF));
            let mean = row.matrix("x").dot(weight);
            row.observe("y", Normal::new(mean, scale / precision.sqrt()));
        });
    });
    let table = Table::new()
        .with_matrix("x", rows, columns, doubles(x))?
        .with_number("y", doubles(y))?;
    Ok(model.bind(&table)?)
}

impl LocalCase {
    /// Independent Gaussians for what rows share, with the other side's start.
    pub(crate) fn guide(&self, density: &dyn Density) -> Semi {
        let base = match self.base {
            Base::Newton => RowBase::Newton,
            Base::Own => RowBase::Own,
        };
        Semi {
            latents: Box::new(MeanField::default()),
            rows: RowChains {
                base,
                steps: self.chain_steps,
                start: AnnealedStart::default(),
            },
            own: (base == RowBase::Own).then(|| alike(density, 0.1)),
        }
    }

    pub(crate) fn score(&self) -> Score {
        Score {
            rows: Feed::Batch {
                size: self.batch,
                purpose: "score".into(),
            },
            control: None,
        }
    }
}
