//! One method with its sizes, and the quantities at which its bound is evaluated.

use std::sync::Arc;

use anyhow::{Context, Result};
use lehr_density::Density;
use lehr_infer::annealed::{AnnealedGuide, AnnealedStart, Drive, MAX_STEP_SIZE, Momentum};
use lehr_infer::guide::{
    Autoregressive, Base, Block, BlockNeural, FlowBase, FullRank, Guide, LearnedBlocks, MeanField,
    RowInput,
};
use lehr_infer::objective::Score;
use lehr_infer::surrogate::RowSurrogate;
use serde::Deserialize;

/// One method with its sizes.
#[derive(Debug, Deserialize)]
pub(crate) struct Case {
    method: MethodName,
    base: BaseName,
    chain_steps: usize,
    /// B
    batch: usize,
    /// The surrogate rows of SL-DAIS.
    surrogate: Vec<usize>,
    /// Draws per step.
    pub(crate) lanes: usize,
}

/// The methods that have a counterpart on the other side.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) enum MethodName {
    MeanField,
    FullRank,
    Dais,
    SlDais,
    Iaf,
    Bnaf,
}

impl MethodName {
    /// The name in the table of methods.
    pub(crate) fn name(self) -> &'static str {
        match self {
            MethodName::MeanField => "mean-field",
            MethodName::FullRank => "full-rank",
            MethodName::Dais => "dais",
            MethodName::SlDais => "sl-dais",
            MethodName::Iaf => "iaf",
            MethodName::Bnaf => "bnaf",
        }
    }
}

#[derive(Clone, Copy, Debug, Deserialize)]
enum BaseName {
    MeanField,
    FullRank,
}

impl Case {
    fn base(&self) -> Arc<dyn Base> {
        match self.base {
            BaseName::MeanField => Arc::new(MeanField::default()),
            BaseName::FullRank => Arc::new(FullRank::default()),
        }
    }

    pub(crate) fn guide(&self, density: &dyn Density) -> Arc<dyn Guide> {
        let drive = match self.method {
            MethodName::MeanField | MethodName::FullRank => return self.base(),
            MethodName::Iaf => return Arc::new(FlowBase::<Autoregressive>::on(self.base())),
            MethodName::Bnaf => return Arc::new(FlowBase::<BlockNeural>::on(self.base())),
            MethodName::Dais => Drive::FullData,
            MethodName::SlDais => {
                Drive::Surrogate(Arc::new(RowSurrogate::on_rows(density, &self.surrogate)))
            }
        };
        Arc::new(AnnealedGuide {
            base: self.base(),
            drive,
            steps: self.chain_steps,
            momentum: Momentum::Diagonal,
            start: AnnealedStart::default(),
        })
    }

    /// DAIS has no mini-batch: both sides score it on all rows.
    pub(crate) fn score(&self) -> Score {
        let rows = match self.method {
            MethodName::Dais => RowInput::All,
            _ => RowInput::Batch {
                size: self.batch,
                purpose: "score".into(),
            },
        };
        Score {
            rows,
            control: None,
        }
    }
}

/// The learned quantities on their own scales; those that a method lacks are empty.
#[derive(Debug, Deserialize)]
pub(crate) struct Quantities {
    mean: Vec<f64>,
    /// The lower factor of the base's covariance, row after row.
    factor: Vec<f64>,
    step_size: f64,
    step_growth: f64,
    increments: Vec<f64>,
    refreshment: f64,
    weights: Vec<f64>,
}

impl Quantities {
    /// The blocks of a guide at these values. The momentum variance stays at its start, one.
    pub(crate) fn learned(&self, blocks: Vec<Block>) -> Result<LearnedBlocks> {
        let mut learned = LearnedBlocks::new(blocks);
        let ln = |values: &[f64]| values.iter().map(|v| v.ln()).collect::<Vec<f64>>();
        let size = self.mean.len();
        let diagonal: Vec<f64> = (0..size).map(|i| self.factor[i * size + i]).collect();
        let values = [
            ("base_mean", self.mean.clone()),
            ("base_log_scale", ln(&diagonal)),
            ("base_below", self.factor.clone()),
            ("step_size", vec![logit(self.step_size / MAX_STEP_SIZE)]),
            ("step_growth", vec![self.step_growth]),
            ("temperature_increments", ln(&self.increments)),
            ("refreshment", vec![logit(self.refreshment)]),
            ("surrogate_log_weight", ln(&self.weights)),
        ];
        for (name, values) in values {
            let Some(range) = learned.range_of(name) else {
                continue;
            };
            let place = learned.values.get_mut(range).expect("a block's own range");
            let fits = place.len() == values.len();
            fits.then(|| place.copy_from_slice(&values))
                .with_context(|| format!("{name}: expected {} numbers", place.len()))?;
        }
        Ok(learned)
    }
}

fn logit(share: f64) -> f64 {
    (share / (1.0 - share)).ln()
}
