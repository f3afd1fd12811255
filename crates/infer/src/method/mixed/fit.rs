//! A whole fit by collapsing: the mode, the axes, points, draws, and the posterior from them.

use std::time::Instant;

use lehr_density::{Density, Stored};
use lehr_numeric::pareto::{Pareto, log_mean};

use super::hyperparameter_chains::Hyper;
use crate::bytes::{decoded, encoded};
use crate::collapse::{
    Axes, Collapsed, Drawn, Harvest, MOST_AXES, Making, Mode, NAME, Order, Points, Proposed,
    Spreads, Weighing, Wishes, climb, describe_draws, describe_structure, evidence, first,
    is_missed, is_settled, kept_layout, making, points, refused, spare_draws, spared, stacked,
};
use crate::error::{FitError, TrainError};
use crate::estimate::{Estimate, Evidence, Seconds};
use crate::judge::Subject;
use crate::method::Sampler;
use crate::posterior::{
    Diagnostics, Examination, Importance, NO_ROWS, Origin, Posterior, Probed, Proposal,
};
use crate::run::Run;
use crate::train::Training;
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

/// Fits a density by collapsing its effects.
pub(crate) fn fit(
    wishes: Wishes,
    density: &dyn Density,
    run: &mut Run<'_>,
) -> Result<Posterior, FitError> {
    const OTHERS: &str = "use another method, such as sl-dais";
    if run.draws < 25 {
        let problem = format!(
            "{} draws were asked for, fewer than the 25 a verdict needs",
            run.draws
        );
        return Err(refused(problem, "1024 is usual"));
    }
    let clock = Instant::now();
    run.begin(SEARCH);
    let collapsed = Collapsed::new(stacked(density)).map_err(|why| refused(why, OTHERS))?;
    spare_draws(&collapsed, run);
    let start = clock.elapsed().as_secs_f64();
    let clock = Instant::now();
    look(run, 0, "slopes")?;
    // With many groups a workspace is large, so there is one at a time.
    let mode = climb(&collapsed, &first(&collapsed), &mut collapsed.bench()).ok_or_else(|| {
        refused(
            "the spreads have no mode where the density is finite",
            OTHERS,
        )
    })?;
    run.begin(WEIGH);
    look(run, mode.steps, "slopes")?;
    let axes = Axes::new(&collapsed, &mode);
    let train = clock.elapsed().as_secs_f64();
    let clock = Instant::now();
    let hyper = Hyper {
        collapsed: &collapsed,
        axes: &axes,
        mode: &mode,
    };
    let made = made(wishes, &hyper, run)?;
    let mut chosen = describe_structure(&collapsed);
    chosen.push(explored(&made));
    chosen.extend(describe_draws(&collapsed, &axes, &mode, &made.drawn));
    let seconds = Seconds {
        start,
        compile: 0.0,
        train,
        evaluate: clock.elapsed().as_secs_f64(),
    };
    let mut posterior = posterior(&collapsed, made, run)?;
    posterior.choices = chosen;
    posterior.origin.rows = density.total_rows();
    if let Some(spared) = &posterior.spared {
        let (site, numbers) = (&spared.site().name, spared.groups() * spared.width());
        let words = format!("moments of the {numbers} numbers of {site}, draws of all others");
        posterior.choices.push(("kept".into(), words));
    }
    posterior.seconds = seconds;
    Ok(posterior)
}

/// Points, draws of the effects at them, and the results.
struct Made {
    drawn: Drawn,
    /// The number of kept draws.
    count: usize,
    proposal: Proposal,
    evidence: Option<Evidence>,
}

impl Made {
    fn order(&self) -> Order {
        match self.proposal {
            Proposal::Guide(_) => Order::Sobol,
            Proposal::Chains(_) => Order::Chains,
        }
    }
}

/// Points along axes; chains if those miss part of the density, or if there are too many axes.
fn made(wishes: Wishes, hyper: &Hyper<'_>, run: &mut Run<'_>) -> Result<Made, FitError> {
    let Hyper {
        collapsed,
        axes,
        mode,
    } = hyper;
    let chains = match wishes.spreads {
        Spreads::Chosen => collapsed.size() > MOST_AXES,
        Spreads::Points => false,
        Spreads::Chains => collapsed.size() > 0,
    };
    if !chains {
        let drawn = points(wishes, collapsed, (axes, mode), run)?;
        let asked = wishes.points.is_some() || wishes.spreads == Spreads::Points;
        let is_settled = is_settled(&drawn, collapsed);
        let serve = is_settled && !is_missed(&drawn);
        if asked || serve || !collapsed.is_quick() {
            let each = run.draws.div_ceil(drawn.points.len());
            let all = drawn.points.len() * drawn.each();
            let more = !collapsed.is_normal() && drawn.each() > each;
            return Ok(Made {
                count: if more { all } else { run.draws },
                evidence: Some(evidence(&drawn)),
                proposal: Proposal::Guide(Training {
                    converged: mode.converged && is_settled,
                    ..training(mode)
                }),
                drawn,
            });
        }
    }
    run.begin(WALK);
    let walked = hyper.walk(run.draws, run)?;
    run.begin(WEIGH);
    let weighing = Weighing {
        collapsed,
        proposed: Proposed::Draws(&walked.thetas),
        near: &mode.near,
        making: making(collapsed, run),
        seed: run.seed,
    };
    let count = walked.thetas.len() / collapsed.size();
    let drawn = weighing.weigh(count, (1, 1));
    let (correction, error) = log_mean(&drawn.points.log_weights);
    let estimated = walked.evidence.map(|found| Estimate {
        mean: found.mean + correction,
        error: found.error.hypot(error),
    });
    Ok(Made {
        drawn,
        count,
        proposal: Proposal::Chains(Box::new(walked.chains)),
        evidence: estimated.map(Evidence::estimated),
    })
}

/// The posterior of weighed points and their draws.
fn posterior(collapsed: &Collapsed<'_>, made: Made, run: &Run<'_>) -> Result<Posterior, FitError> {
    let (density, drawn) = (collapsed.density(), &made.drawn);
    let making = making(collapsed, run);
    let latents = match making {
        Making::Draws => density.latents().clone(),
        Making::Kept => kept_layout(collapsed),
    };
    let kept = Harvest::of(drawn, made.count, latents.size());
    let spared = match making {
        Making::Draws => None,
        Making::Kept => {
            let found = spared(collapsed, drawn, &kept, (made.order(), run.seed));
            let hint = "give the spreads proper priors";
            Some(found.ok_or_else(|| refused("effects are not finite", hint))?)
        }
    };
    let pareto = Pareto::new(&kept.log_weights)?;
    let examination = if spared.is_some() {
        Examination::of_sites(&latents, &kept.draws, &pareto)
    } else {
        Examination::of_weights(&Subject::new(density, &[], &kept.draws, &pareto, run.seed))
    };
    let probes = Probed::of(&drawn.halves, &drawn.points.weights());
    let examination = Examination {
        probes,
        ..examination
    };
    let contents = match &spared {
        Some(spared) => format!("sums over the rows of each group of {}", spared.site().name),
        None => NO_ROWS.into(),
    };
    Ok(Posterior {
        draws: kept.draws,
        latents,
        spared: spared.map(Box::new),
        params: density.params().clone(),
        param_values: Vec::new(),
        evidence: made.evidence,
        diagnostics: Diagnostics::Importance(Importance {
            pareto,
            proposal: made.proposal,
            examination,
            chains: None,
        }),
        origin: Origin {
            method: Stored {
                name: NAME.into(),
                bytes: encoded(&made.drawn.points),
            },
            ..Origin::of(density, run.seed, contents)
        },
        choices: Vec::new(),
        seconds: Seconds::default(),
    })
}

/// Reports the progress of the fit, and stops if the observer requests it.
fn look(run: &mut Run<'_>, done: usize, unit: &'static str) -> Result<(), FitError> {
    let progress = Progress::counted(done as u64, unit, End::AtMost(1));
    if run.progress(&progress) == Wish::Continue {
        return Ok(());
    }
    Err(FitError::Train(TrainError::Stopped {
        doing: SEARCH.doing,
        done: format!("{done} {unit}"),
        saved: None,
    }))
}

fn training(mode: &Mode) -> Training {
    Training {
        iterations: mode.steps as u64,
        converged: mode.converged,
        bad_steps: 0,
        history: Vec::new(),
        steps_now: mode.steps as u64,
    }
}

/// A description of how the hyperparameters were drawn.
fn explored(made: &Made) -> (String, String) {
    match &made.proposal {
        Proposal::Guide(_) => {
            let (points, percent) = (&made.drawn.points, 100.0 * made.drawn.points.share());
            let words = format!("{} ({percent:.0} % effective)", points.len());
            ("points".into(), words)
        }
        Proposal::Chains(chains) => {
            let (count, slopes) = (chains.count, chains.gradients);
            let words = format!("{count} over the hyperparameters, {slopes} slopes");
            ("chains".into(), words)
        }
    }
}

/// A restored fit.
struct Again {
    points: Points,
}

/// Reads the stored form of a fit.
pub(crate) fn restore(bytes: &[u8]) -> Result<Box<dyn Sampler>, FitError> {
    let points = decoded(bytes)?;
    Ok(Box::new(Again { points }))
}

impl Sampler for Again {
    /// Draws the effects at the stored points, on the rows that the density is bound to.
    fn draw(&self, density: &dyn Density, count: usize, seed: u64) -> Result<Vec<f64>, FitError> {
        const HINT: &str = "bind the model to the table that was fitted";
        let collapsed = Collapsed::new(stacked(density)).map_err(|why| refused(why, HINT))?;
        if collapsed.size() * self.points.len() != self.points.thetas.len() {
            return Err(refused(
                "the model has other hyperparameters than the fit's",
                HINT,
            ));
        }
        let drawn = self.points.draw_again(&collapsed, count, seed);
        drawn.ok_or_else(|| refused("the density is not finite at the fit's points", HINT))
    }
}

#[cfg(test)]
mod tests;
