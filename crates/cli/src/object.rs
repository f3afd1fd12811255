//! The JSON of a fit. Its keys are stable (docs/json.md): keys are added, but never changed.

use std::collections::BTreeMap;

use lehr::infer::judge::Level;
use lehr::infer::posterior::{Attempt, Estimate};
use lehr::regression::{Groups, SavedFit};
use lehr::report::{Coefficient, Effect, Seconds};
use serde::Serialize;

/// A number with its Monte Carlo error, and the number of draws behind it.
#[derive(Serialize)]
pub(crate) struct EstimateObject {
    mean: f64,
    se: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    samples: Option<usize>,
}

/// One coefficient.
#[derive(Serialize)]
pub(crate) struct CoefficientObject {
    name: String,
    mean: f64,
    mcse: Option<f64>,
    sd: f64,
    q5: f64,
    q50: f64,
    q95: f64,
    #[serde(flatten)]
    effect: Option<Effect>,
}

/// One prior.
#[derive(Serialize)]
struct PriorObject {
    name: String,
    distribution: String,
}

/// A method that `auto` tried or skipped.
#[derive(Serialize)]
struct AttemptObject {
    method: String,
    seconds: f64,
    verdict: Option<&'static str>,
    sentence: String,
}

impl From<&Attempt> for AttemptObject {
    fn from(attempt: &Attempt) -> AttemptObject {
        AttemptObject {
            method: attempt.method.clone(),
            seconds: attempt.seconds,
            verdict: attempt.level.map(Level::name),
            sentence: attempt.words.clone(),
        }
    }
}

/// A fit.
#[derive(Serialize)]
pub(crate) struct FitObject {
    method: String,
    /// Whether the draws come from the prior, without a fit.
    prior_only: bool,
    formula: Option<String>,
    family: Option<String>,
    n_rows: usize,
    dropped_rows: u64,
    n_latents: usize,
    iterations: u64,
    converged: Option<bool>,
    elbo: Option<EstimateObject>,
    evidence: Option<EstimateObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gain_over_base: Option<EstimateObject>,
    pareto_k: Option<f64>,
    effective_sample_size: f64,
    verdict: String,
    verdict_sentence: String,
    advice: Vec<String>,
    corrected: bool,
    seconds: Seconds,
    microseconds_per_iteration: f64,
    coefficients: Vec<CoefficientObject>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    explained: Vec<CoefficientObject>,
    priors: Vec<PriorObject>,
    choices: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    attempts: Vec<AttemptObject>,
    notes: Vec<String>,
    contents: String,
    seed: u64,
    version: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    test_log_likelihood: Option<f64>,
}

impl From<&Coefficient> for CoefficientObject {
    fn from(coefficient: &Coefficient) -> CoefficientObject {
        let best = coefficient.best_summary();
        CoefficientObject {
            name: coefficient.name.clone(),
            mean: best.mean,
            mcse: best.mcse,
            sd: best.sd,
            q5: best.q5,
            q50: best.q50,
            q95: best.q95,
            effect: coefficient.effect.clone(),
        }
    }
}

impl EstimateObject {
    /// The object of an estimate and of its number of draws.
    pub(crate) fn from_estimate(estimate: Estimate, samples: Option<usize>) -> EstimateObject {
        EstimateObject {
            mean: estimate.mean,
            se: estimate.error,
            samples,
        }
    }
}

impl FitObject {
    /// The object of a fit.
    pub(crate) fn new(saved: &SavedFit, groups: Groups) -> FitObject {
        let posterior = &saved.posterior;
        let verdict = saved.verdict();
        let (evidence, training) = (posterior.evidence.as_ref(), posterior.training());
        let family = saved.subject.family_names();
        let priors = saved.subject.priors().into_iter();
        FitObject {
            method: posterior.method().to_owned(),
            prior_only: saved.is_prior_only(),
            formula: family.is_some().then(|| saved.subject.title()),
            family,
            n_rows: posterior.origin.rows,
            dropped_rows: saved.dropped_rows,
            n_latents: posterior.n_latents(),
            iterations: training.map_or(0, |training| training.iterations),
            converged: training.map(|training| training.converged),
            elbo: posterior
                .bound()
                .map(|one| EstimateObject::from_estimate(one, Some(posterior.n_draws()))),
            evidence: evidence.map(|one| EstimateObject::from_estimate(one.estimate, None)),
            gain_over_base: evidence
                .and_then(|one| one.gain.as_ref())
                .map(|gain| EstimateObject::from_estimate(gain.nats, None)),
            pareto_k: posterior.pareto_shape(),
            effective_sample_size: posterior.effective_size(),
            verdict: verdict.level.name().to_owned(),
            verdict_sentence: verdict.sentence,
            advice: verdict.advice,
            corrected: saved.is_corrected(),
            seconds: saved.seconds(),
            microseconds_per_iteration: 1e6 * posterior.seconds.train
                / training.map_or(1, |training| training.steps_now.max(1)) as f64,
            coefficients: (saved.coefficients(groups).iter())
                .map(Into::into)
                .collect(),
            explained: saved.explained().iter().map(Into::into).collect(),
            priors: priors
                .map(|(name, distribution)| PriorObject { name, distribution })
                .collect(),
            choices: posterior.choices.iter().cloned().collect(),
            attempts: posterior.origin.attempts.iter().map(Into::into).collect(),
            notes: saved.notes(),
            contents: saved.contents.clone(),
            seed: posterior.origin.seed,
            version: saved.version.clone(),
            output: None,
            test_log_likelihood: None,
        }
    }

    /// The object with the file it was saved to.
    pub(crate) fn with_output(mut self, path: Option<&std::path::Path>) -> FitObject {
        self.output = path.map(|path| path.display().to_string());
        self
    }

    /// The object with the mean log likelihood of held-out rows.
    pub(crate) fn with_test(mut self, log_likelihood: Option<f64>) -> FitObject {
        self.test_log_likelihood = log_likelihood;
        self
    }
}
