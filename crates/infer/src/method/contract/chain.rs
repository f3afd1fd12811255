//! The common part of methods with an annealed chain.

use std::sync::Arc;

use lehr_density::Density;
use serde::{Deserialize, Serialize};

use crate::annealed::{AnnealedGuide, AnnealedStart, Drive, Momentum};
use crate::estimate::Choices;
use crate::guide::{BASES, Base, FullRank, MeanField};
use crate::setting::Setting;

/// The settings of a chain. Settings that are `None` are chosen by the rules of `docs/methods.md`.
#[derive(Clone, Debug)]
pub struct ChainSettings {
    /// The distribution below the chain.
    pub base: Option<Arc<dyn Base>>,
    /// K
    pub steps: Option<usize>,
    /// The coordinates of the chain.
    pub momentum: Momentum,
    /// The starting values of the chain's own quantities.
    pub start: AnnealedStart,
}

impl Default for ChainSettings {
    /// Whitened chains start with steps of 0.1 and learn at 2·10⁻³. From the paper's 10⁻² one step
    /// of Adam on κ at a rate of 10⁻² can push every η below zero, where its gradient vanishes.
    fn default() -> ChainSettings {
        ChainSettings {
            base: None,
            steps: None,
            momentum: Momentum::default(),
            start: AnnealedStart {
                step_size: 0.1,
                ..AnnealedStart::default()
            },
        }
    }
}

impl ChainSettings {
    /// The settings by name.
    pub fn settings(&mut self) -> Vec<Setting<'_>> {
        let bases = BASES
            .iter()
            .map(|base| (base.name, base.help, Some((base.new)())));
        let momenta = vec![
            ("diagonal", "the latents' own", Momentum::Diagonal),
            (
                "whitened",
                "those in which the base is standard normal",
                Momentum::Whitened,
            ),
        ];
        vec![
            Setting::one_of(
                "base",
                "the distribution below a chain",
                bases.collect(),
                &mut self.base,
            ),
            Setting::count(
                "chain-steps",
                "leapfrog steps of the chain",
                &mut self.steps,
            )
            .with_value("K"),
            Setting::one_of(
                "momentum",
                "the coordinates of the chain",
                momenta,
                &mut self.momentum,
            ),
        ]
    }

    /// The requested base, else a Gaussian.
    pub(crate) fn base(&self, density: &dyn Density) -> Arc<dyn Base> {
        let asked = self.base.clone();
        asked.unwrap_or_else(|| gaussian_below(density))
    }

    /// A number outside of its range.
    pub(crate) fn problem(&self) -> Option<String> {
        let start = &self.start;
        let longest = start.max_step_size;
        let (step, kept, variance) = (start.step_size, start.refreshment, start.momentum_variance);
        if !(step > 0.0 && step < longest) {
            Some(format!(
                "expected a step size between 0 and {longest}, found {step}"
            ))
        } else if !(0.0..1.0).contains(&kept) {
            Some(format!(
                "expected a refreshment of at least 0 and below 1, found {kept}"
            ))
        } else if !(variance > 0.0 && variance.is_finite()) {
            Some(format!(
                "expected a positive momentum variance, found {variance}"
            ))
        } else {
            None
        }
    }

    /// The chain on a base, with `usual` steps by default.
    pub(crate) fn shape(
        &self,
        base: Arc<dyn Base>,
        usual: usize,
        choices: &mut Choices,
    ) -> ChainShape {
        let steps = self.steps.unwrap_or(usual);
        choices.push(("chain steps".into(), steps.to_string()));
        ChainShape {
            base,
            steps,
            momentum: self.momentum,
            start: self.start,
        }
    }
}

/// The Gaussian below a chain or a flow: full rank if its D² numbers are cheap compared with the
/// rows, else independent.
pub(crate) fn gaussian_below(density: &dyn Density) -> Arc<dyn Base> {
    gaussian_up_to(256, density)
}

/// A Gaussian with all correlations of at most this many latents, else of independent ones.
pub(crate) fn gaussian_up_to(most: usize, density: &dyn Density) -> Arc<dyn Base> {
    if density.latents().size() <= most {
        return Arc::new(FullRank::default());
    }
    Arc::new(MeanField::default())
}

/// A chain without its drive.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ChainShape {
    /// q₀
    pub base: Arc<dyn Base>,
    /// K
    pub steps: usize,
    /// Its coordinates.
    pub momentum: Momentum,
    /// The starting values of its quantities, with `η_max`.
    pub start: AnnealedStart,
}

impl ChainShape {
    /// The chain with a drive.
    pub fn on(self, drive: Drive) -> AnnealedGuide {
        AnnealedGuide {
            base: self.base,
            drive,
            steps: self.steps,
            momentum: self.momentum,
            start: self.start,
        }
    }
}
