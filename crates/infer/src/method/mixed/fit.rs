//! A whole fit with the random effects integrated out: the posterior from points of the
//! hyperparameters, or from chains over them, and the draws of the effects.

use std::time::Instant;

use lehr_density::Density;
use lehr_mixed::{
    HyperparameterPoints, MarginalDensity, MarginalError, MarginalMode, MixedError, MixedFit,
    MixedOptions, MixedSearch, WeightedDraws,
};
use lehr_numeric::pareto::Pareto;

use super::NAME;
use super::hyperparameter_chains::{HyperparameterChains, HyperparameterDraws};
use crate::bytes::{decoded, stored};
use crate::error::{FitError, TrainError};
use crate::estimate::{Estimate, Evidence, Seconds};
use crate::judge::Subject;
use crate::method::Sampler;
use crate::posterior::{
    Diagnostics, Examination, FitRecord, Importance, NO_ROWS, Posterior, ProbeAccuracy, Proposal,
};
use crate::run::Run;
use crate::train::TrainingRecord;
use lehr_rows::watch::{End, Phase, Progress, Wish};

/// The search for the mode of the hyperparameters.
const SEARCH: Phase = Phase {
    doing: "finding the mode of the spreads",
    stops: true,
};
/// Chains over the hyperparameters.
const WALK: Phase = Phase {
    doing: "running chains over the spreads",
    stops: true,
};
/// Weighing points and making draws.
const WEIGH: Phase = Phase {
    doing: "weighing points",
    stops: true,
};

impl From<MixedError> for FitError {
    fn from(error: MixedError) -> FitError {
        super::INFO.refuse(error.problem, error.hint)
    }
}

/// Fits a density by integrating its effects out.
pub(crate) fn fit(
    options: MixedOptions,
    density: &dyn Density,
    run: &mut Run<'_>,
) -> Result<Posterior, FitError> {
    if run.draws < 25 {
        let problem = format!(
            "{} draws were asked for, fewer than the 25 a verdict needs",
            run.draws
        );
        return Err(super::INFO.refuse(problem, "1024 is usual"));
    }
    let clock = Instant::now();
    run.begin(SEARCH);
    let marginal = MarginalDensity::new(density).map_err(|error| match error {
        MarginalError::Refusal(why) => {
            super::INFO.refuse(why, "use another method, such as sl-dais")
        }
        MarginalError::Rows(lost) => lost.into(),
    })?;
    run.draws = marginal.limit_draws(&options);
    let options = MixedOptions {
        draws: run.draws,
        ..options
    };
    let start = clock.elapsed().as_secs_f64();
    let clock = Instant::now();
    report_slopes(run, 0)?;
    let mode = marginal.find_mode()?;
    run.begin(WEIGH);
    report_slopes(run, mode.steps)?;
    let search = MixedSearch::new(&marginal, mode, options);
    let train = clock.elapsed().as_secs_f64();
    let clock = Instant::now();
    let (drawn, chains) = weighed(&search, run)?;
    let seconds = Seconds {
        start,
        compile: 0.0,
        train,
        evaluate: clock.elapsed().as_secs_f64(),
    };
    let fit = search.fit(&drawn)?;
    let mut choices = marginal.remarks();
    choices.push(explored(&drawn, chains.as_ref()));
    choices.extend_from_slice(&fit.remarks);
    let mut posterior = posterior(&search, fit, chains, run)?;
    (posterior.choices, posterior.seconds) = (choices, seconds);
    posterior.origin.rows = density.total_rows();
    Ok(posterior)
}

/// Weighted points along axes; draws of chains if the points do not serve.
fn weighed(
    search: &MixedSearch<'_>,
    run: &mut Run<'_>,
) -> Result<(WeightedDraws, Option<HyperparameterDraws>), FitError> {
    if let Some(drawn) = search.weigh_points()? {
        return Ok((drawn, None));
    }
    run.begin(WALK);
    let walked = HyperparameterChains { search }.walk(run.draws, run)?;
    run.begin(WEIGH);
    Ok((search.weigh_draws(&walked.thetas), Some(walked)))
}

/// The posterior of the results.
fn posterior(
    search: &MixedSearch<'_>,
    fit: MixedFit,
    chains: Option<HyperparameterDraws>,
    run: &Run<'_>,
) -> Result<Posterior, FitError> {
    let density = search.marginal.density();
    let evidence = evidence(&fit, chains.as_ref());
    let pareto = Pareto::new(&fit.log_weights)?;
    let examination = if fit.moments.is_some() {
        Examination::of_sites(&fit.latents, &fit.draws, &pareto)
    } else {
        Examination::of_weights(&Subject::new(density, &[], &fit.draws, &pareto, run.seed))
    };
    let examination = Examination {
        probes: ProbeAccuracy::of(&fit.half_log_dets, &fit.points.weights()),
        ..examination
    };
    let contents = match &fit.moments {
        Some(moments) => format!(
            "sums over the rows of each group of {}",
            moments.site().name
        ),
        None => NO_ROWS.into(),
    };
    let proposal = match chains {
        None => Proposal::Guide(training(&search.mode, fit.converged)),
        Some(walked) => Proposal::Chains(Box::new(walked.chains)),
    };
    let record = FitRecord {
        method: stored(NAME, &fit.points),
        contents,
        choices: Vec::new(),
        seconds: Seconds::default(),
    };
    let diagnostics = Diagnostics::Importance(Importance {
        pareto,
        proposal,
        examination,
        chains: None,
    });
    Ok(Posterior {
        latents: fit.latents,
        spared: fit.moments.map(Box::new),
        evidence,
        ..Posterior::new(density, fit.draws, diagnostics, record, run.seed)
    })
}

/// The evidence: from points along axes, or that of the chains corrected by the weights of their
/// draws.
fn evidence(fit: &MixedFit, chains: Option<&HyperparameterDraws>) -> Option<Evidence> {
    let (mean, error) = fit.log_evidence;
    let own = Estimate { mean, error };
    let Some(walked) = chains else {
        return Some(Evidence {
            bound: Some(Estimate::of(&fit.mean_log_weights)),
            ..Evidence::estimated(own)
        });
    };
    let corrected = |found: Estimate| Estimate {
        mean: found.mean + own.mean,
        error: found.error.hypot(own.error),
    };
    walked.evidence.map(corrected).map(Evidence::estimated)
}

/// Reports the progress of the fit, and stops if the observer requests it.
fn report_slopes(run: &mut Run<'_>, done: usize) -> Result<(), FitError> {
    let progress = Progress::counted(done as u64, "slopes", End::AtMost(1));
    if run.progress(&progress) == Wish::Continue {
        return Ok(());
    }
    Err(FitError::Train(TrainError::Stopped {
        doing: SEARCH.doing,
        done: format!("{done} slopes"),
        saved: None,
    }))
}

fn training(mode: &MarginalMode, converged: bool) -> TrainingRecord {
    TrainingRecord {
        iterations: mode.steps as u64,
        converged,
        bad_steps: 0,
        history: Vec::new(),
        steps_now: mode.steps as u64,
    }
}

/// A description of how the hyperparameters were drawn.
fn explored(drawn: &WeightedDraws, chains: Option<&HyperparameterDraws>) -> (String, String) {
    match chains.map(|walked| &walked.chains) {
        None => {
            let (points, percent) = (&drawn.points, 100.0 * drawn.points.share());
            let words = format!("{} ({percent:.0} % effective)", points.len());
            ("points".into(), words)
        }
        Some(chains) => {
            let (count, slopes) = (chains.count, chains.gradients);
            let words = format!("{count} over the hyperparameters, {slopes} slopes");
            ("chains".into(), words)
        }
    }
}

/// Reads the stored form of a fit.
pub(crate) fn restore(bytes: &[u8]) -> Result<Box<dyn Sampler>, FitError> {
    Ok(Box::new(decoded::<HyperparameterPoints>(bytes)?))
}

impl Sampler for HyperparameterPoints {
    /// Draws the effects at the stored points, on the rows that the density is bound to.
    fn draw(&self, density: &dyn Density, count: usize, seed: u64) -> Result<Vec<f64>, FitError> {
        Ok(self.draw_again(density, count, seed)?)
    }
}

#[cfg(test)]
mod tests;
