//! What every method that trains a guide has, and what it adds to the variational loop.

use std::sync::Arc;

use lehr_density::Density;

use crate::bytes::encoded;
use crate::error::FitError;
use crate::estimate::Choices;
use crate::guide::{Base, Guide};
use crate::method::{ChainSettings, MethodInfo};
use crate::posterior::NO_ROWS;
use crate::setting::{Setting, parsed};
use crate::start::{Start, StartingPoint, setting};
use crate::train::{Schedule, TrainSettings};

/// The settings that all variational methods have. What is `None` is chosen by the rules of
/// `docs/methods.md` and reported.
#[derive(Clone)]
pub struct VariationalSettings {
    /// B, the rows that score a step.
    pub batch: Option<usize>,
    /// Where training starts.
    pub start: Option<Arc<dyn Start>>,
    /// Whether the data term is estimated by way of its expansion at the mode.
    pub control: Option<bool>,
    /// How to train.
    pub train: TrainSettings,
}

impl Default for VariationalSettings {
    fn default() -> VariationalSettings {
        VariationalSettings::new(8, 1e-2)
    }
}

impl VariationalSettings {
    /// So many draws per step, at this learning rate.
    ///
    /// A step takes several draws: where the posterior is skewed a single one is so noisy that
    /// no rule could tell a level bound from a rising one. Draws of a chain cost more, and vary
    /// less; one of DAIS costs all rows.
    pub fn new(lanes: usize, rate: f64) -> VariationalSettings {
        VariationalSettings {
            batch: None,
            start: None,
            control: None,
            train: TrainSettings {
                lanes,
                schedule: Schedule::Staircase { start: rate },
                ..TrainSettings::default()
            },
        }
    }

    /// The settings by name.
    pub fn settings(&mut self) -> Vec<Setting<'_>> {
        let TrainSettings {
            lanes, iterations, ..
        } = &mut self.train;
        vec![
            Setting::count(
                "batch",
                "N",
                "rows that score a training step",
                &mut self.batch,
            ),
            Setting::new("lanes", "N", "draws per training step", |text| {
                *lanes = match parsed(text, "a whole number")? {
                    0 => return Err("expected at least one draw per step, found 0".into()),
                    count => count,
                };
                Ok(())
            }),
            Setting::new(
                "iterations",
                "auto|N",
                "training steps: a number, or auto to stop when the bound is level",
                |text| {
                    *iterations = text.parse()?;
                    Ok(())
                },
            ),
            setting(&mut self.start),
        ]
    }
}

/// A method that trains a guide: what it adds to the loop.
pub trait VariationalMethod: Send + Sync + 'static {
    /// Its row.
    fn info(&self) -> &'static MethodInfo;

    /// Its settings by name.
    fn settings(&mut self) -> Vec<Setting<'_>>;

    /// The settings that all variational methods have.
    fn common(&self) -> &VariationalSettings;

    /// The same, to change them.
    fn common_mut(&mut self) -> &mut VariationalSettings;

    /// The settings of its chain, to change them, if it has one.
    fn chain_mut(&mut self) -> Option<&mut ChainSettings> {
        None
    }

    /// The Gaussian that it is, or is built on.
    fn base(&self, density: &dyn Density) -> Arc<dyn Base>;

    /// Whether its guide is built on the base, which is then trained alone first and compared
    /// with.
    fn has_layers(&self) -> bool {
        false
    }

    /// Whether it expands the log likelihood at the start.
    fn expands(&self) -> bool {
        false
    }

    /// What is wrong with its settings, whatever the model is.
    fn problem(&self) -> Option<String> {
        None
    }

    /// Whether it, or a setting of its own, is about single rows.
    fn names_rows(&self) -> bool {
        false
    }

    /// Whether its guide scores the rows by itself, below their log likelihood.
    fn scores_rows(&self) -> bool {
        false
    }

    /// The guide that is trained: the base itself unless it is built on it.
    ///
    /// # Errors
    /// If this model does not allow it.
    fn guide(
        &self,
        ground: &Groundwork<'_>,
        choices: &mut Choices,
    ) -> Result<GuideParts, FitError> {
        let _ = choices;
        Ok(GuideParts::new(ground.base.clone(), encoded(&ground.base)))
    }
}

/// What a guide is built from.
pub struct Groundwork<'a> {
    /// The model and its rows.
    pub density: &'a dyn Density,
    /// The Gaussian below.
    pub base: Arc<dyn Base>,
    /// Where training starts.
    pub point: &'a StartingPoint,
    /// B, the rows that score a step.
    pub batch: usize,
    /// Where randomness comes from.
    pub seed: u64,
}

/// A guide, and what is stored of it.
pub struct GuideParts {
    /// The guide.
    pub guide: Box<dyn Guide>,
    /// All that makes it, but for what it learns.
    pub bytes: Vec<u8>,
    /// What of the user's rows that contains, in words.
    pub contents: String,
}

impl GuideParts {
    /// A guide that stores no rows.
    pub fn new(guide: impl Guide + 'static, bytes: Vec<u8>) -> GuideParts {
        GuideParts {
            guide: Box::new(guide),
            bytes,
            contents: NO_ROWS.into(),
        }
    }
}
