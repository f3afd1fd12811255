//! `lehr check`: the diagnostics of a fit at length, and simulation-based calibration on request.

use std::fmt::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use lehr::infer::fit::Fit;
use lehr::infer::judge::{Reason, usable_shape};
use lehr::regression::{
    ChainComparison, PriorSensitivity, Ranks, SavedFit, Shift, Simulation, WitnessReport,
};
use serde::Serialize;

use crate::against::AgainstObject;
use crate::interrupt;
use crate::live::Live;
use crate::outcome::CommandOutcome;
use crate::reading::ReadingArgs;
use crate::session::Session;

/// Show the diagnostics of a fit at length
///
/// With --simulate, data sets are drawn from the prior on the table's covariates, fitted, and
/// the ranks of what made them looked at: they are uniform if the method is calibrated.
///
/// With --against, Markov chains run on all rows of the table that was fitted: they bound the log
/// evidence from above, as the fit does from below, and show which coefficients differ.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lehr check fit.lehr
  lehr check fit.lehr train.parquet --against nuts
  lehr check fit.lehr --simulate train.parquet --simulations 50")]
pub(crate) struct CheckArgs {
    /// A file written by lehr fit; - reads stdin
    fit: PathBuf,
    /// The table that was fitted, for --against
    #[arg(value_name = "TABLE", requires = "against")]
    tables: Vec<PathBuf>,
    /// Compare with Markov chains on all rows of TABLE: nuts, hmc, or surrogate-hmc, which weighs its
    /// draws on them
    #[arg(
        long,
        value_name = "METHOD",
        requires = "tables",
        value_parser = ["nuts", "hmc", "surrogate-hmc"]
    )]
    against: Option<String>,
    /// Simulation-based calibration on the covariates of this table
    #[arg(long, value_name = "TABLE")]
    simulate: Vec<PathBuf>,
    /// Data sets to simulate and fit
    #[arg(long, value_name = "N", default_value_t = 20)]
    simulations: usize,
    /// Rows of each simulated data set at the most
    #[arg(long, value_name = "N", default_value_t = 1000)]
    simulation_rows: usize,
    /// Training steps of each simulated fit [default: until the bound is level]
    #[arg(long, value_name = "N")]
    simulation_iterations: Option<u64>,
    #[command(flatten)]
    reading: ReadingArgs,
}

#[derive(Serialize)]
struct CheckObject {
    verdict: &'static str,
    pareto_k: Option<f64>,
    pareto_k_threshold: f64,
    effective_sample_size: f64,
    n_draws: usize,
    elbo: Option<f64>,
    evidence: Option<f64>,
    evidence_gap: Option<f64>,
    converged: Option<bool>,
    iterations: u64,
    skipped_iterations: u64,
    late_rise: f64,
    shifts: Vec<Shift>,
    prior_sensitivity: Vec<PriorSensitivity>,
    witnesses: Vec<WitnessReport>,
    warnings: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    simulation: Vec<Ranks>,
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<AgainstObject>,
}

impl CheckArgs {
    pub(crate) fn run_command(&self, session: &Session) -> Result<CommandOutcome> {
        let saved = SavedFit::load(session.resolve_input(&self.fit)?)?;
        let mut checked = CheckObject::new(&saved);
        checked.prior_sensitivity = saved.prior_sensitivity()?;
        if !self.simulate.is_empty() {
            checked.simulation = self.simulate_ranks(&saved, session)?;
            checked.judge_simulation();
        }
        if let Some(method) = &self.against {
            let against = AgainstObject::new(&self.compare_reference(&saved, method, session)?);
            checked.warnings.extend(against.level_warning());
            checked.against = Some(against);
        }
        session.print_answer(&checked, || checked.format_text(&saved))?;
        if checked.warnings.is_empty() {
            Ok(CommandOutcome::from(&saved))
        } else {
            Ok(CommandOutcome::Warned)
        }
    }

    /// The comparison of the fit with chains by this method.
    fn compare_reference(
        &self,
        saved: &SavedFit,
        method: &str,
        session: &Session,
    ) -> Result<ChainComparison> {
        let mut live = Live::new(session, method);
        let source = session.open_tables(&self.tables)?;
        let table = self.reading.fitted_table(saved, &source, &live)?;
        interrupt::listen_signals();
        let fit = Fit::named(method)?.seed(saved.posterior.origin.seed);
        Ok(saved.against(fit.observer(&mut live), &table)?)
    }

    fn simulate_ranks(&self, saved: &SavedFit, session: &Session) -> Result<Vec<Ranks>> {
        let live = Live::new(session, "simulate");
        let source = session.open_tables(&self.simulate)?;
        let table = self.reading.fitted_table(saved, &source, &live)?;
        let simulation = Simulation {
            saved,
            count: self.simulations,
            rows: self.simulation_rows,
            iterations: self.simulation_iterations,
        };
        let mut note = |number: usize| {
            live.show_line(&format!("data set {} of {}", number + 1, self.simulations));
        };
        Ok(simulation.run(&table, &mut note)?)
    }
}

impl CheckObject {
    fn new(saved: &SavedFit) -> CheckObject {
        let posterior = &saved.posterior;
        let (evidence, training) = (posterior.evidence.as_ref(), posterior.training());
        let mut checked = CheckObject {
            verdict: saved.verdict().level.name(),
            pareto_k: posterior.pareto_shape(),
            pareto_k_threshold: usable_shape(posterior.n_draws()),
            effective_sample_size: posterior.effective_size(),
            n_draws: posterior.n_draws(),
            elbo: posterior.bound().map(|one| one.mean),
            evidence: evidence.map(|one| one.estimate.mean),
            evidence_gap: evidence.and_then(|one| Some(one.estimate.mean - one.bound?.mean)),
            converged: training.map(|training| training.converged),
            iterations: training.map_or(0, |training| training.iterations),
            skipped_iterations: training.map_or(0, |training| training.bad_steps),
            late_rise: saved.late_rise(),
            shifts: saved.shifts(),
            prior_sensitivity: Vec::new(),
            witnesses: Vec::new(),
            warnings: Vec::new(),
            simulation: Vec::new(),
            against: None,
        };
        let verdict = posterior.verdict();
        checked.witnesses = WitnessReport::all(&verdict);
        let reasons = verdict.reasons.into_iter();
        let warns = |one: &Reason| one.advice.is_some();
        checked.warnings = reasons.filter(warns).map(|one| one.sentence).collect();
        checked.warn_of_skipped();
        checked
    }

    fn warn_of_skipped(&mut self) {
        if self.skipped_iterations * 100 > self.iterations {
            self.warnings.push(format!(
                "{} training steps were not finite",
                self.skipped_iterations
            ));
        }
    }

    fn judge_simulation(&mut self) {
        const DOUBT: f64 = 0.01;
        let tests = self.simulation.len().max(1) as f64;
        for one in &self.simulation {
            if one.p_value * tests < DOUBT {
                self.warnings.push(format!(
                    "{}: its ranks in simulated data are not uniform (p = {:.1e})",
                    one.name, one.p_value
                ));
            }
        }
    }

    fn format_text(&self, saved: &SavedFit) -> String {
        let mut out = Session::style().format_verdict(&saved.verdict());
        out += "\nwitnesses\n";
        for one in &self.witnesses {
            let _ = writeln!(out, "  {:<9} {one}", one.witness);
        }
        if saved.is_prior_only() {
            return out;
        }
        if saved.posterior.importance().is_some() {
            let limit = self.pareto_k_threshold;
            let tail = match self.pareto_k {
                Some(k) => format!("k = {k:.2} of at most {limit:.2}"),
                None => "weights all but equal".into(),
            };
            let _ = writeln!(
                out,
                "importance weights\n  {:.0} of {} draws effective, {tail}",
                self.effective_sample_size, self.n_draws
            );
        }
        if let (Some(bound), Some(evidence), Some(gap)) =
            (self.elbo, self.evidence, self.evidence_gap)
        {
            let _ = writeln!(
                out,
                "evidence\n  bound {bound:.3}, weighted estimate {evidence:.3}: a gap of {gap:.3} nats"
            );
        }
        if self.converged.is_some() && self.iterations == 0 {
            out += "training\n  none: the fit was found by a search\n";
        } else if let Some(converged) = self.converged {
            let _ = writeln!(
                out,
                "training\n  {} iterations, {}, {} skipped\n  the bound rose by {:.3} over the last third of its trace",
                self.iterations,
                if converged { "level" } else { "not level" },
                self.skipped_iterations,
                self.late_rise
            );
        }
        out += "what weights move most (in sd of the fit)\n";
        for shift in self.shifts.iter().take(10) {
            let _ = writeln!(
                out,
                "  {:<24} mean {:+.2}, sd × {:.2}",
                shift.name, shift.mean_moved, shift.sd_ratio
            );
        }
        out += &self.sensitivity_text();
        out += &self.simulation_text();
        if let Some(against) = &self.against {
            out += &against.format_text();
        }
        for warning in &self.warnings {
            let _ = writeln!(out, "warning: {warning}");
        }
        out
    }

    fn sensitivity_text(&self) -> String {
        let mut out = String::new();
        if !self.prior_sensitivity.is_empty() {
            out += "how much each prior moves the posterior (above 0.05 it matters)\n";
        }
        for one in self.prior_sensitivity.iter().take(10) {
            let mark = if one.matters() { ", matters" } else { "" };
            let _ = writeln!(
                out,
                "  {:<24} {:.3} of {}{mark}",
                one.prior, one.distance, one.coefficient
            );
        }
        out
    }

    fn simulation_text(&self) -> String {
        let mut out = String::new();
        if let Some(first) = self.simulation.first() {
            let _ = writeln!(out, "ranks in {} simulated data sets", first.ranks.len());
        }
        for one in &self.simulation {
            let _ = writeln!(out, "  {:<24} p = {:.3}", one.name, one.p_value);
        }
        out
    }
}
