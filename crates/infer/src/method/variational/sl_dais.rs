//! `sl-dais`: annealed leapfrog steps on a learned surrogate likelihood.

use std::sync::Arc;

use lehr_density::{Density, StoredForm};

use crate::annealed::Drive;
use crate::bytes::{decoded, encoded};
use crate::error::{FitError, SurrogateError};
use crate::estimate::{Choices, short};
use crate::guide::{Guide, LearnedBlocks};
use crate::method::{
    ChainSettings, ChainShape, GuideInputs, GuideParts, MethodInfo, RowAccess, VariationalMethod,
    VariationalSettings, restore_guide,
};
use crate::setting::Setting;
use crate::surrogate::{
    Setup, StartWeights, Surrogate, SurrogateKind, SurrogateSettings, predicted_quality, restore,
    rows_setting,
};

/// The row of this method.
pub(crate) static INFO: MethodInfo = MethodInfo {
    name: "sl-dais",
    aliases: &[],
    help: "annealed leapfrog on a learned surrogate likelihood",
    needs: "",
    cost: "the surrogate's rows, K times, and one mini-batch; independent of N",
    when: "skewed or heavy-tailed posteriors; any table size",
    remedy: "raise chain-steps or surrogate-rows",
    rows: RowAccess::Passes,
    new: || Box::new(SlDais::default()),
    restore: |bytes| restore_guide(bytes, guide),
};

/// Annealed leapfrog steps on a learned surrogate likelihood. Settings that are `None` are chosen by
/// the rules of `docs/methods.md`.
#[derive(Clone)]
pub struct SlDais {
    /// The kind of surrogate.
    pub surrogate: Option<SurrogateKind>,
    /// `N_surr`
    pub surrogate_rows: Option<usize>,
    /// The chain.
    pub chain: ChainSettings,
    /// The settings common to all variational methods.
    pub variational: VariationalSettings,
}

impl Default for SlDais {
    fn default() -> SlDais {
        SlDais {
            surrogate: None,
            surrogate_rows: None,
            chain: ChainSettings::default(),
            variational: VariationalSettings::new(4, 2e-3),
        }
    }
}

impl VariationalMethod for SlDais {
    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn shared(&self) -> (&VariationalSettings, Option<&ChainSettings>) {
        (&self.variational, Some(&self.chain))
    }

    fn shared_mut(&mut self) -> (&mut VariationalSettings, Option<&mut ChainSettings>) {
        (&mut self.variational, Some(&mut self.chain))
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        let mut settings = surrogate_settings(&mut self.surrogate, &mut self.surrogate_rows);
        settings.extend(self.chain.settings());
        settings.extend(self.variational.settings());
        settings
    }

    fn has_layers(&self) -> bool {
        true
    }

    fn expands(&self) -> bool {
        expands(self.surrogate)
    }

    fn names_rows(&self) -> bool {
        self.surrogate.is_some() || self.surrogate_rows.is_some()
    }

    fn guide(
        &self,
        ground: &GuideInputs<'_>,
        choices: &mut Choices,
    ) -> Result<GuideParts, FitError> {
        let shape = self.chain.shape(ground.base.clone(), 8, choices);
        let surrogate = self.surrogate(ground, choices)?;
        let bytes = encoded(&(&shape, surrogate.store()));
        let contents = surrogate.contents();
        Ok(GuideParts {
            contents,
            ..GuideParts::new(Arc::new(shape.on(Drive::Surrogate(surrogate))), bytes)
        })
    }
}

/// The settings of the surrogate that drives a chain, and of its number of rows.
pub(super) fn surrogate_settings<'a>(
    kind: &'a mut Option<SurrogateKind>,
    rows: &'a mut Option<usize>,
) -> Vec<Setting<'a>> {
    let read = |text: &str| {
        // The kind's own error already names the setting.
        let found = text.parse::<SurrogateKind>();
        let own_words = |words: String| words.trim_start_matches("surrogate: ").to_owned();
        let found = found.map_err(|error| own_words(error.to_string()));
        *kind = Some(found?);
        Ok(())
    };
    vec![
        Setting::new(
            "surrogate",
            "NAME",
            "what drives the chain of sl-dais (see lehr methods)",
            read,
        ),
        rows_setting(rows),
    ]
}

/// Whether a surrogate, or the default one, uses the expansion at the mode.
pub(super) fn expands(kind: Option<SurrogateKind>) -> bool {
    kind.is_none_or(|kind| kind == SurrogateKind::TAYLOR)
}

impl SlDais {
    /// `taylor` if the curvature is known, `rand` otherwise; at most 256 rows.
    pub(super) fn surrogate(
        &self,
        ground: &GuideInputs<'_>,
        choices: &mut Choices,
    ) -> Result<Arc<dyn Surrogate>, FitError> {
        const USUAL: usize = 256;
        let density = ground.density;
        let mode = ground.point.surrogate_mode();
        let usual = match mode {
            Some(_) => SurrogateKind::TAYLOR,
            None => SurrogateKind::RANDOM,
        };
        let kind = self.surrogate.unwrap_or(usual);
        let rows = self.surrogate_rows.unwrap_or(USUAL.min(density.n_rows()));
        choices.push(("surrogate".into(), kind.to_string()));
        if kind.has_rows() {
            choices.push(("surrogate rows".into(), rows.to_string()));
        }
        let setup = Setup {
            seed: ground.seed,
            mode: mode.as_ref(),
            whitening: &ground.point.whitening,
        };
        let surrogate = build(density, SurrogateSettings::new(kind, rows), &setup)?;
        // A centre need not be a maximum, and the prediction is valid only at one.
        let quality = mode.and_then(|mode| {
            let start = LearnedBlocks::new(Vec::new());
            predicted_quality(density, surrogate.as_ref(), &start, &mode).ok()
        });
        if let Some(quality) = quality {
            let nats = format!("{} nats to second order", short(quality.divergence()));
            choices.push(("surrogate divergence".into(), nats));
        }
        Ok(surrogate)
    }
}

/// A surrogate; its weights are matched to the curvature if the centre is a maximum.
fn build(
    density: &dyn Density,
    settings: SurrogateSettings,
    setup: &Setup<'_>,
) -> Result<Arc<dyn Surrogate>, SurrogateError> {
    if !settings.kind.has_matched_weights() || setup.mode.is_none() {
        return settings.build(density, setup);
    }
    let matched = SurrogateSettings {
        start_weights: StartWeights::Matched,
        ..settings
    };
    match matched.build(density, setup) {
        Err(SurrogateError::NotAMaximum) => settings.build(density, setup),
        built => built,
    }
}

fn guide(bytes: &[u8], density: &dyn Density) -> Result<Box<dyn Guide>, FitError> {
    let (shape, stored): (ChainShape, StoredForm) = decoded(bytes)?;
    let surrogate = restore(&stored, density)?;
    Ok(Box::new(shape.on(Drive::Surrogate(surrogate))))
}
