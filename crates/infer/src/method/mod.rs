//! The methods: one file each, and one row each in [`METHODS`]. Everything that lists methods
//! reads that table.

mod auto;
mod comparison;
mod contract;
pub mod markov;
mod mixed;
mod refusal;
mod row_access;
mod variational;
mod verdict;

pub use crate::setting::{Setting, parsed};
pub use auto::Auto;
pub use comparison::{Bnaf, FreshBatches, Hmcecs, Ns2Dais, NsDais, NutsCs, OneBatch};
pub use contract::{
    ChainSettings, ChainShape, GuideInputs, GuideParts, Method, MethodInfo, Restore, Sampler,
    SettingInfo, VariationalMethod, VariationalSettings,
};
pub(crate) use contract::{gaussian_below, gaussian_up_to, restore_as};
pub use lehr_mixed::HyperparameterMethod;
pub use markov::{Hmc, Nuts, SamplerSettings, SurrogateHmc};
pub use mixed::Collapse;
pub(crate) use row_access::check_rows;
pub use row_access::{RowAccess, has_group_sums};
pub use variational::{
    AllRows, Dais, FlowMethod, FullRank, GaussianMethod, Iaf, LatentGuide, LowRank, MeanField,
    NamedFlow, NamedGaussian, ReadGuide, RowChain, RowDrive, SemiDais, SlDais, restore_gaussian,
    restore_guide,
};

use lehr_density::{Density, StoredForm};

use crate::condensed::ReducedDensity;
use crate::error::{FitError, SettingError, UnknownMethod};
use crate::posterior::Posterior;

/// The table of methods.
pub static METHODS: &[&MethodInfo] = &[
    &auto::INFO,
    &variational::mean_field::INFO,
    &variational::full_rank::INFO,
    &variational::low_rank::INFO,
    &variational::dais::INFO,
    &comparison::ns_dais::INFO,
    &comparison::ns2_dais::INFO,
    &variational::sl_dais::INFO,
    &variational::semi_dais::INFO,
    &variational::iaf::INFO,
    &comparison::bnaf::INFO,
    &markov::nuts::INFO,
    &markov::hmc::INFO,
    &markov::surrogate_hmc::INFO,
    &comparison::nuts_cs::INFO,
    &comparison::hmcecs::INFO,
    &mixed::INFO,
];

/// The row of that name or alias.
///
/// # Errors
/// If there is no method of this name.
pub fn find(name: &str) -> Result<&'static MethodInfo, UnknownMethod> {
    let called = |row: &&&MethodInfo| row.name == name || row.aliases.contains(&name);
    let names = METHODS.iter().map(|row| row.name);
    let row = METHODS.iter().find(called).copied();
    row.ok_or_else(|| UnknownMethod {
        found: name.to_owned(),
        known: names.collect::<Vec<&str>>().join(", "),
    })
}

/// The error for a name that is not among a method's settings.
fn unknown_setting(method: &'static MethodInfo, name: &str) -> SettingError {
    let has = |row: &&&MethodInfo| row.settings().iter().any(|one| one.name == name);
    let owners: Vec<&str> = METHODS.iter().filter(has).map(|row| row.name).collect();
    let (info, method, name) = (method, method.name, name.to_owned());
    if owners.is_empty() {
        let known: Vec<&str> = info.settings().iter().map(|one| one.name).collect();
        return SettingError::Unknown {
            method,
            name,
            known: list(&known),
        };
    }
    SettingError::Other {
        method,
        name,
        verb: ["have it", "has it"][usize::from(owners.len() == 1)],
        owners: list(&owners),
    }
}

/// `a, b and c`
fn list(names: &[&str]) -> String {
    match names {
        [] => "none".into(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Reads the stored form of a fit.
///
/// # Errors
/// If no method of that name is known, or the bytes do not belong to it.
pub fn restore(stored: &StoredForm) -> Result<Box<dyn Sampler>, FitError> {
    let row = find(&stored.name)?;
    (row.restore)(&stored.bytes)
}

impl Posterior {
    /// The fit restored from its stored form.
    ///
    /// # Errors
    /// If its method is unknown, or the stored form is damaged.
    pub fn sampler(&self) -> Result<Box<dyn Sampler>, FitError> {
        restore(&self.origin.method)
    }

    /// More draws of z. A chain on a surrogate needs the model, but no row of the table: the
    /// density may be bound to any rows of the same columns.
    ///
    /// # Errors
    /// If the fit cannot be restored, or the density belongs to another model.
    pub fn draw_more(
        &self,
        density: &dyn Density,
        count: usize,
        seed: u64,
    ) -> Result<Vec<f64>, FitError> {
        let sampler = self.sampler()?;
        let marginal = self.marginal(density);
        let density = marginal.density();
        let condensed = ReducedDensity::of(density)?.filter(|_| self.origin.condensed);
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
