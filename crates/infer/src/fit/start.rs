//! Where training starts, and what is known there.

use lehr_density::Density;

use super::{Choices, Fit, FitError};
use crate::guide::{Base, Frame, Learned, all_blocks};
use crate::method::Method;
use crate::start::{
    Another, Request, STARTS, Start as Strategy, StartError, StartingPoint, choose, is_plain,
};
use crate::surrogate::SurrogateKind;
use crate::train::{Iterations, Run, Task, TrainSettings, train};

/// Where training starts.
#[derive(Clone, Debug, Default)]
pub enum Start {
    /// Where the rows enter through linear predictors and no latent is the spread of others,
    /// `Quadrature` if there is one predictor and `Laplace` if there are more; `Variational`
    /// otherwise.
    #[default]
    Auto,
    /// The best Gaussian by integrals over each row's predictor, in whose frame the guide then
    /// moves. A mean-field or full-rank fit is done there.
    Quadrature,
    /// The Laplace approximation at the mode, in whose frame the guide then moves.
    Laplace,
    /// The best independent Gaussian for a fixed set of draws, in whose frame the guide then
    /// moves: for models whose mode is far from the posterior, as with spreads of groups.
    Variational,
    /// The mode, with the guide's own scale.
    Map,
    /// The model's start and the guide's own scale: the paper's recipe.
    Zero,
    /// Another fit's learned quantities, wherever names and sizes agree, in its frame.
    Fit(Box<(Frame, Learned)>),
}

impl Start {
    /// The name in settings and tables.
    pub fn name(&self) -> &'static str {
        match self {
            Start::Auto => "auto",
            Start::Quadrature => "quadrature",
            Start::Laplace => "laplace",
            Start::Variational => "variational",
            Start::Map => "map",
            Start::Zero => "zero",
            Start::Fit(_) => "fit",
        }
    }
}

impl Fit {
    pub(super) fn start(
        &self,
        density: &dyn Density,
        base: Base,
        choices: &mut Choices,
    ) -> Result<StartingPoint, FitError> {
        let request = Request {
            density,
            base,
            seed: self.train.seed,
            plain: is_plain(density),
            ends_at_best: self.ends_at_best(),
            expands: self.method == Method::SlDais
                && self
                    .surrogate
                    .is_none_or(|kind| kind == SurrogateKind::TAYLOR),
        };
        let found = match &self.start {
            Start::Auto => choose(&request),
            Start::Fit(other) => {
                let (frame, learned) = (**other).clone();
                let another = Another { frame, learned };
                another.find(&request).map(|found| (another.name(), found))
            }
            named => {
                let named = STARTS.iter().find(|start| start.name() == named.name());
                let named = named.expect("every other start has a row");
                named.find(&request).map(|found| (named.name(), found))
            }
        };
        let (name, found) = found.map_err(|error| match error {
            StartError::Batch(error) => error.into(),
            StartError::Refusal { problem, hint } => self.refuse(problem, &hint),
        })?;
        choices.push(("start".into(), name.into()));
        Ok(found)
    }
}

impl Fit {
    /// Trains the Gaussian below a chain by itself, which costs little beside the chain, so that
    /// the chain starts from the best its base can do alone. The paper's recipe does not. Says
    /// whether the base now is that best.
    pub(super) fn train_base(
        &self,
        task: &Task<'_>,
        (base, started): (Base, &StartingPoint),
        learned: &mut Learned,
        run: &mut Run<'_>,
    ) -> Result<bool, FitError> {
        let warm = matches!(
            self.start,
            Start::Auto | Start::Quadrature | Start::Laplace | Start::Variational
        );
        let open = matches!(self.train.iterations, Iterations::Auto { .. });
        if started.is_best(base) || !(self.method.is_annealed() && warm && open) {
            return Ok(started.is_best(base));
        }
        let blocks = all_blocks(task.density, &base);
        let frozen = self.train.frozen.iter();
        let is_own = |name: &&String| blocks.iter().any(|block| block.name == **name);
        let settings = TrainSettings {
            frozen: frozen.filter(is_own).cloned().collect(),
            seed: self.train.seed,
            iterations: self.train.iterations,
            ..Fit::new(Method::FullRank).train
        };
        let mut alone = Learned::new(blocks);
        alone.take_from(learned);
        let task = Task {
            guide: &base,
            ..*task
        };
        run.observer.begin("base");
        let mut run = Run {
            observer: &mut *run.observer,
            checkpoint: None,
        };
        learned.take_from(&train(&task, alone, &settings, &mut run)?.learned);
        Ok(true)
    }
}
