//! `collapse`: random effects are integrated out, and the few remaining hyperparameters are
//! explored.

mod fit;
mod hyperparameter_chains;

use lehr_density::Density;
use lehr_mixed::{HyperparameterMethod, MixedOptions};

use crate::error::FitError;
use crate::method::{Method, MethodInfo, RowAccess};
use crate::posterior::Posterior;
use crate::run::Run;
use crate::setting::Setting;

/// The method's name.
const NAME: &str = "collapse";

/// The row of this method.
pub(crate) static INFO: MethodInfo = MethodInfo {
    name: NAME,
    aliases: &[],
    help: "random effects integrated out; a few hyperparameters by weighted points or chains",
    needs: "random effects and one linear predictor per row",
    cost: "some 200 factorisations, and passes unless gaussian",
    when: "multilevel models",
    remedy: "use sl-dais",
    rows: RowAccess::GroupSums,
    new: || Box::new(Collapse::default()),
    restore: fit::restore,
};

/// Multilevel models with their random effects integrated out. Settings that are `None` are chosen
/// by the rules of `docs/methods.md`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Collapse {
    /// The number of weighted points of the hyperparameters.
    pub points: Option<usize>,
    /// The way in which the hyperparameters are drawn.
    pub spreads: HyperparameterMethod,
}

impl Method for Collapse {
    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        let ways = vec![
            (
                "chosen",
                "points, and chains where those do not serve",
                HyperparameterMethod::Chosen,
            ),
            (
                "points",
                "points along axes, weighed",
                HyperparameterMethod::Points,
            ),
            ("chains", "Markov chains", HyperparameterMethod::Chains),
        ];
        vec![
            Setting::count(
                "points",
                "points of the spreads that are weighed",
                &mut self.points,
            ),
            Setting::one_of(
                "spreads",
                "how collapse draws the spreads that are left",
                ways,
                &mut self.spreads,
            ),
        ]
    }

    fn fit(&self, density: &dyn Density, run: &mut Run<'_>) -> Result<Posterior, FitError> {
        let options = MixedOptions {
            points: self.points,
            hyperparameters: self.spreads,
            draws: run.draws,
            asked_draws: run.asked_draws,
            most_numbers: run.most_numbers,
            seed: run.seed,
        };
        fit::fit(options, density, run)
    }

    /// Groups are read from the rows, which reduced rows do not contain.
    fn condenses(&self, _: &dyn Density) -> bool {
        false
    }

    /// A draw costs a value of every row at some nodes, and a number for every effect. If that is
    /// cheap more draws are made, so that even the worst of thousands of effects is accurate.
    fn usual_draws(&self, density: &dyn Density) -> usize {
        const CHEAP: usize = 10_000;
        let size = density.total_rows() + density.latents().size();
        if size <= CHEAP { 4096 } else { 1280 }
    }
}
