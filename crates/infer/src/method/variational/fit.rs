//! The variational loop: find a start, train a guide, weigh fresh draws.

use std::sync::Arc;
use std::time::Instant;

use lehr_density::Density;
use lehr_numeric::pareto::Pareto;

use crate::bytes::{encoded, stored};
use crate::draw::{ImportanceDraws, weigh_draws};
use crate::error::FitError;
use crate::estimate::{Choices, Estimate, Evidence, Gain, Seconds, short};
use crate::guide::{Base, LearnedBlocks, PARAMS, RowInput, all_blocks};
use crate::judge::{KeptDraws, Subject};
use crate::local::{TrainedGuide, row_losses};
use crate::method::{GuideInputs, GuideParts, VariationalMethod, VariationalSettings};
use crate::objective::Score;
use crate::posterior::{Examination, FitRecord, Posterior, Proposal};
use crate::program::SCORE;
use crate::run::Run;
use crate::start::{
    RunMaximiser, StartRequest, StartingPoint, find_start, is_linear_without_hierarchy,
};
use crate::train::{Iterations, Task, TrainOutcome, TrainSettings, train, variance_ratio};
use lehr_rows::watch::Phase;

/// A fit in progress.
pub(super) struct VariationalFit<'a> {
    pub(super) method: &'a dyn VariationalMethod,
    pub(super) density: &'a dyn Density,
    base: Arc<dyn Base>,
    choices: Choices,
    seconds: Seconds,
}

/// The results of fresh draws.
struct Evaluation {
    kept: KeptDraws,
    evidence: Evidence,
    examination: Examination,
    /// The learned quantities of the base, if the draws are its own.
    base: Option<LearnedBlocks>,
}

/// Makes a fit by a variational method.
pub(super) fn fit(
    method: &dyn VariationalMethod,
    density: &dyn Density,
    run: &mut Run<'_>,
) -> Result<Posterior, FitError> {
    let clock = Instant::now();
    let mut fit = VariationalFit {
        method,
        density,
        base: method.base(density),
        choices: Vec::new(),
        seconds: Seconds::default(),
    };
    fit.check(run)?;
    run.begin(Phase::START);
    if method.has_layers() {
        fit.note("base", fit.base.name());
    }
    let point = fit.start(run)?;
    let ground = GuideInputs {
        density,
        base: fit.base.clone(),
        point: &point,
        batch: fit.batch(&point),
        seed: run.seed,
    };
    let parts = method.guide(&ground, &mut fit.choices)?;
    let score = fit.score(&ground)?;
    let task = Task {
        density,
        whitening: &point.whitening,
        guide: parts.guide.as_ref(),
        score: &score,
        seed: run.seed,
    };
    let mut learned = point.learned(density, task.guide);
    let alone = fit.train_base(&task, &point, &mut learned, run)?;
    let outcome = fit.train(&task, &point, learned, run)?;
    let seconds = clock.elapsed().as_secs_f64() - outcome.compile - outcome.seconds;
    fit.seconds.start = seconds;
    let mut evaluation = fit.evaluate(&task, alone.as_ref(), &outcome, run)?;
    let (mut outcome, mut name, mut parts) = (outcome, method.info().name, parts);
    if let Some(learned) = evaluation.base.take() {
        outcome.learned = learned;
        name = fit.base.name();
        parts = GuideParts::new(fit.base.clone(), encoded(&fit.base));
    }
    let bytes = (&point.whitening, &outcome.learned, &parts.bytes);
    let record = FitRecord {
        method: stored(name, &bytes),
        contents: parts.contents,
        choices: fit.choices,
        seconds: Seconds {
            compile: outcome.compile,
            train: outcome.seconds,
            ..fit.seconds
        },
    };
    let proposal = Proposal::Guide(outcome.training);
    let (draws, diagnostics) = (evaluation.kept).into_importance(proposal, evaluation.examination);
    Ok(Posterior {
        param_values: outcome.learned.get(PARAMS).unwrap_or(&[]).to_vec(),
        evidence: Some(evaluation.evidence),
        ..Posterior::new(density, draws, diagnostics, record, run.seed)
    })
}

impl VariationalFit<'_> {
    fn note(&mut self, what: &str, how: impl Into<String>) {
        self.choices.push((what.into(), how.into()));
    }

    fn start(&mut self, run: &mut Run<'_>) -> Result<StartingPoint, FitError> {
        let request = StartRequest {
            density: self.density,
            base: self.base.clone(),
            seed: run.seed,
            maximiser: &RunMaximiser::new(run),
            plain: is_linear_without_hierarchy(self.density),
            ends_at_best: self.ends_at_best(),
            expands: self.method.expands(),
        };
        let found = find_start(self.method.common().start.as_ref(), &request);
        let (name, found) = found.map_err(|error| self.method.info().start_error(error))?;
        self.note("start", name);
        Ok(found)
    }

    /// Whether the best Gaussian of its kind is all that was requested.
    fn ends_at_best(&self) -> bool {
        let iterations = &self.method.common().train.iterations;
        !self.method.has_layers()
            && !self.method.scores_rows()
            && matches!(iterations, Iterations::Auto { .. })
    }

    /// Whether the start is already the optimum of training.
    fn is_done(&self, point: &StartingPoint) -> bool {
        self.ends_at_best() && point.is_best(self.base.as_ref())
    }

    /// B: every row of a small table; for others as many as make the noise of the batch small
    /// compared with that of the draws, given the control variate.
    fn batch(&self, point: &StartingPoint) -> usize {
        const USUAL: usize = 256;
        const MOST: usize = 1 << 14;
        const SMALL: usize = 1024;
        // The first-order remainder of a row's slope is of the size of its predictor's posterior
        // standard deviation, whose square is D/N on average: D rows have as much noise as one
        // draw.
        let rows = self.density.n_rows();
        let usual = if point.plain {
            USUAL
        } else {
            (4 * self.density.latents().size()).clamp(USUAL, MOST)
        };
        let whole = rows <= SMALL || rows <= 2 * usual;
        let usual = if whole { rows } else { usual };
        self.method.common().batch.unwrap_or(usual)
    }

    /// The rows that score a step, with a control variate if they are a batch.
    fn score(&mut self, ground: &GuideInputs<'_>) -> Result<Score, FitError> {
        let GuideInputs {
            density,
            point,
            batch: size,
            ..
        } = *ground;
        let whole = size == density.n_rows();
        let purpose = SCORE.into();
        // Numbers of single rows are stored in the order of batches.
        let numbered = self.method.scores_rows() && self.method.names_rows();
        let rows = if whole && !numbered {
            RowInput::All
        } else {
            RowInput::Batch { size, purpose }
        };
        self.note("batch", size.to_string());
        // If nothing is left to train, an expansion would take as long as the rest.
        let trains = !self.is_done(point);
        let asked = self.method.common().control;
        let wanted = trains && asked.unwrap_or(!whole);
        let control = wanted.then(|| point.control(density)).transpose()?;
        let mut control = control.flatten();
        let sums = !whole && !self.method.scores_rows();
        if let Some(control) = control.as_mut().filter(|_| sums) {
            control.summed = point.summed(density, ground.seed);
        }
        if trains && asked == Some(true) && control.is_none() {
            let problem = "a control variate was asked for, but there is no mode to expand at";
            return Err(self.method.info().refuse(problem, "start from laplace"));
        }
        Ok(Score { rows, control })
    }

    /// Trains the Gaussian below a guide by itself, which is cheap compared with the guide, so that
    /// the guide starts from the best base. The paper's recipe does not. Returns the learned
    /// quantities if the base is now at its optimum.
    fn train_base(
        &self,
        task: &Task<'_>,
        point: &StartingPoint,
        learned: &mut LearnedBlocks,
        run: &mut Run<'_>,
    ) -> Result<Option<LearnedBlocks>, FitError> {
        let common = self.method.common();
        let warm = common.start.as_ref().is_none_or(|start| start.is_warm());
        let open = matches!(common.train.iterations, Iterations::Auto { .. });
        if self.method.scores_rows() {
            return Ok(None);
        }
        if point.is_best(self.base.as_ref()) {
            return Ok(Some(learned.clone()));
        }
        if !(self.method.has_layers() && warm && open) {
            return Ok(None);
        }
        let blocks = all_blocks(self.density, self.base.as_ref());
        let settings = TrainSettings {
            iterations: common.train.iterations,
            ..VariationalSettings::default().train
        };
        let mut alone = LearnedBlocks::new(blocks);
        alone.take_from(learned);
        let task = Task {
            guide: self.base.as_ref(),
            ..*task
        };
        run.begin(Phase::BASE);
        learned.take_from(&train(&task, alone, &settings, run)?.learned);
        Ok(Some(learned.clone()))
    }

    /// Trains the guide, unless the start cannot be improved.
    fn train(
        &mut self,
        task: &Task<'_>,
        point: &StartingPoint,
        learned: LearnedBlocks,
        run: &mut Run<'_>,
    ) -> Result<TrainOutcome, FitError> {
        if let Some(best) = point.best.as_ref().filter(|_| self.is_done(point)) {
            let left = short(best.left);
            self.note(
                "training",
                format!("none: less than {left} nats are left to gain"),
            );
            return Ok(TrainOutcome::at_start(learned, &best.bounds));
        }
        let settings = &self.method.common().train;
        let words = control_words(task, &learned, settings)?;
        self.note("control variate", words);
        run.begin(Phase::TRAIN);
        Ok(train(task, learned, settings, run)?)
    }

    /// Makes fresh draws, and weighs them on all rows.
    fn evaluate(
        &mut self,
        task: &Task<'_>,
        alone: Option<&LearnedBlocks>,
        outcome: &TrainOutcome,
        run: &mut Run<'_>,
    ) -> Result<Evaluation, FitError> {
        run.begin(Phase::EVALUATE);
        let clock = Instant::now();
        let evaluated = weigh_draws(task.place(), task.guide, &outcome.learned, run.draws, run)?;
        let lost = self.lost_in_rows(task, &outcome.learned, &evaluated.latents, run)?;
        let bound = evaluated.bound();
        let below = alone.unwrap_or(&outcome.learned);
        let gain = self.gain_over_base(task, below, bound, run)?;
        let base = alone.filter(|_| self.gains_nothing(gain.as_ref()));
        let base = base.map(|learned| self.base_part(learned));
        let (evaluated, gain) = match &base {
            Some(learned) => (self.draw_base(task, learned, run)?, None),
            None => (evaluated, gain),
        };
        if let Some(sampling) = &evaluated.sampling {
            let (rows, error) = (sampling.rows, sampling.error);
            let all = self.density.total_rows();
            self.note(
                "weights",
                format!("{rows} of {all} rows, ± {error:.4} nats"),
            );
        }
        let (bound, sample_error) = (evaluated.bound().less(lost), evaluated.sample_error());
        let pareto = Pareto::new(&evaluated.log_weights)?;
        run.begin(Phase::EXAMINE);
        let learned = base.as_ref().unwrap_or(&outcome.learned);
        let subject = Subject {
            sampling: evaluated.sampling.as_ref(),
            ..Subject::new(
                self.density,
                learned.get(PARAMS).unwrap_or(&[]),
                &evaluated.latents,
                &pareto,
                run.seed,
            )
        };
        let (examination, better) = Examination::of(&subject, run)?;
        let kept = KeptDraws::new(better, evaluated.latents, pareto);
        if let Some(words) = &kept.words {
            self.note("draws", words.as_str());
        }
        self.seconds.evaluate = clock.elapsed().as_secs_f64();
        let estimate = Estimate {
            mean: kept.pareto.log_evidence,
            error: kept.pareto.log_evidence_error,
        };
        Ok(Evaluation {
            kept,
            examination,
            base,
            evidence: Evidence {
                bound: Some(bound),
                estimate: estimate.widened(sample_error),
                gain,
            },
        })
    }

    /// The loss of local chains relative to the integrals by which the draws are weighed. It varies
    /// little between draws, so it is computed for a part of them.
    fn lost_in_rows(
        &mut self,
        task: &Task<'_>,
        learned: &LearnedBlocks,
        draws: &[f64],
        run: &mut Run<'_>,
    ) -> Result<Estimate, FitError> {
        const PART: usize = 16;
        const FEWEST: usize = 32;
        if !self.method.scores_rows() {
            return Ok(Estimate::NONE);
        }
        let size = self.density.latents().size();
        let count = (run.draws / PART).max(FEWEST) * size;
        let trained = TrainedGuide {
            guide: task.guide,
            learned,
        };
        let some = &draws[..count.min(draws.len())];
        let lost = Estimate::of(&row_losses(self.density, trained, some, run)?);
        let words = format!("{:.2} ± {:.2} nats", lost.mean, lost.error);
        self.note("lost in the chains of rows", words);
        Ok(lost)
    }

    /// Whether a guide that was trained until its bound was level is no better than its base, since
    /// nothing can be gained on a posterior that is close to Gaussian. A number of steps that the
    /// user set is always respected.
    fn gains_nothing(&self, gain: Option<&Gain>) -> bool {
        let open = matches!(
            self.method.common().train.iterations,
            Iterations::Auto { .. }
        );
        open && gain.is_some_and(|gain| gain.nats.mean <= 0.0)
    }

    /// The base's part of the learned quantities.
    fn base_part(&self, learned: &LearnedBlocks) -> LearnedBlocks {
        let mut own = LearnedBlocks::new(all_blocks(self.density, self.base.as_ref()));
        own.take_from(learned);
        own
    }

    /// Draws of the base instead of the guide.
    fn draw_base(
        &mut self,
        task: &Task<'_>,
        learned: &LearnedBlocks,
        run: &mut Run<'_>,
    ) -> Result<ImportanceDraws, FitError> {
        let name = self.base.name();
        self.note(
            "reported",
            format!("the base, {name}: the chain adds nothing to it"),
        );
        Ok(weigh_draws(
            task.place(),
            self.base.as_ref(),
            learned,
            run.draws,
            run,
        )?)
    }

    /// The gain of a guide's bound over that of its base: the base trained alone if the guide
    /// started from it, else the base below the guide. It is estimated from a part of the draws.
    fn gain_over_base(
        &mut self,
        task: &Task<'_>,
        below: &LearnedBlocks,
        own: Estimate,
        run: &mut Run<'_>,
    ) -> Result<Option<Gain>, FitError> {
        const PART: usize = 4;
        const FEWEST: usize = 25;
        if !self.method.has_layers() {
            return Ok(None);
        }
        let learned = self.base_part(below);
        let count = (run.draws / PART).max(FEWEST);
        let evaluated = weigh_draws(task.place(), self.base.as_ref(), &learned, count, run)?;
        let below = evaluated.bound();
        let nats = own.less(below);
        let words = format!("{:+.2} ± {:.2} nats", nats.mean, nats.error);
        self.note("gain over the base", words);
        let over = self.base.name().into();
        Ok(Some(Gain { over, nats }))
    }
}

/// The effect of the control variate, in words.
fn control_words(
    task: &Task<'_>,
    learned: &LearnedBlocks,
    settings: &TrainSettings,
) -> Result<String, FitError> {
    let Some(control) = &task.score.control else {
        return Ok("off".into());
    };
    let order = match (&control.hessian, &control.summed) {
        (Some(_), Some(_)) => "second order, the worst fitted rows in every step",
        (Some(_), None) => "second order",
        (None, _) => "first order",
    };
    let ratio = short(variance_ratio(task, learned, settings)?);
    Ok(format!("{order}, variance of a gradient × {ratio}"))
}
