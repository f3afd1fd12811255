//! The common settings of methods that train a guide, and the part of the variational loop that
//! each provides.

use std::sync::Arc;

use lehr_density::Density;

use crate::bytes::encoded;
use crate::error::FitError;
use crate::estimate::Choices;
use crate::guide::{Base, Guide};
use crate::method::{ChainSettings, MethodInfo, gaussian_below};
use crate::posterior::NO_ROWS;
use crate::setting::{Setting, parsed};
use crate::start::{Start, StartingPoint, setting};
use crate::train::{Schedule, TrainSettings};

/// The settings that all variational methods have. Settings that are `None` are chosen by the rules
/// of `docs/methods.md` and reported.
#[derive(Clone)]
pub struct VariationalSettings {
    /// B, the rows that score a step.
    pub batch: Option<usize>,
    /// The start of training.
    pub start: Option<Arc<dyn Start>>,
    /// Whether the data term uses its expansion at the mode as a control variate.
    pub control: Option<bool>,
    /// The settings of training.
    pub train: TrainSettings,
}

impl Default for VariationalSettings {
    fn default() -> VariationalSettings {
        VariationalSettings::new(8, 1e-2)
    }
}

impl VariationalSettings {
    /// The defaults with this many draws per step, at this learning rate.
    ///
    /// A step uses several draws: if the posterior is skewed a single one is so noisy that no rule
    /// could distinguish a level bound from a rising one. Draws of a chain cost more, and vary
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
            Setting::count("batch", "rows that score a training step", &mut self.batch),
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

/// A method that trains a guide: its part of the loop.
pub trait VariationalMethod: Send + Sync + 'static {
    /// Its row.
    fn info(&self) -> &'static MethodInfo;

    /// Its settings by name.
    fn settings(&mut self) -> Vec<Setting<'_>>;

    /// The settings that all variational methods have, and those of its chain, if it has one.
    fn shared(&self) -> (&VariationalSettings, Option<&ChainSettings>);

    /// The same, to change them.
    fn shared_mut(&mut self) -> (&mut VariationalSettings, Option<&mut ChainSettings>);

    /// The settings that all variational methods have.
    fn common(&self) -> &VariationalSettings {
        self.shared().0
    }

    /// The same, to change them.
    fn common_mut(&mut self) -> &mut VariationalSettings {
        self.shared_mut().0
    }

    /// The settings of its chain, if it has one.
    fn chain(&self) -> Option<&ChainSettings> {
        self.shared().1
    }

    /// The same, to change them.
    fn chain_mut(&mut self) -> Option<&mut ChainSettings> {
        self.shared_mut().1
    }

    /// The Gaussian that it is, or on which it is built.
    fn base(&self, density: &dyn Density) -> Arc<dyn Base> {
        match self.chain() {
            Some(chain) => chain.base(density),
            None => gaussian_below(density),
        }
    }

    /// Whether its guide is built on the base, which is then trained alone first and used for
    /// comparison.
    fn has_layers(&self) -> bool {
        false
    }

    /// Whether it expands the log likelihood at the start.
    fn expands(&self) -> bool {
        false
    }

    /// The problem with its settings, for any model.
    fn problem(&self) -> Option<String> {
        self.chain().and_then(ChainSettings::problem)
    }

    /// Whether the method or one of its settings is about single rows.
    fn names_rows(&self) -> bool {
        false
    }

    /// Whether its guide scores rows by a bound on their log likelihood.
    fn scores_rows(&self) -> bool {
        false
    }

    /// The guide to train: the base itself unless the method builds on it.
    ///
    /// # Errors
    /// If this model does not allow it.
    fn guide(
        &self,
        ground: &GuideInputs<'_>,
        choices: &mut Choices,
    ) -> Result<GuideParts, FitError> {
        let _ = choices;
        Ok(GuideParts::new(ground.base.clone(), encoded(&ground.base)))
    }
}

/// The inputs from which a guide is built.
pub struct GuideInputs<'a> {
    /// The model and its rows.
    pub density: &'a dyn Density,
    /// The Gaussian below.
    pub base: Arc<dyn Base>,
    /// The start of training.
    pub point: &'a StartingPoint,
    /// B, the rows that score a step.
    pub batch: usize,
    /// The seed.
    pub seed: u64,
}

/// A guide, with its serialised form.
pub struct GuideParts {
    /// The guide.
    pub guide: Arc<dyn Guide>,
    /// Everything that defines it, except for its learned quantities.
    pub bytes: Vec<u8>,
    /// The user's rows that it contains, in words.
    pub contents: String,
}

impl GuideParts {
    /// A guide that stores no rows.
    pub fn new(guide: Arc<dyn Guide>, bytes: Vec<u8>) -> GuideParts {
        GuideParts {
            guide,
            bytes,
            contents: NO_ROWS.into(),
        }
    }
}
