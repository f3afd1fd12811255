//! The applicability of collapsing, the start of its search, and the description of its fits.

use lehr_density::{Density, Support};
use lehr_numeric::pareto::log_mean;
use lehr_numeric::summary::mean;

use super::axes::Axes;
use super::collapsed::{Collapsed, is_normal};
use super::effect_draws::Draws;
use super::exact::Way;
use super::group_moments::Spared;
use super::harvest::kept_layout;
use super::parts::{Parts, reference};
use super::points::making;
use super::sample::{Drawn, Making};
use super::search::Mode;
use crate::estimate::{Choices, Estimate, Evidence};
use crate::run::Run;

/// The reason why a density cannot be collapsed, as a clause; `None` if it can.
pub fn refusal(density: &dyn Density) -> Option<String> {
    Collapsed::new(stacked(density)).err()
}

/// The density with one response per row.
pub(crate) fn stacked(density: &dyn Density) -> &dyn Density {
    density.stacked().unwrap_or(density)
}

/// Whether a density has random effects that can be collapsed, as far as its rows show before
/// anything is summed: some of them, and all if those do not show it.
pub(crate) fn applies(density: &dyn Density) -> bool {
    const SOME: usize = 2000;
    let density = stacked(density);
    if density.elsewhere().is_some() {
        return is_normal(density) == Ok(true) && Parts::of(density).is_ok();
    }
    let is_long = density.n_rows() > SOME;
    is_long && Parts::seen(density, Some(SOME)).is_ok() || Parts::of(density).is_ok()
}

/// Reduces the default number of draws if the kept numbers outside the largest block would be too
/// many.
pub(crate) fn spare_draws(collapsed: &Collapsed<'_>, run: &mut Run<'_>) {
    const FEWEST: usize = 128;
    if run.asked_draws.is_none() && making(collapsed, run) == Making::Kept {
        let kept = kept_layout(collapsed).size().max(1);
        run.draws = run.draws.min((Spared::LIMIT / kept).max(FEWEST));
    }
}

/// The evidence from points along axes.
pub(crate) fn evidence(drawn: &Drawn) -> Evidence {
    let (evidence, error) = log_mean(&drawn.points.log_weights);
    let estimate = Estimate {
        mean: evidence,
        error,
    };
    let bound = |draws: &Draws| mean(&draws.log_weights);
    let bounds: Vec<f64> = drawn.draws.iter().map(bound).collect();
    Evidence {
        bound: Some(Estimate::of(&bounds)),
        estimate,
        gain: None,
    }
}

/// The start of the search: standard deviations of 0.3, and the model's default for everything
/// else.
pub(crate) fn first(collapsed: &Collapsed<'_>) -> Vec<f64> {
    let latents = collapsed.parts.density.latents();
    let start = reference(collapsed.parts.density);
    let entry = |place: &usize| {
        let own = latents.site_of(*place);
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

/// A description of the collapsed effects, for printing.
pub(crate) fn describe_structure(collapsed: &Collapsed<'_>) -> Choices {
    let (parts, design) = (&collapsed.parts, &collapsed.design);
    let blocks: Vec<String> = (parts.blocks.iter())
        .map(|block| format!("{} of {}", block.places.len(), block.name))
        .collect();
    let common = match parts.common.places.len() {
        0 => String::new(),
        count => format!(" and {count} that all rows share"),
    };
    let chosen = [
        ("collapsed", format!("{}{common}", blocks.join(", "))),
        (
            "eliminated first",
            format!("{}, which leaves {}", parts.blocks[0].name, design.rest),
        ),
        ("hyperparameters", collapsed.size().to_string()),
    ];
    chosen.map(|(what, how)| (what.to_owned(), how)).to_vec()
}

/// A description of the draws of hyperparameters and effects, for printing.
pub(crate) fn describe_draws(
    collapsed: &Collapsed<'_>,
    axes: &Axes,
    mode: &Mode,
    drawn: &Drawn,
) -> Choices {
    let parts = &collapsed.parts;
    let factors = mode.steps + 2 * collapsed.size() + axes.looks() + drawn.factors;
    let mut chosen = vec![("factorisations", factors.to_string())];
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
        .filter_map(|k| parts.density.latents().site_of(parts.hyper[*k]))
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
