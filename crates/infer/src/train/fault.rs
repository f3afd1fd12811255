//! Finds the cause of values that are not finite: the site, and the rows.

use lehr_density::{Density, Point};

use super::Task;
use crate::draw::{DrawSettings, NonFiniteDraws, drawn};
use crate::expansion::LogPrior;
use crate::guide::{LearnedBlocks, PARAMS};
use lehr_density::rows_here;
use lehr_rows::{Argument, RowPass};

/// Draws that are examined.
const DRAWS: usize = 64;
/// Rows that are examined together.
const BLOCK: usize = 1024;

/// Describes where a draw at these values is not finite; `None` if all examined draws are finite.
pub(super) fn find_fault(task: &Task<'_>, learned: &LearnedBlocks) -> Option<String> {
    let settings = DrawSettings {
        count: DRAWS,
        seed: task.seed,
        treatment: NonFiniteDraws::Kept,
    };
    let drawn = drawn(task.place(), task.guide, learned, settings).ok()?;
    let params = learned.get(PARAMS).unwrap_or(&[]);
    let draws = drawn.latents.chunks(task.density.latents().size());
    if let Some(words) = draws.clone().find_map(|z| in_draw(task.density, z)) {
        return Some(words);
    }
    let mut prior = LogPrior::new(task.density);
    let found = draws.clone().find_map(|z| {
        let (value, slope) = prior.at(z, params);
        let site = faulty_site(task.density, value, slope)?;
        Some(format!("in the prior of {site}"))
    });
    found.or_else(|| in_rows(task.density, draws, params))
}

fn in_draw(density: &dyn Density, z: &[f64]) -> Option<String> {
    let place = z.iter().position(|value| !value.is_finite())?;
    Some(format!("in the draws of {}", name(density, place)))
}

/// The site whose slope is not finite, or every site if only the value is not.
fn faulty_site(density: &dyn Density, value: f64, slope: &[f64]) -> Option<String> {
    match slope.iter().position(|slope| !slope.is_finite()) {
        Some(place) => Some(name(density, place)),
        None if value.is_finite() => None,
        None if density.latents().sites().len() == 1 => Some(name(density, 0)),
        None => Some("all sites together".into()),
    }
}

fn name(density: &dyn Density, place: usize) -> String {
    let owner = density.latents().site_of(place);
    owner.map_or_else(String::new, |site| format!("site {:?}", site.name))
}

fn in_rows<'z>(
    density: &dyn Density,
    mut draws: impl Iterator<Item = &'z [f64]>,
    params: &[f64],
) -> Option<String> {
    let sizes = [
        Argument::Shared(density.latents().size()),
        Argument::Shared(density.params().size()),
    ];
    let mut pass = RowPass::in_blocks(rows_here(density), (1, BLOCK), &sizes, |inputs, rows| {
        let at = Point::new(inputs[0], inputs[1]);
        let value = density.log_likelihood(&at, rows).sum();
        vec![value, at.graph().grad(value, &[at.latents])[0]]
    });
    draws.find_map(|z| {
        pass.each(&[z, params], |rows, found| {
            let site = faulty_site(density, found.output(0)[0], found.output(1))?;
            let (first, last) = (rows.start, rows.end - 1);
            Some(format!(
                "in the likelihood of rows {first} to {last}, at {site}"
            ))
        })
    })
}
