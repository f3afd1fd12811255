//! `auto`: chooses a method by the model and its table, and another one while the verdict is not
//! reliable and time is left.

use std::time::{Duration, Instant};

use lehr_density::{Density, Nodes};

use super::{Method, MethodInfo, RowAccess, markov, mixed, variational};
use crate::error::{FitError, TrainError};
use crate::estimate::{Estimate, Level};
use crate::expansion::ExpansionPoint;
use crate::posterior::{Attempt, Posterior};
use crate::run::{Run, StageFingerprint};
use crate::setting::{Setting, parsed};
use crate::start::is_linear_without_hierarchy;
use lehr_density::job::{LikelihoodGradient, all_rows};
use lehr_density::rows_here;
use lehr_mixed::has_random_effects;
use lehr_rows::{RowsError, fold};

/// The row of this method.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "auto",
    aliases: &[],
    help: "tries methods in turn until a verdict is reliable",
    needs: "",
    cost: "the cost of the methods that it tries",
    when: "the default",
    remedy: "raise budget, or choose a method",
    rows: RowAccess::GroupSums,
    new: || Box::new(Auto::default()),
    restore: |_| {
        let problem = "fits are stored by the method that made them".into();
        Err(FitError::Stored { problem })
    },
};

/// Chooses methods by the rule of docs/methods.md ("Which method `auto` chooses").
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Auto {
    /// The number of seconds after which no further method is tried, and training or chains end.
    pub budget: f64,
    /// Whether random effects are integrated out if that is possible.
    pub collapse: bool,
}

impl Default for Auto {
    fn default() -> Auto {
        Auto {
            budget: 60.0,
            collapse: true,
        }
    }
}

impl Method for Auto {
    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        let budget = &mut self.budget;
        let set_budget = |text: &str| {
            let seconds: f64 = parsed(text, "a number of seconds")?;
            if !(0.0..1e9).contains(&seconds) {
                return Err(format!("expected a number of seconds, found {text:?}"));
            }
            *budget = seconds;
            Ok(())
        };
        let collapse = vec![
            ("yes", "where a model has effects by group", true),
            ("no", "as if there were no such method", false),
        ];
        vec![
            Setting::new(
                "budget",
                "SECONDS",
                "how long auto goes on trying methods",
                set_budget,
            ),
            Setting::one_of(
                "collapse",
                "whether auto begins with collapse",
                collapse,
                &mut self.collapse,
            ),
        ]
    }

    fn most_locals(&self) -> usize {
        Nodes::MOST_LOCALS
    }

    /// Collapsing computes its own sums over the rows.
    fn condenses(&self, density: &dyn Density) -> bool {
        !(self.collapse && has_random_effects(density))
    }

    fn fit(&self, density: &dyn Density, run: &mut Run<'_>) -> Result<Posterior, FitError> {
        let facts = Facts::of(density, self.collapse)?;
        let mut search = Search {
            density,
            budget: self.budget,
            spent: 0.0,
            best: None,
            attempts: Vec::new(),
            refusal: None,
        };
        for info in facts.plan(self.budget) {
            match facts.seconds(info).filter(|need| *need > search.left()) {
                Some(need) => search.leave_out(info.name, need, run),
                None => search.attempt((info.new)().as_ref(), run)?,
            }
            if search.is_over() {
                break;
            }
        }
        search.conclude()
    }
}

/// The facts that determine the choice.
struct Facts {
    /// Whether random effects can and may be integrated out.
    grouped: bool,
    /// D
    latents: usize,
    /// See [`is_linear_without_hierarchy`].
    plain: bool,
    /// How many parameters are learned, which chains do not support.
    params: usize,
    /// Seconds of a gradient on all rows, if they are in memory.
    gradient: Option<f64>,
    /// How many local latents a row has.
    locals: usize,
    /// Whether the rows are stored elsewhere.
    far: bool,
}

impl Facts {
    fn of(density: &dyn Density, collapse: bool) -> Result<Facts, RowsError> {
        Ok(Facts {
            grouped: collapse && has_random_effects(density),
            latents: density.latents().size(),
            plain: is_linear_without_hierarchy(density),
            params: density.params().size(),
            gradient: rows_here(density)
                .is_resident()
                .then(|| gradient_seconds(density))
                .transpose()?,
            locals: density.integrates().map_or(0, |own| own.layout().size()),
            far: density.elsewhere().is_some(),
        })
    }

    /// The methods in turn: the table of `docs/methods.md`.
    ///
    /// | model | methods |
    /// |---|---|
    /// | three or more local latents per row | `semi-dais` |
    /// | random effects that [`collapse`](super::Collapse) can integrate out | `collapse` first, then as below |
    /// | at most 512 latents in linear predictors only | `full-rank`, `surrogate-hmc`, `nuts`, `sl-dais` |
    /// | any other, `nuts` within a third of the budget | `nuts`, `sl-dais` |
    /// | any other | `sl-dais`, `nuts` |
    fn plan(&self, budget: f64) -> Vec<&'static MethodInfo> {
        const DENSE: usize = 512;
        let (nuts, sl_dais) = (&markov::nuts::INFO, &variational::sl_dais::INFO);
        if self.locals > Nodes::MOST_EXACT {
            return vec![&variational::semi_dais::INFO];
        }
        let time = self.seconds(nuts);
        let quick = time.is_some_and(|need| need < budget / 3.0);
        let mut plan = match (self.plain && self.latents <= DENSE, quick) {
            (true, _) => vec![&variational::full_rank::INFO, nuts, sl_dais],
            (false, true) => vec![nuts, sl_dais],
            (false, false) => vec![sl_dais, nuts],
        };
        if self.plain && self.latents <= DENSE && self.params == 0 {
            plan.insert(1, &markov::surrogate_hmc::INFO);
        }
        if self.grouped {
            plan.insert(0, &mixed::INFO);
        }
        plan.retain(|method| match method.rows {
            RowAccess::Gradients => time.is_some() && !self.far,
            RowAccess::GroupSums => true,
            // No other method supports such rows from elsewhere.
            _ => self.plain || !self.far,
        });
        plan
    }

    /// The least time of a method, if it is known; `None` for `nuts` if it cannot run at all.
    fn seconds(&self, method: &MethodInfo) -> Option<f64> {
        /// Chains, draws of each with its warm-up, and gradients per draw: few near a Gaussian,
        /// many along the ridges of a hierarchy.
        const CHAINS: usize = 4;
        const DRAWS: f64 = 1300.0;
        const FEW: f64 = 7.0;
        const MANY: f64 = 31.0;
        if method.rows != RowAccess::Gradients || self.params > 0 {
            return None;
        }
        let per_draw = if self.plain { FEW } else { MANY };
        let threads = rayon::current_num_threads().min(CHAINS) as f64;
        Some(self.gradient? * DRAWS * per_draw * CHAINS as f64 / threads)
    }
}

/// Seconds of a gradient on all rows, once it is compiled.
fn gradient_seconds(density: &dyn Density) -> Result<f64, RowsError> {
    let rows = all_rows(density);
    let at = ExpansionPoint::start(density);
    let timed = || {
        let clock = Instant::now();
        let job = LikelihoodGradient::new(density, &at.latents, &at.params);
        fold(&*rows, &job)?;
        Ok(clock.elapsed().as_secs_f64())
    };
    timed()?;
    timed()
}

/// The methods tried so far.
struct Search<'d> {
    density: &'d dyn Density,
    budget: f64,
    spent: f64,
    best: Option<(Level, Posterior)>,
    attempts: Vec<Attempt>,
    refusal: Option<FitError>,
}

impl Search<'_> {
    fn left(&self) -> f64 {
        self.budget - self.spent
    }

    /// Whether nothing can be improved, or no time is left.
    fn is_over(&self) -> bool {
        let reached = self.best.as_ref().map(|(level, _)| *level);
        reached == Some(Level::Reliable) || (reached.is_some() && self.left() <= 0.0)
    }

    fn note(&mut self, attempt: Attempt, run: &mut Run<'_>) {
        run.remark(&format!("auto: {}", attempt.line()));
        self.attempts.push(attempt);
    }

    /// Records a method that would take too long.
    fn leave_out(&mut self, name: &str, need: f64, run: &mut Run<'_>) {
        let budget = (self.spent + need).ceil();
        let words =
            format!("not tried, it would take about {need:.0} s (budget {budget:.0} allows it)");
        self.refuse(name, (0.0, words), run);
    }

    /// Tries a method while time is left. A failure is recorded, and the next method is tried.
    fn attempt(&mut self, method: &dyn Method, run: &mut Run<'_>) -> Result<(), FitError> {
        let name = method.info().name;
        let clock = Instant::now();
        // Passes over rows elsewhere may exceed the budget. The work after them is short, and
        // without it they would be wasted.
        let end = clock + Duration::from_secs_f64(self.left().max(0.0));
        run.deadline = self.density.elsewhere().is_none().then_some(end);
        run.draws = (run.asked_draws).unwrap_or_else(|| method.usual_draws(self.density));
        let made = method.fit(self.density, run);
        let late = run.is_late();
        run.deadline = None;
        let seconds = clock.elapsed().as_secs_f64();
        match made {
            Ok(posterior) => {
                self.spent += timed(name, seconds, run)?;
                self.take(posterior, seconds, run);
            }
            // A search that is stopped keeps its best fit.
            Err(error) if is_stopped(&error) && (late || self.best.is_some()) => {
                self.spent = self.budget;
                let why = if late {
                    "the budget was spent"
                } else {
                    "stopped"
                };
                self.refuse(name, (seconds, why.into()), run);
                self.refusal = Some(error);
            }
            Err(error) if is_stopped(&error) || matches!(error, FitError::Rows(_)) => {
                return Err(error);
            }
            Err(error) => {
                self.spent += timed(name, seconds, run)?;
                let words = error.to_string();
                let first = words.lines().next().unwrap_or_default().to_owned();
                self.refuse(name, (seconds, first), run);
                self.refusal = Some(error);
            }
        }
        Ok(())
    }

    fn refuse(&mut self, name: &str, (seconds, words): (f64, String), run: &mut Run<'_>) {
        let attempt = Attempt {
            method: name.into(),
            seconds,
            level: None,
            words,
        };
        self.note(attempt, run);
    }

    /// Keeps a fit if it is the best so far: by its verdict, then by its bound, then the later one.
    fn take(&mut self, posterior: Posterior, seconds: f64, run: &mut Run<'_>) {
        let verdict = posterior.verdict();
        let attempt = Attempt {
            method: posterior.method().into(),
            seconds,
            level: Some(verdict.level),
            words: verdict.sentence,
        };
        self.note(attempt, run);
        let is_better = self.best.as_ref().is_none_or(|(level, known)| {
            verdict.level < *level
                || (verdict.level == *level && !is_below(posterior.bound(), known.bound()))
        });
        if is_better {
            self.best = Some((verdict.level, posterior));
        }
    }

    fn conclude(self) -> Result<Posterior, FitError> {
        let Some((_, mut posterior)) = self.best else {
            return Err(self.refusal.expect("a plan has a method"));
        };
        let tried = self.attempts.iter().filter(|one| one.seconds > 0.0);
        let tried: Vec<&str> = tried.map(|one| one.method.as_str()).collect();
        let words = format!("{}, by auto of {}", posterior.method(), tried.join(", "));
        posterior.choices.insert(0, ("method".into(), words));
        posterior.origin.attempts = self.attempts;
        Ok(posterior)
    }
}

/// The time of an attempt, as a stage of the run, so that a resumed run decides as before.
fn timed(name: &str, seconds: f64, run: &mut Run<'_>) -> Result<f64, FitError> {
    let letters: Vec<f64> = name.bytes().map(f64::from).collect();
    let stamp = StageFingerprint::of(&letters);
    let seconds = run.resume(&stamp)?.unwrap_or(seconds);
    run.finish(&stamp, &seconds)?;
    Ok(seconds)
}

fn is_stopped(error: &FitError) -> bool {
    matches!(error, FitError::Train(TrainError::Stopped { .. }))
}

fn is_below(one: Option<Estimate>, other: Option<Estimate>) -> bool {
    matches!((one, other), (Some(one), Some(other)) if one.mean < other.mean)
}
