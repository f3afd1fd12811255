//! `semi-dais`: annealed leapfrog steps in local latents, given a guide of the shared ones.

use std::sync::Arc;

use lehr_density::{Density, StoredForm};
use serde::{Deserialize, Serialize};

use super::sl_dais::{expands, surrogate_settings};
use crate::annealed::Drive;
use crate::bytes::{decoded, encoded};
use crate::error::FitError;
use crate::estimate::Choices;
use crate::expansion::ExpansionPoint;
use crate::guide::Guide;
use crate::local::{RowBase, RowChains, Semi, alike, peaks};
use crate::method::{
    ChainSettings, ChainShape, GuideInputs, GuideParts, MethodInfo, RowAccess, SlDais,
    VariationalMethod, VariationalSettings, restore_guide,
};
use crate::posterior::NO_ROWS;
use crate::setting::Setting;
use crate::surrogate::{SurrogateKind, restore};

/// The row of this method.
pub(crate) static INFO: MethodInfo = MethodInfo {
    name: "semi-dais",
    aliases: &[],
    help: "annealed leapfrog steps for the latents of each row",
    needs: "latents of single rows",
    cost: "one mini-batch, K times; independent of N",
    when: "three to eight latents per row",
    remedy: "raise chain-steps",
    rows: RowAccess::Batches,
    new: || Box::new(SemiDais::default()),
    restore: |bytes| restore_guide(bytes, guide),
};

/// The default numbers of leapfrog steps of a row's chain, and of the chain of z if there is one.
const STEPS: usize = 8;
const LATENT_STEPS: usize = 4;

/// Annealed leapfrog steps in local latents. Settings that are `None` are chosen by the rules of
/// `docs/methods.md`.
#[derive(Clone)]
pub struct SemiDais {
    /// The start of a row's chain.
    pub row_base: RowBase,
    /// The guide of the shared latents.
    pub latent_guide: LatentGuide,
    /// K of its chain, if it has one.
    pub latent_steps: Option<usize>,
    /// The surrogate that drives that chain, if there is one.
    pub surrogate: Option<SurrogateKind>,
    /// `N_surr` of that surrogate.
    pub surrogate_rows: Option<usize>,
    /// The base of z, K of the chains of rows, and the starting values of their quantities.
    pub chain: ChainSettings,
    /// The settings common to all variational methods.
    pub variational: VariationalSettings,
}

/// The guide of the shared latents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum LatentGuide {
    /// The base itself.
    #[default]
    Base,
    /// A chain on all rows.
    Dais,
    /// A chain on one mini-batch.
    NsDais,
    /// A chain on a fresh mini-batch at every step.
    Ns2Dais,
    /// A chain on a surrogate.
    SlDais,
}

/// The stored form of a guide, without its learned quantities.
#[derive(Serialize, Deserialize)]
struct StoredSemi {
    rows: RowChains,
    latent_guide: LatentGuide,
    shape: ChainShape,
    batch: usize,
    surrogate: Option<StoredForm>,
}

impl Default for SemiDais {
    fn default() -> SemiDais {
        SemiDais {
            row_base: RowBase::default(),
            latent_guide: LatentGuide::default(),
            latent_steps: None,
            surrogate: None,
            surrogate_rows: None,
            chain: ChainSettings::default(),
            variational: VariationalSettings::new(4, 2e-3),
        }
    }
}

impl VariationalMethod for SemiDais {
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
        let bases = vec![
            ("newton", "the normal at its peak given z", RowBase::Newton),
            ("own", "a normal learned of every row", RowBase::Own),
        ];
        let guides = vec![
            ("base", "the base itself", LatentGuide::Base),
            ("dais", "a chain on all rows", LatentGuide::Dais),
            ("ns-dais", "a chain on one mini-batch", LatentGuide::NsDais),
            (
                "ns2-dais",
                "one on fresh mini-batches",
                LatentGuide::Ns2Dais,
            ),
            ("sl-dais", "a chain on a surrogate", LatentGuide::SlDais),
        ];
        let mut settings = vec![
            Setting::one_of(
                "row-base",
                "where the chain of a row starts",
                bases,
                &mut self.row_base,
            ),
            Setting::one_of(
                "latent-guide",
                "what moves the latents that rows share",
                guides,
                &mut self.latent_guide,
            ),
            Setting::count(
                "latent-steps",
                "leapfrog steps of the chain of the latents that rows share",
                &mut self.latent_steps,
            )
            .with_value("K"),
        ];
        let own = surrogate_settings(&mut self.surrogate, &mut self.surrogate_rows);
        settings.extend(own);
        settings.extend(self.chain.settings());
        settings.extend(self.variational.settings());
        settings
    }

    fn expands(&self) -> bool {
        self.latent_guide == LatentGuide::SlDais && expands(self.surrogate)
    }

    fn scores_rows(&self) -> bool {
        true
    }

    fn names_rows(&self) -> bool {
        self.row_base == RowBase::Own
    }

    fn guide(
        &self,
        ground: &GuideInputs<'_>,
        choices: &mut Choices,
    ) -> Result<GuideParts, FitError> {
        let locals = ground.density.integrates();
        if locals.is_none_or(|own| own.layout().size() == 0) {
            let problem = "expected rows with latents of their own, found none";
            let hint = "name one with row.local or (1 | row()), or use sl-dais";
            return Err(INFO.refuse(problem, hint));
        }
        let rows = self.row_chains(choices);
        let latents = self.latents(ground, choices)?;
        let bytes = encoded(&StoredSemi {
            surrogate: match &latents.drive {
                Some(Drive::Surrogate(surrogate)) => Some(surrogate.store()),
                _ => None,
            },
            latent_guide: self.latent_guide,
            shape: latents.shape.clone(),
            batch: ground.batch,
            rows,
        });
        let own = (self.row_base == RowBase::Own).then(|| self.own(ground));
        let contents = match (&own, &latents.drive) {
            (Some(_), _) => "a mean and a scale of every row's own latents".into(),
            (None, Some(Drive::Surrogate(surrogate))) => surrogate.contents(),
            _ => NO_ROWS.into(),
        };
        let guide = Semi {
            latents: latents.guide(),
            rows,
            own,
        };
        Ok(GuideParts {
            contents,
            ..GuideParts::new(Arc::new(guide), bytes)
        })
    }
}

/// The guide of z in parts.
struct Latents {
    shape: ChainShape,
    drive: Option<Drive>,
}

impl Latents {
    fn guide(self) -> Arc<dyn Guide> {
        match self.drive {
            None => self.shape.base,
            Some(drive) => Arc::new(self.shape.on(drive)),
        }
    }
}

impl LatentGuide {
    /// The drive of its chain on rows of the table; `None` without a chain or with a surrogate.
    fn drive(self, batch: usize) -> Option<Drive> {
        match self {
            LatentGuide::Base | LatentGuide::SlDais => None,
            LatentGuide::Dais => Some(Drive::FullData),
            LatentGuide::NsDais => Some(Drive::Batch { size: batch }),
            LatentGuide::Ns2Dais => Some(Drive::FreshBatch { size: batch }),
        }
    }
}

impl SemiDais {
    fn row_chains(&self, choices: &mut Choices) -> RowChains {
        let steps = self.chain.steps.unwrap_or(STEPS);
        let base = match self.row_base {
            RowBase::Newton => "newton",
            RowBase::Own => "own",
        };
        choices.push(("base of a row".into(), base.into()));
        choices.push(("chain steps of a row".into(), steps.to_string()));
        RowChains {
            base: self.row_base,
            steps,
            start: self.chain.start,
        }
    }

    fn latents(
        &self,
        ground: &GuideInputs<'_>,
        choices: &mut Choices,
    ) -> Result<Latents, FitError> {
        choices.push(("base".into(), ground.base.name().into()));
        let drive = match self.latent_guide {
            LatentGuide::SlDais => {
                let chain = SlDais {
                    surrogate: self.surrogate,
                    surrogate_rows: self.surrogate_rows,
                    ..SlDais::default()
                };
                let surrogate = chain.surrogate(ground, choices)?;
                Some(Drive::Surrogate(surrogate))
            }
            other => other.drive(ground.batch),
        };
        let settings = ChainSettings {
            steps: Some(self.latent_steps.unwrap_or(LATENT_STEPS)),
            start: ChainSettings::default().start,
            ..self.chain.clone()
        };
        let mut own = Choices::new();
        let shape = settings.shape(ground.base.clone(), LATENT_STEPS, &mut own);
        if drive.is_some() {
            choices.extend(own);
        }
        Ok(Latents { shape, drive })
    }

    /// The learned numbers of a row start at its mode given a warm start of z, else at the same
    /// start as z.
    fn own(&self, ground: &GuideInputs<'_>) -> crate::guide::RowNumbers {
        const NARROW: f64 = 0.1;
        let start = &self.variational.start;
        let warm = start.as_ref().is_none_or(|start| start.is_warm());
        match (&ground.point.centre, warm) {
            (Some(centre), true) => peaks(ground.density, centre),
            (None, true) => peaks(ground.density, &ExpansionPoint::start(ground.density)),
            (_, false) => alike(ground.density, NARROW),
        }
    }
}

fn guide(bytes: &[u8], density: &dyn Density) -> Result<Box<dyn Guide>, FitError> {
    let stored: StoredSemi = decoded(bytes)?;
    let drive = match &stored.surrogate {
        Some(surrogate) => Some(Drive::Surrogate(restore(surrogate, density)?)),
        None => stored.latent_guide.drive(stored.batch),
    };
    let latents = Latents {
        shape: stored.shape,
        drive,
    };
    Ok(Box::new(Semi {
        latents: latents.guide(),
        rows: stored.rows,
        own: None,
    }))
}
