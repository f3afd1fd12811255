//! `nuts-cs`: the No-U-Turn sampler on a coreset, a baseline of the paper.

use std::sync::Arc;
use std::time::Instant;

use lehr_density::{Density, StoredForm};
use serde::{Deserialize, Serialize};

use crate::bytes::{encoded, stored};
use crate::chains::{ChainError, ChainProgress, Chains, Failure, Trace, Watch};
use crate::error::FitError;
use crate::estimate::{Seconds, short};
use crate::guide::{LearnedBlocks, WhitenedDensity, Whitening};
use crate::method::markov::{
    self, ChainMethod, DrawsOf, Target, conclude, first_draws, sampled, start, surrogate_target,
};
use crate::method::{Method, MethodInfo, Nuts, RowAccess, Sampler, restore_as};
use crate::posterior::{FitRecord, Posterior};
use crate::run::Run;
use crate::setting::Setting;
use crate::start::{Start, StartingPoint};
use crate::surrogate::{
    Setup, Surrogate, SurrogateKind, SurrogateSettings, predicted_quality, restore, rows_setting,
};
use lehr_rows::watch::{Phase, Wish};

/// The row of this method.
pub(crate) static INFO: MethodInfo = MethodInfo {
    name: "nuts-cs",
    aliases: &[],
    help: "the No-U-Turn sampler on a coreset of the rows",
    needs: "a binary response",
    cost: "a thousand rows, a few to hundreds of times per draw",
    when: "comparison: its posterior is off by standard deviations",
    remedy: "use surrogate-hmc",
    rows: RowAccess::Batches,
    new: || Box::new(NutsCs::default()),
    restore: restore_as::<StoredCoreset>,
};

/// Draws of a coreset.
const ROWS: usize = 1024;
/// A divergence in nats beyond which the draws are not called draws of the posterior.
const FAR: f64 = 0.1;

/// The No-U-Turn sampler on the coreset of Huggins et al. (2016), with its own weights.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct NutsCs {
    /// Draws of the coreset; repeated rows are merged.
    pub surrogate_rows: Option<usize>,
    /// The sampler's settings.
    pub nuts: Nuts,
}

impl ChainMethod for NutsCs {
    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn start(&self) -> Option<&Arc<dyn Start>> {
        None
    }

    fn problem(&self) -> Option<String> {
        self.nuts.problem()
    }

    fn sample(&self, target: &Target<'_>, watch: &mut dyn Watch) -> Result<Trace, ChainError> {
        self.nuts.sample(target, watch)
    }

    fn bytes(&self) -> Vec<u8> {
        encoded(self)
    }
}

impl Method for NutsCs {
    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn usual_draws(&self, density: &dyn Density) -> usize {
        self.nuts.usual_draws(density)
    }

    fn condenses(&self, _: &dyn Density) -> bool {
        false
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        let NutsCs {
            surrogate_rows,
            nuts,
        } = self;
        let rows = rows_setting(surrogate_rows);
        let own = nuts.settings().into_iter();
        // The chains start at the mode at which the quality of the coreset is predicted.
        let mut settings: Vec<Setting<'_>> = own.filter(|one| one.name != "start").collect();
        settings.push(rows);
        settings
    }

    fn fit(&self, density: &dyn Density, run: &mut Run<'_>) -> Result<Posterior, FitError> {
        markov::check(&INFO, self.problem(), density, run)?;
        let clock = Instant::now();
        run.begin(Phase::START);
        let (name, point) = start(&INFO, density, run)?;
        let asked = self.surrogate_rows.unwrap_or(ROWS.min(density.n_rows()));
        let surrogate = coreset(density, asked, &point, run.seed)?;
        let begun = clock.elapsed().as_secs_f64();
        let place = WhitenedDensity::new(density, &point.whitening);
        let target = surrogate_target(self, place, surrogate.as_ref(), (run.draws, run.seed));
        run.begin(Phase::CHAINS);
        let clock = Instant::now();
        let mut trace = sampled(self, &target, run)?;
        let train = clock.elapsed().as_secs_f64();
        let mut choices = markov::choices(name, &Chains::of(&trace));
        let said = CoresetQuality::of(density, surrogate.as_ref(), &point, asked);
        choices.extend(said.choices());
        trace.doubts = vec![said.doubt()];
        let chains = StoredCoreset {
            whitening: point.whitening.clone(),
            surrogate: surrogate.store(),
            method: self.clone(),
        };
        let record = FitRecord {
            method: stored(INFO.name, &chains),
            contents: surrogate.contents(),
            choices,
            seconds: Seconds {
                start: begun,
                train,
                ..Seconds::default()
            },
        };
        conclude(DrawsOf::Approximation, trace, record, density, run)
    }
}

/// The rows of a coreset with its own weights.
fn coreset(
    density: &dyn Density,
    rows: usize,
    point: &StartingPoint,
    seed: u64,
) -> Result<Arc<dyn Surrogate>, FitError> {
    let kind: SurrogateKind = "cs-fix".parse().expect("a row of the table of surrogates");
    let setup = Setup {
        seed,
        mode: None,
        whitening: &point.whitening,
    };
    Ok(SurrogateSettings::new(kind, rows).build(density, &setup)?)
}

/// The predicted quality of a coreset.
struct CoresetQuality {
    /// KL from its posterior to that of all rows, to second order at the mode.
    divergence: Option<f64>,
    /// √(N/m)
    shift: f64,
    rows: usize,
}

impl CoresetQuality {
    fn of(
        density: &dyn Density,
        surrogate: &dyn Surrogate,
        point: &StartingPoint,
        rows: usize,
    ) -> CoresetQuality {
        let nothing = LearnedBlocks::new(Vec::new());
        let mode = point.surrogate_mode();
        // A centre need not be a maximum, and the prediction is valid only at one.
        let quality =
            mode.and_then(|mode| predicted_quality(density, surrogate, &nothing, &mode).ok());
        CoresetQuality {
            divergence: quality.map(|quality| quality.divergence()),
            shift: (density.n_rows() as f64 / rows as f64).sqrt(),
            rows,
        }
    }

    fn choices(&self) -> [(String, String); 2] {
        let CoresetQuality { shift, rows, .. } = self;
        let usual = format!(
            "{rows} draws; as many random rows would move means by about {shift:.1} posterior sds"
        );
        [
            ("coreset".into(), usual),
            ("predicted divergence".into(), self.nats()),
        ]
    }

    fn nats(&self) -> String {
        match self.divergence {
            Some(nats) => format!("{} nats from the posterior of all rows", short(nats)),
            None => "unknown: the centre of the start is no maximum".into(),
        }
    }

    /// The draws come from another posterior, however well the chains agree.
    fn doubt(&self) -> Failure {
        let found = format!("draws of the posterior of a coreset, {}", self.nats());
        let doubt = Failure::new(found, "use surrogate-hmc");
        match self.divergence {
            Some(nats) if nats < FAR => doubt,
            _ => doubt.untrusted(),
        }
    }
}

/// Chains on a coreset that can be resumed.
#[derive(Serialize, Deserialize)]
struct StoredCoreset {
    whitening: Whitening,
    surrogate: StoredForm,
    method: NutsCs,
}

impl Sampler for StoredCoreset {
    /// More draws of the coreset's posterior.
    fn draw(&self, density: &dyn Density, count: usize, seed: u64) -> Result<Vec<f64>, FitError> {
        let surrogate = restore(&self.surrogate, density)?;
        let place = WhitenedDensity::new(density, &self.whitening);
        let target = surrogate_target(&self.method, place, surrogate.as_ref(), (count, seed));
        let watch = &mut |_: &ChainProgress| Wish::Continue;
        let trace = self.method.sample(&target, watch);
        first_draws(&INFO, trace, count * density.latents().size())
    }
}
