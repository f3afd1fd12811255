//! A saved fit as the report crate shows it.

use lehr_infer::fit::GuideSpec;
use lehr_infer::posterior::Estimate;
use lehr_numeric::pareto::{Trust, threshold};
use lehr_report::{
    Choice, Comparison, Draws, GroupEffects, Level, Prior, ReportData, Seconds, TracePoint, Verdict,
};

use super::SavedFit;
use super::arviz::rows;
use crate::regression::Groups;

/// Draws that the pairs plot gets at the most.
const PAIR_DRAWS: usize = 2000;

impl SavedFit {
    /// The fit as a report shows it: [`ReportData`] makes terminal tables and the page.
    pub fn report(&self) -> ReportData {
        let posterior = &self.posterior;
        let check = &self.data_check;
        ReportData {
            title: self.regression.formula().to_owned(),
            method: posterior.method.to_string(),
            verdict: self.verdict(),
            model: format!("{}\n\n{}", self.regression.terms(), posterior.model),
            priors: priors(self),
            n_rows: Some(posterior.n_rows as u64),
            n_latents: Some(posterior.latents.size() as u64),
            coefficients: self.coefficients(Groups::Leave),
            groups: groups(self),
            bound: Some(estimate(posterior.bound)),
            evidence: Some(estimate(posterior.evidence)),
            pareto_k: Some(posterior.pareto.shape),
            effective_sample_size: Some(posterior.pareto.effective_size),
            iterations: posterior.trained.iterations,
            converged: Some(posterior.trained.converged),
            seconds: Some(self.seconds()),
            choices: choices(self),
            trace: trace(self),
            draws: Some(pair_draws(self)),
            predictive: check.predictive.clone(),
            calibration: check.calibration.clone(),
            rootogram: check.rootogram(),
            residuals: check.residuals.clone(),
            comparison: Vec::new(),
            seed: Some(posterior.seed),
            version: self.version.clone(),
            date: self.date.clone(),
        }
    }

    /// The fit's line in a comparison of methods; `test` is its mean log likelihood of
    /// held-out rows.
    pub fn comparison(&self, test: Option<f64>) -> Comparison {
        let posterior = &self.posterior;
        let seconds = self.seconds();
        Comparison {
            method: posterior.method.to_string(),
            bound: posterior.bound.mean,
            se: posterior.bound.error,
            seconds: seconds.total() - seconds.read,
            test_log_likelihood: test,
            pareto_k: Some(posterior.pareto.shape),
        }
    }

    /// May these numbers be used, why, and what could be done.
    pub fn verdict(&self) -> Verdict {
        let posterior = &self.posterior;
        let k = posterior.pareto.shape;
        let limit = threshold(posterior.n_draws());
        let (mut level, mut sentence) = match posterior.pareto.trust {
            Trust::Reliable => (
                Level::Reliable,
                format!("the draws are close to the posterior (k = {k:.2})"),
            ),
            Trust::Corrected => (
                Level::Corrected,
                format!(
                    "the fit is off, importance weights repair it (k = {k:.2}); the numbers below are the corrected ones"
                ),
            ),
            Trust::Untrusted => (
                Level::DoNotTrust,
                format!(
                    "the fit is too far from the posterior to be repaired (k = {k:.2}, at most {limit:.2} is repaired)"
                ),
            ),
        };
        if !posterior.trained.converged {
            level = Level::DoNotTrust;
            sentence += "; training had not converged";
        }
        if posterior.is_below_base() {
            sentence += "; the chain is worse than the Gaussian it starts from";
        }
        Verdict {
            level,
            sentence,
            advice: advice(self),
        }
    }

    /// Where the time went.
    pub fn seconds(&self) -> Seconds {
        let seconds = self.posterior.seconds;
        Seconds {
            read: self.read_seconds,
            start: seconds.start,
            compile: seconds.compile,
            train: seconds.train,
            evaluate: seconds.evaluate,
        }
    }

    /// What to do about a chain that is worse than its base.
    pub fn below_base(&self) -> Option<String> {
        let posterior = &self.posterior;
        let gain = posterior.gain.filter(|_| posterior.is_below_base())?;
        let GuideSpec::Annealed { base, .. } = &posterior.guide else {
            return None;
        };
        let (lost, error, name) = (-gain.mean, gain.error, base.name());
        Some(format!(
            "the chain loses {lost:.2} ± {error:.2} nats: use --method {name}, or raise --batch"
        ))
    }
}

fn advice(saved: &SavedFit) -> Vec<String> {
    let posterior = &saved.posterior;
    let mut advice = Vec::new();
    if !posterior.trained.converged {
        advice.push("train longer with --iterations, or start from --start laplace".into());
    }
    if posterior.pareto.trust == Trust::Untrusted {
        let next = if posterior.method.is_annealed() {
            "raise --chain-steps or --surrogate-rows"
        } else {
            "try --method sl-dais"
        };
        advice.push(next.into());
    }
    advice.extend(saved.below_base());
    advice
}

fn estimate(of: Estimate) -> lehr_report::Estimate {
    lehr_report::Estimate {
        mean: of.mean,
        se: of.error,
    }
}

fn priors(saved: &SavedFit) -> Vec<Prior> {
    let one = |(name, distribution)| Prior {
        name,
        distribution,
        origin: String::new(),
    };
    saved.regression.priors().into_iter().map(one).collect()
}

fn choices(saved: &SavedFit) -> Vec<Choice> {
    let mut choices = saved.posterior.choices.clone();
    if saved.dropped_rows > 0 {
        choices.push((
            "missing".into(),
            format!("{} rows left out", saved.dropped_rows),
        ));
    }
    let one = |(key, value)| Choice { key, value };
    choices.into_iter().map(one).collect()
}

fn trace(saved: &SavedFit) -> Vec<TracePoint> {
    let history = saved.posterior.trained.history.iter();
    let point = |&(iteration, value): &(u64, f64)| TracePoint { iteration, value };
    history.map(point).collect()
}

fn pair_draws(saved: &SavedFit) -> Draws {
    let columns = saved.even_draws(Groups::Leave);
    let count = columns.first().map_or(0, |one| one.values.len());
    rows(&columns, count.div_ceil(PAIR_DRAWS).max(1))
}

/// The effects of single groups, by group term, by what varies and by class.
fn groups(saved: &SavedFit) -> Vec<GroupEffects> {
    let mut groups: Vec<GroupEffects> = Vec::new();
    for coefficient in saved.coefficients(Groups::Include) {
        let Some(effect) = coefficient.effect.clone() else {
            continue;
        };
        let same = |known: &&mut GroupEffects| {
            known.group == effect.group && known.term == effect.term && known.class == effect.class
        };
        match groups.iter_mut().find(same) {
            Some(known) => known.effects.push(coefficient),
            None => groups.push(GroupEffects {
                group: effect.group,
                term: effect.term,
                class: effect.class,
                effects: vec![coefficient],
            }),
        }
    }
    groups
}
