//! A whole fit by collapsing: the mode, the axes, points, draws, and the posterior made of them.

use std::time::Instant;

use lehr_density::{Density, Stored, Support};
use lehr_numeric::pareto::{Pareto, log_mean};

use super::Spared;
use super::axes::Axes;
use super::collapsed::{Collapsed, ResponseRows, is_normal};
use super::exact::Way;
use super::harvest::{Harvest, Order, kept_layout, spared};
use super::hyper::{Hyper, is_missed, is_quick};
use super::parts::{MOST_AXES, Parts, reference};
use super::points::{is_settled, making, points};
use super::sample::{Drawn, Draws, Making, Points, Proposed, Weighing};
use super::search::{Mode, climb};
use crate::bytes::{decoded, encoded};
use crate::error::{FitError, TrainError};
use crate::estimate::{Choices, Estimate, Evidence, Seconds};
use crate::judge::Subject;
use crate::method::Sampler;
use crate::observer::{End, Phase, Progress, Wish};
use crate::posterior::{
    Diagnostics, Examination, Importance, NO_ROWS, Origin, Posterior, Probed, Proposal,
};
use crate::run::Run;
use crate::train::Training;

/// The method's name.
pub(crate) const NAME: &str = "collapse";
/// The effective share of the points from which draws are allotted by weight: what is left of the
/// weights is then rounding.
pub(super) const EVEN: f64 = 0.95;
/// The mode of the hyperparameters is looked for.
const SEARCH: Phase = Phase {
    doing: "finding the mode of the spreads",
    stops: true,
};
/// Chains move over the hyperparameters.
const WALK: Phase = Phase {
    doing: "running chains over the spreads",
    stops: true,
};
/// Points are weighed and draws are made.
const WEIGH: Phase = Phase {
    doing: "weighing points",
    stops: true,
};

/// What a user may choose.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wishes {
    /// Points of the hyperparameters.
    pub(crate) points: Option<usize>,
    /// How they are drawn.
    pub(crate) spreads: Spreads,
}

/// How hyperparameters are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spreads {
    /// At points along axes, by chains where those do not serve.
    #[default]
    Chosen,
    /// At points along axes, weighed.
    Points,
    /// By Markov chains.
    Chains,
}

/// Why a density cannot be collapsed, as a clause; `None` if it can.
pub fn refusal(density: &dyn Density) -> Option<String> {
    Collapsed::new(stacked(density)).err()
}

/// The density with one response to a row.
fn stacked(density: &dyn Density) -> &dyn Density {
    density.stacked().unwrap_or(density)
}

/// Whether a density has effects by group that can be collapsed, as far as its rows tell before anything is
/// summed: some of them, and all where those do not show it.
pub(crate) fn applies(density: &dyn Density) -> bool {
    const SOME: usize = 2000;
    let density = stacked(density);
    if density.elsewhere().is_some() {
        return is_normal(density) == Ok(true) && Parts::of(density).is_ok();
    }
    let is_long = density.n_rows() > SOME;
    is_long && Parts::seen(density, Some(SOME)).is_ok() || Parts::of(density).is_ok()
}

pub(super) fn refused(problem: impl Into<String>, hint: &str) -> FitError {
    FitError::Setting {
        method: NAME,
        problem: problem.into(),
        hint: hint.into(),
    }
}

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
    // What a bench holds is large where groups are many: there is one at a time.
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
    let chosen = choices(&hyper, &made);
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

/// Fewer draws than usual where so many of what is kept beside the largest block would be too many numbers.
fn spare_draws(collapsed: &Collapsed<'_>, run: &mut Run<'_>) {
    const FEWEST: usize = 128;
    if run.asked_draws.is_none() && making(collapsed, run) == Making::Kept {
        let kept = kept_layout(collapsed).size().max(1);
        run.draws = run.draws.min((Spared::LIMIT / kept).max(FEWEST));
    }
}

/// Points, draws of the effects there, and what they tell.
struct Made {
    drawn: Drawn,
    /// How many of the draws are kept.
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

/// Points along axes; chains where those miss some of the density, or there are too many axes.
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
        if asked || serve || !is_quick(collapsed) {
            let each = run.draws.div_ceil(drawn.points.len());
            let all = drawn.points.len() * drawn.each();
            let is_normal = matches!(collapsed.rows, ResponseRows::Normal(_));
            let more = !is_normal && drawn.each() > each;
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

/// What points along axes tell of the evidence.
fn evidence(drawn: &Drawn) -> Evidence {
    let (evidence, error) = log_mean(&drawn.points.log_weights);
    let estimate = Estimate {
        mean: evidence,
        error,
    };
    let mean = |draws: &Draws| lehr_numeric::summary::mean(&draws.log_weights);
    let bounds: Vec<f64> = drawn.draws.iter().map(mean).collect();
    Evidence {
        bound: Some(Estimate::of(&bounds)),
        estimate,
        gain: None,
    }
}

/// The posterior of weighed points and their draws.
fn posterior(collapsed: &Collapsed<'_>, made: Made, run: &Run<'_>) -> Result<Posterior, FitError> {
    let (density, drawn) = (collapsed.parts.density, &made.drawn);
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

/// Tells the watcher how the fit stands, and stops if that is wanted.
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

/// Where the search starts: spreads of 0.3, and everything else where the model says.
fn first(collapsed: &Collapsed<'_>) -> Vec<f64> {
    let latents = collapsed.parts.density.latents();
    let start = reference(collapsed.parts.density);
    let entry = |place: &usize| {
        let own = latents.owner(*place);
        let is_spread =
            own.is_some_and(|site| site.support == Support::Positive && site.start.is_none());
        if is_spread {
            0.3_f64.ln()
        } else {
            start[*place]
        }
    };
    collapsed.parts.hyper.iter().map(entry).collect()
}

/// How the hyperparameters were drawn.
fn explored(made: &Made) -> (&'static str, String) {
    match &made.proposal {
        Proposal::Guide(_) => {
            let (points, percent) = (&made.drawn.points, 100.0 * made.drawn.points.share());
            let words = format!("{} ({percent:.0} % effective)", points.len());
            ("points", words)
        }
        Proposal::Chains(chains) => {
            let (count, slopes) = (chains.count, chains.gradients);
            let words = format!("{count} over the hyperparameters, {slopes} slopes");
            ("chains", words)
        }
    }
}

/// What was chosen, as it is printed.
fn choices(hyper: &Hyper<'_>, made: &Made) -> Choices {
    let Hyper {
        collapsed,
        axes,
        mode,
    } = hyper;
    let drawn = &made.drawn;
    let (parts, design) = (&collapsed.parts, &collapsed.design);
    let blocks: Vec<String> = (parts.blocks.iter())
        .map(|block| format!("{} of {}", block.places.len(), block.name))
        .collect();
    let common = match parts.common.places.len() {
        0 => String::new(),
        count => format!(" and {count} that all rows share"),
    };
    let factors = mode.steps + 2 * collapsed.size() + axes.looks() + drawn.factors;
    let mut chosen = vec![
        ("collapsed", format!("{}{common}", blocks.join(", "))),
        (
            "eliminated first",
            format!("{}, which leaves {}", parts.blocks[0].name, design.rest),
        ),
        ("hyperparameters", collapsed.size().to_string()),
        explored(made),
        ("factorisations", factors.to_string()),
    ];
    if let Some(distinct) = &parts.distinct {
        let (some, all) = (distinct.rows.len(), parts.density.n_rows());
        chosen.push((
            "joined",
            format!("{all} rows, of which {some} are distinct"),
        ));
    }
    if let Some(words) = &mode.shortfall {
        chosen.push(("added to the bound", words.clone()));
    }
    if drawn.points.way == Way::Exact {
        let words = format!("{}, group by group", parts.blocks[0].name);
        chosen.push(("drawn exactly", words));
    }
    let names: Vec<&str> = (axes.open_to_the_left().iter())
        .filter_map(|k| parts.density.latents().owner(parts.hyper[*k]))
        .filter(|site| site.support == Support::Positive)
        .map(|site| site.name.as_str())
        .collect();
    for (one, other) in &collapsed.confounded {
        let words = format!(
            "{one} and {other} group the rows alike: only the sums of their effects are known"
        );
        chosen.push(("confounded", words));
    }
    if !names.is_empty() {
        chosen.push(("not ruled out", format!("{} = 0", names.join(" = 0, "))));
    }
    chosen
        .into_iter()
        .map(|(what, how)| (what.to_owned(), how))
        .collect()
}

/// A fit read back.
struct Again {
    points: Points,
}

/// Reads back what a fit stored of itself.
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
mod spared;
#[cfg(test)]
mod tests;
