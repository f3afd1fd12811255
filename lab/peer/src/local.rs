//! Chains over a local latent of each row, as in the other side's `AutoSemiDAIS`.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use lehr_density::Density;
use lehr_infer::annealed::AnnealedStart;
use lehr_infer::fit::Fit;
use lehr_infer::guide::{MeanField, RowInput};
use lehr_infer::local::{RowBase, RowChains, Semi, alike};
use lehr_infer::method::{self, SemiDais, VariationalSettings};
use lehr_infer::objective::Score;
use lehr_infer::train::Iterations;
use lehr_model::distribution::{Distribution, Gamma, HalfNormal, Normal};
use lehr_model::{Bound, Model};
use lehr_table::Table;
use serde::Deserialize;
use serde_json::{Value, json};

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

/// Robust regression with a precision for each row, on a table that the other side has written.
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

/// The extent of a fit, and its seed.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Extent {
    /// The most steps; the default if `None`.
    steps: Option<u64>,
    draws: usize,
    seed: u64,
}

impl Extent {
    fn limit(&self, settings: &mut VariationalSettings) {
        if let Some(cap) = self.steps {
            settings.train.iterations = Iterations::Auto { cap };
        }
    }

    /// The bound of a fit, and the seconds of each part of it.
    fn run(&self, fit: Fit<'_>, density: &dyn Density) -> Result<Value> {
        let fit = fit.unexamined().seed(self.seed).draws(self.draws);
        let posterior = fit.run(density)?;
        let bound = posterior.bound().context("there is no bound")?;
        let seconds = posterior.seconds;
        Ok(json!({
            "bound": { "mean": bound.mean, "error": bound.error },
            "seconds": {
                "start": seconds.start,
                "compile": seconds.compile,
                "train": seconds.train,
                "evaluate": seconds.evaluate,
            },
            "steps": posterior.training().map_or(0, |training| training.iterations),
        }))
    }

    /// The fit with integrated local latents: an upper limit for any chain with the same guide of
    /// the shared latents.
    pub(crate) fn integrated(&self, density: &dyn Density) -> Result<Value> {
        let mut whole = method::MeanField::default();
        self.limit(&mut whole.variational);
        self.run(Fit::new(whole), density)
    }
}

impl LocalCase {
    fn row_base(&self) -> RowBase {
        match self.base {
            Base::Newton => RowBase::Newton,
            Base::Own => RowBase::Own,
        }
    }

    /// A whole fit with the defaults, except for independent Gaussians for the shared latents and
    /// the batch size, which are the other side's.
    pub(crate) fn fit(&self, density: &dyn Density, extent: Extent) -> Result<Value> {
        let mut semi = SemiDais {
            row_base: self.row_base(),
            ..SemiDais::default()
        };
        semi.chain.base = Some(Arc::new(MeanField::default()));
        semi.chain.steps = Some(self.chain_steps);
        semi.variational.batch = Some(self.batch);
        extent.limit(&mut semi.variational);
        extent.run(Fit::new(semi), density)
    }

    /// Independent Gaussians for the shared latents, with the other side's start.
    pub(crate) fn guide(&self, density: &dyn Density) -> Semi {
        let base = self.row_base();
        Semi {
            latents: Arc::new(MeanField::default()),
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
            rows: RowInput::Batch {
                size: self.batch,
                purpose: "score".into(),
            },
            control: None,
        }
    }
}
