//! The difference between ln Z and its variational bound, group by group. The effects of one group,
//! given all other effects at their means, have an integrand of one or two dimensions. It is
//! integrated by Gauss–Hermite quadrature:
//!
//! ```text
//! ln Z_g − F_g = ln Σ wₖ e^{hₖ} − Σ wₖ hₖ,   hₖ = Σ ℓ(η + z(vₖ − m_g)) + ln p(vₖ) − ln N(vₖ; m′, V′)
//! ```
//!
//! The nodes vₖ are those of N(m′, V′), the Gaussian variational approximation of that integrand. The
//! same values give the Newton step to N(m′, V′) (Stein's identities).

mod job;

use lehr_numeric::dense::small;
use lehr_numeric::quadrature::Rule;

use crate::cross_products::Effects;
use crate::effect_structure::EffectStructure;
use crate::elimination_order::EliminationOrder;
use crate::prior_terms::BlockPrior;
use crate::row_averages::{LANES, RowBatch};
use crate::variational_gaussian::{EffectProblem, ThetaPrior};
use crate::workspace::MixedWorkspace;
use job::NodeSums;

/// The most effects of a group for which quadrature is used.
const MOST_WIDTH: usize = 2;
/// Nodes of groups with one effect.
const ONE: usize = 8;
/// Nodes along each of two effects.
const TWO: usize = 7;
/// Steps towards each group's own Gaussian approximation.
const STEPS: usize = 2;

/// A block in the form that the sorted rows read it.
pub(crate) struct GroupRows {
    /// Its place among the blocks.
    block: usize,
    pub(crate) groups: usize,
    width: usize,
    pub(crate) codes: Vec<u32>,
    /// The coefficients, row after row.
    coefficients: Vec<f64>,
}

impl GroupRows {
    pub(crate) fn new(
        model: &EffectStructure<'_>,
        order: &EliminationOrder,
        place: usize,
    ) -> GroupRows {
        let block = &model.blocks[place];
        let rows = order.rows.iter().map(|row| *row as usize);
        let width = block.width;
        GroupRows {
            block: place,
            groups: block.groups,
            width,
            codes: rows.clone().map(|row| block.codes[row]).collect(),
            coefficients: rows
                .flat_map(|row| block.coefficients[row * width..][..width].to_vec())
                .collect(),
        }
    }
}

/// The gap of one block, and its slopes in the block's prior.
pub(crate) struct VariationalGap {
    pub(crate) value: f64,
    pub(crate) precision: Vec<f64>,
    pub(crate) linear: Vec<f64>,
}

/// The gaps of all blocks; `None` for those that are too wide.
pub(crate) struct MeasuredGaps {
    pub(crate) blocks: Vec<Option<VariationalGap>>,
    /// Their sum.
    pub(crate) total: f64,
    /// Σ ∂/∂θ through the likelihood.
    pub(crate) theta: Vec<f64>,
}

/// The Gaussian whose gaps are measured.
#[derive(Clone, Copy)]
pub(crate) struct EffectCentre<'a> {
    pub(crate) problem: EffectProblem<'a>,
    pub(crate) at: ThetaPrior<'a>,
    pub(crate) mean: &'a Effects,
    /// The rows' −E ℓ″.
    pub(crate) curves: &'a [f64],
}

/// Whether only a value or also a slope is wanted.
#[derive(Clone, Copy, PartialEq)]
pub enum Accuracy {
    /// Only a value.
    Value,
    /// Also a slope.
    Slope,
}

/// The nodes of a block with this many effects, a multiple of [`LANES`].
pub(crate) fn group_rule(width: usize) -> Rule {
    let mut rule = match width {
        1 => Rule::gauss_hermite(ONE),
        _ => Rule::gauss_hermite(TWO).tensor_product(&Rule::gauss_hermite(TWO)),
    };
    let count = rule.weights.len().next_multiple_of(LANES);
    rule.weights.resize(count, 0.0);
    for nodes in &mut rule.nodes {
        nodes.resize(count, 0.0);
    }
    rule
}

/// The blocks whose gaps are measured, with the nodes of their groups.
pub(crate) fn narrow_blocks(
    model: &EffectStructure<'_>,
    order: &EliminationOrder,
) -> Vec<(GroupRows, Rule)> {
    let is_narrow = |place: &usize| model.blocks[*place].width <= MOST_WIDTH;
    let with_rule = |place: usize| {
        let rows = GroupRows::new(model, order, place);
        let rule = group_rule(rows.width);
        (rows, rule)
    };
    let narrow = (0..model.blocks.len()).filter(is_narrow);
    narrow.map(with_rule).collect()
}

impl EffectCentre<'_> {
    /// The gaps around a mean.
    pub(crate) fn measure_gaps(
        self,
        blocks: &[(GroupRows, Rule)],
        accuracy: Accuracy,
        work: &mut MixedWorkspace,
    ) -> Option<MeasuredGaps> {
        let around = self;
        let EffectCentre { problem, at, .. } = around;
        let predictors = problem.predictors(around.mean);
        let mut found = MeasuredGaps {
            blocks: problem.model.blocks.iter().map(|_| None).collect(),
            total: 0.0,
            theta: vec![0.0; at.theta.len()],
        };
        for own in blocks {
            let mut nodes = GroupNodes::new(own, around, &predictors)?;
            for _ in 0..STEPS {
                nodes.evaluate(work)?;
                nodes.step();
            }
            nodes.evaluate(work)?;
            if accuracy == Accuracy::Slope && problem.likelihood.reads_theta() {
                small::add(&mut found.theta, 1.0, &nodes.theta_slope(work)?);
            }
            found.blocks[own.0.block] = Some(nodes.variational_gap());
        }
        found.total = found.blocks.iter().flatten().map(|gap| gap.value).sum();
        found.total.is_finite().then_some(found)
    }
}

/// The Gaussians of a block's groups, and the values at their nodes.
pub(crate) struct GroupNodes<'a> {
    pub(crate) group_rows: &'a GroupRows,
    /// The nodes of every group, in the coordinates of its Gaussian.
    pub(crate) rule: &'a Rule,
    around: EffectCentre<'a>,
    /// The predictors of the rows at the means of all effects.
    pub(crate) predictors: &'a [f64],
    pub(crate) prior: &'a BlockPrior,
    /// m_g, group after group.
    pub(crate) means: &'a [f64],
    /// m′
    pub(crate) centres: Vec<f64>,
    /// V′ = F Fᵀ: F, group after group.
    pub(crate) roots: Vec<f64>,
    /// Σ ℓ at each node, group after group.
    pub(crate) sums: Vec<f64>,
}

/// An inverse root F of V = (L Lᵀ)⁻¹: F = L⁻ᵀ, which is upper triangular; any root serves.
pub(crate) fn inverse_root(factor: &[f64], width: usize) -> Vec<f64> {
    let mut columns = small::identity(width);
    for column in columns.chunks_exact_mut(width) {
        small::solve_lower_transposed(factor, column);
    }
    small::transposed(&columns, width)
}

impl<'a> GroupNodes<'a> {
    /// Starts at the means, with the average curvature of the rows.
    fn new(
        (group_rows, rule): &'a (GroupRows, Rule),
        around: EffectCentre<'a>,
        predictors: &'a [f64],
    ) -> Option<GroupNodes<'a>> {
        let prior = &around.at.prior.blocks[group_rows.block];
        let (width, means) = (around.mean.blocks(around.problem.order)).nth(group_rows.block)?;
        let square = width * width;
        let mut precisions = prior.precision.repeat(group_rows.groups);
        let rows = (group_rows.coefficients.chunks_exact(width)).zip(&group_rows.codes);
        for ((z, code), curve) in rows.zip(around.curves) {
            let own = &mut precisions[*code as usize * square..][..square];
            small::add_outer(own, curve.max(0.0), z, z);
        }
        for own in precisions.chunks_exact_mut(square) {
            small::cholesky(own, width)?;
            let root = inverse_root(own, width);
            own.copy_from_slice(&root);
        }
        Some(GroupNodes {
            group_rows,
            rule,
            around,
            predictors,
            prior,
            means,
            centres: means.to_vec(),
            roots: precisions,
            sums: Vec::new(),
        })
    }

    /// v at a node of a group.
    fn node(&self, group: usize, node: usize, into: &mut [f64]) {
        let width = self.group_rows.width;
        let root = &self.roots[group * width * width..][..width * width];
        let centre = &self.centres[group * width..][..width];
        for (i, entry) in into.iter_mut().enumerate() {
            let terms = self.rule.nodes.iter().enumerate();
            let moved: f64 = terms.map(|(j, t)| root[i * width + j] * t[node]).sum();
            *entry = centre[i] + moved;
        }
    }

    /// Sums the rows' values at all nodes.
    fn evaluate(&mut self, work: &mut MixedWorkspace) -> Option<()> {
        self.sums = self.sum_rows(None, work)?;
        Some(())
    }

    /// The sums of values by group and node; with weights the sums of slopes in θ.
    fn sum_rows(&self, excess: Option<&[f64]>, work: &mut MixedWorkspace) -> Option<Vec<f64>> {
        let theta = self.around.at.theta;
        let size = match excess {
            Some(_) => theta.len(),
            None => self.group_rows.groups * self.rule.weights.len(),
        };
        let mut job = NodeSums {
            nodes: self,
            excess,
            sums: vec![0.0; size],
        };
        self.around.problem.evaluate_rows(theta, work, &mut job)?;
        Some(job.sums)
    }

    /// h at the nodes of a group, up to a constant.
    pub(crate) fn heights(&self, group: usize, into: &mut [f64]) {
        let width = self.group_rows.width;
        let rule = self.rule;
        if width == 1 {
            return self.heights_of_one(group, into);
        }
        let mut v = [0.0; MOST_WIDTH];
        let v = &mut v[..width];
        for (node, height) in into.iter_mut().enumerate() {
            self.node(group, node, v);
            let square: f64 = rule.nodes.iter().map(|t| t[node] * t[node]).sum();
            *height = self.sums[group * rule.weights.len() + node]
                - 0.5 * small::quadratic_form(&self.prior.precision, v)
                + small::dot(&self.prior.linear, v)
                + 0.5 * square;
        }
    }

    /// The same where groups have one effect.
    fn heights_of_one(&self, group: usize, into: &mut [f64]) {
        let nodes = &self.rule.nodes[0];
        let sums = &self.sums[group * nodes.len()..][..nodes.len()];
        let (centre, root) = (self.centres[group], self.roots[group]);
        let (precision, linear) = (self.prior.precision[0], self.prior.linear[0]);
        for ((height, t), sum) in into.iter_mut().zip(nodes).zip(sums) {
            let v = centre + root * t;
            *height = sum + v * (linear - 0.5 * precision * v) + 0.5 * t * t;
        }
    }

    /// Newton's step towards the best Gaussian of each group:
    /// E∇ = F⁻ᵀE[t ℓ] + l − P m, −E∇² = P − F⁻ᵀE[(ttᵀ − 1) ℓ]F⁻¹.
    fn step(&mut self) {
        for group in 0..self.group_rows.groups {
            self.newton_step(group);
        }
    }

    /// The step of one group; none if a parabola does not serve.
    fn newton_step(&mut self, group: usize) -> Option<()> {
        let (width, rule, prior) = (self.group_rows.width, self.rule, self.prior);
        let (square, count) = (width * width, rule.weights.len());
        let sums = &self.sums[group * count..][..count];
        let root = &mut self.roots[group * square..][..square];
        let centre = &mut self.centres[group * width..][..width];
        let mut slope = vec![0.0; width];
        let mut curve = vec![0.0; width * width];
        // A constant has no slope; subtracting it preserves digits.
        let middle = sums[0];
        for (node, weight) in rule.weights.iter().enumerate() {
            let value = weight * (sums[node] - middle);
            for i in 0..width {
                slope[i] += value * rule.nodes[i][node];
                for j in 0..width {
                    let unit = f64::from(u8::from(i == j));
                    curve[i * width + j] -=
                        value * (rule.nodes[i][node] * rule.nodes[j][node] - unit);
                }
            }
        }
        let (inverse, _) = small::inverse(root, width)?;
        let flipped = small::transposed(&inverse, width);
        let mut precision =
            small::product(&flipped, &small::product(&curve, &inverse, width), width);
        small::add(&mut precision, 1.0, &prior.precision);
        let mut slope = small::apply(&flipped, &slope);
        let pull = small::apply(&prior.precision, centre);
        for (entry, (l, p)) in slope.iter_mut().zip(prior.linear.iter().zip(&pull)) {
            *entry += l - p;
        }
        small::cholesky(&mut precision, width)?;
        small::solve_lower(&precision, &mut slope);
        // A parabola is not reliable for a step of many standard deviations.
        if small::dot(&slope, &slope) > 9.0 {
            return None;
        }
        small::solve_lower_transposed(&precision, &mut slope);
        small::add(centre, 1.0, &slope);
        root.copy_from_slice(&inverse_root(&precision, width));
        Some(())
    }

    /// The share of each node in the integral of a group, and ln Σ w e^h.
    fn shares(&self, group: usize, heights: &mut [f64]) -> f64 {
        self.heights(group, heights);
        let weights = &self.rule.weights;
        let top = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let pairs = heights.iter_mut().zip(weights);
        let total: f64 = pairs
            .map(|(height, weight)| {
                *height = weight * (*height - top).exp();
                *height
            })
            .sum();
        for share in heights.iter_mut() {
            *share /= total;
        }
        top + total.ln()
    }

    fn variational_gap(&self) -> VariationalGap {
        let width = self.group_rows.width;
        let weights = &self.rule.weights;
        let mut gap = VariationalGap {
            value: 0.0,
            precision: vec![0.0; width * width],
            linear: vec![0.0; width],
        };
        let (mut shares, mut v) = (vec![0.0; weights.len()], vec![0.0; width]);
        for group in 0..self.group_rows.groups {
            self.heights(group, &mut shares);
            let mean = small::dot(weights, &shares);
            gap.value += self.shares(group, &mut shares) - mean;
            for (node, share) in shares.iter().enumerate() {
                self.node(group, node, &mut v);
                // Under the Gaussian itself the nodes have its mean and covariance, so only the
                // excess counts.
                let excess = share - weights[node];
                small::add(&mut gap.linear, excess, &v);
                small::add_outer(&mut gap.precision, -0.5 * excess, &v, &v);
            }
        }
        gap
    }

    /// Σ over rows and nodes of (share − weight) ∂ℓ/∂θ.
    fn theta_slope(&self, work: &mut MixedWorkspace) -> Option<Vec<f64>> {
        let weights = &self.rule.weights;
        let mut excess = vec![0.0; self.group_rows.groups * weights.len()];
        for own in excess.chunks_exact_mut(weights.len()).enumerate() {
            self.shares(own.0, own.1);
            small::add(own.1, -1.0, weights);
        }
        self.sum_rows(Some(&excess), work)
    }

    /// Writes η + z(v − m) of the nodes of one round.
    fn write(&self, block: &RowBatch, into: &mut [f64]) {
        let predictors = self.predictors;
        let width = self.group_rows.width;
        let first = block.round * LANES;
        if width == 1 {
            let nodes = &self.rule.nodes[0][first..first + LANES];
            for (k, row) in block.range.clone().enumerate() {
                let group = self.group_rows.codes[row] as usize;
                let z = self.group_rows.coefficients[row];
                let centre = predictors[row] + z * (self.centres[group] - self.means[group]);
                let along = z * self.roots[group];
                for (lane, t) in nodes.iter().enumerate() {
                    into[lane * block.stride + k] = centre + along * t;
                }
            }
            return;
        }
        for (k, row) in block.range.clone().enumerate() {
            let group = self.group_rows.codes[row] as usize;
            let z = &self.group_rows.coefficients[row * width..][..width];
            let root = &self.roots[group * width * width..][..width * width];
            let mut centre = predictors[row];
            let mut along = [0.0; MOST_WIDTH];
            for i in 0..width {
                centre += z[i] * (self.centres[group * width + i] - self.means[group * width + i]);
                for j in 0..width {
                    along[j] += z[i] * root[i * width + j];
                }
            }
            for lane in 0..LANES {
                let nodes = self.rule.nodes.iter().zip(&along);
                let moved: f64 = nodes.map(|(t, along)| along * t[first + lane]).sum();
                into[lane * block.stride + k] = centre + moved;
            }
        }
    }
}
