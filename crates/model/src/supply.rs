//! Where the values of sites come from while a model runs.

use std::cell::RefCell;
use std::collections::HashMap;

use lehr_density::{Layout, Point, Site};
use lehr_graph::reference::{Values, evaluate};
use lehr_graph::{Expr, Graph};
use rand_chacha::ChaCha8Rng;

use crate::distribution::{Distribution, draw_batch};

/// How often a draw on the very edge of its support is drawn again.
const MOST_DRAWS: usize = 100;

/// The values of sites in one run of a model.
pub(crate) enum Supply<'g> {
    /// The first run: every site is an input of its own.
    Discover,
    /// The sites of a point, by name.
    Given(HashMap<String, Expr<'g>>),
    /// Latents are drawn from their priors, parameters are given.
    Drawn(Box<Drawn<'g>>),
}

/// Latents as they are drawn.
pub(crate) struct Drawn<'g> {
    pub(crate) params: HashMap<String, Expr<'g>>,
    pub(crate) random: RefCell<ChaCha8Rng>,
    /// Each site's draw on the unconstrained scale, or its name alone if none was found.
    pub(crate) free: RefCell<Vec<(String, Option<Vec<f64>>)>>,
}

impl<'g> Supply<'g> {
    /// The sites behind a point.
    pub(crate) fn at(point: &Point<'g>, latents: &Layout, params: &Layout) -> Supply<'g> {
        let mut values = by_name(latents, point.latents);
        values.extend(by_name(params, point.params));
        Supply::Given(values)
    }

    /// The value of a latent.
    pub(crate) fn latent(
        &self,
        graph: &'g Graph,
        site: &Site,
        distribution: &impl Distribution<'g>,
    ) -> Expr<'g> {
        match self {
            Supply::Drawn(drawn) => drawn.draw(graph, site, distribution),
            _ => self.param(graph, site),
        }
    }

    /// The value of a parameter.
    pub(crate) fn param(&self, graph: &'g Graph, site: &Site) -> Expr<'g> {
        let known = match self {
            Supply::Discover => {
                let free = site.support.free_shape(site.shape());
                let input = graph.input(&site.name, free.expect("checked before it is supplied"));
                return site.support.constrain(input).value;
            }
            Supply::Given(values) => values.get(&site.name),
            Supply::Drawn(drawn) => drawn.params.get(&site.name),
        };
        let name = &site.name;
        *known.unwrap_or_else(|| {
            panic!("site {name:?} was not there when the model was bound: a model names the same sites in every run")
        })
    }
}

/// The constrained sites behind a flat vector, by name.
pub(crate) fn by_name<'g>(layout: &Layout, flat: Expr<'g>) -> HashMap<String, Expr<'g>> {
    let names = layout.sites().iter().map(|site| site.name.clone());
    names.zip(layout.constrain(flat).values).collect()
}

impl<'g> Drawn<'g> {
    fn draw(
        &self,
        graph: &'g Graph,
        site: &Site,
        distribution: &impl Distribution<'g>,
    ) -> Expr<'g> {
        let exprs: Vec<Expr<'g>> = (distribution.parameters(graph).into_iter())
            .map(|(_, expr)| expr)
            .collect();
        let numbers = evaluate(&exprs, &Values::new(), 1);
        let parameters: Vec<&[f64]> = numbers.iter().map(Vec::as_slice).collect();
        let batch = distribution.batch_shape().size();
        let mut random = self.random.borrow_mut();
        let mut value = vec![0.0; site.shape().size()];
        let free = (0..MOST_DRAWS).find_map(|_| {
            draw_batch(
                distribution.family(),
                &parameters,
                batch,
                &mut *random,
                &mut value,
            );
            site.support.unconstrain(&value).ok()
        });
        self.free.borrow_mut().push((site.name.clone(), free));
        graph.constant(site.shape(), &value)
    }
}
