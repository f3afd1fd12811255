//! The prior of the effects given the hyperparameters θ: precisions, means, and the maps of the rows'
//! coefficients. The reverse derivatives lead from slopes in those to a slope in θ.

use lehr_density::Rows;
use lehr_graph::{Expr, Graph, Workspace};

use crate::column_plan::ColumnPlan;
use crate::dependence::point_at;
use crate::effect_structure::{EffectStructure, reference};
use crate::prior_terms::{BlockPrior, PriorTerms, write_prior_terms};

/// The density at one θ, without its rows.
#[derive(Clone, Debug)]
pub(crate) struct EffectPrior {
    /// ln p(θ), and the log prior of all v at 0.
    pub(crate) log_prior: f64,
    /// The priors in the order of the blocks.
    pub(crate) blocks: Vec<BlockPrior>,
    /// The standard deviation of a normal response.
    pub(crate) noise: Option<f64>,
}

impl EffectPrior {
    /// The precision of each block's prior and its linear term: A, the other blocks, and the common
    /// effects.
    pub(crate) fn terms<'a>(
        &'a self,
        model: &'a EffectStructure<'_>,
    ) -> impl Iterator<Item = (&'a [f64], &'a [f64])> {
        let own = (self.blocks.iter()).map(|own| (&own.precision[..], &own.linear[..]));
        let common = (&model.common.precision[..], &model.common.linear[..]);
        own.chain(std::iter::once(common))
    }
}

/// Slopes in the contents of [`EffectPrior`].
pub(crate) struct PriorAdjoint {
    /// For each block, in its precision (symmetric) and in its linear term.
    pub(crate) blocks: Vec<(Vec<f64>, Vec<f64>)>,
    pub(crate) noise: f64,
}

/// The program that computes [`EffectPrior`].
pub(crate) struct EffectPriorProgram {
    origin: Vec<f64>,
    value: ColumnPlan,
    slope: ColumnPlan,
    /// The table's rows that the programs read.
    rows: Vec<usize>,
}

/// One thread's memory for the programs.
pub(crate) struct PriorWorkspace {
    value: Workspace,
    slope: Workspace,
    z: Vec<f64>,
}

const Z: &str = "z";

fn adjoint_name(place: usize) -> String {
    format!("adjoint {place}")
}

impl EffectPriorProgram {
    pub(crate) fn new(model: &EffectStructure<'_>) -> EffectPriorProgram {
        let own = model.blocks.iter().flat_map(|block| block.theta_map.rows());
        let mut rows: Vec<usize> = own.copied().collect();
        // At least two rows, so that a number that all rows share can be distinguished from one of
        // each row.
        rows.resize(rows.len().max(2), 0);
        let graph = Graph::new();
        let z = graph.input(Z, [model.density.latents().size()]);
        let at = point_at(z);
        let data = Rows::inputs(&graph, model.density.columns(), rows.len(), "rows.");
        let prior = model.density.log_prior(&at);
        let mut outputs = vec![prior];
        for piece in write_prior_terms(model, &at, &data, prior) {
            outputs.extend(piece.all());
        }
        outputs.extend(model.split.noise_scale(&at, &data));
        let mut total = prior;
        for (place, output) in outputs.iter().enumerate().skip(1) {
            let adjoint = graph.input(&adjoint_name(place), output.shape());
            total = total + (adjoint * *output).sum();
        }
        let slope = graph.grad(total, &[z])[0];
        let program = |outputs: &[Expr<'_>]| ColumnPlan::new(outputs, &data, 1);
        EffectPriorProgram {
            origin: reference(model.density),
            value: program(&outputs),
            slope: program(&[slope]),
            rows,
        }
    }

    /// Memory with the rows set.
    pub(crate) fn scratch(&self, model: &EffectStructure<'_>) -> PriorWorkspace {
        let ready = |program: &ColumnPlan| {
            let mut workspace = program.plan.workspace();
            program.set_rows(&mut workspace, model.source, &self.rows);
            workspace
        };
        PriorWorkspace {
            value: ready(&self.value),
            slope: ready(&self.slope),
            z: self.origin.clone(),
        }
    }

    /// The prior of the effects given the hyperparameters in z.
    pub(crate) fn at_latents(
        &self,
        model: &EffectStructure<'_>,
        z: &[f64],
    ) -> Result<EffectPrior, String> {
        let theta: Vec<f64> = model.hyper.iter().map(|place| z[*place]).collect();
        let prior = self.at(model, &theta, &mut self.scratch(model));
        prior.ok_or_else(|| "the log prior is not finite at its start".into())
    }

    /// The prior of the effects at θ; `None` if it is not finite.
    pub(crate) fn at(
        &self,
        model: &EffectStructure<'_>,
        theta: &[f64],
        scratch: &mut PriorWorkspace,
    ) -> Option<EffectPrior> {
        model.place(theta, &mut scratch.z);
        self.value.set(&mut scratch.value, Z, &scratch.z);
        self.value.plan.run(&mut scratch.value);
        let mut outputs = (1..self.value.plan.n_outputs()).map(|k| scratch.value.output(k));
        let mut log_prior = scratch.value.output(0)[0];
        let mut blocks = Vec::with_capacity(model.blocks.len());
        for block in &model.blocks {
            let (prior, log_det) = PriorTerms::read(block, &mut outputs).mapped_prior()?;
            log_prior -= block.groups as f64 * log_det;
            blocks.push(prior);
        }
        let noise = outputs.next().map(|value| value[0]);
        let sound = log_prior.is_finite() && noise.is_none_or(|noise| noise > 0.0);
        sound.then_some(EffectPrior {
            log_prior,
            blocks,
            noise,
        })
    }

    /// The slope in θ of a function with these slopes in the result of [`EffectPriorProgram::at`]; its
    /// first entry (the log prior) has slope one.
    pub(crate) fn pull(
        &self,
        model: &EffectStructure<'_>,
        theta: &[f64],
        adjoint: &PriorAdjoint,
        scratch: &mut PriorWorkspace,
    ) -> Option<Vec<f64>> {
        model.place(theta, &mut scratch.z);
        self.value.set(&mut scratch.value, Z, &scratch.z);
        self.value.plan.run(&mut scratch.value);
        let mut outputs = (1..self.value.plan.n_outputs()).map(|k| scratch.value.output(k));
        let mut adjoints: Vec<Vec<f64>> = Vec::new();
        for (block, slopes) in model.blocks.iter().zip(&adjoint.blocks) {
            adjoints.extend(PriorTerms::read(block, &mut outputs).pull_back(slopes)?);
        }
        adjoints.extend(outputs.next().map(|_| vec![adjoint.noise]));
        for (place, values) in (1..).zip(adjoints) {
            let name = adjoint_name(place);
            self.slope.set(&mut scratch.slope, &name, &values);
        }
        self.slope.set(&mut scratch.slope, Z, &scratch.z);
        self.slope.plan.run(&mut scratch.slope);
        let slope = scratch.slope.output(0);
        let own: Vec<f64> = model.hyper.iter().map(|place| slope[*place]).collect();
        own.iter().all(|entry| entry.is_finite()).then_some(own)
    }
}
