//! The integral over local latents, by adaptive quadrature around the mode of each row.

use lehr_graph::Expr;
use lehr_numeric::quadrature::gauss_hermite;

use super::Locals;
use super::newton::LocalNormal;
use crate::{Layout, Point, Rows};

const HALF_LN_TWO_PI: f64 = 0.918_938_533_204_672_8;

/// The default number of nodes per dimension, by the number of dimensions.
const USUAL: [usize; Nodes::MOST_LOCALS] = [16, 9, 5, 3, 3, 2, 2, 2];
/// The numbers of nodes that check the accuracy of the default ones, beyond [`Nodes::MOST_EXACT`]
/// dimensions.
const FINER: [usize; Nodes::MOST_LOCALS - Nodes::MOST_EXACT] = [8, 5, 4, 3, 3, 3];

/// The nodes of a product rule for E f(t), t ~ N(0, 1) in a few dimensions.
#[derive(Clone, Debug, PartialEq)]
pub struct Nodes {
    per_dimension: usize,
    points: Vec<Vec<f64>>,
    /// ln ω + ½|t|², which turns an expectation under the normal into a plain integral.
    log_weights: Vec<f64>,
}

impl Nodes {
    /// The most local latents for which a product rule is available.
    pub const MOST_LOCALS: usize = 8;
    /// The most local latents for which the rule is accurate enough to replace the likelihood.
    pub const MOST_EXACT: usize = 2;

    /// The default number of nodes: 16 for one local latent, 9 × 9 for two, and for more as many as
    /// a check of the integral needs. `None` beyond [`Nodes::MOST_LOCALS`].
    pub fn usual_rule(layout: &Layout) -> Option<Nodes> {
        let count = USUAL.get(layout.size().checked_sub(1)?)?;
        Some(Nodes::new(*count, layout.size()))
    }

    /// `per_dimension` nodes in each dimension.
    ///
    /// # Panics
    /// If there are no dimensions, or more than [`Nodes::MOST_LOCALS`].
    pub fn new(per_dimension: usize, dimensions: usize) -> Nodes {
        assert!(
            (1..=Nodes::MOST_LOCALS).contains(&dimensions),
            "{dimensions} latents of a row have no product rule"
        );
        let (nodes, weights) = gauss_hermite(per_dimension);
        let line: Vec<(f64, f64)> = nodes
            .iter()
            .zip(weights)
            .map(|(t, w)| (*t, w.ln() + 0.5 * t * t))
            .collect();
        let mut all: Vec<(Vec<f64>, f64)> = vec![(Vec::new(), 0.0)];
        for _ in 0..dimensions {
            let longer = |(point, v): &(Vec<f64>, f64)| -> Vec<(Vec<f64>, f64)> {
                let along = |(t, w): &(f64, f64)| ([point.as_slice(), &[*t]].concat(), v + w);
                line.iter().map(along).collect()
            };
            all = all.iter().flat_map(longer).collect();
        }
        let (points, log_weights) = all.into_iter().unzip();
        Nodes {
            per_dimension,
            points,
            log_weights,
        }
    }

    /// Nodes in each dimension.
    pub fn per_dimension(&self) -> usize {
        self.per_dimension
    }

    /// How many latents a row has.
    pub fn dimensions(&self) -> usize {
        self.points[0].len()
    }

    /// A rule whose difference from this one estimates its error: twice as many nodes for one or
    /// two local latents, and some more for several.
    #[must_use]
    pub fn finer_rule(&self) -> Nodes {
        let dimensions = self.dimensions();
        let count = match dimensions.checked_sub(Nodes::MOST_EXACT + 1) {
            None => 2 * self.per_dimension,
            Some(place) => FINER[place].max(self.per_dimension + 1),
        };
        Nodes::new(count, dimensions)
    }

    /// log p(yₙ | z, xₙ), `[n]`, with the latents of each row integrated out, times the weight of
    /// the row:
    ///
    /// ```text
    /// log p(y | z) ≈ ½d ln 2π − ln |F| + logsumexp_q [ln ω_q + ½|t_q|² + log p(y, ŵ + F⁻ᵀt_q | z)]
    /// ```
    ///  with ŵ the mode of the joint density and F Fᵀ its negative Hessian there. The integral does
    ///  not depend on its nodes, so their derivative is left out. The result is the derivative of
    ///  the integral, to the accuracy of the rule, for every order.
    ///
    /// # Panics
    /// If there are more local latents than the rule has dimensions for.
    pub fn log_likelihood<'g>(
        &self,
        locals: &dyn Locals,
        at: &Point<'g>,
        rows: &Rows<'g>,
    ) -> Expr<'g> {
        let joint = |w: &[Expr<'g>]| locals.log_joint(at, &rows.carry_numbers(w));
        let normal = LocalNormal::posterior_normal(locals, at, rows).without_gradient();
        let value = self.log_integral(&normal, &joint);
        locals.weight_rows(value, rows)
    }

    /// The logarithm of the integral of e^`log_density`, with nodes placed by a normal
    /// approximation.
    pub fn log_integral<'g>(
        &self,
        normal: &LocalNormal<'g>,
        log_density: &dyn Fn(&[Expr<'g>]) -> Expr<'g>,
    ) -> Expr<'g> {
        let terms = self.log_terms(normal, log_density);
        let largest = largest_term(&terms);
        let shares = terms.iter().map(|term| (*term - largest).exp());
        let sum = shares.reduce(|a, b| a + b).expect("a rule has a node");
        let constant = HALF_LN_TWO_PI * self.dimensions() as f64;
        largest + sum.ln() - normal.log_determinant() + constant
    }

    /// The expectations of functions of each row under the prior of its latents. A function is an
    /// array with a leading axis of rows.
    ///
    /// # Panics
    /// If there are more local latents than the rule has dimensions for.
    pub fn expected_values<'g>(
        &self,
        locals: &dyn Locals,
        at: &Point<'g>,
        rows: &Rows<'g>,
        of: &dyn Fn(&Rows<'g>) -> Vec<Expr<'g>>,
    ) -> Vec<Expr<'g>> {
        let normal = LocalNormal::prior_normal(locals, at, rows);
        let density = |w: &[Expr<'g>]| locals.log_prior(at, &rows.carry_numbers(w));
        let total = self.log_integral(&normal, &density) + normal.log_determinant();
        let total = total - HALF_LN_TWO_PI * self.dimensions() as f64;
        let terms = self.log_terms(&normal, &density);
        let mut sums: Vec<Expr<'g>> = Vec::new();
        let map = normal.map();
        for (node, term) in self.points.iter().zip(terms) {
            let share = (term - total).exp();
            let values = of(&rows.carry_numbers(&map.at_numbers(node)));
            for (place, value) in values.into_iter().enumerate() {
                let part = value * along_rows(share, value);
                match sums.get_mut(place) {
                    Some(sum) => *sum = *sum + part,
                    None => sums.push(part),
                }
            }
        }
        sums
    }

    fn log_terms<'g>(
        &self,
        normal: &LocalNormal<'g>,
        log_density: &dyn Fn(&[Expr<'g>]) -> Expr<'g>,
    ) -> Vec<Expr<'g>> {
        let (map, nodes) = (normal.map(), self.points.iter().zip(&self.log_weights));
        nodes
            .map(|(t, weight)| log_density(&map.at_numbers(t)) + *weight)
            .collect()
    }
}

/// The largest of the terms in each row, with zero derivative: it only keeps exponentials in range,
/// and it is added and subtracted again.
fn largest_term<'g>(terms: &[Expr<'g>]) -> Expr<'g> {
    let all = terms.iter().copied().reduce(Expr::max);
    all.expect("a rule has a node").stop_gradient()
}

/// One number per row, reshaped to the rank of another array of rows.
fn along_rows<'g>(numbers: Expr<'g>, like: Expr<'g>) -> Expr<'g> {
    let ones = vec![1; like.shape().rank().saturating_sub(1)];
    let dims = [like.shape().dims()[..1].to_vec(), ones].concat();
    numbers.reshape(lehr_graph::Shape::new(&dims))
}
