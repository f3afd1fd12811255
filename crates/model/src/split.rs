//! Finds the latents that are Gaussian given the others and reach the rows through one affine
//! predictor.

use std::ops::Range;

use lehr_density::{Layout, Point, Response, Rows, Support};
use lehr_graph::{Expr, Graph};

use crate::program::Program;

/// The one predictor of the rows.
pub(crate) struct SplitPredictor<'g> {
    pub(crate) predictor: Expr<'g>,
    /// The standard deviation of a normal response around it.
    pub(crate) noise: Option<Expr<'g>>,
}

/// The positions of the sites that can be integrated out, or the reason why there are none.
pub(crate) fn find_effects(program: &Program) -> Result<Vec<usize>, String> {
    if !program.parts.locals.is_empty() {
        return Err("every row has latents of its own".into());
    }
    if let Some(site) = program.params().sites().first() {
        return Err(format!("{:?} is learned, not random", site.name));
    }
    let graph = Graph::new();
    let at = Point::inputs(&graph, [program.latents().size(), 0]);
    let rows = Rows::inputs(&graph, program.columns(), 2, "");
    let predictor =
        split_predictor(&at, program.latents(), &program.responses(&at, &rows))?.predictor;
    let value = program.log_likelihood(&at, &rows);
    effects_between(program, &at, &[Facet { predictor, value }])
}

/// One response of each row: its predictor and log likelihood.
pub(crate) struct Facet<'g> {
    pub(crate) predictor: Expr<'g>,
    /// The log likelihood.
    pub(crate) value: Expr<'g>,
}

/// The sites that are Gaussian given the others and that every response of the rows reads through
/// its affine predictor alone.
pub(crate) fn effects_between<'g>(
    program: &Program,
    at: &Point<'g>,
    facets: &[Facet<'g>],
) -> Result<Vec<usize>, String> {
    let (graph, latents) = (at.graph(), program.latents());
    let given = |(place, facet): (usize, &Facet<'g>)| {
        let moved = graph.input(&format!("moved {place}"), facet.predictor.shape());
        graph.replace(facet.value, facet.predictor, moved)
    };
    let given: Option<Vec<Expr<'g>>> = facets.iter().enumerate().map(given).collect();
    let given = given.ok_or("the likelihood cannot be read as a function of its predictor")?;
    let prior = program.log_prior(at);
    let fits = |sites: &[usize]| {
        let along = Along::new(at, latents, sites);
        let is_affine = |facet: &Facet<'g>| along.derivative_along(facet.predictor, 2).is_none();
        let is_free = |given: &Expr<'g>| along.derivative_along(*given, 1).is_none();
        facets.iter().all(is_affine)
            && along.derivative_along(prior, 3).is_none()
            && given.iter().all(is_free)
    };
    let reads = |site: &usize| {
        let along = Along::new(at, latents, &[*site]);
        let mut facets = facets.iter();
        facets.any(|facet| along.derivative_along(facet.predictor, 1).is_some())
    };
    let alone = real_sites(latents).filter(reads);
    // A prior without curvature, such as the Laplace prior away from its kink, is not Gaussian.
    let bends = |site: &usize| {
        let along = Along::new(at, latents, &[*site]);
        along.derivative_along(prior, 2).is_some()
    };
    let mut sites: Vec<usize> = alone.filter(|site| bends(site) && fits(&[*site])).collect();
    if !fits(&sites) {
        // If two sites multiply each other, neither is a random effect.
        let multiplied = |a: &usize| {
            let mut others = sites.iter().filter(|b| *b != a);
            others.any(|b| !fits(&[*a, *b]))
        };
        let struck: Vec<usize> = sites.iter().copied().filter(multiplied).collect();
        sites.retain(|site| !struck.contains(site));
    }
    if sites.is_empty() || !fits(&sites) {
        return Err("no latents are Gaussian given the others and linear in the rows".into());
    }
    Ok(sites)
}

fn real_sites(latents: &Layout) -> impl Iterator<Item = usize> {
    (0..latents.sites().len()).filter(|site| latents.sites()[*site].support == Support::Real)
}

/// The predictor among the parameters of the response: the outermost array with one number per row
/// that is affine in some real site.
pub(crate) fn split_predictor<'g>(
    at: &Point<'g>,
    latents: &Layout,
    responses: &[Response<'g>],
) -> Result<SplitPredictor<'g>, String> {
    let [response] = responses else {
        return Err("more than one column is observed, and not independently".into());
    };
    let real: Vec<usize> = real_sites(latents).collect();
    let all = Along::new(at, latents, &real);
    let reads = |value: Expr<'g>| all.derivative_along(value, 1).is_some();
    if !is_smooth(at, latents, response) {
        return Err("rows read a latent through a function with a corner or a jump".into());
    }
    let is_affine = |value: Expr<'g>| {
        real.iter().any(|site| {
            let along = Along::new(at, latents, &[*site]);
            along.derivative_along(value, 1).is_some() && along.derivative_along(value, 2).is_none()
        })
    };
    let parameters = response.parameters.iter().map(|(_, parameter)| *parameter);
    let read: Vec<Expr<'g>> = parameters
        .filter(|one| shared_effect(*one).is_none() && reads(*one))
        .collect();
    if read.iter().any(|one| one.shape().rank() > 1) {
        return Err("a row has more than one predictor".into());
    }
    // Both shapes of a beta distribution are functions of one predictor; one of them reads its
    // negative.
    let outermost = |one: &Expr<'g>| outermost_product(*one, &reads, &is_affine).map(without_sign);
    let predictors: Option<Vec<Expr<'g>>> = read.iter().map(outermost).collect();
    let predictors = predictors.ok_or("no predictor of the rows is linear in a latent")?;
    let mut predictors = predictors.into_iter();
    let predictor = predictors.next();
    let predictor = predictor.ok_or("no row reads a latent that can be any real number")?;
    if predictors.any(|other| !other.is(predictor)) {
        return Err("a row has more than one predictor".into());
    }
    let is_normal = response.family.name() == "Normal" && predictor.is(read[0]);
    let scale = response.parameters.get(1).filter(|_| is_normal);
    Ok(SplitPredictor {
        predictor,
        noise: scale.and_then(|(_, scale)| shared_effect(*scale)),
    })
}

/// Whether the parameters are smooth in the real sites. Cutpoints and the like come from other
/// sites, which are not candidates.
fn is_smooth<'g>(at: &Point<'g>, latents: &Layout, response: &Response<'g>) -> bool {
    let real: Vec<usize> = real_sites(latents).collect();
    let others = (0..latents.sites().len()).filter(|site| !real.contains(site));
    let others: Vec<Expr<'g>> = others
        .map(|site| at.latents.slice(0, latents.range(site)))
        .collect();
    let mut parameters = response.parameters.iter();
    parameters.all(|(_, parameter)| parameter.is_smooth_with(at.latents, &others))
}

/// The array without its sign, so that u and −u are one predictor.
fn without_sign(value: Expr<'_>) -> Expr<'_> {
    value.negated().map_or(value, without_sign)
}

/// The number that all rows share, if they share one.
fn shared_effect(value: Expr<'_>) -> Option<Expr<'_>> {
    let inner = std::iter::successors(Some(value), |expr| expr.widened());
    inner.last().filter(|expr| expr.shape().rank() == 0)
}

/// The first affine array on the way from a parameter to its arguments.
fn outermost_product<'g>(
    value: Expr<'g>,
    reads: &dyn Fn(Expr<'g>) -> bool,
    is_affine: &dyn Fn(Expr<'g>) -> bool,
) -> Option<Expr<'g>> {
    if is_affine(value) {
        return Some(value);
    }
    if let Some(inner) = value.argument() {
        return outermost_product(inner, reads, is_affine);
    }
    let sides = value.arguments()?;
    let mut sides = sides.into_iter().filter(|side| reads(*side));
    match (sides.next(), sides.next()) {
        (Some(side), None) if side.shape() == value.shape() => {
            outermost_product(side, reads, is_affine)
        }
        _ => None,
    }
}

/// Derivatives along some sites, with all others fixed.
struct Along<'p, 'g> {
    at: &'p Point<'g>,
    direction: Expr<'g>,
}

impl<'p, 'g> Along<'p, 'g> {
    fn new(at: &'p Point<'g>, latents: &Layout, sites: &[usize]) -> Along<'p, 'g> {
        let graph = at.graph();
        let part = |(position, site): (usize, &lehr_density::Site)| {
            let range: Range<usize> = latents.range(position);
            if sites.contains(&position) {
                graph.input(&format!("along {}", site.name), [range.len()])
            } else {
                graph.full([range.len()], 0.0)
            }
        };
        let parts: Vec<Expr<'g>> = latents.sites().iter().enumerate().map(part).collect();
        Along {
            at,
            direction: graph.concat(&parts, 0),
        }
    }

    /// The directional derivative of this order; `None` if it is zero as an expression.
    fn derivative_along(&self, value: Expr<'g>, order: usize) -> Option<Expr<'g>> {
        let graph = self.at.graph();
        let mut found = value;
        for _ in 0..order {
            found = graph.jvp(&[found], &[self.at.latents], &[self.direction])[0];
            if found.as_number() == Some(0.0) {
                return None;
            }
        }
        Some(found)
    }
}
