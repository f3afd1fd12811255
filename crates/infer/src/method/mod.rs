//! The methods: one file each, and one row each in [`METHODS`]. Everything that lists methods
//! reads that table.

mod auto;
mod bnaf;
mod chain;
mod collapse;
mod dais;
mod full_rank;
mod hmc;
mod hmcecs;
mod iaf;
mod low_rank;
mod mean_field;
mod ns2_dais;
mod ns_dais;
mod nuts;
mod nuts_cs;
mod row_chain;
mod semi_dais;
mod sl_dais;
mod surrogate_hmc;
mod verdict;

use crate::condensed::Condensed;
use crate::error::{SettingError, UnknownMethod};
pub use crate::setting::{Setting, parsed};
pub use auto::Auto;
pub use bnaf::Bnaf;
pub(crate) use chain::gaussian_below;
pub use chain::{ChainSettings, ChainShape};
pub use collapse::Collapse;
pub use dais::{AllRows, Dais};
pub use full_rank::FullRank;
pub use hmc::Hmc;
pub use hmcecs::Hmcecs;
pub use iaf::Iaf;
pub use low_rank::LowRank;
pub use mean_field::MeanField;
pub use ns_dais::{NsDais, OneBatch};
pub use ns2_dais::{FreshBatches, Ns2Dais};
pub use nuts::Nuts;
pub use nuts_cs::NutsCs;
pub use row_chain::{RowChain, RowDrive};
pub use semi_dais::{LatentGuide, SemiDais};
pub use sl_dais::SlDais;
pub use surrogate_hmc::SurrogateHmc;

use std::fmt::{self, Display};

use lehr_density::{Density, Nodes, Stored};

use crate::error::FitError;
use crate::guide::{Frame, Learned};
use crate::judge::work;
use crate::posterior::Posterior;
use crate::run::Run;
use crate::train::VariationalMethod;

/// A way to a posterior, with its settings.
pub trait Method: Send + Sync {
    /// Its row.
    fn info(&self) -> &'static MethodInfo;

    /// Its settings by name, as the command line and other languages know them.
    fn settings(&mut self) -> Vec<Setting<'_>>;

    /// Fits a model to its rows.
    ///
    /// # Errors
    /// If a setting cannot work with this model, or the fit fails on its way.
    fn fit(&self, density: &dyn Density, run: &mut Run<'_>) -> Result<Posterior, FitError>;

    /// How many draws it makes if none are asked for: so many that the error of a mean is below
    /// 0.03 standard deviations and that of a standard deviation below 2 %, and more where they
    /// cost next to nothing.
    fn usual_draws(&self, density: &dyn Density) -> usize {
        const CHEAP: usize = 1_000_000;
        if work(density) <= CHEAP { 4096 } else { 1280 }
    }

    /// Whether condensed rows may stand in for the table's own: not where the method or one of its
    /// settings is about single rows, such as a batch, or sums over the rows are taken anyway.
    fn condenses(&self, _: &dyn Density) -> bool {
        true
    }

    /// The most latents that a row may have of its own: one or two are integrated out for any method.
    fn most_locals(&self) -> usize {
        Nodes::MOST_EXACT
    }

    /// What it trains, if it trains a guide.
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

/// How a row reads back what a fit stored of itself.
pub type Restore = fn(&[u8]) -> Result<Box<dyn Sampler>, FitError>;

/// What people and programs should know of a method.
pub struct MethodInfo {
    /// The name in settings, tables and files.
    pub name: &'static str,
    /// Other spellings.
    pub aliases: &'static [&'static str],
    /// One line of help.
    pub help: &'static str,
    /// What it needs of the model or the table; empty for nothing.
    pub needs: &'static str,
    /// Cost of a step, in words.
    pub cost: &'static str,
    /// When to choose it.
    pub when: &'static str,
    /// What to do if its draws cannot be trusted.
    pub remedy: &'static str,
    /// Whether every step reads every row, so that they have to be in memory.
    pub reads_all_rows: bool,
    /// The method with every setting at its default.
    pub new: fn() -> Box<dyn Method>,
    /// Reads back what a fit stored of itself.
    pub restore: Restore,
}

/// The table of methods.
pub static METHODS: &[&MethodInfo] = &[
    &auto::INFO,
    &mean_field::INFO,
    &full_rank::INFO,
    &low_rank::INFO,
    &dais::INFO,
    &ns_dais::INFO,
    &ns2_dais::INFO,
    &sl_dais::INFO,
    &semi_dais::INFO,
    &iaf::INFO,
    &bnaf::INFO,
    &nuts::INFO,
    &hmc::INFO,
    &surrogate_hmc::INFO,
    &nuts_cs::INFO,
    &hmcecs::INFO,
    &collapse::INFO,
];

/// A setting in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingInfo {
    /// The name.
    pub name: &'static str,
    /// What stands for a value in help.
    pub value: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// The values there are, with their help, where they can be listed.
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

/// The row of that name or alias.
///
/// # Errors
/// If no method is called so.
pub fn find(name: &str) -> Result<&'static MethodInfo, UnknownMethod> {
    let called = |row: &&&MethodInfo| row.name == name || row.aliases.contains(&name);
    let row = METHODS.iter().find(called).copied();
    row.ok_or_else(|| UnknownMethod {
        found: name.to_owned(),
        known: names(),
    })
}

fn names() -> String {
    let names: Vec<&str> = METHODS.iter().map(|row| row.name).collect();
    names.join(", ")
}

/// The error of a name that is not among a method's settings.
fn unknown_setting(method: &'static MethodInfo, name: &str) -> SettingError {
    let has = |row: &&&MethodInfo| row.settings().iter().any(|one| one.name == name);
    let owners: Vec<&str> = METHODS.iter().filter(has).map(|row| row.name).collect();
    let (method, name) = (method.name, name.to_owned());
    match owners.as_slice() {
        [] => SettingError::Unknown {
            method,
            name,
            known: list(&known(method)),
        },
        [_] => SettingError::Other {
            method,
            name,
            owners: list(&owners),
            verb: "has it",
        },
        _ => SettingError::Other {
            method,
            name,
            owners: list(&owners),
            verb: "have it",
        },
    }
}

fn known(method: &str) -> Vec<&'static str> {
    let row = METHODS.iter().find(|row| row.name == method);
    let settings = row.map(|row| row.settings()).unwrap_or_default();
    settings.iter().map(|one| one.name).collect()
}

/// `a, b and c`
fn list<T: Display>(names: &[T]) -> String {
    match names {
        [] => "none".into(),
        [one] => one.to_string(),
        [first @ .., last] => {
            let first: Vec<String> = first.iter().map(ToString::to_string).collect();
            format!("{} and {last}", first.join(", "))
        }
    }
}

/// A fit read back from what it stored of itself.
pub trait Sampler: Send + Sync {
    /// More draws of z, one after another. The density may be bound to any rows of the same
    /// columns where the method reads none of them.
    ///
    /// # Errors
    /// If the model is another one than the fit's.
    fn draw(&self, density: &dyn Density, count: usize, seed: u64) -> Result<Vec<f64>, FitError>;

    /// The log weights on all rows of draws of z that come from elsewhere, each the end of a path of
    /// the guide whose beginning is drawn backwards; `None` if there is no guide or it cannot be run
    /// backwards.
    ///
    /// # Errors
    /// If the model is another one than the fit's.
    fn weigh_ends(
        &self,
        density: &dyn Density,
        draws: &[f64],
        seed: u64,
    ) -> Result<Option<Vec<f64>>, FitError> {
        let _ = (density, draws, seed);
        Ok(None)
    }

    /// The frame of a guide and what was learned in it, if a guide was trained.
    fn learned(&self) -> Option<(&Frame, &Learned)> {
        None
    }
}

/// Reads back what a fit stored of itself.
///
/// # Errors
/// If no method of that name is known, or the bytes are not its own.
pub fn restore(stored: &Stored) -> Result<Box<dyn Sampler>, FitError> {
    let row = find(&stored.name)?;
    (row.restore)(&stored.bytes)
}

impl Posterior {
    /// The fit read back from what it stored of itself.
    ///
    /// # Errors
    /// If its method is not known here, or what it stored is damaged.
    pub fn sampler(&self) -> Result<Box<dyn Sampler>, FitError> {
        restore(&self.origin.method)
    }

    /// More draws of z. A chain on a surrogate needs the model, but no row of the table: the
    /// density may be bound to any rows of the same columns.
    ///
    /// # Errors
    /// If the fit cannot be read back, or the density is another model's.
    pub fn draw_more(
        &self,
        density: &dyn Density,
        count: usize,
        seed: u64,
    ) -> Result<Vec<f64>, FitError> {
        let sampler = self.sampler()?;
        let marginal = self.marginal(density);
        let density = marginal.density();
        let condensed = Condensed::of(density).filter(|_| self.origin.condensed);
        match &condensed {
            Some(condensed) => sampler.draw(condensed, count, seed),
            None => sampler.draw(density, count, seed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_and_alias_leads_to_its_row() {
        for row in METHODS {
            for name in row.aliases.iter().chain([&row.name]) {
                assert_eq!(find(name).unwrap().name, row.name);
            }
            assert_eq!((row.new)().info().name, row.name);
        }
        let error = find("sldais").unwrap_err().to_string();
        let expected = "method: expected one of auto, mean-field, full-rank";
        assert!(error.starts_with(expected), "{error}");
    }

    #[test]
    fn a_setting_of_another_method_is_refused_with_those_that_have_it() {
        let error = FullRank::default().set("chain-steps", "3").unwrap_err();
        assert_eq!(
            error.to_string(),
            "full-rank: the method has no setting chain-steps\n  \
             hint: dais, ns-dais, ns2-dais, sl-dais and semi-dais have it"
        );
        let error = Dais::default().set("surrogate", "rand").unwrap_err();
        let hint = "hint: sl-dais and semi-dais have it";
        assert!(error.to_string().ends_with(hint), "{error}");
        let error = MeanField::default().set("steps", "3").unwrap_err();
        assert_eq!(
            error.to_string(),
            "mean-field: no method has a setting \"steps\"\n  \
             hint: its settings are batch, lanes, iterations and start"
        );
    }

    #[test]
    fn settings_are_read_from_text() {
        let mut method = SlDais::default();
        method.set("surrogate-rows", "512").unwrap();
        method.set("start", "laplace").unwrap();
        assert_eq!(method.surrogate_rows, Some(512));
        let start = method.variational.start.as_ref().unwrap();
        assert_eq!(start.name(), "laplace");
        let error = method.set("surrogate-rows", "many").unwrap_err();
        assert_eq!(
            error.to_string(),
            "surrogate-rows: expected a whole number, found \"many\""
        );
        let error = method.set("momentum", "heavy").unwrap_err();
        assert_eq!(
            error.to_string(),
            "momentum: expected one of diagonal, whitened, found \"heavy\""
        );
    }

    #[test]
    fn settings_of_one_name_are_the_same_in_every_method() {
        let mut known: Vec<SettingInfo> = Vec::new();
        for row in METHODS {
            for one in row.settings() {
                match known.iter().find(|other| other.name == one.name) {
                    Some(other) => assert_eq!(*other, one, "{}", row.name),
                    None => known.push(one),
                }
            }
        }
    }
}
