//! Converts a saved fit to the data of a report.

use std::path::Path;

use lehr_infer::judge::{self, usable_shape};
use lehr_infer::posterior::{Estimate, Posterior};
use lehr_numeric::summary::{effective_size_bulk, effective_size_tail, split_rank_rhat};
use lehr_regression::{Groups, NamedDraws, Regression};
use lehr_report::{
    ChainQuantity, ChainReport, Choice, Comparison, Draws, GroupEffects, Level, Prior, ReportData,
    Seconds, TracePoint, Verdict,
};

use crate::arviz::rows;
use crate::effects::curves;
use crate::error::Error;
use crate::saved_fit::SavedFit;

/// The most draws in the plot of pairs.
const PAIR_DRAWS: usize = 2000;

impl SavedFit {
    /// The data of the fit's report: [`ReportData`] makes terminal tables and the page.
    pub fn report(&self) -> ReportData {
        let posterior = &self.posterior;
        let (check, training) = (&self.data_check, posterior.training());
        ReportData {
            title: self.subject.title(),
            method: posterior.method().to_owned(),
            verdict: self.verdict(),
            model: self.report_model(),
            priors: priors(self),
            notes: self.notes(),
            n_rows: Some(posterior.origin.rows as u64),
            n_latents: Some(posterior.n_latents() as u64),
            coefficients: self.coefficients(Groups::Leave),
            explained: self.explained(),
            groups: groups(self),
            effects: curves(self),
            functions: self.functions(),
            bound: posterior.bound().map(estimate),
            evidence: (posterior.evidence.as_ref()).map(|one| estimate(one.estimate)),
            pareto_k: posterior.pareto_shape(),
            pareto_k_limit: (posterior.importance()).map(|_| usable_shape(posterior.n_draws())),
            effective_sample_size: Some(posterior.effective_size()),
            iterations: training.map_or(0, |training| training.iterations),
            converged: training.map(|training| training.converged),
            seconds: Some(self.seconds()),
            choices: choices(self),
            trace: trace(self),
            chains: chains(self),
            draws: Some(pair_draws(self)),
            predictive: check.predictive.clone(),
            levels: self.subject.classes(),
            calibration: check.calibration.clone(),
            rootogram: check.rootogram(),
            residuals: check.residuals.clone(),
            comparison: Vec::new(),
            seed: Some(posterior.origin.seed),
            version: self.version.clone(),
            date: self.date.clone(),
        }
    }

    /// The expanded formula and the family, or the statements of any other model. The statements of
    /// a regression are on the scale of its design, where their priors would contradict the list.
    pub fn report_model(&self) -> String {
        let models: Vec<String> = self.subject.regressions().into_iter().map(model).collect();
        match &models[..] {
            [] => self.posterior.origin.description.clone(),
            all => all.join("\n\n"),
        }
    }

    /// The fit's line in a comparison of methods; `test` is its mean log likelihood of held-out
    /// rows.
    pub fn comparison(&self, test: Option<f64>) -> Comparison {
        let posterior = &self.posterior;
        let seconds = self.seconds();
        let bound = posterior.bound().unwrap_or(Estimate::UNKNOWN);
        Comparison {
            method: posterior.method().to_owned(),
            bound: bound.mean,
            se: bound.error,
            seconds: seconds.total() - seconds.read,
            test_log_likelihood: test,
            pareto_k: posterior.pareto_shape(),
        }
    }

    /// The reliability of the numbers, the reasons, and advice.
    pub fn verdict(&self) -> Verdict {
        shown(&self.posterior.verdict())
    }

    /// The time of each part of the fit.
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
}

/// The verdict in the form of a report.
fn shown(verdict: &judge::Verdict) -> Verdict {
    Verdict {
        level: match verdict.level {
            judge::Level::Reliable => Level::Reliable,
            judge::Level::Corrected => Level::Corrected,
            judge::Level::Doubtful => Level::LookAgain,
            judge::Level::Untrusted => Level::DoNotTrust,
        },
        sentence: verdict.sentence.clone(),
        advice: verdict.advice().map(Into::into).collect(),
    }
}

fn estimate(of: Estimate) -> lehr_report::Estimate {
    lehr_report::Estimate {
        mean: of.mean,
        se: of.error,
    }
}

/// The formulas of a response and of its parameters, and the family.
fn model(regression: &Regression) -> String {
    let family = regression.family();
    let terms = regression.terms();
    let formulas = std::iter::once(terms).chain(&terms.parameters);
    let formulas: Vec<String> = formulas.map(ToString::to_string).collect();
    format!(
        "{}\n\nfamily {family}: {}",
        formulas.join("\n"),
        family.help()
    )
}

fn priors(saved: &SavedFit) -> Vec<Prior> {
    let one = |(name, distribution)| Prior {
        name,
        distribution,
        origin: String::new(),
    };
    saved.subject.priors().into_iter().map(one).collect()
}

fn choices(saved: &SavedFit) -> Vec<Choice> {
    let mut choices = saved.posterior.choices.clone();
    if saved.dropped_rows > 0 {
        let left_out = format!("{} rows left out", saved.dropped_rows);
        choices.push(("missing".into(), left_out));
    }
    let one = |(key, value)| Choice { key, value };
    choices.into_iter().map(one).collect()
}

fn trace(saved: &SavedFit) -> Vec<TracePoint> {
    let training = saved.posterior.training().into_iter();
    let history = training.flat_map(|training| &training.history);
    let point = |&(iteration, value): &(u64, f64)| TracePoint { iteration, value };
    history.map(point).collect()
}

/// The quality of the draws of every coefficient, if they come from Markov chains.
fn chains(saved: &SavedFit) -> Option<ChainReport> {
    let chains = saved.posterior.chains()?;
    let worth = |one: NamedDraws| {
        let own: Vec<&[f64]> = one.values.chunks_exact(chains.length.max(1)).collect();
        ChainQuantity {
            name: one.name.to_string(),
            r_hat: split_rank_rhat(&own),
            bulk: effective_size_bulk(&own),
            tail: effective_size_tail(&own),
            values: one.values,
        }
    };
    let coefficients = saved.raw_draws(Groups::Leave).into_iter();
    Some(ChainReport {
        count: chains.count,
        warm_up: chains.warm_up,
        divergences: chains.divergences.len(),
        energy_information: chains.least_information(),
        energies: chains.energies.clone(),
        quantities: coefficients.map(worth).collect(),
    })
}

fn pair_draws(saved: &SavedFit) -> Draws {
    let columns = saved.even_draws(Groups::Leave);
    let count = columns.first().map_or(0, |one| one.values.len());
    rows(&columns, count.div_ceil(PAIR_DRAWS).max(1))
}

/// The random effects of single groups, by group term, effect and class.
fn groups(saved: &SavedFit) -> Vec<GroupEffects> {
    let mut groups: Vec<GroupEffects> = saved.spared_groups();
    for coefficient in saved.kept_coefficients(Groups::Include) {
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
                all: None,
                effects: vec![coefficient],
            }),
        }
    }
    groups
}

/// Reports of any posterior whose model is stored with it, as for every bound `Model`.
pub trait PosteriorReport {
    /// The data of the posterior's report.
    fn report(&self) -> Result<ReportData, Error>;

    /// Writes the draws for `arviz.from_netcdf`. All draws have equal weight.
    fn to_arviz(&self, path: &Path) -> Result<(), Error>;
}

impl PosteriorReport for Posterior {
    fn report(&self) -> Result<ReportData, Error> {
        Ok(SavedFit::of(self.clone())?.report())
    }

    fn to_arviz(&self, path: &Path) -> Result<(), Error> {
        SavedFit::of(self.clone())?.to_arviz(path)
    }
}
