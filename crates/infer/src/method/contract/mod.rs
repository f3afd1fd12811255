//! The contract of a method: a row of the table, settings by name, a fit, and a sampler for further
//! draws.

mod chain;
mod variational;

pub use chain::{ChainSettings, ChainShape};
pub(crate) use chain::{gaussian_below, gaussian_up_to};
pub use variational::{GuideInputs, GuideParts, VariationalMethod, VariationalSettings};

use std::fmt;

use lehr_density::{Density, Nodes};

use serde::de::DeserializeOwned;

use super::{RowAccess, unknown_setting};
use crate::bytes::decoded;
use crate::error::{FitError, SettingError};
use crate::guide::{LearnedBlocks, Whitening};
use crate::judge::work;
use crate::posterior::Posterior;
use crate::run::Run;
use crate::setting::Setting;

/// An inference method, with its settings.
pub trait Method: Send + Sync {
    /// Its row.
    fn info(&self) -> &'static MethodInfo;

    /// Its settings by name, as in the command line and other languages.
    fn settings(&mut self) -> Vec<Setting<'_>>;

    /// Fits a model to its rows.
    ///
    /// # Errors
    /// If a setting cannot work with this model, or the fit fails.
    fn fit(&self, density: &dyn Density, run: &mut Run<'_>) -> Result<Posterior, FitError>;

    /// The default number of draws: such that the error of a mean is below 0.03 standard deviations
    /// and that of a standard deviation below 2 %, and more if they are cheap.
    fn usual_draws(&self, density: &dyn Density) -> usize {
        const CHEAP: usize = 1_000_000;
        if work(density) <= CHEAP { 4096 } else { 1280 }
    }

    /// Whether reduced rows may replace the table's own: not if the method or one of its settings
    /// is about single rows, such as a batch, or if it sums over the rows anyway.
    fn condenses(&self, _: &dyn Density) -> bool {
        true
    }

    /// The most local latents per row: one or two are integrated out for any method.
    fn most_locals(&self) -> usize {
        Nodes::MOST_EXACT
    }

    /// Its variational part, if it trains a guide.
    fn variational(&self) -> Option<&dyn VariationalMethod> {
        None
    }

    /// The same, to change its settings.
    fn variational_mut(&mut self) -> Option<&mut dyn VariationalMethod> {
        None
    }

    /// Changes one setting by name.
    ///
    /// # Errors
    /// If the method has no such setting, or the setting no such value.
    fn set(&mut self, name: &str, value: &str) -> Result<(), SettingError> {
        let info = self.info();
        let found = self.settings().into_iter().find(|one| one.name == name);
        found.ok_or_else(|| unknown_setting(info, name))?.set(value)
    }
}

/// Reads the stored form of a fit.
pub type Restore = fn(&[u8]) -> Result<Box<dyn Sampler>, FitError>;

/// The description of a method for users and programs.
pub struct MethodInfo {
    /// The name in settings, tables and files.
    pub name: &'static str,
    /// Other spellings.
    pub aliases: &'static [&'static str],
    /// One line of help.
    pub help: &'static str,
    /// Its requirements on the model or the table; empty for none.
    pub needs: &'static str,
    /// Cost of a step, in words.
    pub cost: &'static str,
    /// When to choose it.
    pub when: &'static str,
    /// Advice if its draws cannot be trusted.
    pub remedy: &'static str,
    /// What it needs of the rows.
    pub rows: RowAccess,
    /// The method with every setting at its default.
    pub new: fn() -> Box<dyn Method>,
    /// Reads the stored form of a fit.
    pub restore: Restore,
}

/// A fit restored from its stored form.
pub trait Sampler: Send + Sync {
    /// More draws of z, one after another. The density may be bound to any rows of the same columns
    /// if the method reads none of them.
    ///
    /// # Errors
    /// If the model differs from the fit's.
    fn draw(&self, density: &dyn Density, count: usize, seed: u64) -> Result<Vec<f64>, FitError>;

    /// The log weights on all rows of external draws of z, each the end of a path of the guide
    /// whose beginning is drawn backwards; `None` if there is no guide or it cannot be run
    /// backwards.
    ///
    /// # Errors
    /// If the model differs from the fit's.
    fn reverse_log_weights(
        &self,
        density: &dyn Density,
        draws: &[f64],
        seed: u64,
    ) -> Result<Option<Vec<f64>>, FitError> {
        let _ = (density, draws, seed);
        Ok(None)
    }

    /// The whitening of a guide and its learned quantities, if a guide was trained.
    fn learned(&self) -> Option<(&Whitening, &LearnedBlocks)> {
        None
    }
}

/// Restores a fit that is stored as its sampler.
pub(crate) fn restore_as<S: Sampler + DeserializeOwned + 'static>(
    bytes: &[u8],
) -> Result<Box<dyn Sampler>, FitError> {
    let sampler: S = decoded(bytes)?;
    Ok(Box::new(sampler))
}

/// The description of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingInfo {
    /// The name.
    pub name: &'static str,
    /// The placeholder of a value in help.
    pub value: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// The possible values with their help, if they can be listed.
    pub choices: Vec<(&'static str, &'static str)>,
}

impl MethodInfo {
    /// The settings by name.
    pub fn settings(&self) -> Vec<SettingInfo> {
        let mut method = (self.new)();
        let settings = method.settings().into_iter();
        let info = |one: Setting<'_>| SettingInfo {
            name: one.name,
            value: one.value,
            help: one.help,
            choices: one.choices,
        };
        settings.map(info).collect()
    }
}

impl fmt::Debug for MethodInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
